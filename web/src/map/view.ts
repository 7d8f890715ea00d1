// The map: pan, zoom, point, click; told by the state what to show and what to stress.
import { select } from "d3-selection";
import { zoom, zoomIdentity, type ZoomTransform } from "d3-zoom";
import "d3-transition";
import KDBush from "kdbush";
import { bytes, get } from "../api";
import { h, icon } from "../dom";
import { colourOf, dark, shapeOf } from "../palette";
import { classAt, focused, on, state } from "../state";
import { Labels } from "./labels";
import { EMPTY, Painter, arraysOf, rgb, type Arrays, type Overlay } from "./painter";
import { Pace } from "./pace";
import { note } from "./note";
import { Tip } from "./tip";

const MARGIN = 0.06; // of the width, around all nodes
const ABOVE = 60; // pixels above and below them: the note stands there
const REACH = { mouse: 10, touch: 22 }; // pixels around the pointer
const MOST = 0.9; // of the nodes in focus that have to be in view
const CLOSEST = 5; // how far the map comes near by itself: what lies around stays in view
const STEP = 80; // pixels an arrow key moves the map
/** What the map shows: how near, and which place stands in the middle of the screen. It outlasts another size. */
interface Sight { k: number; x: number; y: number }
const WHOLE: Sight = { k: 1, x: 0, y: 0 };
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

export class MapView {
  private readonly canvas = h("canvas", {
    class: "map-canvas", tabindex: 0, role: "img",
    "aria-label": "Map of all nodes. Arrow keys move it, plus and minus zoom, 0 shows all. To open a node by keyboard, search for it.",
  });
  private readonly names = h("div", { class: "map-names", "aria-hidden": "true" });
  private readonly labels = new Labels(this.names);
  private readonly tip: Tip;
  private readonly painter: Painter;
  private arrays: Arrays | null = null;
  private index: KDBush | null = null;
  private overlay: Overlay = EMPTY;
  private t: ZoomTransform = zoomIdentity;
  private before: Sight | null = null; // where the map was until it moved by itself
  private goal: Sight | null = null; // where it moves to at present
  private waiting = 0;
  private readonly pace = new Pace(() => this.redraw());
  private width = 1;
  private height = 1;
  private readonly zoomer = zoom<HTMLCanvasElement, unknown>()
    .scaleExtent([0.6, 400])
    .on("zoom", (event: { transform: ZoomTransform; sourceEvent: Event | null }) => {
      this.t = event.transform;
      if (event.sourceEvent) this.before = this.goal = null; // moved by hand: it stays there
      this.tip.hide();
      this.pace.move();
      this.redraw();
    });

  constructor(private readonly box: HTMLElement, private readonly opened: (position: number) => void) {
    this.painter = new Painter(this.canvas); // first: it throws where there is no WebGL
    this.tip = new Tip(box);
    const button = (name: string, label: string, act: () => void): HTMLElement =>
      h("button", { type: "button", class: "tool", title: label, "aria-label": label, onClick: act }, icon(name));
    box.append(this.canvas, this.names,
      h("div", { class: "map-tools" },
        button("plus", "Zoom in", () => this.zoomBy(1.6)),
        button("minus", "Zoom out", () => this.zoomBy(1 / 1.6)),
        button("fit", "Show all nodes", () => this.fit())));
    const told = note();
    if (told) box.append(told);
    select(this.canvas).call(this.zoomer).on("dblclick.zoom", null);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.tip.hide());
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(box);
    dark.addEventListener("change", () => this.dress());
    on("filter", () => this.dress());
    on("focus", () => this.stress());
    on("version", () => void this.load());
  }

  async load(): Promise<void> {
    const { url } = await get<{ url: string }>("/map");
    this.arrays = arraysOf(await bytes(url));
    this.painter.setArrays(this.arrays);
    this.labels.set(this.arrays);
    this.dress();
    this.stress();
    this.box.dataset["ready"] = String(state.run?.version ?? "");
    const { places, nodes } = this.arrays;
    setTimeout(() => { // pointing can wait until the picture stands
      const index = new KDBush(nodes, 64, Float32Array);
      for (let i = 0; i < nodes; i += 1) index.add(places[2 * i]!, places[2 * i + 1]!);
      this.index = index.finish();
    });
  }

  private dress(): void {
    const focus = focused().class;
    const column = (index: number, item: ReturnType<typeof classAt>) => ({
      colour: colourOf(item), shape: shapeOf(item), shown: !state.hidden.has(index), back: focus !== undefined && focus !== index,
    });
    const items = state.classes?.items ?? [];
    this.painter.setLooks([column(-1, null), ...items.map((item) => column(item.index, item))]);
    this.redraw();
  }

  private stress(): void {
    const { node, class: shown, rings, move } = focused();
    if (!node && shown === undefined && !rings && location.hash.length < 3) this.back();
    this.overlay = { ...EMPTY, rings: [], lines: [] };
    const at = (position: number): [number, number] | null => {
      const x = this.arrays?.places[2 * position], y = this.arrays?.places[2 * position + 1];
      return x === undefined || y === undefined ? null : [x, y];
    };
    if (node) {
      this.overlay.others = 1;
      const from: [number, number] = [node.x, node.y];
      this.overlay.lines = node.neighbours.map((other) => ({
        from, to: [other.x, other.y], colour: rgb(colourOf(classAt(other.class))),
      }));
      this.overlay.rings = [
        ...node.neighbours.map((other) => ({
          at: [other.x, other.y] as [number, number], weight: 0.5, colour: rgb(colourOf(classAt(other.class))),
        })),
        { at: from, weight: 1, colour: rgb(colourOf(classAt(node.class))) },
      ];
      if (move) this.bring([from, ...node.neighbours.slice(0, 12).map((n) => [n.x, n.y] as [number, number])]);
    }
    for (const position of rings ?? []) {
      const place = at(position);
      const c = this.arrays?.classes[position] ?? 65535;
      if (place) this.overlay.rings.push({ at: place, weight: node ? 1 : 0.5, colour: rgb(colourOf(classAt(c === 65535 ? null : c))) });
    }
    if (move && !node && this.arrays) {
      const { classes } = this.arrays;
      const all = shown === undefined ? rings ?? [] : Array.from(classes.keys()).filter((i) => classes[i] === shown);
      this.frame(all.flatMap((i) => { const place = at(i); return place ? [place] : []; }));
    }
    this.dress();
  }

  // World [-1, 1] to pixels of the box, before zooming: all nodes fit, y points up.
  private base(): { unit: number; cx: number; cy: number } {
    return { unit: Math.max(40, Math.min(this.width * (1 - 2 * MARGIN), this.height - 2 * ABOVE)) / 2, cx: this.width / 2, cy: this.height / 2 };
  }
  private readonly toScreen = (x: number, y: number): [number, number] => {
    const { unit, cx, cy } = this.base();
    return this.t.apply([cx + x * unit, cy - y * unit]);
  };
  private toWorld(px: number, py: number): [number, number] {
    const { unit, cx, cy } = this.base();
    const [x, y] = this.t.invert([px, py]);
    return [(x - cx) / unit, (cy - y) / unit];
  }
  private size(): number {
    const nodes = this.arrays?.nodes ?? 1;
    const least = Math.min(12, Math.max(1.9, (0.75 * Math.min(this.width, this.height)) / Math.sqrt(nodes)));
    return Math.min(18, least * Math.pow(this.t.k, 0.42));
  }

  private redraw(): void {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      const { unit, cx, cy } = this.base();
      const { k, x, y } = this.t;
      const scale: [number, number] = [(2 * unit * k) / this.width, (2 * unit * k) / this.height];
      const shift: [number, number] = [(2 * (cx * k + x)) / this.width - 1, 1 - (2 * (cy * k + y)) / this.height];
      const [ink, ground] = dark.matches ? ["#ffffff", "#10141a"] as const : ["#161b24", "#f6f7f9"] as const;
      this.painter.draw({ scale, shift, size: this.size(), share: this.pace.share() }, this.overlay, ink, ground, this.ratio());
      this.labels.place(this.toScreen, this.width, this.height);
    });
  }
  private readonly ratio = (): number => Math.min(window.devicePixelRatio || 1, 2);

  /** Take up another size; what was in the middle stays there. */
  private resize(): void {
    const sight = this.sight();
    this.width = Math.max(1, this.box.clientWidth);
    this.height = Math.max(1, this.box.clientHeight);
    this.canvas.width = Math.round(this.width * this.ratio());
    this.canvas.height = Math.round(this.height * this.ratio());
    if (this.goal) this.go(this.goal); // a panel opens or closes while the map is on its way
    else select(this.canvas).call(this.zoomer.transform, this.transform(sight));
    this.redraw();
  }

  private nearest(event: PointerEvent | MouseEvent): number | null {
    if (!this.index || !this.arrays) return null;
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = this.toWorld(event.clientX - box.left, event.clientY - box.top);
    const touch = "pointerType" in event && event.pointerType === "touch";
    const reach = (touch ? REACH.touch : REACH.mouse) / (this.base().unit * this.t.k);
    let best: number | null = null, least = Infinity;
    for (const i of this.index.within(x, y, reach)) {
      const c = this.arrays.classes[i]!;
      if (state.hidden.has(c === 65535 ? -1 : c)) continue;
      const d = (this.arrays.places[2 * i]! - x) ** 2 + (this.arrays.places[2 * i + 1]! - y) ** 2;
      if (d < least) [best, least] = [i, d];
    }
    return best;
  }

  private point(event: PointerEvent): void {
    if (event.pointerType === "touch" || event.buttons) return;
    const found = this.nearest(event);
    this.canvas.classList.toggle("on-node", found !== null);
    if (found === null || !this.arrays) return this.tip.hide();
    const c = this.arrays.classes[found]!;
    const [x, y] = this.toScreen(this.arrays.places[2 * found]!, this.arrays.places[2 * found + 1]!);
    const known = (this.arrays.flags[found]! & 1) === 1;
    this.tip.show(found, classAt(c === 65535 ? null : c), known ? null : this.arrays.confidence[found]! / 255, [x, y]);
  }

  private click(event: MouseEvent): void {
    const found = this.nearest(event);
    if (found !== null) this.opened(found);
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP],
    };
    const move = moves[event.key];
    if (move) select(this.canvas).call(this.zoomer.translateBy, move[0] / this.t.k, move[1] / this.t.k);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.6);
    else if (event.key === "-") this.zoomBy(1 / 1.6);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  private zoomBy(factor: number): void {
    this.before = this.goal = null;
    this.moved().call(this.zoomer.scaleBy, factor);
  }
  private fit(): void {
    this.before = null;
    this.go(WHOLE);
  }
  /** Return to where the map was before it moved by itself. */
  private back(): void {
    if (this.before) this.go(this.before);
    this.before = null;
  }
  private go(sight: Sight): void {
    const goal = (this.goal = { ...sight });
    this.moved().call(this.zoomer.transform, this.transform(goal))
      .on("end interrupt", () => { if (this.goal === goal) this.goal = null; });
  }
  private sight(): Sight {
    const { k, x, y } = this.t;
    if (k === 1 && x === 0 && y === 0) return WHOLE;
    const [u, v] = this.toWorld(this.width / 2, this.height / 2);
    return { k, x: u, y: v };
  }
  private transform({ k, x, y }: Sight): ZoomTransform {
    const { unit, cx, cy } = this.base();
    return zoomIdentity.translate(cx - k * (cx + x * unit), cy - k * (cy - y * unit)).scale(k);
  }
  private moved() {
    return select(this.canvas).transition().duration(calm.matches ? 0 : 250);
  }

  private readonly seen = ([x, y]: [number, number]): boolean => {
    const [px, py] = this.toScreen(x, y);
    return px > 20 && px < this.width - 20 && py > 20 && py < this.height - 20;
  };

  /** Move so that nearly all of these places are in view, where they are not. */
  private frame(places: [number, number][]): void {
    if (places.filter(this.seen).length >= MOST * places.length) return;
    const [[left, right], [low, high]] = ([0, 1] as const).map((axis) => {
      const sorted = places.map((place) => place[axis]).sort((a, b) => a - b);
      const cut = Math.floor(((1 - MOST) / 2) * sorted.length);
      return [sorted[cut]!, sorted[sorted.length - 1 - cut]!];
    }) as [[number, number], [number, number]];
    const { unit } = this.base();
    const k = Math.min(CLOSEST, (0.8 * this.width) / (unit * Math.max(0.02, right - left)), (0.8 * this.height) / (unit * Math.max(0.02, high - low)));
    this.before ??= this.sight();
    this.go(k <= 1 ? WHOLE : { k, x: (left + right) / 2, y: (low + high) / 2 });
  }

  /** Move so that these places are in view, no closer than needed and not at all when they are. */
  private bring(places: [number, number][]): void {
    const [first] = places;
    if (!first) return;
    if (places.every(this.seen) && this.t.k > 1.5) return;
    const { unit } = this.base();
    const far = Math.max(0.02, ...places.map(([x, y]) => Math.hypot(x - first[0], y - first[1])));
    const k = Math.min(CLOSEST, Math.max(1, (0.42 * Math.min(this.width, this.height)) / (unit * far)));
    this.before ??= this.sight();
    this.go(k <= 1 ? WHOLE : { k, x: first[0], y: first[1] }); // far apart: all over the map
  }
}
