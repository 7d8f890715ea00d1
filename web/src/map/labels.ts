// Names of classes on the map itself, each where its class is densest, none over another.
import { h } from "../dom";
import { looks } from "../palette";
import { focused, state } from "../state";
import type { Arrays } from "./painter";

const GRID = 40; // cells a side
const MOST = 30; // names at most
const SPACE = 30_000; // square pixels of the map for one name
const WIDE = 20; // letters of a line; a longer name takes two
const SMALLEST = 0.003; // share of all nodes below which a class is not named

interface Spot { // width: half of it, in pixels
  index: number; x: number; y: number; nodes: number; element: HTMLElement; width: number; height: number }

/** Return the middle of the nodes in each class's densest cell, with the cells around it. */
export function spots(arrays: Arrays, classes: number): { index: number; x: number; y: number; nodes: number }[] {
  const { places, nodes } = arrays;
  const cells = new Int32Array(classes * GRID * GRID);
  const at = (v: number): number => Math.min(GRID - 1, Math.max(0, Math.floor(((v + 1) / 2) * GRID)));
  const totals = new Int32Array(classes);
  for (let i = 0; i < nodes; i += 1) {
    const c = arrays.classes[i]!;
    if (c >= classes) continue;
    totals[c]! += 1;
    cells[c * GRID * GRID + at(places[2 * i + 1]!) * GRID + at(places[2 * i]!)]! += 1;
  }
  const found = [];
  for (let c = 0; c < classes; c += 1) {
    if (totals[c]! < Math.max(3, SMALLEST * nodes)) continue;
    let best = 0, bx = 0, by = 0;
    for (let y = 0; y < GRID; y += 1) {
      for (let x = 0; x < GRID; x += 1) {
        let sum = 0;
        for (let v = Math.max(0, y - 1); v <= Math.min(GRID - 1, y + 1); v += 1) {
          for (let u = Math.max(0, x - 1); u <= Math.min(GRID - 1, x + 1); u += 1) sum += cells[c * GRID * GRID + v * GRID + u]!;
        }
        if (sum > best) [best, bx, by] = [sum, x, y];
      }
    }
    found.push({ index: c, x: ((bx + 0.5) / GRID) * 2 - 1, y: ((by + 0.5) / GRID) * 2 - 1, nodes: totals[c]! });
  }
  return found.sort((a, b) => b.nodes - a.nodes);
}

export class Labels {
  private all: Spot[] = [];
  constructor(private readonly box: HTMLElement) {}

  set(arrays: Arrays): void {
    const items = state.classes?.items ?? [];
    this.all = spots(arrays, items.length).slice(0, MOST).map((spot) => {
      const item = items[spot.index]!;
      const element = h("span", { class: "map-label c", vars: looks(item) }, item.name);
      return { ...spot, element, width: 3.5 * Math.min(item.name.length, WIDE) + 8, height: item.name.length > WIDE ? 36 : 18 };
    });
    this.box.replaceChildren(...this.all.map((spot) => spot.element));
  }

  /** Put each name at its place on the screen; leave out those that would touch a larger class's. */
  place(toScreen: (x: number, y: number) => [number, number], width: number, height: number): void {
    const taken: [number, number, Spot][] = [];
    const { class: focus } = focused();
    const most = Math.max(5, (width * height) / SPACE);
    for (const spot of this.all) {
      const [x, y] = toScreen(spot.x, spot.y);
      const half = spot.width;
      const out = x < half || x > width - half || y < spot.height / 2 || y > height - spot.height / 2;
      const crowded = taken.some(([u, v, other]) => Math.abs(u - x) < half + other.width + 4 && Math.abs(v - y) < (spot.height + other.height) / 2 + 4);
      const shown = !out && !crowded && taken.length < most && !state.hidden.has(spot.index) && (focus === undefined || focus === spot.index);
      spot.element.hidden = !shown;
      if (!shown) continue;
      taken.push([x, y, spot]);
      spot.element.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px) translate(-50%, -50%)`;
    }
  }
}
