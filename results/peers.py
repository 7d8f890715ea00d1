r"""Peers with the same inputs as the defaults: the design set of the zoo, five labels a class.

    python results/peers.py     run what is missing, then print the table of related-work.md

Label propagation (Zhu and Ghahramani, 2002) reads edges and labels, and no text:

.. math:: F \leftarrow D^{-1} A F, \qquad F_i = e_{y_i} \text{ for labelled } i ,

fifty times, F [n, C]. A node that no label reaches gets the commonest class. What the defaults and
logistic regression make of the same labels stands in zoo.jsonl.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from graphs import catalogue
from numpy.typing import NDArray
from records import HERE, ZOO
from runner import run_missing
from zoo import ZooTask, _known, inputs

from unseen.core.labels import Labels
from unseen.evaluate.metrics import accuracy, macro_accuracy
from unseen.paper.ledger import Ledger
from unseen.paper.trial import Outcome

PEERS = "peers.jsonl"
STEPS = 50
METHODS = ("label propagation", "logistic regression", "defaults")


def asked() -> list[ZooTask]:
    """Return the tasks of the design set that have five labels a class."""
    return [
        ZooTask(graph, "paragraph", "all", "five", "asis", "static")
        for graph in catalogue.names("design")
    ]


def label_propagation(A: NDArray[np.float32], labels: Labels, classes: int) -> NDArray[np.int64]:
    """Return the class of each node. [n]

    >>> A = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], np.float32)
    >>> label_propagation(A, Labels(np.array([1, -1, 0, -1])), 2).tolist()
    [1, 1, 0, 0]
    """
    known = np.flatnonzero(labels.known)
    fixed = np.eye(classes, dtype=np.float32)[labels.codes[known]]
    degrees = np.maximum(np.asarray(A.sum(axis=1)).ravel(), 1e-12)[:, None]
    F = np.zeros((A.shape[0], classes), dtype=np.float32)
    for _ in range(STEPS):
        F[known] = fixed
        F = np.asarray(A @ F / degrees, dtype=np.float32)
    F[known] = fixed
    found: NDArray[np.int64] = F.argmax(axis=1)
    found[~F.any(axis=1)] = np.bincount(labels.codes[known], minlength=classes).argmax()
    return found


def run(task: ZooTask) -> Outcome:
    """Answer and measure, in per cent."""
    graph, classes, truth = inputs(task)
    labels = Labels(_known(task, truth, len(classes)))
    told = label_propagation(graph.adjacency, labels, len(classes))
    left = np.flatnonzero((truth >= 0) & ~labels.known)
    return {
        "label propagation": {
            "accuracy": 100 * accuracy(truth[left], told[left]),
            "macro": 100 * macro_accuracy(truth[left], told[left]),
        }
    }


def table(folder: Path = HERE) -> str:
    """Return accuracy / macro accuracy of each graph as Markdown, and the means."""
    peers, zoo = Ledger(folder, PEERS), Ledger(folder, ZOO)
    there = [task for task in asked() if task in peers and task in zoo]
    rows = {task.graph: peers[task] | zoo[task] for task in there}
    lines = [f"| graph | {' | '.join(METHODS)} |", f"| --- |{' --- |' * len(METHODS)}"]
    for graph, found in rows.items():
        cells = (f"{found[m]['accuracy']:.1f} / {found[m]['macro']:.1f}" for m in METHODS)
        lines.append(f"| {graph} | {' | '.join(cells)} |")
    means = (
        " / ".join(
            f"{np.mean([found[m][kind] for found in rows.values()]):.1f}"
            for kind in ("accuracy", "macro")
        )
        for m in METHODS
    )
    return "\n".join([*lines, f"| mean | {' | '.join(means)} |"])


if __name__ == "__main__":
    run_missing(asked(), Ledger(HERE, PEERS), run, lambda task, found: f"{task.graph}: {found}")
    print(table())
