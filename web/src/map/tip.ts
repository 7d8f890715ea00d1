// What stands beside the pointer: class and confidence at once, the title as soon as it arrives.
import { get } from "../api";
import { h, later, sure } from "../dom";
import { looks } from "../palette";
import { NONE } from "../state";
import type { Brief, ClassItem } from "../types";

const KEPT = 2_000; // titles; beyond, all are forgotten

const titles = new Map<number, Brief>();

export async function briefAt(position: number): Promise<Brief | null> {
  const known = titles.get(position);
  if (known) return known;
  const { items } = await get<{ items: Brief[] }>(`/nodes?position=${position}`);
  if (titles.size > KEPT) titles.clear();
  if (items[0]) titles.set(position, items[0]);
  return items[0] ?? null;
}

export class Tip {
  private readonly title = h("strong");
  private readonly about = h("span", { class: "c" });
  private readonly box = h("div", { class: "tip", hidden: true, "aria-hidden": "true" }, this.title, this.about);
  private at = -1;
  private readonly fetch = later((position: number) => {
    briefAt(position).then((brief) => {
      if (this.at === position && brief) this.title.textContent = brief.title || brief.id;
    }, () => undefined);
  }, 60);

  constructor(private readonly parent: HTMLElement) {
    parent.append(this.box);
  }

  show(position: number, item: ClassItem | null, confidence: number | null, [x, y]: [number, number]): void {
    const width = this.parent.clientWidth;
    if (position !== this.at) {
      this.at = position;
      const known = titles.get(position);
      this.title.textContent = known ? known.title || known.id : "…";
      for (const [k, v] of Object.entries(looks(item))) this.about.style.setProperty(k, v);
      this.about.textContent = item ? `${item.name} · ${confidence === null ? "label given" : sure(confidence)}` : NONE;
      if (!known) this.fetch(position);
    }
    this.box.hidden = false;
    const left = Math.max(8, Math.min(width - 268, x + 14));
    this.box.style.transform = `translate(${Math.round(left)}px, ${Math.round(y + (y > 110 ? -12 : 18))}px)${y > 110 ? " translateY(-100%)" : ""}`;
  }

  hide(): void {
    this.at = -1;
    this.box.hidden = true;
  }
}
