// One node: its text with the words that speak, all probabilities, neighbours, and how it came about.
import { ApiError, get } from "../api";
import { count, h, icon, many, sentence, sure, type Child } from "../dom";
import type { Live } from "../live";
import { looks } from "../palette";
import { NONE, classAt, nameAt, setFocus, state, type Focus } from "../state";
import type { NodeView } from "../types";
import { bar, chip, empty, fold, mark, nodeRow, ringing, section } from "../widgets";
import { answerBox } from "./answer";
import { head } from "./head";
import { decided, marked, workings } from "./node_parts";

const FIRST = 6; // probabilities before the fold
const LEAST = 0.005; // a probability below this is folded away, but for the first two
const NEAR = 8; // neighbours before the fold
const OUTSIDE = 0.8; // the score from which an open world answers none of these
const FLAGS: Record<string, string> = {
  "text disagrees": "Its own text alone speaks for another class.",
  "close call": "The runner-up is nearly as probable.",
  "neighbours disagree": "Most of its neighbours have another class.",
  "no text": "It has no text of its own.",
  "no neighbours": "It has no neighbours.",
};

const ALONE = ["no text", "no neighbours"]; // flags that do not speak of a class

export async function nodeView(id: string, live: Live): Promise<HTMLElement> {
  let node: NodeView;
  try {
    node = await get<NodeView>(`/view?id=${encodeURIComponent(id)}`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return h("article", null, head("Node", id), h("div", { role: "alert" }, empty("There is no such node in this run",
      h("p", null, "Search above for a part of its id or for words of its text."))));
  }
  const base = (): Focus => (node.x === null || node.y === null ? {} : {
    node: { position: node.position, class: node.class, x: node.x, y: node.y, neighbours: node.neighbours.filter((n) => Number.isFinite(n.x)) },
  });
  if (live.alive) setFocus({ ...base(), move: true });
  live.onEnd(() => setFocus({}));
  const neighbours = neighbourList(node);
  ringing(neighbours, base);
  return h("article", { class: "node" },
    head("Node", node.title || node.id,
      h("p", { class: "soft small id" }, node.id, node.added && h("span", { class: "tag" }, "added later"))),
    node.class === null ? outside(node) : verdict(node),
    state.run?.write ? answerBox(node, live) : null,
    section("Text", marked(node)),
    !node.known && section(node.class === null ? "If it had to be one of the classes" : "Probabilities", probabilities(node)),
    node.change && node.class !== null && section("What would change it", change(node.change)),
    section(node.degree ? many(node.degree, "neighbour") : "No neighbours", neighbours),
    workings(node));
}

/** What would have to be different for the runner-up to win, as it was tried out. */
function change(found: NonNullable<NodeView["change"]>): Child {
  if (!found.needs.length) return h("p", null, found.sentence);
  return [
    h("p", { class: "change" }, chip(found.runner_up), " would win"),
    h("ul", { class: "plain-list" }, found.needs.map((need) => h("li", null, need.text))),
  ];
}

function verdict(node: NodeView): HTMLElement {
  const item = classAt(node.class);
  const said = node.known ? "label given" : sure(node.confidence);
  return h("div", { class: "verdict c", vars: looks(item) },
    h("div", { class: "verdict-row" }, chip(node.class), h("b", null, said)),
    !node.known && bar(node.confidence ?? 0, looks(item)),
    node.reason && h("p", { class: "small" }, decided(node) ?? sentence(node.reason)),
    !node.known && node.flags.length > 0 && flagged(node.flags));
}

/** A node of none of the classes: the class it is most like says nothing about how sure that is. */
function outside(node: NodeView): HTMLElement {
  const said = /^people said/.test(node.reason ?? "");
  const why = said ? sentence(node.reason ?? "")
    : (node.background ?? 0) >= OUTSIDE ? "It fits none of the classes well." : "No class is probable enough.";
  const flags = node.flags.filter((flag) => ALONE.includes(flag));
  return h("div", { class: "verdict c", vars: looks(null) },
    h("div", { class: "verdict-row" }, chip(null)),
    h("p", { class: "small" }, why),
    flags.length > 0 && flagged(flags));
}

const flagged = (flags: string[]): HTMLElement =>
  h("ul", { class: "flags small" }, flags.map((flag) => h("li", null, icon("warn"), FLAGS[flag] ?? flag)));

function probabilities(node: NodeView): Child {
  const offered = node.probabilities.map((p, i) => [p, i] as const).filter(([p, i]) => p > 0 || (classAt(i)?.allowed ?? true));
  const rank = (i: number): number => (i === node.class ? 0 : i === node.runner_up ? 1 : 2); // of equal ones
  const order = offered.sort((a, b) => b[0] - a[0] || rank(a[1]) - rank(b[1]));
  const left = node.probabilities.length - order.length;
  const row = ([p, i]: readonly [number, number]): HTMLElement => {
    const item = classAt(i);
    return h("li", null,
      h("a", { class: "prob", href: `#/class/${encodeURIComponent(nameAt(i))}` },
        h("span", { class: "class-text" }, mark(item), h("span", null, nameAt(i))),
        bar(p, looks(item)), h("span", { class: "num" }, sure(p))));
  };
  const open = Math.max(2, order.slice(0, FIRST).filter(([p]) => p >= LEAST).length);
  const rest = order.slice(open);
  return [
    h("ul", { class: "probs" }, order.slice(0, open).map(row)),
    rest.length > 0 && fold(many(rest.length, "more class", "more classes"), h("ul", { class: "probs" }, rest.map(row))),
    left > 0 && h("p", { class: "soft small" }, `${many(left, "class", "classes")} with labels of their own ${left === 1 ? "was" : "were"} not offered.`),
    node.background !== null && h("p", { class: "soft small" }, fit(node.background)),
  ];
}

/** Among the classes, probabilities add up to one however badly all of them fit; this says how they fit. */
const fit = (background: number): string =>
  `${background >= OUTSIDE ? "It fits none of the classes well" : background >= OUTSIDE / 2 ? "It fits the classes moderately well" : "It fits the classes well"}: as an outsider it scores ${background.toFixed(2)}, and from ${OUTSIDE} on the answer is “${NONE}”.`;

function neighbourList(node: NodeView): HTMLElement {
  if (!node.neighbours.length) return h("p", { class: "soft" }, node.text ? "No edge leads from this node; its text alone decided." : "No edge leads from this node.");
  const agree = node.neighbours.filter((n) => n.class === node.class).length;
  const rows = node.neighbours.map((other) => nodeRow(other));
  return h("div", null,
    h("p", { class: "soft small" }, `${agree} of ${count(node.neighbours.length)} shown ${node.class === null ? `${agree === 1 ? "is" : "are"} ${NONE}, too` : `${agree === 1 ? "has" : "have"} the same class`}.`),
    h("ul", { class: "node-list" }, rows.slice(0, NEAR)),
    rows.length > NEAR && fold(`${count(rows.length - NEAR)} more`, h("ul", { class: "node-list" }, rows.slice(NEAR))),
    node.neighbours_more > 0 && h("p", { class: "soft small" }, `and ${count(node.neighbours_more)} more in the graph`));
}
