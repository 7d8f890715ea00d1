// The list of classes beside the map: shows, hides, singles out, and leads to each class.
import { count, fill, h, icon } from "./dom";
import { NONE, only, on, showAll, state, toggle } from "./state";
import { classLink, mark } from "./widgets";
import type { ClassItem } from "./types";

const KEYS = [["", "sure"], ["pale", "unsure"], ["open", "label given"]] as const; // how a dot tells what is known
const SEARCHED = 14; // from this many classes on, there is a field to find one

function row(index: number, item: ClassItem | null, nodes: number): HTMLElement {
  const name = item?.name ?? NONE;
  const shown = !state.hidden.has(index);
  return h("li", { class: shown ? "legend-row" : "legend-row off", "data-name": name.toLowerCase() },
    h("button", {
      type: "button", class: "legend-toggle", "aria-pressed": String(shown), "aria-label": `Show ${name} on the map`,
      title: shown ? "Hide on the map" : "Show on the map", onClick: () => toggle(index),
    }, mark(item)),
    item
      ? h("a", { class: "legend-name", href: classLink(name), title: item.description || name }, name,
          item.warnings.length > 0 && h("span", { class: "legend-warn", title: item.warnings.join("\n") }, icon("warn"), h("span", { class: "sr" }, "has a warning")))
      : h("span", { class: "legend-name" }, name),
    h("button", { type: "button", class: "legend-only", "aria-label": `Show ${name} alone`, onClick: () => only(index) }, "only"),
    h("span", { class: "legend-count" }, count(nodes)));
}

export function legend(box: HTMLElement): void {
  let typed = "";
  const list = h("ul", { class: "legend-list" });
  const find = h("input", {
    type: "search", class: "legend-find", placeholder: "Find a class", "aria-label": "Find a class",
    onInput: () => { typed = find.value.toLowerCase().trim(); sift(); },
  });
  const all = h("button", { type: "button", class: "link", onClick: showAll }, "show all");
  const heading = h("h2", null, "Classes");
  const add = h("a", { class: "button wide", href: "#/edit" }, icon("plus"), "Add a class");

  function sift(): void {
    for (const each of Array.from(list.children) as HTMLElement[]) {
      each.hidden = typed !== "" && !each.dataset["name"]?.includes(typed);
    }
  }
  function draw(): void {
    const { classes } = state;
    if (!classes) return;
    const held = document.activeElement instanceof HTMLElement && list.contains(document.activeElement)
      ? document.activeElement.getAttribute("aria-label") : null;
    const items = [...classes.items].sort((a, b) => b.nodes + b.known - a.nodes - a.known);
    fill(list,
      items.map((item) => row(item.index, item, item.nodes + item.known)),
      classes.none > 0 && row(-1, null, classes.none));
    heading.textContent = `${count(items.length)} classes`;
    find.hidden = items.length < SEARCHED;
    all.hidden = state.hidden.size === 0;
    add.hidden = !state.run?.can_add_classes || !state.run.write;
    sift();
    if (held) list.querySelector<HTMLElement>(`[aria-label="${CSS.escape(held)}"]`)?.focus();
  }
  fill(box,
    h("div", { class: "legend-head" }, heading, all),
    find, list,
    h("div", { class: "legend-foot" },
      h("ul", { class: "dot-keys soft small" }, KEYS.map(([look, means]) => h("li", null, h("i", { class: `dot ${look}` }), means))), add));
  on("version", draw);
  on("run", draw);
  on("filter", draw);
  draw();
}
