// How a class looks: a colour and a shape, for every kind of colour vision (see tests/serve/test_palette.py).
// Each colour is the one farthest from all before it, as seen with protan, deutan, tritan and full colour vision.
// The shape changes after every eight classes, since no twenty colours can be told apart by everybody.
import type { ClassItem } from "./types";

export const LIGHT = [
  "#0072b2", "#d08200", "#00966c", "#78000c", "#540090", "#905400", "#c06cf0", "#a8186c",
  "#303cc0", "#f0486c", "#602454", "#7860e4", "#604890", "#c0603c", "#006048", "#9c5490",
  "#0090d8", "#903030", "#9c78b4", "#548400", "#781878", "#5454cc", "#604800", "#7824a8",
];
export const DARK = [
  "#4ba3dd", "#f0b03c", "#2fc49a", "#cc3c00", "#fcccfc", "#c0843c", "#9c48c0", "#e46cc0",
  "#b4b4fc", "#a8546c", "#d8a8c0", "#4878f0", "#84609c", "#f09078", "#a8fc9c", "#e45478",
  "#8490fc", "#fcc0b4", "#a86ccc", "#547830", "#f09ce4", "#6c60d8", "#d8d86c", "#cc54b4",
];
export const SHAPES = ["circle", "square", "diamond", "triangle"] as const;
const SHAPE_EVERY = 8;
export const NO_CLASS = { light: "#8a919c", dark: "#7d8694" };

export const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** Both colours of a class as custom properties; the style sheet takes the one of the theme. */
export function looks(item: Pick<ClassItem, "color"> | null): Record<string, string> {
  const at = (item?.color ?? 0) % LIGHT.length;
  return item
    ? { "--l": LIGHT[at] ?? NO_CLASS.light, "--d": DARK[at] ?? NO_CLASS.dark }
    : { "--l": NO_CLASS.light, "--d": NO_CLASS.dark };
}

export function colourOf(item: Pick<ClassItem, "color"> | null): string {
  if (!item) return dark.matches ? NO_CLASS.dark : NO_CLASS.light;
  const colours = dark.matches ? DARK : LIGHT;
  return colours[item.color % colours.length] ?? NO_CLASS.light;
}

export function shapeOf(item: Pick<ClassItem, "color"> | null): number {
  return item ? Math.floor(item.color / SHAPE_EVERY) % SHAPES.length : 0;
}
