"""From a posterior to answers: label, probabilities, runner-up, share of each hop, reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.abstain import abstaining
from unseen.core.errors import InputError, quoted
from unseen.engines.base import engine_of
from unseen.explain import Reasons, hop_shares
from unseen.models.base import infer
from unseen.models.blocks import winners
from unseen.prediction import Prediction, probabilities
from unseen.record import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.core.graph import Graph
    from unseen.core.labels import Labels
    from unseen.core.task import Task
    from unseen.prepare.encoded import Encoded
    from unseen.record import Steps


@dataclass(frozen=True, eq=False)
class Case:
    """A task, and where it came from.

    Attributes:
        graph, labels, classes: what the user brought.
        task, encoded: what was made of it.
        nodes: those to answer; None for all without a label. [m]
        halo: with it, rows of the task are `nodes` followed by these, answered before. [f]
    """

    graph: Graph
    labels: Labels
    classes: Classes
    task: Task
    encoded: Encoded
    nodes: NDArray[np.int64] | None = None
    halo: NDArray[np.int64] | None = None


def answer(classifier: Any, case: Case, steps: Steps) -> tuple[Prediction, NDArray[np.float32]]:
    """Infer, and say why each node gets its class; return the answers and the posterior. [n, C]

    The classifier is a fitted `ZeroShotNodeClassifier`.
    """
    graph, labels, task = case.graph, case.labels, case.task
    nodes = np.flatnonzero(~labels.known) if case.nodes is None else case.nodes  # [m]
    whole = case.halo is None
    engine, allowed = engine_of(task), task.allowed
    with steps("infer"), threadpool_limits(limits=1, user_api="blas"):
        found = infer(classifier.model_, task)
        rows = nodes if whole else np.arange(len(nodes))
        asked = np.zeros(task.nodes, dtype=bool)
        asked[rows] = True
        best = engine.map(winners, found.posterior)  # of every row of the task
        winner = np.full(graph.nodes, -1)  # of every node that a reason may name [n]
        winner[slice(None) if case.halo is None else np.append(nodes, case.halo)] = best
        winner[labels.known] = labels.codes[labels.known]

        def scattered(values: NDArray[Any]) -> NDArray[Any]:
            """Return values of the rows that are asked for as values of all rows."""
            placed = np.zeros(task.nodes, dtype=values.dtype)
            placed[asked] = values
            return placed

        second = engine.map(
            lambda p, best: _second(p, best, allowed), found.posterior, best, where=asked
        )
        sure = engine.map(_entries, found.confidence, best, where=asked)
        if allowed.sum() > 1:  # the only possible answer is certain
            sure = classifier.calibration_(sure)
        proba = engine.map(
            lambda p, best, sure: probabilities(p, best, sure, allowed),
            found.posterior,
            best,
            scattered(sure),
            where=asked,
        )
        shares = engine.map(
            lambda best, second, *steps: hop_shares(steps, best, second),
            best,
            scattered(second),
            *found.by_hop,
            where=asked,
        )
        proba, shares = engine.array(proba), engine.array(shares)
    best = best[asked]
    why = Reasons(nodes, winner, shares, graph.operator, graph.ids or (), case.encoded.own)
    prediction = Prediction(
        graph=graph,
        classes=case.classes,
        labels=labels,
        classifier=classifier,
        nodes=nodes,
        label=best,
        runner_up=np.where(second == best, -1, second),
        confidence=_entries(proba, best),
        proba=proba,
        hop_shares=shares,
        reasons=why if engine.keeps else why[:],
        placed=np.arange(graph.nodes) if case.nodes is None else nodes,
        vectors=task.X if case.nodes is None else task.X[rows],
        record={},
        background=None if found.background is None else found.background[rows],
    )
    prediction = abstaining(prediction, classifier.abstain, classifier.open_world)
    prediction.record.update(describe(prediction, case, steps))
    return prediction, engine.array(found.posterior)


def check_seed(seed: Any) -> None:
    """Refuse a seed that a generator of random numbers does not take."""
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise InputError(f"seed: expected a whole number from 0 to 2^32 - 1, found {quoted(seed)}")


def check_work(labels: Labels, first: int = 0) -> None:
    """Refuse a graph on which, from this node on, nothing is left to do."""
    if labels.known[first:].all():
        nodes = f"{len(labels.codes) - first:,} {'new ' if first else ''}nodes"
        raise InputError(
            f"labels: all {nodes} have one, so nothing is left to label; "
            "leave the label of the nodes in question empty"
        )


def _entries(p: NDArray[np.float32], best: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the entry of each row that belongs to its best class. [m]"""
    found: NDArray[np.float32] = p[np.arange(len(p)), best]
    return found


def _second(
    posterior: NDArray[np.float32], winner: NDArray[np.int64], allowed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the best class after the winner; the winner itself where there is no other. [m]"""
    if allowed.sum() < 2:
        return winner
    rest = np.where(allowed, posterior, -1.0)
    rest[np.arange(len(rest)), winner] = -2.0
    best: NDArray[np.int64] = rest.argmax(axis=1)
    return best
