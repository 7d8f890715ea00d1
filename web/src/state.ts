// What every view knows: the run, its classes, which of them the map shows. Told anew when it changes.
import { get } from "./api";
import type { ClassItem, Classes, Run } from "./types";

type Topic = "run" | "version" | "filter" | "focus";

export const NONE = "none of these";
const POLL = 5_000; // milliseconds; somebody else may have kept a version

export const state = {
  run: null as Run | null,
  classes: null as Classes | null,
  hidden: new Set<number>(), // classes that are switched off on the map; -1 is none of these
};

/** What the map stresses: one node with its edges, a class, or single nodes of a list. */
export interface Focus {
  node?: { position: number; class: number | null; x: number; y: number; neighbours: { x: number; y: number; position: number; class: number | null }[] };
  class?: number;
  rings?: number[]; // positions
  move?: boolean; // bring it into view
}
let focus: Focus = {};
export const focused = (): Focus => focus;
export function setFocus(next: Focus): void {
  focus = next;
  tell("focus");
}

const listeners = new Map<Topic, Set<() => void>>();
export function on(topic: Topic, act: () => void): () => void {
  const all = listeners.get(topic) ?? new Set();
  listeners.set(topic, all.add(act));
  return () => all.delete(act);
}
export function tell(topic: Topic): void {
  listeners.get(topic)?.forEach((act) => act());
}

export const classAt = (index: number | null | undefined): ClassItem | null =>
  index === null || index === undefined ? null : state.classes?.items[index] ?? null;
export const classNamed = (name: string): ClassItem | null =>
  state.classes?.items.find((item) => item.name === name) ?? null;
export const nameAt = (index: number | null | undefined): string => classAt(index)?.name ?? NONE;

/** Read the run; read the classes too when the version is another one. */
export async function refresh(force = false): Promise<void> {
  const run = await get<Run>("/run");
  const changed = force || run.version !== state.run?.version || !state.classes;
  if (changed) state.classes = await get<Classes>("/classes");
  const old = JSON.stringify(state.run);
  state.run = run;
  if (changed) tell("version");
  if (old !== JSON.stringify(run)) tell("run");
}

export function poll(lost: (error: unknown) => void, found: (before: number | undefined) => void): void {
  window.setInterval(() => {
    const before = state.run?.version;
    if (document.visibilityState === "visible") refresh().then(() => found(before), lost);
  }, POLL);
}

export function toggle(index: number): void {
  if (!state.hidden.delete(index)) state.hidden.add(index);
  tell("filter");
}
export function only(index: number): void {
  const all = [-1, ...(state.classes?.items ?? []).map((item) => item.index)];
  state.hidden = new Set(all.filter((each) => each !== index));
  tell("filter");
}
export function showAll(): void {
  state.hidden.clear();
  tell("filter");
}
