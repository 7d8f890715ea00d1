"""Run the comparison of docs/results.md: every line of results/runs.jsonl is one run.

    python results/runs.py                 all runs that the file does not have yet
    python results/runs.py pipeline align  those of some methods only
    python results/runs.py elsewhere       graphs made from packages (results/elsewhere), which are
                                           fetched; their lines go to results/elsewhere.jsonl

A line says what was asked (graph, what nodes are read from, how class texts are read, which classes
are unseen, protocol, method, seed) and what came out. `python results/tables.py` makes the tables.
No run sees a label of an unseen class, and none decides anything.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import unseen
from unseen.classes import Labels, Split
from unseen.datasets.class_vectors import class_vectors
from unseen.datasets.registry import Dataset, load
from unseen.encode.space import embed
from unseen.evaluate.metrics import (
    accuracy,
    calibration,
    harmonic_mean,
    macro_accuracy,
    majority_floor,
)
from unseen.evaluate.protocol import all_splits, generalised
from unseen.graph import Graph
from unseen.models.align import Align
from unseen.models.prototype import Prototype
from unseen.paper.methods import METHODS
from unseen.paper.work import begin
from unseen.propagate.hops import Hops, decompose
from unseen.propagate.operators import Operator
from unseen.vectors import unit

HERE = Path(__file__).parent
SEEDS = 10
STRICT = "II, training labels only"  # not those of validation classes, as for published figures
HALVES = 3  # draws of half of the classes of graphs made from packages
DRAWS = 10  # of eight sections of stdlib, beside those of the demonstration
FITTED = ("random", "dap", "eszsl", "zs-gcn", "dgpn", "wdvsc", "hyperbolic")  # of the paper


@dataclass(frozen=True)
class Run:
    """One question; its answer is a line of the file.

    Args:
        graph: a name that `unseen.datasets` knows.
        nodes: "texts", or "features": columns without names.
        csds: how class texts are read, an encoder or "published".
        unseen: positions of the classes without a label; all of them where none has one.
        row: what the run is averaged into.
        method: "pipeline" (the defaults of `classify`, with what texts and hops alone say beside
            it), "align" on published CSDs, or a method of the paper with its settings of Split I.
        seed: of the run, and of what is held out in the generalised protocol.
        generalised: a fifth of each seen class is held out, and every class may be an answer.
        rewired: half of the ties lead elsewhere, at random.
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


def runs() -> Iterator[Run]:
    """Yield every run of the comparison."""
    for graph in ("cora", "citeseer", "c-m10m"):
        splits = {row: every for row, every in rows(graph) if row != "no labels"}
        for csds in ("minilm", "static"):
            for row, every in splits.items():
                for seed in range(SEEDS if len(every) == 1 else 1):
                    for held in every:
                        yield Run(graph, "features", csds, held, row, seed=seed)
        for row, every in splits.items():
            for held in every:
                yield Run(graph, "features", "published", held, row, "align")
                for method in FITTED:
                    for csds in ("published", "minilm"):
                        yield Run(graph, "features", csds, held, row, method)
        for seed in range(SEEDS):
            (held,) = splits["I"]
            yield Run(graph, "features", "minilm", held, "I", seed=seed, generalised=True)
    for encoder in ("static", "minilm", "static+minilm"):
        yield from text_runs(encoder)


def text_runs(encoder: str) -> Iterator[Run]:
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


def elsewhere_runs() -> Iterator[Run]:
    """Yield the runs on graphs made from packages: no label, or labels of half of the classes."""
    from elsewhere.graphs import TEXTS, class_texts
    from tables import DESIGN, FRESH

    for encoder in ("static", "minilm"):
        for graph, kind in product((*DESIGN, *FRESH), TEXTS):
            count, draw = len(class_texts(graph)), np.random.default_rng(0)
            name, every = f"{graph}/{kind}", tuple(range(count))
            yield Run(name, "texts", encoder, every, "no labels")
            yield Run(name, "texts", encoder, every, "no labels", rewired=True)
            for _ in range(HALVES):
                half = tuple(sorted(draw.permutation(count)[: count // 2].tolist()))
                yield Run(name, "texts", encoder, half, "half")


@cache
def dataset(name: str) -> Dataset:
    """Return a data set, read once in a process."""
    if "/" in name:
        from elsewhere.graphs import load as make

        return make(name)
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


def answer(run: Run) -> dict[str, Any]:
    """Return what came out, in per cent, with majority floor and macro accuracy."""
    began = time.perf_counter()
    data = dataset(run.graph)
    truth = data.truth.of
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
        graph = Graph(rewired(graph.adjacency, 0.5), texts=graph.texts)
    hidden = np.flatnonzero(np.isin(truth, run.unseen))
    free = "all" if run.generalised or not seen else "unseen"
    found = ask(run, data, graph, known, free)
    told: dict[str, Any] = {"floor": 100 * majority_floor(truth[hidden])}
    for name, (label, confidence) in found.items():
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
        told[name] = part
    told["seconds"] = round(time.perf_counter() - began, 2)
    return told


Answers = dict[str, tuple[np.ndarray, np.ndarray | None]]


def ask(run: Run, data: Dataset, graph: Graph, known: Labels, among: str) -> Answers:
    """Return label and confidence of every node, by how they were come by."""
    allowed = np.ones(len(data.classes), dtype=bool)
    if among == "unseen":
        allowed[known.seen()] = False
    asked = allowed
    if run.row == STRICT:  # nodes may be of validation classes; those that are asked for are not
        asked = np.isin(np.arange(len(allowed)), run.unseen)
    if run.method == "align":
        return {"align": (aligned(run, data, graph, known, allowed, asked), None)}
    if run.method != "pipeline":
        return {run.method: (fitted(run, data, graph, known, asked), None)}
    found = unseen.classify(
        graph, data.classes, known, among=among, encoder=run.csds, seed=run.seed
    )
    label, confidence = known.of.copy(), np.ones(graph.nodes)
    label[found.nodes], confidence[found.nodes] = found.label, found.confidence
    answers: Answers = {"pipeline": (label, confidence)}
    if run.row == STRICT:
        answers["pipeline"] = best_of(found, data, run, known, allowed, asked), None
    if run.nodes == "texts":  # the same class texts, without what is learned
        space = embed(graph, data.classes, run.csds)
        X = unit(space.nodes - found.classifier.node_centre)
        S = found.classifier.class_vectors(space)
        own = Hops((X,), np.ones(1, np.float32))
        for name, hops in (
            ("own text", own),
            ("hops", decompose(X, Operator(graph.adjacency), 3, 0.5)),
        ):
            plain = Prototype().fit(hops, known.of, S).predict(hops, asked)
            answers[name] = (np.where(known.known, known.of, plain), None)
    return answers


def best_of(
    found: Any, data: Dataset, run: Run, known: Labels, allowed: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """Return the best of the classes asked for at each node; all allowed were in the running."""
    space = embed(found.graph, data.classes, run.csds, count_words=True)
    operator = Operator(found.graph.adjacency)
    hops = found.classifier.hops_of(space, operator)
    told = found.classifier.opinions(hops, known.of, operator, allowed)
    best = np.where(asked, told.beliefs, -1).argmax(axis=1)
    return np.where(known.known, known.of, best)


def class_texts(run: Run, data: Dataset, graph: Graph) -> np.ndarray:
    """Return the CSDs of a run. [C, d_s]"""
    if run.csds == "published":
        return unit(class_vectors(run.graph, "text"))
    return unit(embed(graph, data.classes, run.csds).csds["description"])


def aligned(
    run: Run, data: Dataset, graph: Graph, known: Labels, allowed: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """Return the answers of `Align` with one description of each class."""
    operator, S = Operator(graph.adjacency), class_texts(run, data, graph)
    S = unit(S - S.mean(axis=0))
    space = embed(graph, data.classes, "counts")
    X = unit(space.nodes - space.nodes.mean(axis=0))
    hops, model = Hops((X,), np.ones(1, np.float32)), Align(seed=run.seed)
    model.fit(hops, known.of, S, operator, allowed)
    beliefs = model.opinions(hops, known.of, operator, allowed).beliefs
    return np.where(asked, beliefs, -1).argmax(axis=1)


def fitted(run: Run, data: Dataset, graph: Graph, known: Labels, asked: np.ndarray) -> np.ndarray:
    """Return the answers of a method of the paper.

    One that sees attributes only is not shown nodes of classes that are neither known nor asked
    for, as in `unseen.paper`.
    """
    operator, S = Operator(graph.adjacency), class_texts(run, data, graph)
    X = sp.csr_array(graph.features, dtype=np.float32)
    X = sp.csr_array(sp.diags_array(1 / np.maximum(X.sum(axis=1), 1e-9)) @ X, dtype=np.float32)
    method = METHODS[run.method]
    settings = method.settings(run.graph)
    K, beta = settings.pop("hops", 0), settings.pop("laziness", 0.5)
    model = method.make(settings, run.seed, np.bincount(data.truth.of))
    hops = decompose(X, operator, K, beta)
    if method.walks:
        return model.fit(hops, known.of, S, operator, asked).predict(hops, asked)
    kept = known.known | asked[data.truth.of]
    shown = Hops((hops.own[kept],), hops.weights[:1])
    whole = Hops((hops.own,), hops.weights[:1])
    return model.fit(shown, known.of[kept], S, None, asked).predict(whole, asked)


def rewired(adjacency: Any, share: float) -> Any:
    """Return the graph with this share of its ties led elsewhere; degrees stay nearly the same."""
    draw = np.random.default_rng(0)
    ties = sp.coo_array(sp.triu(sp.csr_array(adjacency), 1))
    source, target = (end.copy() for end in ties.coords)
    moved = draw.random(len(source)) < share
    source[moved] = draw.permutation(source[moved])
    target[moved] = draw.permutation(target[moved])
    apart = source != target
    half = sp.coo_array(
        (np.ones(apart.sum(), np.float32), (source[apart], target[apart])), shape=adjacency.shape
    )
    both = sp.csr_array(half + half.T)
    both.data[:] = 1
    return both


def key(run: Run) -> str:
    return json.dumps(asdict(run), sort_keys=True)


def main() -> None:
    """Run what is missing, on all cores; a kill loses what is under way and nothing else."""
    wanted = set(sys.argv[1:])
    packages = wanted == {"elsewhere"}
    path = HERE / ("elsewhere.jsonl" if packages else "runs.jsonl")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    done = {json.dumps(json.loads(line)["run"], sort_keys=True) for line in lines}
    asked = elsewhere_runs() if packages else runs()
    todo = [
        r for r in asked if key(r) not in done and (packages or not wanted or r.method in wanted)
    ]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(mp_context=context, initializer=begin) as pool:
        waiting = {pool.submit(answer, run): run for run in todo}
        for count, future in enumerate(as_completed(waiting), 1):
            if future.exception() is not None:
                pool.shutdown(wait=False, cancel_futures=True)
            run, told = waiting[future], future.result()
            line = {"run": asdict(run), "answer": told, "unseen": unseen.__version__}
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, sort_keys=True) + "\n")
            print(f"{count}/{len(todo)}", run, {k: v for k, v in told.items() if k != "floor"})


if __name__ == "__main__":
    main()
