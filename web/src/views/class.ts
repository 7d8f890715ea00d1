// One class: how many it takes against what its text predicts, whom it is confused with, its nodes.
import { get } from "../api";
import { count, h, icon, many, percent, type Child } from "../dom";
import type { Live } from "../live";
import { looks } from "../palette";
import { classNamed, nameAt, setFocus, state, type Focus } from "../state";
import type { Brief, ClassView, Page } from "../types";
import { bar, chip, classLink, empty, histogram, mark, nodeList, nodeRow, ringing, section, warnings } from "../widgets";
import { head } from "./head";

const LONG = 260; // characters of a description before it is cut

export async function classView(name: string, live: Live): Promise<HTMLElement> {
  const item = classNamed(name);
  if (!item) return h("article", null, head("Class", name), empty("There is no such class in this version",
    h("p", null, "It may have been renamed or removed. ", h("a", { href: "#/versions" }, "Look at the versions"), " or ", h("a", { href: "#/edit" }, "add it"), ".")));
  const found = await get<ClassView>(`/classes/${item.index}`);
  const base = (): Focus => ({ class: item.index });
  if (live.alive) setFocus({ ...base(), move: true });
  live.onEnd(() => setFocus({}));
  const lists = nodes(found, item.index);
  ringing(lists, base);
  return h("article", { class: "class-view" },
    head("Class", [mark(item), found.name], about(found.description)),
    state.run?.write && state.run.can_edit_classes &&
      h("a", { class: "button", href: `#/edit/${encodeURIComponent(found.name)}` }, icon("edit"), "Edit"),
    !found.allowed && h("p", { class: "soft part" }, "This class has labels only: nodes without a label are answered among the other classes."),
    warnings(found.warnings),
    found.allowed && size(found),
    found.nodes > 0 && section("Confidence", h("div", { class: "c", vars: looks(item) }, histogram(found.histogram)),
      h("p", { class: "soft small" }, `Mean ${percent(found.confidence)}.`, people(found))),
    found.confused.some((other) => other.nodes > 0 || other.hard) && section("Confused with", h("p", { class: "soft small" }, "Runner-up of this many of its nodes."), confused(found)),
    section("Its nodes", lists));
}

/** The description; a long one is cut until it is asked for. */
function about(text: string | null): Child {
  if (!text) return null;
  const box = h("p", { class: text.length > LONG ? "lead cut" : "lead" }, text);
  return [box, text.length > LONG && h("button", { type: "button", class: "link", onClick: (event: Event) => {
    box.classList.remove("cut");
    (event.currentTarget as HTMLElement).remove();
  } }, "Show all of it")];
}

function people(found: ClassView): Child {
  const { agree, correct } = found.people;
  return agree + correct > 0 && ` People confirmed ${count(agree)} of its answers and corrected ${count(correct)}.`;
}

function size(found: ClassView): HTMLElement {
  const expected = found.expected;
  const most = Math.max(1, found.nodes, expected ?? 0);
  return section("Size",
    h("ul", { class: "compare-bars c", vars: looks(found) },
      h("li", null, h("span", { class: "soft" }, "Takes"), bar(found.nodes / most, looks(found)), h("b", null, count(found.nodes))),
      expected !== null && h("li", { class: "pale" }, h("span", { class: "soft" }, "Its text predicts"), bar(expected / most, looks(found)), h("b", null, count(Math.round(expected))))),
    found.known > 0 && h("p", { class: "soft small" }, `Besides, ${many(found.known, "node")} had this label from the beginning.`));
}

function confused(found: ClassView): HTMLElement {
  return h("ul", { class: "confused" }, found.confused.filter((other) => other.nodes > 0 || other.hard).map((other) => h("li", null,
    h("a", { class: "confused-row", href: classLink(nameAt(other.class)) }, chipText(other.class), h("span", { class: "num" }, many(other.nodes, "node"))),
    other.hard && other.text && h("p", { class: "soft small" }, other.text))));
}

const chipText = (index: number): HTMLElement => {
  const made = chip(index);
  return h("span", { class: "class-text" }, ...Array.from(made.childNodes));
};

type Order = "surest" | "least";
const MORE = 50;

/** Two lists under two tabs; each grows page by page until all nodes of the class are there. */
function nodes(found: ClassView, index: number): HTMLElement {
  const box = h("div", { role: "tabpanel", id: "class-nodes" });
  const names: [Order, string][] = [["surest", "Surest"], ["least", "Least sure"]];
  const tabs = names.map(([order, label]) => h("button", {
    type: "button", role: "tab", class: "tab", "aria-controls": "class-nodes", onClick: () => open(order),
  }, label));
  const open = (order: Order): void => {
    tabs.forEach((tab, i) => tab.setAttribute("aria-selected", String(names[i]?.[0] === order)));
    const list = nodeList(found[order], "No node has this class. Try other words in its description: those that its nodes use.", runnerUp);
    box.replaceChildren(list);
    if (found[order].length && found.nodes + found.known > found[order].length) box.append(growing(list, order, index));
  };
  open("surest");
  if (!found.nodes) return h("div", null, box); // labels only: there is nothing to be sure of
  return h("div", null, h("div", { class: "tabs", role: "tablist", "aria-label": "Nodes of the class" }, tabs), box);
}

const runnerUp = (brief: Brief): Child =>
  brief.known ? "label given" : brief.runner_up === null ? null : h("span", { class: "class-text" }, "then ", mark(state.classes?.items[brief.runner_up] ?? null), h("span", null, nameAt(brief.runner_up)));

function growing(list: HTMLElement, order: Order, index: number): HTMLElement {
  let cursor: string | null = "";
  const button: HTMLButtonElement = h("button", { type: "button", class: "plain wide", onClick: async () => {
    button.disabled = true;
    try {
      const page: Page<Brief> = await get(`/nodes?class=${index}&order=${order}&limit=${MORE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
      if (cursor === "") list.replaceChildren();
      list.append(...page.items.map((brief) => nodeRow(brief, runnerUp(brief))));
      cursor = page.next;
      button.hidden = cursor === null;
    } finally {
      button.disabled = false;
    }
  } }, "Show more");
  return button;
}
