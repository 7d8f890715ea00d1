// All results of a search, page by page, ringed on the map.
import { get } from "../api";
import { failed } from "../ask";
import { count, h, many } from "../dom";
import type { Live } from "../live";
import { setFocus } from "../state";
import type { Hit, Page } from "../types";
import { around, classText, empty, nodeRow } from "../widgets";
import { head } from "./head";

const PAGE = 50;

export async function searchView(text: string, live: Live): Promise<HTMLElement> {
  const found: Hit[] = [];
  const list = h("ul", { class: "node-list" });
  let cursor: string | null = null;
  const load = async (): Promise<Page<Hit>> => {
    const next = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
    const page = await get<Page<Hit>>(`/search?q=${encodeURIComponent(text.slice(0, 200))}&limit=${PAGE}${next}`);
    found.push(...page.items);
    list.append(...page.items.map((hit) => nodeRow(hit, [classText(hit.class), h("span", { class: "soft clip" }, around(hit))])));
    cursor = page.next;
    more.hidden = cursor === null;
    if (live.alive) setFocus({ rings: found.map((hit) => hit.position), move: true });
    return page;
  };
  const more: HTMLButtonElement = h("button", { type: "button", class: "plain wide", onClick: () => { load().catch(failed); } }, "Show more");
  const page = await load();
  live.onEnd(() => setFocus({}));
  if (!found.length) {
    return h("article", null, head("Search", `“${text}”`), empty("Nothing found", h("p", null, "Words match from their beginning; try fewer or shorter ones, or the id of a node.")));
  }
  const total = page.total === null ? `The first ${count(found.length)}` : many(page.total, "node");
  return h("article", null, head("Search", `“${text}”`, h("p", { class: "soft small" }, total, h("span", { class: "wide-only" }, ", ringed on the map"))), list, more);
}
