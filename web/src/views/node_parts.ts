// The text with its words marked, and the sum behind the score.
import { h, percent, signed, type Child } from "../dom";
import { looks } from "../palette";
import { classAt, nameAt } from "../state";
import type { Linear, NodeView, Reading } from "../types";
import { fold, stack } from "../widgets";

const FAINT = 0.12; // of the strongest word; weaker ones are not marked
const OPEN = 900; // characters of a text before it is folded

/** The text; words that lead towards the class or towards the runner-up are marked by how much. */
export function marked(node: NodeView): Child {
  const letters = Array.from(node.text); // spans count code points
  if (!letters.length) return h("p", { class: "soft" }, node.degree
    ? "This node has no text; its neighbours answer for it." : "This node has neither text nor neighbours: its answer is a guess.");
  const words = node.words;
  const spans = [...(words?.spans ?? [])].sort((a, b) => a.start - b.start);
  const weigh = (span: { share: number; lead: number }): number => (words?.against == null ? span.share : span.lead);
  const most = Math.max(1e-12, ...spans.map((span) => Math.abs(weigh(span))));
  const made: Child[] = [];
  let at = 0;
  for (const span of spans) {
    const strength = Math.abs(weigh(span)) / most;
    if (span.start < at || strength < FAINT) continue;
    made.push(letters.slice(at, span.start).join(""));
    made.push(h("mark", {
      class: weigh(span) > 0 ? "for" : "against", vars: { "--s": (0.15 + 0.85 * strength).toFixed(2) },
      title: `${signed(weigh(span), 3)} for ${nameAt(words?.class)}${words?.against == null ? "" : ` over ${nameAt(words.against)}`}`,
    }, letters.slice(span.start, span.end).join("")));
    at = span.end;
  }
  made.push(letters.slice(at).join(""));
  const text = h("p", { class: letters.length > OPEN ? "node-text long c" : "node-text c", vars: looks(classAt(words?.class ?? node.class)), dir: "auto" }, made);
  const more = letters.length > OPEN && h("button", {
    type: "button", class: "link", onClick: (event: Event) => { text.classList.remove("long"); (event.currentTarget as HTMLElement).remove(); },
  }, "Show the whole text");
  const key = words && spans.length > 0 && h("p", { class: "key small soft c", vars: looks(classAt(words.class)) },
    h("mark", { class: "for", vars: { "--s": "0.8" } }, node.class === words.class ? "speaks for it" : `for ${nameAt(words.class)}`),
    (words.against !== null || spans.some((span) => weigh(span) < 0)) &&
      h("mark", { class: "against", vars: { "--s": "0.8" } }, words.against === null ? "speaks against it" : `for ${nameAt(words.against)}`));
  return [text, more, key];
}

/** Who decided, in words; null where there is nothing to tell apart. */
export function decided(node: NodeView): string | null {
  const shares = (node.hops?.parts ?? []).map((part) => part.share);
  if (node.known || shares.length < 2 || !node.neighbours.length) return null;
  const [own = 0, near = 0, ...more] = shares;
  const all: [string, number][] = [["its own text", own], ["its neighbours", near], ["nodes further away", more.reduce((sum, s) => sum + s, 0)]];
  const [most, ...rest] = all.filter(([, share]) => share >= 0.005).sort((a, b) => b[1] - a[1]).map(([name, share]) => `${name} (${percent(share)})`);
  const agree = node.neighbours.filter((other) => other.class === node.class).length;
  const last = rest.pop();
  const who = last ? `${[most, ...rest].join(", ")} and ${last}` : most;
  const of = node.neighbours.length;
  const have = of === 1 ? `Its only neighbour has ${agree ? "this" : "another"} class.` : `${agree} of ${of} neighbours ${agree === 1 ? "has" : "have"} this class.`;
  return `Decided by ${who}. ${have}`;
}

/** How much each reading and each hop counted; the numbers behind it are folded away. */
export function workings(node: NodeView): Child {
  const readings = node.readings ?? [];
  const parts = readings.filter((reading) => reading.part !== null);
  const hops = (node.hops?.parts ?? []).filter((part) => part.share > 0);
  if (node.known || node.class === null || (!readings.length && !hops.length)) return null;
  return h("section", { class: "part" },
    h("h2", null, "How it came about"),
    hops.length > 0 && [
      h("p", { class: "small soft" }, "How far it looked"),
      stack(near(hops), "Hops"),
      keys(near(hops).map((part) => [part.name, percent(part.share)])),
    ],
    readings.length > 0 && fold("The sum, in numbers",
      parts.length > 1 && h("p", { class: "small soft" }, `The score for ${nameAt(node.class)} is a weighted mean of ${parts.length} ways to read the graph.`),
      parts.length > 0 && table(node, parts),
      readings.map((r) => r.linear && sum(way(r.name), r.linear))));
}

/** Hops up to the third by name, those beyond together. */
function near(hops: { hop: number; share: number }[]): { name: string; share: number }[] {
  const far = hops.filter((part) => part.hop > 3).reduce((total, part) => total + part.share, 0);
  return [...hops.filter((part) => part.hop <= 3).map((part) => ({ name: hopName(part.hop), share: part.share })),
    ...(far > 0 ? [{ name: "further", share: far }] : [])];
}

function table(node: NodeView, parts: Reading[]): HTMLElement {
  const number = (value: number | null, digits: number): string => (value === null ? "–" : value.toFixed(digits));
  return h("div", { class: "scroll" }, h("table", null,
    h("thead", null, h("tr", null, ["Way", "Weight", "Probability", "Adds"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", null, parts.map((r) => h("tr", null,
      h("th", { scope: "row" }, way(r.name)), h("td", null, number(r.weight, 2)), h("td", null, number(r.probability, 3)), h("td", null, number(r.part, 3))))),
    h("tfoot", null, h("tr", null, h("th", { scope: "row", colspan: 3 }, "Score"), h("td", null, number(node.score, 3))))));
}

/** What a reading compares, in words that do not look like the shares above. */
const WAYS: Record<string, string> = {
  "own text": "its text with the class texts",
  "hops around it": "texts around it with the class texts",
  "messages of neighbours": "what its neighbours are",
  "nodes with similar texts": "what nodes with similar texts are",
  "labelled nodes": "labelled nodes like it",
};
const way = (name: string): string => WAYS[name] ?? name;

const hopName = (hop: number): string => (hop === 0 ? "own text" : hop === 1 ? "neighbours" : `${hop} hops away`);

function keys(pairs: [string, string][]): HTMLElement {
  return h("ul", { class: "keys" }, pairs.map(([name, value], i) => h("li", null, h("i", { class: `part-${i % 5}` }), name, " ", h("b", null, value))));
}

function sum(name: string, linear: Linear): HTMLElement {
  return h("div", { class: "sum" }, h("h3", null, name),
    h("table", null,
      h("tbody", null, linear.parts.map((part) => h("tr", null, h("th", { scope: "row" }, part.name), h("td", null, signed(part.value, 3))))),
      h("tfoot", null, h("tr", null, h("th", { scope: "row" }, "Sum"), h("td", null, linear.score.toFixed(3))))));
}

