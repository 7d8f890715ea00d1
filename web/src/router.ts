// From the address to a view: #/node/ID, #/class/NAME, #/edit, #/search/WORDS, #/teach, #/versions.
import { byId, fill, h } from "./dom";
import { on, setFocus } from "./state";
import type { Live, View } from "./live";
import { classView } from "./views/class";
import { changesView } from "./views/changes";
import { editor } from "./views/editor";
import { nodeView } from "./views/node";
import { searchView } from "./views/results";
import { teach } from "./views/teach";
import { versions } from "./views/versions";
import { empty, loading, problem } from "./widgets";

interface Place { view: View | null; layout: string; tab: string; reloads: boolean; title: string; rest: string }

function placeOf(hash: string): Place {
  const [, name = "", ...more] = hash.split("/");
  const rest = decoded(more.join("/"));
  const place = (view: View | null, layout: string, tab: string, title: string, reloads = false): Place =>
    ({ view, layout, tab, title, reloads, rest });
  switch (name) {
    case "": return place(null, "map", "map", "Map");
    case "node": return place(nodeView, "side", "map", rest, true);
    case "class": return place(classView, "side", "map", rest, true);
    case "edit": return place(editor, "tool", "map", rest ? `Edit ${rest}` : "Add a class");
    case "search": return place(searchView, "tool", "map", `Search: ${rest}`);
    case "teach": return place(teach, "page", "teach", "Teach");
    case "versions": return rest
      ? place(changesView, "page", "versions", `Version ${rest}`)
      : place(versions, "page", "versions", "Versions");
    default: return place(async () => empty("No such page", h("p", null, h("a", { href: "#/" }, "Go to the map"), ", or search above for a node or a class.")), "page", "", "No such page");
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let live: Live | null = null;
let first = true;

/** Set the layout that the address asks for, and return its place. */
export function route(): Place {
  const place = placeOf(location.hash);
  byId("main").dataset["layout"] = place.layout;
  byId("panel").hidden = place.view === null;
  document.title = `${place.title} · unseen`;
  document.querySelectorAll<HTMLElement>("[data-view]").forEach((link) => {
    if (link.dataset["view"] === place.tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
  return place;
}

function show(quiet = false): void {
  const place = route();
  const panel = byId("panel");
  live?.end();
  live = null;
  if (!place.view) {
    panel.replaceChildren();
    setFocus({});
    return;
  }
  const mine = newLive();
  live = mine;
  if (!quiet) panel.scrollTop = 0;
  const wait = window.setTimeout(() => { if (mine.alive && !quiet) fill(panel, loading()); }, 120);
  place.view(place.rest, mine).then(
    (made) => {
      if (!mine.alive) return;
      fill(panel, made);
      if (!quiet && !first) panel.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
      if (!quiet) window.scrollTo(0, 0);
      first = false;
    },
    (error: unknown) => {
      if (mine.alive) fill(panel, problem(error, () => show()));
    },
  ).finally(() => clearTimeout(wait));
}

function newLive(): Live {
  const ends: (() => void)[] = [];
  const made: Live = {
    alive: true,
    onEnd: (act) => void ends.push(act),
    end: () => { made.alive = false; ends.forEach((act) => act()); },
    again: () => { if (made.alive) show(true); },
  };
  return made;
}

export function follow(): void {
  window.addEventListener("hashchange", () => show());
  on("version", () => { if (placeOf(location.hash).reloads) show(true); });
  document.addEventListener("keydown", (event) => {
    const busy = (event.target as HTMLElement).closest("input, textarea, dialog");
    const layout = byId("main").dataset["layout"];
    if (event.key === "Escape" && !busy && (layout === "side" || layout === "tool")) location.hash = "#/";
  });
  show();
}
