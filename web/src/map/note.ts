// What a stranger needs to know before the first click, and what the run warns of; put away for good once read.
import { count, h, icon } from "../dom";
import { state } from "../state";
import { fold, warnings } from "../widgets";

const READ = "unseen-map-note"; // which run it was put away for

export function note(): HTMLElement | null {
  const { run } = state;
  if (!run) return null;
  const mine = `${run.name} ${run.nodes} ${run.warnings.length}`;
  if (localStorage.getItem(READ) === mine) return null;
  const away = (): void => { localStorage.setItem(READ, mine); box.remove(); };
  const box: HTMLElement = h("aside", { class: "map-note", "aria-label": "How to read the map" },
    h("p", null, h("b", null, `${count(run.nodes)} nodes, ${count(run.classes)} classes.`),
      h("span", { class: "wide-only" }, " Dots lie close where texts and neighbours are alike."),
      " Choose a dot to see why it has its class."),
    h("button", { type: "button", class: "ghost", "aria-label": "Put this note away", onClick: away }, icon("close")),
    run.warnings.length > 0 && fold(run.warnings.length === 1 ? "One thing to mind" : `${count(run.warnings.length)} things to mind`, warnings(run.warnings)));
  return box;
}
