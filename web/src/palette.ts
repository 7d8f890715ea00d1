// How a class looks: a colour and a shape, for every kind of colour vision (see tests/serve/test_palette.py).
// Each colour is the one farthest from all before it, as seen with protan, deutan, tritan and full colour vision.
// The shape changes after every eight classes, since no twenty colours can be told apart by everybody.
import type { ClassItem } from "./types";

export const LIGHT = [
  "#0060a8", "#c87c00", "#009c6c", "#78000c", "#600078", "#6c6000", "#b460e4", "#a8246c",
  "#1824a8", "#006048", "#f0546c", "#9c6090", "#6078c0", "#8448cc", "#783c18", "#b4603c",
  "#843c90", "#5484fc", "#6c2454", "#3c3cc0", "#30843c", "#903c48", "#6c9c3c", "#483c78",
];
export const DARK = [
  "#3c90d8", "#f0b03c", "#48dcac", "#cc3c00", "#cca8fc", "#e4f03c", "#8454cc", "#fc6c60",
  "#b4d8fc", "#00b4b4", "#9c6060", "#f084c0", "#606ca8", "#8478fc", "#b48418", "#cc9090",
  "#cc60cc", "#849cf0", "#fcc0d8", "#84b4d8", "#9cfcb4", "#c06c54", "#d8d884", "#846c90",
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
