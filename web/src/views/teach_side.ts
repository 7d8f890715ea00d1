// Beside the queue: what was said so far, how right the answers were, learning, and what it changed.
import { blob, get, upload, whoIsIt, write } from "../api";
import { failed, notice } from "../ask";
import { count, fill, h, later, many, percent, sentence, type Child } from "../dom";
import { follow } from "../jobs";
import type { Live } from "../live";
import { on, refresh, state } from "../state";
import type { Accuracy, Job, Summary } from "../types";
import { fold, interval, nodeLink, section } from "../widgets";
import { decision } from "./changes";

export interface Side { element: HTMLElement; counted: () => void }

export function side(live: Live): Side {
  const about = h("div");
  const learn = h("div", { class: "learn" });
  const element = h("aside", { class: "teach-side", "aria-label": "Learning" }, learn, about);

  const load = (): void => {
    get<Summary>("/labels/summary").then((found) => { if (live.alive) fill(about, summary(found, load)); },
      (error: unknown) => { if (live.alive) fill(about, h("p", { class: "soft" }, error instanceof Error ? error.message : String(error))); });
  };
  const draw = (): void => {
    const run = state.run;
    if (!run || !live.alive) return;
    if (run.candidate !== null) {
      if (learn.dataset["candidate"] !== String(run.candidate)) {
        learn.dataset["candidate"] = String(run.candidate);
        fill(learn, decision(run.candidate));
      }
      return;
    }
    delete learn.dataset["candidate"];
    const running = run.job !== null;
    const some = run.labels.answers > 0;
    fill(learn,
      h("h2", null, "Learn"),
      h("p", { class: "soft" }, running ? "Learning; you can go on answering meanwhile."
        : some && !run.write ? `${many(run.labels.answers, "answer")} given so far.`
        : some ? `Fit the model anew with ${many(run.labels.answers, "answer")}. You see what changes before you keep it.`
        : run.write ? "Answer a few nodes first: even ten can teach a lot." : "Nobody has answered yet."),
      run.write && h("button", { type: "button", class: "primary wide", id: "learn", disabled: running || !some, onClick: start }, running ? "Learning…" : "Learn from the answers"));
  };
  const start = async (event: Event): Promise<void> => {
    (event.currentTarget as HTMLButtonElement).disabled = true;
    try {
      const job = await write<Job>("/learn");
      await refresh();
      const ended = await follow(job);
      if (ended.state === "failed") throw new Error(ended.error ?? "Learning failed; the log of the server says why.");
      if (ended.state === "cancelled") notice("Learning was stopped; nothing has changed.");
    } catch (error) {
      failed(error);
    }
    await refresh().catch(failed);
    draw();
    load();
  };
  const soon = later(() => { load(); refresh().catch(failed); }, 400);
  live.onEnd(on("run", draw));
  live.onEnd(on("version", load));
  draw();
  load();
  return { element, counted: soon };
}

function summary(found: Summary, again: () => void): Child {
  return [
    found.accuracy && state.run?.candidate === null && accuracy(found.accuracy),
    found.disagreements.length > 0 && section("Disagreement", h("ul", { class: "plain-list" }, found.disagreements.map((each) => h("li", null,
      h("a", { href: nodeLink(each.id) }, each.title || each.id),
      h("p", { class: "soft small" }, each.answers.map((a) => `${a.person}: ${a.class ?? "none of these"}`).join(" · ")))))),
    found.people.length > 0 && section("Who answered", h("ul", { class: "people" }, found.people.map((each) => h("li", null, h("span", null, each.person), h("span", { class: "num" }, count(each.answers)))))),
    fold(state.run?.write ? "Export and import" : "Export", transfer(again)),
  ];
}

function accuracy(found: Accuracy): HTMLElement {
  return section("Right so far",
    h("p", { class: "big" }, h("b", null, percent(found.value)), h("span", { class: "soft" }, ` ${count(found.right)} of ${count(found.of)}`)),
    interval(found),
    h("p", { class: "soft small" }, `Between ${percent(found.low)} and ${percent(found.high)} (${found.method}). `, sentence(found.note)));
}

function transfer(again: () => void): Child {
  const save = async (format: string, name: string): Promise<void> => {
    const link = h("a", { href: URL.createObjectURL(await blob(`/labels/export?spreadsheet=true&format=${format}`)), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const file: HTMLInputElement = h("input", { type: "file", id: "import", class: "sr-file", accept: ".csv,.json,text/csv,application/json", onChange: async () => {
    const chosen = file.files?.[0];
    const who = chosen && (await whoIsIt());
    if (!chosen || !who) return;
    const json = chosen.name.toLowerCase().endsWith(".json");
    try {
      const done = await upload<{ imported: number; skipped: number; problems: string[] }>(
        `/labels/import?format=${json ? "labelstudio" : "csv"}&person=${encodeURIComponent(who)}`, chosen, json ? "application/json" : "text/csv");
      notice(`${many(done.imported, "answer")} imported${done.skipped ? `, ${done.skipped} left out: ${done.problems[0] ?? ""}` : ""}.`, undefined, done.imported === 0);
      refresh().catch(failed);
      again();
    } catch (error) {
      failed(error);
    }
    file.value = "";
  } });
  return h("div", { class: "transfer" },
    h("button", { type: "button", class: "plain", onClick: () => { save("csv", "labels.csv").catch(failed); } }, "Export CSV"),
    h("button", { type: "button", class: "plain", onClick: () => { save("labelstudio", "labels.json").catch(failed); } }, "Export Label Studio"),
    state.run?.write && [file, h("label", { for: "import", class: "button" }, "Import a file")]);
}
