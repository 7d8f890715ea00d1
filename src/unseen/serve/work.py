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
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.answer import Case, answer
from unseen.core.errors import UnseenError
from unseen.core.labels import Labels, allowed_classes
from unseen.estimator import ZeroShotNodeClassifier
from unseen.io.join import join_graph
from unseen.record import Steps
from unseen.run import load
from unseen.serve.changes import changes, moved
from unseen.serve.editing import (
    allowed_after,
    edit_classes,
    edited_model,
    labels_after,
)
from unseen.serve.labels import accuracy, to_learn
from unseen.serve.served import Served
from unseen.serve.state import log
from unseen.serve.store import now
from unseen.serve.versions import Versions

if TYPE_CHECKING:
    from unseen.core.graph import Graph
    from unseen.prediction import Prediction

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
    row = versions.store.one("SELECT * FROM jobs WHERE id = ?", number)
    if row is None or row["state"] != "queued":
        sys.exit(1)
    with versions.store.write() as db:
        db.execute("UPDATE jobs SET state = 'running', pid = ? WHERE id = ?", (os.getpid(), number))
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
    classifier = load(versions.folder(parent))
    graph, labels, last = _with_added(versions, parent, classifier)
    classifier.progress = job.progress
    made = learned if kind == "learn" else with_changed_classes
    prediction, note, more = made(versions, classifier, graph, labels, request)
    with versions.store.write() as db:
        number = versions.next_number(db)
    job.progress("write the run", 0, 1)
    _sync(prediction.save(versions.folder(number)))
    job.progress("make the arrays", 0, 1)
    arrays = versions.ensure(number)
    job.progress("compare", 0, 1)
    before = versions.load(parent)
    after = Served(number, versions.folder(number), arrays)
    rows = changes(before, after)
    result = more | {
        "changed": len(rows),
        "moved": moved(before, after, rows),
        "added_nodes": graph.nodes - before.nodes,
        "accuracy": accuracy(versions.store),
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


def _with_added(versions: Versions, parent: int, classifier: Any) -> tuple[Graph, Labels, int]:
    """Return the graph with all nodes that came since, its labels, and the last of these nodes."""
    graph, labels, store = classifier.graph_, classifier.labels_, versions.store
    first = int(versions.row(parent)["folded"])
    rows = store.all("SELECT seq, id, text FROM nodes WHERE seq > ? ORDER BY seq", first)
    if not rows:
        return graph, labels, first
    new = {row["id"] for row in rows}
    edges = [
        row
        for row in store.all("SELECT source, target, weight FROM edges")
        if row["source"] in new or row["target"] in new
    ]
    nodes = pl.DataFrame({"id": [r["id"] for r in rows], "text": [r["text"] for r in rows]})
    listed = pl.DataFrame(
        {name: [row[name] for row in edges] for name in ("source", "target", "weight")},
        schema={"source": pl.String, "target": pl.String, "weight": pl.Float64},
    )
    whole, _ = join_graph(graph, classifier.class_texts_, nodes, listed if edges else None)
    codes = np.append(labels.codes, np.full(whole.nodes - graph.nodes, -1))
    return whole, Labels(codes), int(rows[-1]["seq"])


def _among(classifier: Any, labels: Labels) -> Any:
    """Return which classes may be answered, by name: labels that people give change nothing."""
    if classifier.among == "all":
        return "all"
    classes = classifier.class_texts_
    allowed = allowed_classes(classifier.among, labels, classes)
    return [name for name, may in zip(classes.names, allowed, strict=True) if may]


def learned(
    versions: Versions, classifier: Any, graph: Graph, labels: Labels, request: dict[str, Any]
) -> tuple[Prediction, str, dict[str, Any]]:
    """Fit again, with the labels that people gave beside those of the run."""
    given, apart = to_learn(versions.store)
    classes = classifier.class_texts_
    rows = graph.positions()
    codes, index = labels.codes.copy(), classes.index()
    used = {node: name for node, name in given.items() if node in rows and name in index}
    for node, name in used.items():
        codes[rows[node]] = index[name]
    fresh = ZeroShotNodeClassifier(
        encoder=classifier.encoder,
        among=_among(classifier, labels),
        abstain=classifier.abstain,
        open_world=classifier.open_world,
        device=classifier.device,
        seed=classifier.seed,
        progress=classifier.progress,
    )
    prediction = fresh.fit(graph, classes, Labels(codes)).prediction_
    left = [*apart, *(node for node in given if node not in used)]
    note = f"learned from {len(used):,} label{'s' if len(used) != 1 else ''} that people gave"
    return prediction, note, {"labels": len(used), "left_out": left[:100]}


def with_changed_classes(
    versions: Versions, classifier: Any, graph: Graph, labels: Labels, request: dict[str, Any]
) -> tuple[Prediction, str, dict[str, Any]]:
    """Take up classes as the preview showed them: nothing is fitted again."""
    before = classifier.class_texts_
    edit = edit_classes(before, request["changes"], request["remove"], labels.codes)
    steps = Steps(classifier.progress)
    allowed = allowed_after(edit, allowed_classes(classifier.among, labels, before))
    after = Labels(labels_after(edit, labels.codes))
    with steps("encode"):
        encoded = classifier.preparer_.encode(graph, edit.classes, classifier.progress)
    task = classifier.preparer_.task(encoded, graph, after, allowed)
    twin = copy(classifier)
    with steps("add classes"):
        twin.model_ = edited_model(classifier.model_, edit, task)
    twin.class_texts_, twin.classes_ = edit.classes, np.array(edit.classes.names, dtype=object)
    seen = {before.names[c]: int(edit.place[c]) for c in range(len(before))}
    twin.seen_ = tuple(edit.classes.names[seen[name]] for name in classifier.seen_)
    if not allowed.all():
        twin.among = [name for name, may in zip(edit.classes.names, allowed, strict=True) if may]
    twin.graph_, twin.labels_ = graph, after
    case = Case(graph, after, edit.classes, task, encoded)
    prediction, twin.posterior_ = answer(twin, case, steps)
    twin.prediction_ = prediction
    return prediction, _note(edit, before.names, request), {"labels": 0, "left_out": []}


def _note(edit: Any, names: Any, request: dict[str, Any]) -> str:
    """Return what was done to the classes, in a few words."""
    said = []
    for change in request["changes"]:
        done = "added" if change["replaces"] is None else "edited"
        said.append(f"{done} {change['name']!r}")
    said += [f"removed {names[c]!r}" for c in request["remove"]]
    return ", ".join(said)[:300]


if __name__ == "__main__":
    main()
