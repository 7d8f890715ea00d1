// What a version changed, node by node; and the choice to keep or discard one that waits for it.
import { get, write } from "../api";
import { failed, notice } from "../ask";
import { count, fill, h, many, percent, sentence, sure, type Child } from "../dom";
import type { Live } from "../live";
import { NONE, classNamed, refresh } from "../state";
import type { Change, Changes, Compared, Interval, Moved } from "../types";
import { arrow, bar, empty, interval, loading, mark, nodeLink, problem, section } from "../widgets";

const PAGE = 30;
const FEW = 8; // beside the queue, until more are asked for
const MOVES = 8;

/** A candidate: what it changes, and keep or discard. */
export function decision(version: number): Child {
  const body = h("div", null, loading());
  const settle = async (how: "keep" | "discard"): Promise<void> => {
    try {
      await write(`/versions/${version}/${how}`);
      notice(how === "keep" ? `Kept as version ${version}.` : "Discarded; your answers stay.");
      await refresh(true);
    } catch (error) {
      failed(error);
    }
  };
  void (async () => {
    try {
      fill(body, await changes(version, FEW));
    } catch (error) {
      fill(body, problem(error));
    }
  })();
  return h("div", { class: "decision" },
    h("h2", null, "What it learned"),
    h("p", { class: "soft" }, "Nothing has changed for others yet."),
    h("div", { class: "row" },
      h("button", { type: "button", class: "primary", id: "keep", onClick: () => void settle("keep") }, "Keep"),
      h("button", { type: "button", class: "plain", onClick: () => void settle("discard") }, "Discard")),
    body);
}

async function changes(version: number, first = PAGE): Promise<HTMLElement> {
  const list = h("ul", { class: "changes" });
  let cursor: string | null = null;
  const load = async (): Promise<Changes> => {
    const next = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const page = await get<Changes>(`/versions/${version}/changes?limit=${cursor ? PAGE : first}${next}`);
    list.append(...page.items.map(row));
    cursor = page.next;
    more.hidden = cursor === null;
    return page;
  };
  const more: HTMLButtonElement = h("button", { type: "button", class: "plain wide", onClick: () => { load().catch(failed); } }, "Show more");
  const page = await load();
  const learned = page.learned && section("Right on the labels given", rightness(page.learned.accuracy), taught(page.learned));
  if (!page.items.length) return h("div", null, h("p", { class: "soft" }, "No node has another class."), learned);
  return h("div", null,
    h("p", { class: "big", id: "changed" }, h("b", null, count(page.total ?? page.items.length)), ` ${page.total === 1 ? "node has" : "nodes have"} another class`),
    learned,
    section("From and to", moves(page.moved)),
    section("Node by node", list, more));
}

/** Shares of right answers, before and after, each with its interval. */
function rightness(found: Compared): Child {
  const row = (name: string, each: Interval): Child => [
    h("dt", null, name), h("dd", null, interval(each)),
    h("dd", null, h("b", null, percent(each.value)), " ", h("small", null, `${percent(each.low)} to ${percent(each.high)}`)),
  ];
  return [
    (found.before ?? found.after) && h("dl", { class: "before-after" }, found.before && row("Before", found.before), found.after && row("After", found.after)),
    found.before && found.after && h("p", null, compare(found.before, found.after)),
    h("p", { class: "soft small" }, found.before && `Of ${many(found.before.of, "label")}, each share with its 95 % interval. `, sentence(found.note)),
  ];
}

/** What both intervals together allow to say. */
function compare(before: Interval, after: Interval): string {
  if (after.low > before.high) return "The new model is right more often.";
  if (after.high < before.low) return "The new model is right less often: better discard it, and look at the answers it learned from.";
  const more = after.value < before.value ? " Look at what changed before you keep it." : "";
  return `Too few labels to tell whether it is right more often: the intervals overlap.${more}`;
}

function taught(found: NonNullable<Changes["learned"]>): Child {
  const parts = [many(found.labels, "label"), found.outsiders > 0 && `${many(found.outsiders, "node")} of none of these classes`];
  const left = found.left_out.length > 0 && ` ${many(found.left_out.length, "answer")} left out: people disagree, or the class is gone.`;
  return h("p", { class: "soft small" }, `Learned from ${parts.filter(Boolean).join(" and ")}.`, left);
}

function moves(all: Moved<string | null>[]): HTMLElement {
  const most = Math.max(1, ...all.map((move) => move.nodes));
  return h("ul", { class: "moves" }, all.slice(0, MOVES).map((move) => h("li", { class: "move" },
    named(move.from), arrow(), named(move.to), bar(move.nodes / most), h("span", { class: "num" }, count(move.nodes)))));
}

const named = (name: string | null): HTMLElement =>
  h("span", { class: "class-text" }, mark(name ? classNamed(name) : null), h("span", null, name ?? NONE));

function row(change: Change): HTMLElement {
  return h("li", null, h("a", { class: "node-row", href: nodeLink(change.id), title: change.id },
    h("span", { class: "node-title" }, change.title || change.id),
    h("span", { class: "node-about" }, named(change.before_name), arrow(), named(change.class_name)),
    change.known || change.label
      ? h("span", { class: "node-figure" }, h("span", { class: "tag" }, change.label?.disagreement ? "people disagree" : "people said so"))
      : h("span", { class: "node-figure", title: "confidence, before and after" }, [change.before_name === NONE ? "" : sure(change.confidence_before), "→", change.class_name === NONE ? "" : sure(change.confidence)].join(" "))));
}

export async function changesView(rest: string, _live: Live): Promise<HTMLElement> {
  const version = Number(rest);
  const back = h("a", { href: "#/versions" }, "All versions");
  if (!Number.isInteger(version) || version < 1) return h("article", { class: "column" }, h("h1", { tabindex: -1 }, "Versions"), empty("No such version", back));
  const body = await changes(version);
  return h("article", { class: "column" }, h("p", { class: "small" }, back), h("h1", { tabindex: -1 }, `What version ${version} changed`),
    h("p", { class: "soft" }, "Compared with the version it was made from."), body);
}
