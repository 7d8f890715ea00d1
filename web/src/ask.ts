// Small questions in a dialog, and short notices that go away by themselves.
import { byId, h, icon, sentence } from "./dom";

interface Question {
  title: string;
  lead: string;
  label: string;
  value: string;
  button: string;
  type: string;
  most: number;
  autocomplete: string;
}

function question(q: Question): Promise<string | null> {
  return new Promise((done) => {
    const field = h("input", {
      id: "question", type: q.type, value: q.value, maxlength: q.most, required: true, autocomplete: q.autocomplete,
    });
    const dialog = h("dialog", { class: "dialog", "aria-labelledby": "question-title" },
      h("form", { method: "dialog" },
        h("h2", { id: "question-title" }, q.title),
        h("p", { class: "soft" }, q.lead),
        h("label", { for: "question" }, q.label),
        field,
        h("div", { class: "row end" },
          h("button", { type: "button", class: "plain", onClick: () => dialog.close("") }, "Not now"),
          h("button", { type: "submit", class: "primary", value: "ok" }, q.button))));
    dialog.addEventListener("close", () => {
      const said = dialog.returnValue === "ok" ? field.value.trim() : "";
      dialog.remove();
      done(said || null);
    });
    document.body.append(dialog);
    dialog.showModal();
    field.select();
  });
}

let open: Promise<string | null> | null = null; // one question at a time; who asks again waits for the same answer

function once(q: Question): Promise<string | null> {
  open ??= question(q).finally(() => (open = null));
  return open;
}

export const askPerson = (value: string): Promise<string | null> =>
  once({
    title: "What is your name?", lead: "It stands beside what you answer and keep, so that others see who said what.",
    label: "Name", value, button: "Go on", type: "text", most: 64, autocomplete: "nickname",
  });

export async function askToken(old: string | null, keep: (token: string) => void): Promise<boolean> {
  const token = await once({
    title: "A token, please", label: "Token", value: "", button: "Open", type: "password", most: 512, autocomplete: "off",
    lead: old ? "The server does not know this token." : "This server is open to those who have its token.",
  });
  if (token) keep(token);
  return token !== null;
}

/** Say something at the lower edge, with one thing that can be done about it. */
export function notice(text: string, action?: { label: string; act: () => void }, bad = false): void {
  const box = byId("notices");
  const remove = (): void => made.remove();
  const made = h("div", { class: bad ? "notice bad" : "notice", role: bad ? "alert" : "status" },
    h("span", null, text),
    action && h("button", { type: "button", class: "link", onClick: () => { remove(); action.act(); } }, action.label),
    h("button", { type: "button", class: "ghost", "aria-label": "Dismiss", onClick: remove }, icon("close")));
  while (box.children.length >= 3) box.firstElementChild?.remove();
  box.append(made);
  window.setTimeout(remove, bad || action ? 12_000 : 5_000);
}

export const failed = (error: unknown): void =>
  notice(sentence(error instanceof Error ? error.message : String(error)), undefined, true);
