// The text with its words marked, and the sum behind the score.
import { h, percent, signed, type Child } from "../dom";
import { looks } from "../palette";
import { classAt, nameAt } from "../state";
import type { Linear, NodeView } from "../types";
import { fold, stack } from "../widgets";

const FAINT = 0.12; // of the strongest word; weaker ones are not marked
const OPEN = 900; // characters of a text before it is folded

/** The text; words that lead towards the class or towards the runner-up are marked by how much. */
export function marked(node: NodeView): Child {
  const letters = Array.from(node.text); // spans count code points
  if (!letters.length) return h("p", { class: "soft" }, "This node has no text; its neighbours answer for it.");
  const words = node.words;
  const spans = [...(words?.spans ?? [])].sort((a, b) => a.start - b.start);
  const weigh = (span: { share: number; lead: number }): number => (Number.isFinite(span.lead) ? span.lead : span.share);
  const most = Math.max(1e-12, ...spans.map((span) => Math.abs(weigh(span))));
  const made: Child[] = [];
  let at = 0;
  for (const span of spans) {
    const strength = Math.abs(weigh(span)) / most;
    if (span.start < at || strength < FAINT) continue;
    made.push(letters.slice(at, span.start).join(""));
    made.push(h("mark", {
      class: weigh(span) > 0 ? "for" : "against", vars: { "--s": (0.15 + 0.85 * strength).toFixed(2) },
      title: `${signed(weigh(span), 3)} for ${nameAt(words?.class)}`,
    }, letters.slice(span.start, span.end).join("")));
    at = span.end;
  }
  made.push(letters.slice(at).join(""));
  const text = h("p", { class: letters.length > OPEN ? "node-text long c" : "node-text c", vars: looks(classAt(words?.class ?? node.class)), dir: "auto" }, made);
  const more = letters.length > OPEN && h("button", {
    type: "button", class: "link", onClick: (event: Event) => { text.classList.remove("long"); (event.currentTarget as HTMLElement).remove(); },
  }, "Show the whole text");
  const key = words && spans.length > 0 && h("p", { class: "key small soft c", vars: looks(classAt(words.class)) },
    h("mark", { class: "for", vars: { "--s": "0.8" } }, "speaks for it"),
    words.against !== null && h("mark", { class: "against", vars: { "--s": "0.8" } }, `for ${nameAt(words.against)}`));
  return [text, more, key];
}

/** How much each reading and each hop counted; the numbers behind it are folded away. */
export function workings(node: NodeView): Child {
  const { readings, hops } = node;
  if (!readings?.length && !hops?.parts.length) return null;
  return h("section", { class: "part" },
    h("h2", null, "How it came about"),
    readings && readings.length > 0 && [
      h("p", { class: "small soft" }, `What speaks for ${nameAt(node.class)}`),
      stack(readings.map((reading) => ({ share: reading.part, name: reading.name })), "Readings"),
      keys(readings.map((reading) => [reading.name, percent(reading.part / (node.score || 1))])),
    ],
    hops && hops.parts.length > 1 && [
      h("p", { class: "small soft" }, "How far it looked"),
      stack(hops.parts.map((part) => ({ share: part.share, name: hopName(part.hop) })), "Hops"),
      keys(hops.parts.map((part) => [hopName(part.hop), percent(part.share)])),
    ],
    readings && readings.length > 0 && fold("The sum, in numbers",
      h("div", { class: "scroll" }, h("table", null,
        h("thead", null, h("tr", null, ["Reading", "Weight", "Probability", "Adds"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", null, readings.map((r) => h("tr", null,
          h("th", { scope: "row" }, r.name), h("td", null, r.weight.toFixed(2)), h("td", null, r.probability.toFixed(3)), h("td", null, r.part.toFixed(3))))),
        h("tfoot", null, h("tr", null, h("th", { scope: "row", colspan: 3 }, "Score"), h("td", null, (node.score ?? 0).toFixed(3)))))),
      readings.filter((r) => r.linear).map((r) => sum(r.name, r.linear as Linear))));
}

const hopName = (hop: number): string => (hop === 0 ? "own text" : hop === 1 ? "neighbours" : `${hop} hops away`);

function keys(pairs: [string, string][]): HTMLElement {
  return h("ul", { class: "keys" }, pairs.map(([name, value], i) => h("li", null, h("i", { class: `part-${i % 5}` }), name, " ", h("b", null, value))));
}

function sum(name: string, linear: Linear): HTMLElement {
  return h("p", { class: "sum small" }, h("b", null, `${name}: `),
    linear.parts.map((part) => h("span", null, `${part.name} ${signed(part.value, 3)} `)), h("span", null, `= ${linear.score.toFixed(3)}`));
}

