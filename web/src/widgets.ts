// Small parts that several views share.
import { h, icon, percent, sentence, sure, svg, type Child } from "./dom";
import { SHAPES, looks, shapeOf } from "./palette";
import { NONE, classAt, setFocus } from "./state";
import type { Brief, ClassItem, Hit, Interval } from "./types";

export const nodeLink = (id: string): string => `#/node/${encodeURIComponent(id)}`;
export const classLink = (name: string): string => `#/class/${encodeURIComponent(name)}`;

export function mark(item: Pick<ClassItem, "color"> | null): HTMLElement {
  return h("i", { class: `mark c ${SHAPES[shapeOf(item)]}`, vars: looks(item), "aria-hidden": "true" });
}

/** A class by name with its sign; a link unless it is none of them. */
export function chip(index: number | null, more?: Child): HTMLElement {
  const item = classAt(index);
  const inside: Child[] = [mark(item), h("span", null, item?.name ?? NONE), more];
  return item ? h("a", { class: "chip", href: classLink(item.name) }, inside) : h("span", { class: "chip" }, inside);
}

export const arrow = (): HTMLElement => h("span", { class: "arrow" }, h("span", { class: "sr" }, "to"), h("span", { "aria-hidden": "true" }, "→"));

/** What to show of a hit below its title: the text around the words, unless the title has them. */
export const around = (hit: Hit): string =>
  hit.match === "id" || hit.title.slice(0, 12) === hit.snippet.slice(0, 12) ? hit.id : hit.snippet;

export function classText(index: number | null): HTMLElement {
  const item = classAt(index);
  return h("span", { class: "class-text" }, mark(item), h("span", null, item?.name ?? NONE));
}

/** A node in a list: its title, class and confidence; `extra` stands below the title. */
export function nodeRow(brief: Brief, extra?: Child): HTMLElement {
  const said = brief.label?.disagreement ? "people disagree" : brief.label ? "answered" : brief.known ? "label given" : null;
  return h("li", { "data-position": brief.position },
    h("a", { class: "node-row", href: nodeLink(brief.id), title: brief.id },
      h("span", { class: "node-title" }, brief.title || brief.id),
      h("span", { class: "node-about" },
        extra ?? classText(brief.class),
        !(extra && brief.known) && said && h("span", { class: "tag" }, said)),
      !brief.known && brief.class !== null && brief.confidence !== null &&
        h("span", { class: "node-figure", title: "confidence" }, sure(brief.confidence))));
}

/** A list of nodes whose rows ring their dots on the map while they are pointed at. */
export function nodeList(briefs: Brief[], empty: string, extra?: (brief: Brief) => Child): HTMLElement {
  if (!briefs.length) return h("p", { class: "soft" }, empty);
  return h("ul", { class: "node-list" }, briefs.map((brief) => nodeRow(brief, extra?.(brief))));
}

export function bar(share: number, vars: Record<string, string> = {}, label?: string): HTMLElement {
  const width = `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`;
  return h("span", { class: "bar c", vars: { ...vars, "--w": width }, role: label ? "img" : null, "aria-label": label ?? null }, h("i"));
}

export function stack(parts: { share: number; name: string; vars?: Record<string, string> }[], label: string): HTMLElement {
  const total = parts.reduce((sum, part) => sum + Math.max(0, part.share), 0) || 1;
  return h("div", { class: "stack", role: "img", "aria-label": `${label}: ${parts.map((p) => `${p.name} ${percent(p.share / total)}`).join(", ")}` },
    parts.filter((part) => part.share > 0).map((part, i) =>
      h("i", { class: `part-${i % 5}`, vars: { "--w": `${((100 * part.share) / total).toFixed(2)}%`, ...part.vars }, title: `${part.name}: ${percent(part.share / total)}` })));
}

/** Counts of confidence from 0 to 1 as a small picture. */
export function histogram(counts: number[]): Element {
  const most = Math.max(1, ...counts);
  const step = 200 / counts.length;
  const bars = counts.map((value, i) => {
    const height = value ? Math.max(1.5, (48 * value) / most) : 0;
    return svg("rect", { x: (i * step + 0.75).toFixed(2), y: (48 - height).toFixed(2), width: (step - 1.5).toFixed(2), height: height.toFixed(2) });
  });
  const box = svg("svg", { viewBox: "0 0 200 48", preserveAspectRatio: "none", class: "histogram", role: "img", "aria-label": "Nodes by confidence, from 0 on the left to 1 on the right" });
  box.append(...bars);
  return h("div", { class: "histogram-box" }, box, h("div", { class: "axis" }, h("span", null, "0%"), h("span", null, "confidence"), h("span", null, "100%")));
}

/** A share with its interval: a tick between two ends. */
export function interval(found: Interval): HTMLElement {
  const at = (v: number): string => `${(100 * v).toFixed(1)}%`;
  return h("div", {
    class: "interval", vars: { "--low": at(found.low), "--high": at(found.high), "--at": at(found.value) }, role: "img",
    "aria-label": `${percent(found.value)}, between ${percent(found.low)} and ${percent(found.high)}`,
  }, h("i"), h("b"));
}

export function warnings(texts: string[]): Child {
  return texts.length > 0 && h("ul", { class: "warnings" }, texts.map((text) => h("li", null, icon("warn"), h("span", null, text))));
}

export function fold(title: Child, ...children: Child[]): HTMLElement {
  return h("details", { class: "fold" }, h("summary", null, icon("down"), h("span", null, title)), children);
}

export function section(title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: "part" }, h("h2", null, title), children);
}

export function loading(): HTMLElement {
  return h("div", { class: "loading", role: "status", "aria-label": "Loading" }, h("i"), h("i"), h("i"), h("i"));
}

export function problem(error: unknown, again?: () => void): HTMLElement {
  const text = sentence(error instanceof Error ? error.message : String(error));
  return h("div", { class: "empty", role: "alert" }, icon("warn"), h("p", null, text),
    again && h("button", { type: "button", class: "plain", onClick: again }, "Try again"));
}

export function empty(title: string, ...more: Child[]): HTMLElement {
  return h("div", { class: "empty" }, h("h2", null, title), more);
}

/** Ring nodes on the map while one of a list is pointed at or focused. */
export function ringing(box: HTMLElement, base: () => Parameters<typeof setFocus>[0]): void {
  const act = (event: Event): void => {
    const row = (event.target as HTMLElement).closest<HTMLElement>("[data-position]");
    const leave = event.type === "pointerout" || event.type === "focusout";
    if (row) setFocus({ ...base(), move: false, ...(leave ? {} : { rings: [Number(row.dataset["position"])] }) });
  };
  for (const kind of ["pointerover", "pointerout", "focusin", "focusout"]) box.addEventListener(kind, act);
}
