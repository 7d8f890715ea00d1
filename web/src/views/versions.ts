// All versions of the run; going back is always possible, nothing is ever lost.
import { get, write } from "../api";
import { failed, notice } from "../ask";
import { ago, capital, h, many } from "../dom";
import type { Live } from "../live";
import { on, refresh, state } from "../state";
import type { Version } from "../types";
import { empty } from "../widgets";

const KIND = { run: "The run as it came", classes: "Classes changed", learn: "Learned from answers" };

export async function versions(_rest: string, live: Live): Promise<HTMLElement> {
  const found = await get<{ current: number; items: Version[] }>("/versions");
  live.onEnd(on("version", live.again));
  const activate = async (number: number): Promise<void> => {
    const before = found.current;
    try {
      await write(`/versions/${number}/activate`);
      await refresh(true);
      notice(`Version ${number} is in use.`, { label: "Undo", act: () => void activate(before) });
    } catch (error) {
      failed(error);
    }
  };
  const row = (version: Version): HTMLElement => {
    const current = version.number === found.current;
    const facts = [version.person, ago(version.at), many(version.classes, "class", "classes"), version.labels > 0 && many(version.labels, "label")];
    return h("li", { class: `version ${version.state}${current ? " current" : ""}`, "aria-current": current ? "true" : null },
      h("span", { class: "version-number" }, version.number),
      h("div", { class: "version-text" },
        h("h2", null, (version.kind === "run" ? null : capital(version.note ?? "")) || KIND[version.kind], current && h("span", { class: "tag good" }, "in use"), version.state !== "kept" && h("span", { class: "tag" }, version.state === "candidate" ? "waits for a decision" : version.state)),
        h("p", { class: "soft small" }, facts.filter(Boolean).join(" · "))),
      h("div", { class: "row wrap" },
        version.parent !== null && h("a", { class: "button", href: `#/versions/${version.number}` }, "What changed"),
        version.state === "candidate" && h("a", { class: "button", href: "#/teach" }, "Decide"),
        !current && version.state === "kept" && state.run?.write && h("button", { type: "button", class: "plain", onClick: () => void activate(version.number) }, "Use this")));
  };
  return h("article", { class: "column" },
    h("h1", { tabindex: -1 }, "Versions"),
    h("p", { class: "soft" }, "Each change that was kept is a version. Any of them can be used again; none is overwritten."),
    h("ol", { class: "versions", reversed: true }, [...found.items].sort((a, b) => b.number - a.number).map(row)),
    found.items.length === 1 && empty("Nothing has been changed yet", h("p", null, "Change a class on the ", h("a", { href: "#/" }, "map"), " or ", h("a", { href: "#/teach" }, "teach"), ": what you keep shows here, and can be taken back.")));
}
