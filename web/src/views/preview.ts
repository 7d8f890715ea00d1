// What a new or edited class would take, from whom, and how earlier tries did.
import { count, h, many, signed, type Child } from "../dom";
import { looks } from "../palette";
import { NONE, classAt } from "../state";
import type { Preview, Taken } from "../types";
import { arrow, bar, classText, fold, mark, nodeList, section, warnings } from "../widgets";

export interface Try { name: string; description: string; taken: number; changed: number }

const FROM = 6; // classes it takes nodes from, before the fold

export function outcome(found: Preview): Child {
  const moves = found.moved.filter((move) => move.nodes > 0).sort((a, b) => b.nodes - a.nodes);
  const most = Math.max(1, ...moves.map((move) => move.nodes));
  const named = (name: string | null, index: number | null): HTMLElement => {
    const item = name === null ? null : classAt(index) ?? { color: index ?? 0 }; // a new class comes after the others
    return h("span", { class: "class-text" }, mark(item), h("span", null, name ?? NONE));
  };
  const row = (move: (typeof moves)[number]): HTMLElement => h("li", { class: "move" },
    named(move.from_name, move.from), arrow(), named(move.to_name, move.to),
    bar(move.nodes / most, looks(classAt(move.from))),
    h("span", { class: "num" }, count(move.nodes)));
  return [
    found.taken.map((each) => h("p", { class: "big" }, h("b", null, count(each.nodes)), ` ${each.nodes === 1 ? "node" : "nodes"} for ${each.name}`,
      h("span", { class: "soft small" }, `${many(found.changed, "node")} would move`))),
    warnings(found.warnings),
    moves.length > 0
      ? section("Who moves", h("ul", { class: "moves" }, moves.slice(0, FROM).map(row)),
          moves.length > FROM && fold(`${moves.length - FROM} more`, h("ul", { class: "moves" }, moves.slice(FROM).map(row))))
      : h("p", { class: "soft" }, found.taken.some((each) => classAt(each.index)?.allowed === false)
        ? "No node would move: this class has labels only, and nodes without a label are answered among the others."
        : "No node would move. Say in the description what texts of its nodes say."),
    found.taken.map((each) => each.nodes > 0 && [
      section("Surest", nodeList(each.surest.map(after), "None.", from)),
      section("Least sure", nodeList(each.least.map(after), "None.", from)),
    ]),
    fold("All classes, before and after", compared(found)),
  ];
}

const after = (brief: Taken): Taken => ({ ...brief, confidence: brief.confidence_after ?? brief.confidence });

const from = (brief: unknown): Child => h("span", { class: "class-text" }, "from ", classText((brief as Taken).from));

function compared(found: Preview): HTMLElement {
  return h("div", { class: "scroll" }, h("table", null,
    h("thead", null, h("tr", null, ["Class", "Before", "After", ""].map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", null, found.classes.map((each) => {
      const gain = (each.after ?? 0) - each.before;
      return h("tr", null,
        h("th", { scope: "row" }, each.name, each.new && h("span", { class: "tag" }, "new"), each.removed && h("span", { class: "tag" }, "removed")),
        h("td", null, count(each.before)), h("td", null, each.after === null ? "–" : count(each.after)),
        h("td", { class: "soft" }, gain ? signed(gain, 0) : ""));
    }))));
}

/** Earlier tries side by side; each can be taken up again. */
export function tries(all: Try[], use: (one: Try) => void): HTMLElement {
  const most = Math.max(1, ...all.map((one) => one.taken));
  return section("Tried so far", h("ul", { class: "tries" }, all.map((one, i) => h("li", { class: i === all.length - 1 ? "now" : null },
    h("button", { type: "button", class: "try", onClick: () => use(one) },
      h("span", { class: "try-text" }, h("b", null, one.name), " ", h("span", { class: "soft" }, one.description || "no description")),
      bar(one.taken / most), h("span", { class: "num" }, count(one.taken)))))));
}
