"""Do 50 suggested labels teach more than 50 drawn at random? A line of results/teach.jsonl a draw.

    python results/teach.py                           the design set of the zoo
    python results/teach.py fresh                     the fresh set; the look is counted

Classes are described by a sentence, all of them are listed, and nothing is labelled at first. Both
answers are measured on the nodes that neither of the two labelled.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from graphs import catalogue
from records import HERE, TEACH
from runner import run_missing
from zoo import ZooTask, count_look, inputs

import unseen
from unseen.core.labels import Labels
from unseen.evaluate.metrics import accuracy, macro_accuracy
from unseen.paper.ledger import Ledger
from unseen.paper.trial import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.core.graph import Graph

COUNT, DRAWS = 50, 5


@dataclass(frozen=True)
class Teaching:
    """One draw of labels on one graph."""

    graph: str
    draw: int
    encoder: str = "static"

    def key(self) -> str:
        """Return the draw as a line of text."""
        return json.dumps(asdict(self), sort_keys=True)


def run(trial: Teaching) -> Outcome:
    """Label 50 nodes in both ways, fit again, and measure, in per cent."""
    graph, classes, truth, first = unlabelled(trial.graph, trial.encoder)
    place = {node: i for i, node in enumerate(graph.ids or ())}
    ids = first.suggest(COUNT, seed=trial.draw)["id"]
    chosen = {
        "suggested": np.array([place[node] for node in ids]),
        "random": np.random.default_rng(trial.draw).choice(len(truth), COUNT, replace=False),
    }
    rest = np.setdiff1d(np.arange(len(truth)), np.concatenate(list(chosen.values())))
    found: Outcome = {"before": _measure(truth, first.label, rest)}
    for name, nodes in chosen.items():
        known = np.full(len(truth), -1)
        known[nodes] = truth[nodes]
        told = unseen.classify(graph, classes, Labels(known), encoder=trial.encoder)
        answers = known.copy()
        answers[told.nodes] = told.label
        found[name] = _measure(truth, answers, rest)
    return found


@lru_cache(maxsize=1)
def unlabelled(
    name: str, encoder: str
) -> tuple[Graph, Classes, NDArray[np.int64], unseen.Prediction]:
    """Return a graph, its classes, the class of each node, and the answers without labels.

    They are the same for every draw, and draws of one graph follow each other.
    """
    task = ZooTask(name, "sentence", "all", "none", "asis", encoder)
    graph, classes, truth = inputs(task)
    return graph, classes, truth, unseen.classify(graph, classes, encoder=encoder)


def _measure(
    truth: NDArray[np.int64], answers: NDArray[np.int64], nodes: NDArray[np.int64]
) -> dict[str, float]:
    asked, given = truth[nodes], answers[nodes]
    return {"accuracy": 100 * accuracy(asked, given), "macro": 100 * macro_accuracy(asked, given)}


def line(trial: Teaching, found: Outcome) -> str:
    """Return what is printed of a finished draw."""
    scores = (f"{name} {found[name]['accuracy']:.1f}" for name in ("before", "random", "suggested"))
    return f"{trial.graph}, draw {trial.draw}: {', '.join(scores)}"


def main() -> None:
    """Run what is missing; a look at the fresh set is counted before it is taken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("which", nargs="?", default="design", choices=("design", "fresh"))
    given = parser.parse_args()
    ledger = Ledger(HERE, TEACH)
    asked = [Teaching(name, k) for name in catalogue.names(given.which) for k in range(DRAWS)]
    count_look([each.graph for each in asked if each not in ledger], "static, 50 labels")
    run_missing(asked, ledger, run, line)


if __name__ == "__main__":
    main()
