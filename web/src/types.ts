// What the API answers; the names are those of its OpenAPI document.

export interface Agreed { class?: number | null; disagreement?: boolean }

export interface Brief {
  position: number;
  id: string;
  title: string;
  class: number | null;
  confidence: number | null;
  runner_up: number | null;
  known: boolean;
  added?: boolean;
  label: Agreed | null;
}

export interface Hit extends Brief { match: "id" | "text"; snippet: string }
export interface Page<T> { items: T[]; next: string | null; total: number | null }
export interface Moved<T> { from: T; to: T; nodes: number }

export interface Job {
  id: string;
  kind: "learn" | "classes";
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  stage: string | null;
  fraction: number | null;
  person: string;
  version: number | null;
  error: string | null;
  result: null | {
    changed: number;
    moved: Moved<string | null>[];
    labels?: number;
    left_out?: string[];
    outsiders?: number;
    accuracy?: Compared;
  };
}

export interface Run {
  name: string;
  unseen: string;
  nodes: number;
  added_nodes: number;
  edges: number;
  classes: number;
  labels_fitted: number;
  version: number;
  model: string;
  encoder: string;
  can_add_classes: boolean;
  can_edit_classes: boolean;
  warnings: string[];
  job: Job | null;
  candidate: number | null;
  labels: { answers: number; people: number; disagreements: number };
  limits: { text: number; name: number; description: number };
  write: boolean;
}

export interface ClassItem {
  index: number;
  name: string;
  description: string | null;
  nodes: number;
  known: number;
  expected: number | null;
  confidence: number | null;
  sink: boolean;
  allowed: boolean; // false: no node is answered with it, it has labels only
  warnings: string[];
  color: number;
}

export interface Classes { version: number; items: ClassItem[]; none: number; open: boolean }

export interface ClassView extends ClassItem {
  surest: Brief[];
  least: Brief[];
  confused: { class: number; nodes: number; cosine: number | null; text: string; hard?: boolean }[];
  histogram: number[];
  people: { agree: number; correct: number };
}

export interface Linear { parts: { name: string; value: number }[]; score: number }
export interface Reading {
  name: string;
  weight: number | null;
  probability: number;
  runner_up: number | null;
  part: number | null; // null where the readings are not simply added up
  linear: Linear | null;
}

export interface Answer {
  answer_id: number;
  person: string;
  kind: "class" | "none" | "skip";
  class: number | string | null;
  at: string;
}

export interface Neighbour extends Brief { weight: number; x: number; y: number }

export interface NodeView extends Brief {
  text: string;
  background: number | null; // how much it looks like one of no listed class; null unless answers depend on it
  flags: string[]; // what deserves a look
  reason: string | null;
  probabilities: number[];
  words: null | {
    how: string;
    class: number;
    against: number | null;
    spans: { start: number; end: number; share: number; lead: number }[];
  };
  hops: null | { class: number; against: number | null; parts: { hop: number; share: number; moved: number }[] };
  readings: Reading[] | null;
  score: number | null;
  change: null | { runner_up: number; needs: { what: string; text: string }[]; sentence: string };
  neighbours: Neighbour[];
  degree: number;
  neighbours_more: number;
  answers: Answer[];
  version: number;
  x: number | null;
  y: number | null;
}

export interface Preview {
  version: number;
  milliseconds: number;
  classes: { index: number; name: string; before: number; after: number | null; new: boolean; removed: boolean }[];
  moved: (Moved<number | null> & { from_name: string | null; to_name: string | null })[];
  changed: number;
  taken: { name: string; index: number; nodes: number; surest: Taken[]; least: Taken[] }[];
  warnings: string[];
}
export interface Taken extends Brief { from: number | null; from_name: string | null; confidence_after: number | null }

export interface Version {
  number: number;
  parent: number | null;
  kind: "run" | "classes" | "learn";
  state: "kept" | "candidate" | "discarded";
  note: string | null;
  person: string | null;
  at: string;
  classes: number;
  labels: number;
}

export interface Change extends Brief {
  before: number | null;
  before_name: string | null;
  class_name: string | null;
  confidence_before: number | null;
}
export interface Changes extends Page<Change> {
  moved: Moved<string | null>[];
  version: number;
  against: number;
  learned: null | { labels: number; outsiders: number; left_out: string[]; accuracy: Compared };
}

export interface Task extends Brief { text: string; top: { class: number; probability: number }[] }
export interface Queue { kind: string; items: Task[]; left: number | null; note: string | null }

export interface Interval { right: number; of: number; value: number; low: number; high: number }
export interface Accuracy extends Interval {
  method: string;
  note: string;
  by_queue?: (Interval & { queue: string })[];
}
/** How right answers were before learning and after, on the same labels; null where too few were given. */
export interface Compared { before: Interval | null; after: Interval | null; note: string }
export interface Summary {
  answers: number;
  nodes: number;
  people: { person: string; answers: number }[];
  disagreements: { id: string; position: number; title: string; answers: { person: string; class: string | null }[] }[];
  accuracy: Accuracy | null;
}
export interface Given { answer_id: number; id: string; kind: string; class: string | null; disagreement: boolean }
