// Elements made in code. Whatever a user wrote becomes a text node, never markup.

export type Child = Node | string | number | null | undefined | false | Child[];
type Props = Record<string, unknown>;

/** Make an element: `class`, `vars` (custom properties), `on…` handlers, then attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props?: Props | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = String(value);
    else if (name === "vars") {
      for (const [key, v] of Object.entries(value as Record<string, string | number>)) {
        made.style.setProperty(key, String(v));
      }
    } else if (name.startsWith("on") && typeof value === "function") {
      made.addEventListener(name.slice(2).toLowerCase(), value as EventListener);
    } else if (name === "value" && "value" in made) (made as { value: unknown }).value = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  put(made, children);
  return made;
}

export function put(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) put(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) {
      parent.appendChild(document.createTextNode(String(child)));
    }
  }
}

export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  put(parent, children);
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element #${id}`);
  return found as T;
}

const SVG = "http://www.w3.org/2000/svg";
const PATHS: Record<string, string> = {
  search: "M7 12.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11ZM11 11l4 4",
  plus: "M8 2.5v11M2.5 8h11",
  minus: "M2.5 8h11",
  fit: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  back: "M10 3 5 8l5 5",
  undo: "M3 6h6.5a4 4 0 0 1 0 8H6M3 6l3-3M3 6l3 3",
  check: "M3 8.5 6.5 12 13 4.5",
  edit: "M3 13l.6-2.8L11 2.8l2.2 2.2-7.4 7.4L3 13Z",
  person: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM2.5 14c.6-3 2.8-4.3 5.5-4.3s4.900 1.300 5.500 4.300",
  map: "M3.500 5.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3ZM12 7.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3ZM6 13.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3ZM5 4.500l5.500 1.200M4 5.500 5.500 10.500M11 7.200l-4 4",
  down: "M4 6l4 4 4-4",
  arrow: "M3 8h10M9 4l4 4-4 4",
  warn: "M8 2 15 14H1L8 2ZM8 6.500v3.500M8 11.800v.4",
};

export function icon(name: keyof typeof PATHS | string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  for (const [k, v] of Object.entries({ viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" })) {
    svg.setAttribute(k, v);
  }
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name] ?? "");
  svg.appendChild(path);
  return svg;
}

export function svg(tag: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) made.setAttribute(k, String(v));
  made.append(...children);
  return made;
}

/** Call `act` once nothing has happened for `wait` milliseconds. */
export function later<A extends unknown[]>(act: (...args: A) => void, wait: number): (...args: A) => void {
  let timer = 0;
  return (...args: A) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => act(...args), wait);
  };
}

const GROUPED = new Intl.NumberFormat("en");
export const count = (value: number): string => GROUPED.format(value);
export const many = (value: number, one: string, more = `${one}s`): string => `${count(value)} ${value === 1 ? one : more}`;
export const percent = (share: number | null | undefined): string =>
  share === null || share === undefined || !Number.isFinite(share)
    ? "–"
    : share > 0 && share < 0.005 ? "<1%" : `${Math.round(100 * share)}%`;
/** A confidence: no model is certain, so none is shown as 100 %. */
export const sure = (share: number | null | undefined): string => (share && share >= 0.995 ? ">99%" : percent(share));
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const sentence = (text: string): string => (text ? capital(text).replace(/[^.!?]$/, "$&.") : "");
export const signed = (value: number, digits = 2): string =>
  `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;

export function ago(at: string): string {
  const seconds = (Date.now() - Date.parse(at)) / 1000;
  if (!Number.isFinite(seconds)) return at;
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}
