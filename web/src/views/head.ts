// The top of a panel: a title that takes the focus, and the way back to the map.
import { h, icon, type Child } from "../dom";

export function head(kind: string, title: Child, ...more: Child[]): HTMLElement {
  return h("div", { class: "panel-head" },
    h("div", { class: "panel-bar" },
      h("span", { class: "kind" }, kind),
      h("a", { class: "ghost", href: "#/", "aria-label": "Close, back to the map" }, icon("close"))),
    h("h1", { tabindex: -1 }, title),
    more);
}
