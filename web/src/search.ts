// The field at the top: finds nodes by id and text, and classes by name, while one types.
import { get } from "./api";
import { byId, fill, h, icon, later } from "./dom";
import { setFocus, state } from "./state";
import type { Hit, Page } from "./types";
import { around, classLink, classText, mark, nodeLink } from "./widgets";

const SHOWN = 8;

export function search(): void {
  const field = byId<HTMLInputElement>("search");
  const list = byId("search-list");
  let asked: AbortController | null = null;
  let at = -1;

  const options = (): HTMLElement[] => Array.from(list.querySelectorAll<HTMLElement>("[role=option]"));
  function close(): void {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
    at = -1;
  }
  function open(): void {
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
  }
  function choose(i: number): void {
    const all = options();
    at = all.length ? (i + all.length) % all.length : -1;
    all.forEach((each, j) => each.setAttribute("aria-selected", String(j === at)));
    const now = all[at];
    if (!now) return;
    field.setAttribute("aria-activedescendant", now.id);
    now.scrollIntoView({ block: "nearest" });
    const position = Number(now.dataset["position"] ?? NaN);
    if (Number.isFinite(position)) setFocus({ rings: [position] });
  }
  function go(target: HTMLElement): void {
    close();
    location.hash = target.dataset["href"] ?? "#/";
    field.blur();
  }
  function option(i: number, href: string, position: number | null, ...inside: Parameters<typeof h>[2][]): HTMLElement {
    return h("div", {
      role: "option", id: `option-${i}`, class: "option", "data-href": href, "data-position": position, "aria-selected": "false",
      onPointerdown: (event: Event) => event.preventDefault(),
      onClick: (event: Event) => go(event.currentTarget as HTMLElement),
    }, inside);
  }

  const run = later(async () => {
    const text = field.value.trim();
    asked?.abort();
    if (!text) return close();
    asked = new AbortController();
    try {
      const found = await get<Page<Hit>>(`/search?q=${encodeURIComponent(text.slice(0, 200))}&limit=${SHOWN}`, asked.signal);
      const low = text.toLowerCase();
      const classes = (state.classes?.items ?? []).filter((item) => item.name.toLowerCase().includes(low)).slice(0, 3);
      let i = 0;
      fill(list,
        classes.map((item) => option(i++, classLink(item.name), null, mark(item), h("span", { class: "option-title" }, item.name), h("span", { class: "tag" }, "class"))),
        found.items.map((hit) => option(i++, nodeLink(hit.id), hit.position,
          h("span", { class: "option-title" }, hit.title || hit.id),
          h("span", { class: "option-about" }, classText(hit.class),
            h("span", { class: "soft clip" }, around(hit))))),
        found.next && option(i++, `#/search/${encodeURIComponent(text)}`, null, icon("search"), h("span", { class: "option-title" }, "All results")),
        i === 0 && h("p", { class: "soft option-none" }, `No node or class has “${text}”. Words match from their beginning; try fewer or shorter ones.`));
      open();
      at = -1;
    } catch (error) {
      if (error instanceof DOMException) return;
      fill(list, h("p", { class: "option-none" }, error instanceof Error ? error.message : String(error)));
      open();
    }
  }, 130);

  field.addEventListener("input", run);
  field.addEventListener("focus", () => { if (field.value.trim() && list.childElementCount) open(); });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!list.hidden) choose(at + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      const target = options()[at];
      if (target) go(target);
      else if (field.value.trim()) {
        close();
        location.hash = `#/search/${encodeURIComponent(field.value.trim())}`;
      }
    } else if (event.key === "Escape") {
      close();
      field.blur();
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = (event.target as HTMLElement).closest("input, textarea, select, dialog");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  });
}
