"""Run the defaults on the zoo of text graphs: every line of results/zoo.jsonl is one task.

    python results/zoo.py                             the design set, what is not there yet
    python results/zoo.py fresh                       the fresh set; the look is counted
    python results/zoo.py all --encoder minilm        both sets, one encoder
    python results/zoo.py --address host:6379         on a Ray cluster, with the same ledger

Each task holds `ZeroShotNodeClassifier()` against two floors that learn nothing: a node's own text
(centred cosine with the class texts) and three lazy hops of it, both of the encoder's vectors and
of the prepared ones (with LSA). Which tasks there are was fixed before any result. No label of a
node in question is seen by anything that fits, and none decides anything.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from graphs import catalogue
from records import BEFORE_ZOO as BEFORE
from records import HERE, ZOO
from runner import run_missing
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import unseen
from unseen.core.arrays import unit
from unseen.core.classes import Classes
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.encode.class_texts import class_text_words
from unseen.evaluate.metrics import accuracy, calibration, macro_accuracy, majority_floor
from unseen.models.prototype import Prototype
from unseen.models.typicality import LAZINESS, STEPS
from unseen.paper.ledger import Ledger
from unseen.paper.trial import Outcome
from unseen.propagate.hops import hops_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOKS = "zoo_looks.md"
FLOORS = ("own encoder", "hops encoder", "own prepared", "hops prepared")
FEW = 5  # labelled nodes of a class, in tasks with "five"
REWIRED = 0.5  # share of the edges that lead elsewhere, at random


@dataclass(frozen=True)
class ZooTask:
    """One question; its answer is a line of the file.

    Args:
        graph: one of `graphs/`.
        texts: what classes are described by: "name", "sentence" or "paragraph".
        listed: "all" classes are listed, or a fixed "half"; nodes of the others stay in the graph.
        labels: "none"; "half" of the classes have all their nodes labelled, and the others are
            asked for; "five" nodes of each class are labelled, and any class may be an answer.
        edges: "asis", or "rewired": half of them lead elsewhere.
        encoder, seed: of the classifier.
    """

    graph: str
    texts: str
    listed: str
    labels: str
    edges: str
    encoder: str
    seed: int = 0

    def key(self) -> str:
        """Return the task as a line of text."""
        return json.dumps(asdict(self), sort_keys=True)


def tasks(graph: str, encoder: str) -> list[ZooTask]:
    """Return the tasks of a graph: a fraction of the cross, fixed before any result."""
    lists = ("all", "half")
    if encoder == "minilm":
        asked = [
            (texts, listed, "none", "asis") for texts in ("name", "paragraph") for listed in lists
        ]
    else:
        asked = [(texts, listed, "none", "asis") for texts in catalogue.TEXTS for listed in lists]
        asked += [("paragraph", "all", labels, "asis") for labels in ("half", "five")]
        asked += [("sentence", "all", "none", "rewired"), ("name", "half", "none", "rewired")]
    return [ZooTask(graph, *each, encoder) for each in asked]


def run(task: ZooTask) -> Outcome:
    """Fit, answer and measure, in per cent."""
    graph, classes, truth = inputs(task)
    labels = Labels(_known(task, truth, len(classes)))
    among = "unseen" if task.labels == "half" else "all"
    began = time.perf_counter()
    classifier = unseen.ZeroShotNodeClassifier(encoder=task.encoder, among=among, seed=task.seed)
    prediction = classifier.fit(graph, classes, labels).prediction_
    seconds = time.perf_counter() - began

    asked = np.flatnonzero((truth >= 0) & ~labels.known)  # the nodes in question
    inside = truth[prediction.nodes] >= 0
    answers = {"defaults": labels.codes.copy()}
    answers["defaults"][prediction.nodes] = prediction.label
    answers |= _floors(classifier, graph, classes, labels, among)
    if task.labels == "five":
        answers["logistic regression"] = _logistic_regression(classifier, graph, classes, labels)
    outcome: Outcome = {
        name: {
            "accuracy": 100 * accuracy(truth[asked], answer[asked]),
            "macro": 100 * macro_accuracy(truth[asked], answer[asked]),
        }
        for name, answer in answers.items()
    }
    right = prediction.label[inside] == truth[prediction.nodes][inside]
    error = calibration(prediction.confidence[inside], right).error
    outcome["defaults"]["calibration error"] = error
    uncorrected = classifier.calibration_.inverse(prediction.confidence)
    record = prediction.record
    return outcome | {
        "majority": 100 * majority_floor(truth[asked]),
        "auroc": None if inside.all() else float(roc_auc_score(inside, _belonging(prediction))),
        "choices": {each["what"]: each["chosen"] for each in record["choices"]},
        "kappa": _kappa(classifier),
        "homophily": (record["homophily"] or {}).get("level"),
        "true homophily": _homophily(task),
        "confidence": round(float(prediction.confidence.mean()), 4),
        "uncorrected confidence": round(float(uncorrected.mean()), 4),
        "words of a class text": class_text_words(classes, classifier.preparer_.class_text_),
        "nodes": len(asked),
        "classes": len(classes),
        "seconds": round(seconds, 2),
    }


def _kappa(classifier: Any) -> float | None:
    """Return how well the better model agrees with held-out words, where they were asked."""
    asked = [each for each in classifier.choices_ if each.rule.startswith("held-out words")]
    return round(max(asked[0].candidates.values()), 4) if asked else None


def _floors(
    classifier: Any, graph: Graph, classes: Any, labels: Labels, among: str
) -> dict[str, NDArray[np.int64]]:
    """Return what own text and three lazy hops of it say, with nothing learned."""
    preparer = classifier.preparer_
    encoded = preparer.encode(graph, classes)
    allowed = np.ones(len(classes), dtype=bool)
    if among == "unseen":
        allowed[labels.seen()] = False
    given = {
        "encoder": preparer.plain_task(encoded, graph, labels, allowed),
        "prepared": preparer.task(encoded, graph, labels, allowed),
    }
    return {
        f"{name} {vectors}": model.fit(task).predict(task)
        for vectors, task in given.items()
        for name, model in (("own", Prototype(0)), ("hops", Prototype(3, 0.5)))
    }


def _logistic_regression(
    classifier: Any, graph: Graph, classes: Any, labels: Labels
) -> NDArray[np.int64]:
    """Return what logistic regression on three lazy hops of the prepared vectors makes of labels.

    It sees the same labels as the defaults, and no class text.
    """
    preparer = classifier.preparer_
    allowed = np.ones(len(classes), dtype=bool)
    task = preparer.task(preparer.encode(graph, classes), graph, labels, allowed)
    Z = unit(hops_of(task, STEPS, LAZINESS).composed())
    known = labels.known
    found = LogisticRegression(C=10.0, max_iter=300).fit(Z[known], labels.codes[known])
    told: NDArray[np.int64] = found.predict(Z)
    return told


def _belonging(prediction: Any) -> NDArray[np.float32]:
    """Return how sure it is that a node is of a listed class. [m]"""
    background = getattr(prediction, "background", None)
    belonging: NDArray[np.float32] = prediction.confidence if background is None else 1 - background
    return belonging


def _draw(task: ZooTask, purpose: str) -> np.random.Generator:
    """Return a generator that depends on graph and purpose only."""
    return np.random.default_rng(int(sha256(f"{task.graph}/{purpose}".encode()).hexdigest(), 16))


def _listed(task: ZooTask) -> NDArray[np.int64]:
    """Return the positions of the listed classes, ascending."""
    count = len(catalogue.class_texts()[task.graph])
    if task.listed == "all":
        return np.arange(count)
    kept: NDArray[np.int64] = _draw(task, "listed").permutation(count)[: (count + 1) // 2]
    kept.sort()
    return kept


def _known(task: ZooTask, truth: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return the labels that are shown, -1 where there is none. [n]"""
    known = np.full(len(truth), -1)
    draw = _draw(task, f"labels {task.labels}")
    if task.labels == "half":
        seen = np.isin(truth, draw.permutation(count)[: count // 2])
        known[seen] = truth[seen]
    elif task.labels == "five":
        for c in range(count):
            few = draw.permutation(np.flatnonzero(truth == c))[:FEW]
            known[few] = c
    return known


def _rewired(task: ZooTask, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the edges with half of them led elsewhere; degrees stay nearly the same. [m', 2]"""
    draw, moved = _draw(task, "edges"), edges.copy()
    chosen = draw.random(len(edges)) < REWIRED
    for end in (0, 1):
        moved[chosen, end] = draw.permutation(moved[chosen, end])
    apart: NDArray[np.int64] = moved[moved[:, 0] != moved[:, 1]]
    return apart


def _edges(task: ZooTask) -> NDArray[np.int64]:
    """Return the edges of a task, by position. [m, 2]"""
    edges = catalogue.load(task.graph).edges
    return _rewired(task, edges) if task.edges == "rewired" else edges


def _homophily(task: ZooTask) -> float:
    """Return the share of edges within a true class, listed or not."""
    truth, edges = catalogue.load(task.graph).truth, _edges(task)
    return float((truth[edges[:, 0]] == truth[edges[:, 1]]).mean())


def inputs(task: ZooTask) -> tuple[Graph, Classes, NDArray[np.int64]]:
    """Return the graph, the listed classes, and the true class of each node, -1 for outsiders."""
    found, listed = catalogue.load(task.graph), _listed(task)
    truth = np.full(len(found.texts), -1)
    for position, c in enumerate(listed):
        truth[found.truth == c] = position
    edges = _edges(task)
    graph = Graph.from_edges(*edges.T, nodes=len(truth), directed=found.directed, texts=found.texts)
    return graph, catalogue.classes(task.graph, task.texts, listed), truth


def run_before(task: ZooTask) -> Outcome:
    """Answer a task without labels as 0.8 did: `BeliefPropagation`, whatever the graph."""
    graph, classes, truth = inputs(task)
    classifier = unseen.ZeroShotNodeClassifier(
        encoder=task.encoder, seed=task.seed, model=unseen.BeliefPropagation()
    )
    told = classifier.fit(graph, classes).prediction_
    asked = np.flatnonzero(truth >= 0)
    return {
        "before": {
            "accuracy": 100 * accuracy(truth[asked], told.label[asked]),
            "macro": 100 * macro_accuracy(truth[asked], told.label[asked]),
            "calibration error": calibration(
                told.confidence[asked], told.label[asked] == truth[asked]
            ).error,
        }
    }


def line(task: ZooTask, found: Outcome) -> str:
    """Return what is printed of a finished task."""
    scores = ", ".join(
        f"{name} {found[name]['accuracy']:.1f}/{found[name]['macro']:.1f}"
        for name in ("defaults", *FLOORS)
    )
    about = (task.graph, task.texts, task.listed, task.labels, task.edges, task.encoder)
    return f"{' '.join(about)}: {scores}, {found['seconds']:.0f} s"


def count_look(graphs: Iterable[str], about: str) -> None:
    """Write down that answers on some graphs are about to be seen, if any is of the fresh set."""
    if fresh := set(graphs) & set(catalogue.names("fresh")):
        when = datetime.now(UTC).isoformat(timespec="minutes")
        with (HERE / LOOKS).open("a", encoding="utf-8") as file:
            file.write(f"| {when} | {unseen.__version__} | {about} | {len(fresh)} |\n")


def main() -> None:
    """Run what is missing; a look at the fresh set is counted before it is taken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("which", nargs="?", default="design", choices=("design", "fresh", "all"))
    parser.add_argument("--encoder", choices=catalogue.ENCODERS, help="one encoder only")
    parser.add_argument("--before", action="store_true", help="the model of 0.8, no labels")
    parser.add_argument("--graph", choices=catalogue.names(), help="one graph only")
    parser.add_argument("--address", help="of a Ray cluster to run on")
    given = parser.parse_args()
    ledger = Ledger(HERE, BEFORE if given.before else ZOO)
    encoders = (given.encoder,) if given.encoder else catalogue.ENCODERS
    graphs = [given.graph] if given.graph else catalogue.names(given.which)
    asked = [task for encoder in encoders for graph in graphs for task in tasks(graph, encoder)]
    if given.before:
        asked = [task for task in asked if task.labels == "none"]
        run_missing(asked, ledger, run_before, lambda task, found: f"{task.key()}: {found}")
        return
    count_look([task.graph for task in asked if task not in ledger], ", ".join(encoders))
    run_missing(asked, ledger, run, line, given.address)


if __name__ == "__main__":
    main()
