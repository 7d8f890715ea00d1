"""The process of a job: makes a version of a run, and says in the store how far it is.

    python -m unseen.serve.work RUN JOB

Fitting again and taking up classes both end in a whole run folder; the store speaks of it only
after it is there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.core.errors import UnseenError
from unseen.run import load
from unseen.serve.changes import changes, moved
from unseen.serve.making import learned, with_added, with_changed_classes
from unseen.serve.served import Served
from unseen.serve.state import log
from unseen.serve.store import now
from unseen.serve.versions import Versions

NICE = 10  # requests come first
OFTEN = 0.2  # seconds between two notes of progress
STAGES = {  # what is done, and how much of the job lies behind it then
    "load": 0.0,
    "encode": 0.05,
    "encode texts": 0.05,
    "count words": 0.15,
    "prepare": 0.2,
    "fit": 0.3,
    "add classes": 0.4,
    "hold out labels": 0.5,
    "infer": 0.65,
    "write the run": 0.75,
    "make the arrays": 0.88,
    "compare": 0.98,
}


@dataclass
class Job:
    """A job under way."""

    versions: Versions
    number: int
    said: float = 0.0
    fraction: float = 0.0

    def progress(self, what: str, done: int, total: int) -> None:
        """Note how far the job is, now and then."""
        self.fraction = max(self.fraction, STAGES.get(what, 0.0))
        if time.monotonic() - self.said < OFTEN and done:
            return
        self.said = time.monotonic()
        with self.versions.store.write() as db:
            db.execute(
                "UPDATE jobs SET stage = ?, done = ?, total = ?, fraction = ? WHERE id = ? AND "
                "state = 'running'",
                (what, int(done), int(total), self.fraction, self.number),
            )


def main() -> None:
    """Do the job that the command line names."""
    run, number = Path(sys.argv[1]), int(sys.argv[2])
    os.nice(NICE)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    versions = Versions(run)
    with versions.store.write() as db:
        begun = db.execute(
            "UPDATE jobs SET state = 'running', pid = ? WHERE id = ? AND state = 'queued'",
            (os.getpid(), number),
        ).rowcount
    row = versions.store.one("SELECT * FROM jobs WHERE id = ?", number)
    if row is None or not begun:  # stopped before it began, or done by another process
        sys.exit(1)
    job = Job(versions, number)
    try:
        work(job, str(row["kind"]), str(row["person"]), json.loads(row["request"]))
    except Exception as error:
        known = isinstance(error, UnseenError)
        sentence = " ".join(str(error).split()) if known else f"failed: {type(error).__name__}"
        if not known:
            log("error", job=number, trace=traceback.format_exc())
        with versions.store.write() as db:
            db.execute(
                "UPDATE jobs SET state = 'failed', error = ?, ended = ? WHERE id = ? AND "
                "state = 'running'",
                (sentence, now(), number),
            )


def work(job: Job, kind: str, person: str, request: dict[str, Any]) -> None:
    """Make a version, and tell what changed."""
    versions = job.versions
    job.progress("load", 0, 1)
    parent = int(request["version"])
    before = versions.load(parent)
    classifier = load(versions.folder(parent))
    graph, labels, last = with_added(versions, parent, classifier)
    same = graph.nodes == before.nodes
    classifier.progress = job.progress
    made = learned if kind == "learn" else with_changed_classes
    known = before if same and classifier.class_texts_.vectors is None else None
    case, prediction, note, more = made(versions, classifier, graph, labels, known, request)
    with versions.store.write() as db:
        number = versions.next_number(db)
    job.progress("write the run", 0, 1)
    _sync(prediction.save(versions.folder(number)))
    job.progress("make the arrays", 0, 1)
    in_hand = None if known is None else (prediction.classifier, case, before.arrays)
    arrays = versions.ensure(number, in_hand=in_hand)
    job.progress("compare", 0, 1)
    after = Served(number, versions.folder(number), arrays)
    rows = changes(before, after)
    result = more | {
        "changed": len(rows),
        "moved": moved(before, after, rows),
        "added_nodes": graph.nodes - before.nodes,
    }
    state = "candidate" if kind == "learn" else "kept"
    with versions.store.write() as db:
        stands = db.execute("SELECT state FROM jobs WHERE id = ?", (job.number,)).fetchone()
        if stands["state"] != "running":
            return  # was cancelled
        db.execute(
            "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                parent,
                kind,
                state,
                note,
                person,
                now(),
                len(prediction.classes),
                int(prediction.labels.known.sum()),
                last,
            ),
        )
        if state == "kept":
            db.execute("UPDATE meta SET value = ? WHERE key = 'current'", (str(number),))
        db.execute(
            "UPDATE jobs SET state = 'done', stage = 'done', done = 1, total = 1, fraction = 1, "
            "ended = ?, version = ?, result = ? WHERE id = ?",
            (now(), number, json.dumps(result), job.number),
        )


def _sync(folder: Path) -> None:
    """Bring a folder to the disk, before the store says that it is there."""
    for path in [*folder.rglob("*"), folder, folder.parent]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


if __name__ == "__main__":
    main()
