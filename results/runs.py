"""Run the comparison of docs/results.md: every line of results/runs.jsonl is one run.

    python results/runs.py                 all runs that the file does not have yet
    python results/runs.py pipeline align  those of some methods only

A line says what was asked (graph, what nodes are read from, how class texts are read, which classes
are unseen, protocol, method, seed) and what came out. `python results/tables.py` makes the tables.
No run sees a label of an unseen class, and none decides anything.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from records import HERE, RUNS
from runner import run_missing

from unseen import ZeroShotNodeClassifier
from unseen.core.arrays import unit
from unseen.core.graph import Graph
from unseen.core.labels import Labels, Split
from unseen.core.task import Task
from unseen.datasets.class_vectors import class_vectors
from unseen.datasets.registry import Dataset, load
from unseen.evaluate.metrics import (
    accuracy,
    calibration,
    harmonic_mean,
    macro_accuracy,
    majority_floor,
)
from unseen.evaluate.protocol import all_splits, generalised
from unseen.models.cluster_matching import ClusterMatching
from unseen.models.prototype import Prototype
from unseen.paper.ledger import Ledger
from unseen.paper.methods import METHODS
from unseen.paper.trial import Outcome
from unseen.prepare.preparer import Preparer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Answers = dict[str, tuple[NDArray[np.int64], NDArray[np.float32] | None]]

SEEDS, FEATURE_SEEDS = 10, 5
STRICT = "II, training labels only"  # not those of validation classes, as for published figures
DRAWS = 10  # of eight sections of stdlib, beside those of the demonstration
FITTED = ("random", "dap", "eszsl", "zs-gcn", "dgpn", "wdvsc", "hyperbolic")  # of the paper
REWIRED = 0.5  # share of the edges that lead elsewhere


@dataclass(frozen=True)
class Run:
    """One question; its answer is a line of the file.

    Args:
        graph: a name that `unseen.datasets` knows.
        nodes: "texts", or "features": columns without names.
        csds: how class texts are read, an encoder or "published".
        unseen: positions of the classes without a label; all of them where none has one.
        row: what the run is averaged into.
        method: "pipeline" (the defaults, with what texts and hops alone say beside them), "align"
            (cluster matching) on published CSDs, or a method of the paper with its settings of
            Split I.
        seed: of the run, and of what is held out in the generalised protocol.
        generalised: a fifth of each seen class is held out, and every class may be an answer.
        rewired: half of the edges lead elsewhere, at random.
    """

    graph: str
    nodes: str
    csds: str
    unseen: tuple[int, ...]
    row: str
    method: str = "pipeline"
    seed: int = 0
    generalised: bool = False
    rewired: bool = False

    def key(self) -> str:
        """Return the run as a line of text."""
        return json.dumps(asdict(self), sort_keys=True)


def runs() -> Iterator[Run]:
    """Yield every run of the comparison."""
    for graph in ("cora", "citeseer", "c-m10m"):
        splits = {row: every for row, every in rows(graph) if row != "no labels"}
        for csds in ("minilm", "static"):
            for row, every in splits.items():
                for seed in range(FEATURE_SEEDS if len(every) == 1 else 1):
                    for held in every:
                        yield Run(graph, "features", csds, held, row, seed=seed)
        for row, every in splits.items():
            for held in every:
                yield Run(graph, "features", "published", held, row, "align")
                for method in FITTED:
                    for csds in ("published", "minilm"):
                        yield Run(graph, "features", csds, held, row, method)
        for seed in range(FEATURE_SEEDS):
            (held,) = splits["I"]
            yield Run(graph, "features", "minilm", held, "I", seed=seed, generalised=True)
    for encoder in ("static", "minilm", "static+minilm"):
        yield from text_runs(encoder)


def text_runs(encoder: str) -> Iterator[Run]:
    """Yield the runs on texts of nodes, read by one encoder."""
    for graph in ("c-m10m", "stdlib"):
        for row, every in rows(graph):
            for seed in range(SEEDS if len(every) == 1 else 1):
                for held in every:
                    yield Run(graph, "texts", encoder, held, row, seed=seed)
            if len(every) == 1 and row != STRICT:
                yield Run(graph, "texts", encoder, every[0], row, rewired=True)
    (held,) = dict(rows("c-m10m"))["I"]
    for seed in range(SEEDS):
        yield Run("c-m10m", "texts", encoder, held, "I", seed=seed, generalised=True)


@cache
def dataset(name: str) -> Dataset:
    """Return a data set, read once in a process."""
    return load(name)


def rows(graph: str) -> list[tuple[str, list[tuple[int, ...]]]]:
    """Return the unseen classes of each run, by the row that they are averaged into.

    Labels of validation classes (Split II) are learned from like all others, except in `STRICT`.
    """
    data = dataset(graph)
    count = len(data.classes)
    found = [(name, [split.unseen]) for name, split in data.splits.items()]
    found += [(STRICT, [split.unseen]) for split in data.splits.values() if split.validation]
    if data.graph.texts is not None:
        found.append(("no labels", [tuple(range(count))]))
    if graph == "stdlib":
        draw = np.random.default_rng(0)
        held = [tuple(sorted(draw.permutation(count)[:8].tolist())) for _ in range(DRAWS)]
        return [*found, (f"{DRAWS} draws of 8", held)]
    seen = len(data.splits["I"].seen)
    return [*found, ("all splits", [split.unseen for split in all_splits(count, seen)])]


def answer(run: Run) -> Outcome:
    """Return what came out, in per cent, with majority floor and macro accuracy."""
    began = time.perf_counter()
    data = dataset(run.graph)
    truth = data.truth.codes
    seen = tuple(c for c in range(len(data.classes)) if c not in run.unseen)
    if run.row == STRICT:
        seen = data.splits["II"].seen
    known, held = data.truth.only(seen), np.zeros(0, np.int64)
    if run.generalised:
        known, held = generalised(data.truth, Split(seen, (), run.unseen), run.seed)
    graph = data.graph
    if run.nodes == "features":
        graph = Graph(graph.adjacency, features=graph.features)
    if run.rewired:
        graph = Graph(rewired(graph.adjacency), texts=graph.texts)
    hidden = np.flatnonzero(np.isin(truth, run.unseen))
    among = "all" if run.generalised or not seen else "unseen"
    outcome: Outcome = {"floor": 100 * majority_floor(truth[hidden])}
    for name, (label, confidence) in ask(run, data, graph, known, among).items():
        part = {
            "accuracy": 100 * accuracy(truth[hidden], label[hidden]),
            "macro": 100 * macro_accuracy(truth[hidden], label[hidden]),
        }
        if run.generalised:
            part["seen"] = 100 * accuracy(truth[held], label[held])
            part["harmonic"] = harmonic_mean(part["seen"], part["accuracy"])
        if confidence is not None:
            asked = np.concatenate([hidden, held])
            right = label[asked] == truth[asked]
            part["calibration error"] = calibration(confidence[asked], right).error
            part["confidence"] = 100 * float(confidence[asked].mean())
        outcome[name] = part
    outcome["seconds"] = round(time.perf_counter() - began, 2)
    return outcome


def ask(run: Run, data: Dataset, graph: Graph, known: Labels, among: str) -> Answers:
    """Return label and confidence of every node, by how they were come by."""
    allowed = np.ones(len(data.classes), dtype=bool)
    if among == "unseen":
        allowed[known.seen()] = False
    asked = allowed
    if run.row == STRICT:  # nodes may be of validation classes; those that are asked for are not
        asked = np.isin(np.arange(len(allowed)), run.unseen)
    if run.method == "pipeline":
        return defaults(run, data, graph, known, among, asked)
    if run.method == "align":
        return {"align": (matched(run, data, graph, known, allowed, asked), None)}
    return {run.method: (fitted(run, data, graph, known, asked), None)}


def defaults(
    run: Run, data: Dataset, graph: Graph, known: Labels, among: str, asked: NDArray[np.bool_]
) -> Answers:
    """Return the answers of the defaults and, of texts, of floors that learn nothing."""
    classifier = ZeroShotNodeClassifier(encoder=run.csds, among=among, seed=run.seed)
    found = classifier.fit(graph, data.classes, known).prediction_
    label, confidence = known.codes.copy(), np.ones(graph.nodes, np.float32)
    label[found.nodes], confidence[found.nodes] = found.label, found.confidence
    answers: Answers = {"pipeline": (label, confidence)}
    if run.row == STRICT:  # the best of the classes asked for; all allowed were in the running
        best = np.where(asked, classifier.posterior_, -1).argmax(axis=1)
        answers["pipeline"] = np.where(known.known, known.codes, best), None
    if run.nodes == "texts":
        preparer = classifier.preparer_
        encoded = preparer.encode(graph, data.classes)
        task = preparer.plain_task(encoded, graph, known, asked)
        for name, model in (("own text", Prototype(0)), ("hops", Prototype(3, 0.5))):
            plain = model.fit(task).predict(task)
            answers[name] = np.where(known.known, known.codes, plain), None
    return answers


def class_texts(run: Run, data: Dataset, graph: Graph) -> NDArray[np.float32]:
    """Return the CSDs of a run. [C, d_s]"""
    if run.csds == "published":
        return unit(class_vectors(run.graph, "text"))
    reader = {"minilm": "minilm+static"}.get(run.csds, run.csds)  # as when these were recorded
    return unit(Preparer(f"counts:{reader}").encode(graph, data.classes).csds["description"])


def matched(
    run: Run,
    data: Dataset,
    graph: Graph,
    known: Labels,
    allowed: NDArray[np.bool_],
    asked: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return the answers of `ClusterMatching` with one description of each class. [n]"""
    S = class_texts(run, data, graph)
    X = Preparer("counts").encode(graph, data.classes).nodes
    X, S = unit(X - X.mean(axis=0)), unit(S - S.mean(axis=0))
    task = Task(X, S, known.codes, graph.operator, allowed, shared=False)
    p = ClusterMatching(seed=run.seed).fit(task).posterior(task)
    best: NDArray[np.int64] = np.where(asked, p, -1).argmax(axis=1)
    return best


def fitted(
    run: Run, data: Dataset, graph: Graph, known: Labels, asked: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the answers of a method of the paper. [n]

    One that sees attributes only is not shown nodes of classes that are neither known nor asked
    for, as in `unseen.paper`.
    """
    S, method = class_texts(run, data, graph), METHODS[run.method]
    X = sp.csr_array(graph.features, dtype=np.float32)
    X = sp.csr_array(sp.diags_array(1 / np.maximum(X.sum(axis=1), 1e-9)) @ X, dtype=np.float32)
    model = method.make(method.settings(run.graph), run.seed, np.bincount(data.truth.codes))
    operator = graph.operator if method.propagates else None
    whole = shown = Task(X, S, known.codes, operator, asked, shared=False)
    if not method.propagates:
        kept = known.known | asked[data.truth.codes]
        shown = Task(X[kept], S, known.codes[kept], None, asked, shared=False)
    answers: NDArray[np.int64] = model.fit(shown).predict(whole)
    return answers


def rewired(adjacency: Any) -> Any:
    """Return the graph with half of its edges led elsewhere; degrees stay nearly the same."""
    draw = np.random.default_rng(0)
    edges = sp.coo_array(sp.triu(sp.csr_array(adjacency), 1))
    source, target = (end.copy() for end in edges.coords)
    moved = draw.random(len(source)) < REWIRED
    source[moved] = draw.permutation(source[moved])
    target[moved] = draw.permutation(target[moved])
    apart = source != target
    half = sp.coo_array(
        (np.ones(apart.sum(), np.float32), (source[apart], target[apart])), shape=adjacency.shape
    )
    both = sp.csr_array(half + half.T)
    both.data[:] = 1
    return both


def main() -> None:
    """Run what is missing."""
    wanted = set(sys.argv[1:])
    asked = (run for run in runs() if not wanted or run.method in wanted)
    run_missing(asked, Ledger(HERE, RUNS), answer, lambda run, outcome: f"{run} {outcome}")


if __name__ == "__main__":
    main()
