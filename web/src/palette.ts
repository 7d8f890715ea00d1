// How a class looks: a colour and a shape, for every kind of colour vision (see tests/serve/test_palette.py).
// The shape changes after every eight classes, since no twenty colours can be told apart by everybody.
import type { ClassItem } from "./types";

export const LIGHT = [
  "#0072b2", "#d98a00", "#009e73", "#cc5fa0", "#b5380a", "#3aa5e6", "#6a3fc4", "#7a6a00",
  "#2f5f9e", "#a86048", "#3f8f2f", "#d83078", "#8a5a9e", "#12808f", "#9048d8", "#b0003a",
  "#6f7bd9", "#c98b1a", "#2f9f80", "#d97a9f", "#d96a45", "#1f9fb8", "#a070d0", "#7f8f20",
];
export const DARK = [
  "#4ba3dd", "#f0b03c", "#2fc49a", "#e693c4", "#f07a4a", "#8fd0f7", "#a98af0", "#c9b93a",
  "#7fa3dd", "#d9a08a", "#7fc96a", "#ff7fb0", "#c99ade", "#4fc0d0", "#c08af5", "#ff6a85",
  "#a9b0ff", "#f5cf7a", "#7fdcc0", "#ffc0d5", "#ffab8f", "#6fd9ea", "#d5b8f5", "#c5d26a",
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
