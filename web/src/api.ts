// The one door to the server: JSON in and out, one kind of error, writes that can be repeated safely.
import { askPerson, askToken } from "./ask";

const BASE = "/api/v1";
const TOKEN = "unseen-token";
const PERSON = "unseen-person";
const TRIES = 3; // of a write whose answer got lost; the key makes them count once

export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly retry: number) {
    super(message);
  }
}

export const person = (): string => localStorage.getItem(PERSON) ?? "";

/** Ask who is at the keyboard unless that is known; null when the question was turned down. */
export async function whoIsIt(again = false): Promise<string | null> {
  if (person() && !again) return person();
  const name = await askPerson(person());
  if (!name) return null;
  localStorage.setItem(PERSON, name);
  window.dispatchEvent(new Event("person"));
  return name;
}

async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.set("Authorization", `Bearer ${token}`);
  let answer: Response;
  try {
    answer = await fetch(BASE + path, { ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "offline", "The server does not answer; check that unseen serve is still running, then try again.", 2);
  }
  if (answer.status === 401 && (await askToken(token, (value) => sessionStorage.setItem(TOKEN, value)))) {
    return send(path, init);
  }
  if (answer.status === 401) throw new ApiError(401, "unauthorized", "This page needs a token. Ask for one where you got its address, then try again.", 0);
  if (!answer.ok) throw await failure(answer);
  return answer;
}

async function failure(answer: Response): Promise<ApiError> {
  const retry = Number(answer.headers.get("Retry-After") ?? 0);
  try {
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    return new ApiError(answer.status, error.code, error.message, retry);
  } catch {
    return new ApiError(answer.status, "internal", `The server answered ${answer.status}; its log says why.`, retry);
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await send(path, { signal })).json()) as T;
}

export async function bytes(path: string): Promise<ArrayBuffer> {
  return (await send(path.replace(BASE, ""))).arrayBuffer();
}

export async function blob(path: string): Promise<Blob> {
  return (await send(path)).blob();
}

/** Ask with a body, changing nothing. */
export async function ask<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  return (await (await send(path, { method: "POST", headers, body: JSON.stringify(body), signal })).json()) as T;
}

/** Write, in the name of the person at the keyboard; the same key on every try. */
export async function write<T>(path: string, body: object = {}): Promise<T> {
  const who = await whoIsIt();
  if (!who) throw new ApiError(0, "no_name", "Nothing was saved: give a name first, so that others see who said what.", 0);
  const headers = { "Content-Type": "application/json", "Idempotency-Key": key() };
  const init = { method: "POST", headers, body: JSON.stringify({ person: who, ...body }) };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await (await send(path, init)).json()) as T;
    } catch (error) {
      const again = error instanceof ApiError && [0, 429, 503].includes(error.status);
      if (!again || attempt === TRIES) throw error;
      await pause(1000 * Math.max(error.retry, 0.5 * attempt));
    }
  }
}

export async function upload<T>(path: string, file: File, kind: string): Promise<T> {
  const headers = { "Content-Type": kind, "Idempotency-Key": key() };
  return (await (await send(path, { method: "POST", headers, body: file })).json()) as T;
}

// crypto.randomUUID is missing where the page is not served securely; random values are not
function key(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("-");
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((done) => setTimeout(done, milliseconds));
