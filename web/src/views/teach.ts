// Teach: one node at a time from one of two queues, by mouse or by keyboard alone.
import { get, person, whoIsIt, write } from "../api";
import { failed, notice } from "../ask";
import { fill, h, icon, many } from "../dom";
import type { Live } from "../live";
import { NONE, nameAt, on, refresh, state } from "../state";
import type { Given, Queue, Task } from "../types";
import { empty, loading, problem } from "../widgets";
import { give, type Said } from "./answer";
import { KINDS, card, type Kind } from "./card";
import { side } from "./teach_side";

const FETCH = 20; // nodes at a time
const LOW = 6; // fetch more when fewer are left

const chosen: { kind: Kind } = { kind: "errors" }; // survives leaving the view

export async function teach(_rest: string, live: Live): Promise<HTMLElement> {
  const stage = h("div", { class: "stage" });
  const tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Queue" });
  const about = h("p", { class: "soft small teach-about" });
  const live_ = h("p", { class: "sr", role: "status" });
  const aside = side(live);
  const queue: Task[] = [];
  const gone = new Set<string>(); // answered here; the server may not have heard yet
  const given: { task: Task; id: Promise<Given | null> }[] = [];
  let left: number | null = null;
  let fetching = false;
  let over = false;

  if (!state.run?.write) {
    return h("div", { class: "teach" }, h("div", { class: "teach-main" }, h("h1", { tabindex: -1 }, "Teach"),
      empty("Reading only", h("p", null, "Your token may read but not write; ask for a write token to teach."))), aside.element);
  }

  async function more(): Promise<void> {
    if (fetching || over || !live.alive) return;
    fetching = true;
    const kind = chosen.kind;
    try {
      const found = await get<Queue>(`/queue?kind=${kind}&person=${encodeURIComponent(person() || "nobody yet")}&limit=${FETCH}`);
      if (kind !== chosen.kind || !live.alive) return;
      const have = new Set([...queue.map((task) => task.id), ...gone]);
      queue.push(...found.items.filter((task) => !have.has(task.id)));
      left = found.left;
      if (!found.items.length && found.note) {
        fill(stage, loading(), h("p", { class: "soft center" }, "Working out which nodes would teach most. This takes a few seconds the first time."));
        window.setTimeout(() => void more(), 2000);
        return;
      }
      over = found.items.length < FETCH && !found.items.some((task) => !have.has(task.id));
      if (stage.dataset["id"] === undefined) next();
    } catch (error) {
      if (live.alive) fill(stage, problem(error, () => void more()));
    } finally {
      fetching = false;
      if (kind !== chosen.kind) void more();
    }
  }

  function next(): void {
    const [task] = queue;
    if (!task) {
      delete stage.dataset["id"];
      if (fetching || !over) fill(stage, loading());
      else fill(stage, empty("This queue is empty", h("p", null, "You have answered all of it. Let the model learn, or take the other queue.")));
      if (!over) void more();
      return;
    }
    stage.dataset["id"] = task.id;
    fill(stage, card(task, left, answer, undo));
    stage.querySelector<HTMLElement>(".card")?.focus({ preventScroll: true });
    if (queue.length < LOW) void more();
  }

  async function answer(said: Said): Promise<void> {
    const [task] = queue;
    if (!task || !(await whoIsIt())) return;
    const at = queue.findIndex((each) => each.id === task.id); // the queue may be another one since the name was asked
    if (at >= 0) queue.splice(at, 1);
    gone.add(task.id);
    if (left !== null) left = Math.max(0, left - 1);
    const sent = give(task.id, said, chosen.kind).then((saved) => {
      aside.counted();
      if (saved.disagreement) notice("Noted. Somebody else said otherwise about this node.");
      return saved;
    }, (error: unknown) => {
      gone.delete(task.id);
      queue.unshift(task);
      next();
      failed(error);
      return null;
    });
    given.push({ task, id: sent });
    live_.textContent = said.kind === "skip" ? "Skipped." : `Noted: ${said.class ?? NONE}.`;
    next();
  }

  async function undo(): Promise<void> {
    const last = given.pop();
    const saved = await last?.id;
    if (!last || !saved) return notice("Nothing to undo here.");
    try {
      await write("/labels/undo", { answer_id: saved.answer_id });
      gone.delete(last.task.id);
      queue.unshift(last.task);
      if (left !== null) left += 1;
      live_.textContent = "Taken back.";
      aside.counted();
      next();
    } catch (error) {
      given.push(last);
      failed(error);
    }
  }

  function open(kind: Kind): void {
    chosen.kind = kind;
    queue.length = 0;
    left = null;
    over = false;
    delete stage.dataset["id"];
    fill(tabs, KINDS.map(([key, label]) => h("button", {
      type: "button", role: "tab", class: "tab", "aria-selected": String(key === kind), "aria-controls": "stage", onClick: () => open(key),
    }, label)));
    about.textContent = KINDS.find(([key]) => key === kind)?.[2] ?? "";
    fill(stage, loading());
    void more();
  }

  function key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, dialog, a, header, .teach-side")) return;
    if (event.key === "Enter" && target.closest("button, summary")) return;
    const [task] = queue;
    const low = event.key.toLowerCase();
    if (low === "u") void undo();
    else if (!task) return;
    else if (event.key === "Enter" || low === "a") void answer(task.class === null ? { kind: "none" } : { kind: "class", class: nameAt(task.class) });
    else if (low === "s") void answer({ kind: "skip" });
    else if (low === "n") void answer({ kind: "none" });
    else if (low === "c") stage.querySelector<HTMLElement>(".finder-field")?.focus();
    else {
      const other = task.top.filter((each) => each.class !== task.class)[Number(event.key) - 2];
      if (!other) return;
      void answer({ kind: "class", class: nameAt(other.class) });
    }
    event.preventDefault();
  }

  document.addEventListener("keydown", key);
  live.onEnd(() => document.removeEventListener("keydown", key));
  live.onEnd(on("version", () => open(chosen.kind)));
  const renamed = (): void => open(chosen.kind);
  window.addEventListener("person", renamed);
  live.onEnd(() => window.removeEventListener("person", renamed));
  open(chosen.kind);
  refresh().catch(failed);
  return h("div", { class: "teach" },
    h("div", { class: "teach-main" },
      h("h1", { tabindex: -1 }, "Teach"),
      h("div", { class: "teach-bar" }, tabs,
        h("button", { type: "button", class: "ghost text", onClick: () => void undo() }, icon("undo"), "Undo", h("kbd", null, "U"))),
      about, live_,
      h("div", { id: "stage", role: "tabpanel", "aria-label": `Queue of ${many(FETCH, "node")} at a time` }, stage)),
    aside.element);
}
