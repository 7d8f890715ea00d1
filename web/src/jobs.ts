// Follows a job until it ends; the bar below the header shows the one that runs.
import { get, pause, write } from "./api";
import { failed } from "./ask";
import { byId, fill, h, percent } from "./dom";
import { on, refresh, state } from "./state";
import type { Job } from "./types";

const EVERY = 500; // milliseconds

export const isOver = (job: Job): boolean => !["queued", "running"].includes(job.state);

const followed = new Map<string, Promise<Job>>();

/** Return the job once it has ended; everybody who follows the same one waits together. */
export function follow(job: Job): Promise<Job> {
  let waiting = followed.get(job.id);
  if (!waiting) {
    waiting = until(job).finally(() => followed.delete(job.id));
    followed.set(job.id, waiting);
  }
  return waiting;
}

async function until(job: Job): Promise<Job> {
  let now = job;
  let lost = 0;
  while (!isOver(now)) {
    show(now);
    await pause(EVERY);
    try {
      now = await get<Job>(`/jobs/${encodeURIComponent(job.id)}`);
      lost = 0;
    } catch (error) {
      lost += 1;
      if (lost > 20) { show(null); throw error; }
    }
  }
  show(null);
  await refresh(true);
  return now;
}

const WHAT = { learn: "Learning", classes: "Keeping the classes" };

function show(job: Job | null): void {
  const box = byId("job");
  box.hidden = job === null;
  if (!job) return box.replaceChildren();
  const known = job.fraction !== null && job.state === "running";
  const text = `${WHAT[job.kind]}${job.stage && known ? `: ${job.stage}` : ""}`;
  const progress = h("progress", { max: 1, "aria-label": text });
  if (known) progress.value = job.fraction ?? 0;
  fill(box,
    h("span", { class: "job-text" }, text),
    progress,
    h("span", { class: "soft job-share" }, known ? percent(job.fraction) : "waiting"),
    h("button", { type: "button", class: "link", onClick: () => { write(`/jobs/${encodeURIComponent(job.id)}/cancel`).catch(failed); } }, "Stop"));
}

/** Take up the job that somebody else, or this page before it was reloaded, has started. */
export function watchJobs(): void {
  const look = (): void => {
    const job = state.run?.job;
    if (job && !isOver(job)) follow(job).catch(failed);
  };
  on("run", look);
  look();
}
