// One node to answer: its text, the guess, the other likely classes, and all the rest by name.
import { count, fill, h, icon, sure, type Child } from "../dom";
import { looks } from "../palette";
import { classAt, nameAt, state } from "../state";
import type { Task } from "../types";
import { bar, mark, nodeLink } from "../widgets";
import type { Said } from "./answer";

export type Kind = "errors" | "teach";
export const KINDS: [Kind, string, string][] = [
  ["errors", "Most likely wrong", "The answers most in doubt come first: correct the worst ones."],
  ["teach", "Would teach most", "Nodes come first that tell most about others: a few labels go far."],
];
const LISTED = 4; // other classes with a key of their own: 2 to 5
const FOUND = 6;

export function card(task: Task, left: number | null, answer: (said: Said) => void, undo: () => void): HTMLElement {
  const guess = classAt(task.class);
  const others = task.top.filter((each) => each.class !== task.class).slice(0, LISTED);
  const option = (index: number, p: number, key: string): HTMLElement => {
    const item = classAt(index);
    return h("button", { type: "button", class: "choice", onClick: () => answer({ kind: "class", class: nameAt(index) }) },
      h("kbd", null, key), mark(item), h("span", { class: "choice-name" }, nameAt(index)), bar(p, looks(item)), h("span", { class: "num" }, sure(p)));
  };
  return h("div", { class: "card", tabindex: -1, role: "group", "aria-label": `${task.title}. The guess is ${guess?.name ?? "none of these"}.` },
    h("div", { class: "card-text" },
      h("p", { class: "soft small id" }, h("a", { href: nodeLink(task.id) }, task.id)),
      h("p", { class: "card-body", dir: "auto" }, task.text || h("span", { class: "soft" }, "This node has no text; open it to see its neighbours."))),
    h("div", { class: "card-choices" },
      h("p", { class: "soft small" }, "Which class is it?"),
      h("button", { type: "button", class: "choice guess c", vars: looks(guess), onClick: () => answer(guess ? { kind: "class", class: guess.name } : { kind: "none" }) },
        h("kbd", null, "↵"), mark(guess), h("span", { class: "choice-name" }, guess?.name ?? "none of these"), guess && bar(task.confidence ?? 0, looks(guess)), guess && h("span", { class: "num" }, sure(task.confidence))),
      others.map((each, i) => option(each.class, each.probability, String(i + 2))),
      finder((name) => answer({ kind: "class", class: name })),
      h("div", { class: "row wrap" },
        h("button", { type: "button", class: "plain", onClick: () => answer({ kind: "none" }) }, "None of these", h("kbd", null, "N")),
        h("button", { type: "button", class: "plain", onClick: () => answer({ kind: "skip" }) }, "Skip", h("kbd", null, "S")),
        h("button", { type: "button", class: "plain only-phone", onClick: undo }, icon("undo"), "Undo"),
        left !== null && h("span", { class: "soft small push" }, `${count(left)} left`))));
}

/** A field that finds a class by a part of its name; Enter takes the first. */
function finder(choose: (name: string) => void): Child {
  const list = h("ul", { class: "found" });
  const found = (): string[] => {
    const low = field.value.toLowerCase().trim();
    return low ? (state.classes?.items ?? []).map((item) => item.name).filter((name) => name.toLowerCase().includes(low)).slice(0, FOUND) : [];
  };
  const field: HTMLInputElement = h("input", {
    type: "text", class: "finder-field", placeholder: "Another class", "aria-label": "Another class: type a part of its name, then Enter", autocomplete: "off",
    onInput: () => fill(list, found().map((name) => h("li", null,
      h("button", { type: "button", class: "choice", onClick: () => choose(name) }, mark(state.classes?.items.find((item) => item.name === name) ?? null), h("span", { class: "choice-name" }, name))))),
    onKeydown: (event: KeyboardEvent) => {
      const [first] = found();
      if (event.key === "Enter" && first) { event.preventDefault(); choose(first); }
      if (event.key === "Escape") { field.value = ""; list.replaceChildren(); field.blur(); }
      event.stopPropagation();
    },
  });
  return h("div", { class: "class-finder" }, h("kbd", null, "C"), field, list);
}
