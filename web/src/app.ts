// Starts the page: first the frame and the classes, then the map; afterwards the address decides.
import { person, whoIsIt } from "./api";
import { failed, notice } from "./ask";
import { byId, count, fill, h, icon } from "./dom";
import { watchJobs } from "./jobs";
import { legend } from "./legend";
import { follow, route } from "./router";
import { search } from "./search";
import { on, poll, refresh, state } from "./state";
import { empty, nodeLink, problem } from "./widgets";

function showRun(): void {
  const { run } = state;
  if (!run) return;
  const nodes = count(run.nodes + run.added_nodes);
  fill(byId("run-name"), run.name);
  byId("run-name").title = `${nodes} nodes, ${count(run.edges)} edges, version ${run.version}`;
}

function showPerson(): void {
  const name = person();
  const box = byId("person");
  box.setAttribute("aria-label", name ? `You are ${name}; change your name` : "Say who you are");
  fill(box, icon("person"), h("span", null, name || "Your name"));
}

async function startMap(): Promise<void> {
  const box = byId("map");
  try {
    const [{ MapView }, { briefAt }] = await Promise.all([import("./map/view"), import("./map/tip")]);
    box.replaceChildren();
    const open = (position: number): void => {
      briefAt(position).then((brief) => { if (brief) location.hash = nodeLink(brief.id); }, failed);
    };
    const map = new MapView(box, open);
    await map.load();
  } catch (error) {
    const known = error instanceof Error && error.message === "no WebGL 2";
    fill(box, known
      ? empty("No map in this browser", h("p", null, "The map needs WebGL 2: turn on hardware acceleration or use another browser. Search, classes and teaching work without it."))
      : problem(error, () => void startMap()));
  }
}

async function start(): Promise<void> {
  showPerson();
  byId("skip").addEventListener("click", (event) => { // the hash is the address of a view, so no plain link
    event.preventDefault();
    const panel = byId("panel");
    (panel.hidden ? document.querySelector<HTMLElement>(".map-canvas") : panel)?.focus();
  });
  byId("person").addEventListener("click", () => void whoIsIt(true));
  window.addEventListener("person", showPerson);
  await refresh();
  showRun();
  on("run", showRun);
  legend(byId("legend"));
  search();
  watchJobs();
  follow();
  void startMap();
  const offline = byId("offline");
  poll((error) => {
    offline.hidden = false;
    offline.textContent = error instanceof Error ? error.message : String(error);
  }, (before) => {
    offline.hidden = true;
    if (before !== state.run?.version) notice(`Somebody has put version ${state.run?.version} to use.`, { label: "Versions", act: () => { location.hash = "#/versions"; } });
  });
}

function begin(): void {
  start().catch((error: unknown) => {
    const panel = byId("panel");
    byId("main").dataset["layout"] = "page";
    panel.hidden = false;
    fill(panel, problem(error, () => { panel.hidden = true; begin(); }));
  });
}

route(); // the layout of the address, before anything is known
begin();
