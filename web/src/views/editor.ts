// Add or edit a class: type, see at once what it would take, compare tries, keep.
import { ApiError, ask, write } from "../api";
import { failed, notice } from "../ask";
import { count, fill, h, later, many, sentence } from "../dom";
import { follow } from "../jobs";
import type { Live } from "../live";
import { classNamed, setFocus, state } from "../state";
import type { Job, Preview } from "../types";
import { classLink, empty, loading } from "../widgets";
import { head } from "./head";
import { outcome, tries, type Try } from "./preview";

const WAIT = 350; // milliseconds after the last key

interface Change { name: string; description: string; replaces: number | null }
interface Body { changes: Change[]; remove: number[] }

export async function editor(old: string, live: Live): Promise<HTMLElement> {
  const item = old ? classNamed(old) : null;
  const title = old ? `Edit ${old}` : "Add a class";
  if (old && !item) return h("article", null, head("Class", title), empty("There is no such class in this version", h("p", null, h("a", { href: "#/edit" }, "Add it"), " or look at the ", h("a", { href: "#/versions" }, "versions"), ".")));
  if (!state.run?.write || !(item ? state.run.can_edit_classes : state.run.can_add_classes)) {
    return h("article", null, head("Class", title), empty("Classes cannot be changed here",
      h("p", null, state.run?.write ? `The model of this run (${state.run.model}) does not take up classes after fitting; classify again with the new class.` : "Your token may read but not write; ask for a write token.")));
  }
  const limits = state.run.limits;
  const name = h("input", { id: "class-name", type: "text", maxlength: limits.name, value: item?.name ?? "", autocomplete: "off", required: true });
  const description = h("textarea", { id: "class-text", rows: 5, maxlength: limits.description, value: item?.description ?? "" });
  const result = h("div", { class: "preview", "aria-live": "polite" });
  const history = h("div");
  const keep = h("button", { type: "submit", class: "primary", disabled: true }, "Keep");
  const undo = h("button", { type: "button", class: "plain", onClick: () => back() }, "Undo");
  const tried: Try[] = [];
  let asked: AbortController | null = null;

  const body = (): Body => ({ changes: [{ name: name.value.trim(), description: description.value.trim(), replaces: item?.index ?? null }], remove: [] });
  const same = (): boolean => item !== null && name.value.trim() === item.name && description.value.trim() === (item.description ?? "");

  async function preview(): Promise<void> {
    asked?.abort();
    setFocus({});
    keep.disabled = true;
    if (!name.value.trim() || same()) return hint();
    asked = new AbortController();
    result.classList.add("stale");
    const wait = window.setTimeout(() => { if (!result.childElementCount) fill(result, loading()); }, 150);
    try {
      const sent = body();
      const found = await ask<Preview>("/classes/preview", sent, asked.signal);
      if (!live.alive) return;
      const [change] = sent.changes;
      if (change) remember(change, found);
      fill(result, outcome(found));
      result.classList.remove("stale");
      keep.disabled = false;
      const rings = found.taken.flatMap((each) => [...each.surest, ...each.least].map((brief) => brief.position));
      setFocus({ rings, move: true });
    } catch (error) {
      if (error instanceof DOMException) return;
      result.classList.remove("stale");
      fill(result, h("p", { class: "inline-error", role: "alert" }, sentence(error instanceof Error ? error.message : String(error))));
    } finally {
      clearTimeout(wait);
    }
  }
  function hint(): void {
    result.classList.remove("stale");
    fill(result, h("p", { class: "soft" }, item && !item.allowed
      ? "This class has labels only: nodes without a label are answered among the other classes, whatever its text says."
      : item ? "Change the name or the description to see which nodes would move."
      : "Give a name, and say in a sentence or two what its nodes are about: which nodes it would take shows here while you type."));
  }
  function remember(change: Change, found: Preview): void {
    const last = tried.at(-1);
    if (last?.name === change.name && last.description === change.description) return;
    const taken = found.taken[0]?.nodes ?? 0;
    tried.push({ name: change.name, description: change.description, taken, changed: found.changed });
    list();
  }
  function list(): void {
    undo.disabled = tried.length < 2 && !(item && tried.length);
    fill(history, tried.length > 1 && tries(tried, use));
  }
  function use(one: { name: string; description: string }): void {
    name.value = one.name;
    description.value = one.description;
    void preview();
  }
  function back(): void {
    tried.pop();
    const last = tried.pop();
    use(last ?? { name: item?.name ?? "", description: item?.description ?? "" });
    list();
  }
  async function store(what: Body, done: string): Promise<void> {
    const before = state.run?.version;
    keep.disabled = true;
    try {
      const job = await follow(await write<Job>("/classes", what));
      if (job.state !== "done") throw new Error(job.error ?? "It was stopped; nothing has changed.");
      const undoing = { label: "Undo", act: () => { write(`/versions/${before}/activate`).then(() => notice(`Back to version ${before}.`), failed); } };
      notice(done, undoing);
      location.hash = what.changes[0] ? classLink(what.changes[0].name) : "#/";
    } catch (error) {
      failed(error instanceof ApiError || error instanceof Error ? error : new Error(String(error)));
      keep.disabled = false;
    }
  }

  const soon = later(() => void preview(), WAIT);
  name.addEventListener("input", soon);
  description.addEventListener("input", soon);
  live.onEnd(() => { asked?.abort(); setFocus({}); });
  hint();
  list();
  return h("article", { class: "editor" },
    head(item ? "Edit a class" : "New class", title),
    h("form", { class: "form", onSubmit: (event: Event) => { event.preventDefault(); void store(body(), `Kept: ${name.value.trim()}.`); } },
      h("label", { for: "class-name" }, "Name"), name,
      h("label", { for: "class-text" }, "Description", h("span", { class: "soft" }, " (what its nodes are about)")), description,
      h("div", { class: "row" }, keep, undo,
        item && !item.known && h("button", { type: "button", class: "plain danger push", onClick: () => remove() }, "Remove"))),
    history, result,
    item && item.known > 0 && h("p", { class: "soft small part" }, `It cannot be removed: ${item.known === 1 ? "a node has" : `${count(item.known)} nodes have`} it as a label.`));

  async function remove(): Promise<void> {
    if (!item) return;
    const what: Body = { changes: [], remove: [item.index] };
    try {
      const found = await ask<Preview>("/classes/preview", what);
      fill(result, h("div", { class: "callout" },
        h("p", null, `Without ${item.name}, ${many(found.changed, "node")} would move to other classes.`),
        h("div", { class: "row" },
          h("button", { type: "button", class: "primary", onClick: () => void store(what, `Removed: ${item.name}.`) }, "Remove it"),
          h("button", { type: "button", class: "plain", onClick: hint }, "Leave it"))), outcome(found));
    } catch (error) {
      failed(error);
    }
  }
}
