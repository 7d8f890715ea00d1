// Saying what a node is: yes, another class, none of these. Also who has said what so far.
import { write } from "../api";
import { failed, notice } from "../ask";
import { ago, h, icon, type Child } from "../dom";
import type { Live } from "../live";
import { NONE, classNamed, nameAt, refresh, state } from "../state";
import type { Answer, Given, NodeView } from "../types";
import { mark } from "../widgets";

export interface Said { kind: "class" | "none" | "skip"; class?: string }

/** Send an answer; it is durable when this returns. */
export async function give(id: string, said: Said, queue: string): Promise<Given> {
  const { items } = await write<{ items: Given[] }>("/labels", { answers: [{ id, ...said, queue }] });
  const [given] = items;
  if (!given) throw new Error("The server took no answer; try again.");
  return given;
}

const answered = (answer: Answer): string =>
  answer.kind === "none" ? NONE : answer.kind === "skip" ? "skipped" : typeof answer.class === "string" ? answer.class : nameAt(answer.class);

export function answerBox(node: NodeView, live: Live): Child {
  const say = (said: Said): void => {
    give(node.id, said, "view").then((given) => {
      const undo = { label: "Undo", act: () => { write("/labels/undo", { answer_id: given.answer_id }).then(() => live.again(), failed); } };
      notice(said.kind === "none" ? "Noted: none of these." : `Noted: ${said.class}.`, undo);
      refresh().catch(failed);
      live.again();
    }, failed);
  };
  const name = node.class === null ? null : nameAt(node.class);
  return h("div", { class: "asked" },
    h("p", { class: "soft small" }, "Is this right?"),
    h("div", { class: "row wrap" },
      h("button", { type: "button", class: "plain", onClick: () => say(name === null ? { kind: "none" } : { kind: "class", class: name }) }, icon("check"), "Yes"),
      picker((other) => say({ kind: "class", class: other })),
      name !== null && h("button", { type: "button", class: "plain", onClick: () => say({ kind: "none" }) }, "None of these")),
    node.label?.disagreement && h("p", { class: "small" }, "People disagree: nothing is learned from this node until most say the same."),
    node.answers.length > 0 && h("ul", { class: "answers" }, node.answers.map((answer) => h("li", null,
      mark(answer.kind === "class" ? classNamed(answered(answer)) : null), h("b", null, answered(answer)),
      h("span", { class: "soft small" }, `${answer.person}, ${ago(answer.at)}`)))));
}

/** A plain list of classes: works with every keyboard, screen reader and phone. */
export function picker(choose: (name: string) => void, label = "Another class"): HTMLSelectElement {
  const box: HTMLSelectElement = h("select", {
    class: "picker", "aria-label": label,
    onChange: () => { if (box.value) choose(box.value); box.selectedIndex = 0; },
  }, h("option", { value: "" }, "Another…"),
  [...(state.classes?.items ?? [])].sort((a, b) => a.name.localeCompare(b.name)).map((item) => h("option", { value: item.name }, item.name)));
  return box;
}
