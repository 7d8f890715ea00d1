"""From a posterior to answers: label, probabilities, runner-up, share of each hop, reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.abstain import abstaining
from unseen.core.arrays import filled
from unseen.core.errors import InputError, SavedFileError, quoted
from unseen.engines.base import engine_of
from unseen.explain.leading import LeadingWords
from unseen.explain.reasons import (
    CLOSE,
    CLOSE_CALL,
    NO_TEXT,
    TEXT_DISAGREES,
    Evidence,
    Reasons,
)
from unseen.explain.shares import hop_shares
from unseen.explain.strings import Titles
from unseen.models.base import Inference, infer
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
        found = _inferred(classifier.model_, task)
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
        if not np.isfinite(sure).all():
            raise SavedFileError(
                "model: what it has learned gives no finite probabilities: it is damaged, or not "
                "for these nodes; fit it again"
            )
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
        text_class: NDArray[np.int64] = engine.map(winners, found.by_hop[0], where=asked)
        if not case.encoded.apart:
            text_class[~engine.map(filled, task.X, where=asked)] = -1
    best = best[asked]
    with steps("explain"):
        against, same = best.copy(), np.equal(text_class, best)
        against[same] = second[same]
        words = _words(classifier, case, nodes, text_class, against)
        about = Evidence(
            nodes=nodes,
            winner=winner,
            shares=shares,
            operator=graph.operator,
            ids=graph.ids or (),
            own=case.encoded.own,
            names=case.classes.names,
            text_class=text_class,
            flags=_flags(proba, best, second, text_class),
            words=words,
            titles=None if graph.texts is None else Titles(graph.texts, engine),
        )
        why = Reasons(about)
        reasons = (why, why.flags) if engine.keeps else (why[:], why.flags[:])
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
        reasons=reasons[0],
        flags=reasons[1],
        placed=np.arange(graph.nodes) if case.nodes is None else nodes,
        vectors=task.X if case.nodes is None else task.X[rows],
        record={},
        background=None if found.background is None else found.background[rows],
    )
    prediction = abstaining(prediction, classifier.abstain, classifier.open_world)
    prediction.record.update(describe(prediction, case, steps))
    return prediction, engine.array(found.posterior)


def _inferred(model: Any, task: Task) -> Inference:
    """Return what a model infers; one that was loaded may lack a part of what it has learned."""
    try:
        return infer(model, task)
    except AttributeError as error:
        if error.obj is not model or not (error.name or "").endswith("_"):
            raise
        raise SavedFileError(
            f"model: lacks `{error.name}`, a part of what it has learned; fit it again"
        ) from error


def _words(
    classifier: Any,
    case: Case,
    nodes: NDArray[np.int64],
    mine: NDArray[np.int64],
    theirs: NDArray[np.int64],
) -> NDArray[np.uint8] | None:
    """Return the words of each node that speak for one class against another, packed. [m, .]"""
    model, graph = classifier.model_, case.graph
    if case.encoded.reader is None or not hasattr(model, "own_weights"):
        return None
    find = LeadingWords.of(case.encoded.reader, classifier.preparer_, model.own_weights())
    if find is None:
        return None
    engine, where = engine_of(case.task), np.zeros(graph.nodes, dtype=bool)
    where[nodes] = True
    of_all = np.zeros((2, graph.nodes), dtype=np.int64)
    of_all[:, nodes] = np.maximum(mine, 0), theirs
    return engine.array(engine.map(find, graph.texts, *of_all, where=where))


def _flags(
    proba: NDArray[np.float32],
    best: NDArray[np.int64],
    second: NDArray[np.int64],
    text_class: NDArray[np.int64],
) -> NDArray[np.uint8]:
    """Return what deserves a look, as bits, but for what neighbours say. [m]"""
    flags = np.zeros(len(best), dtype=np.uint8)
    flags[text_class < 0] |= NO_TEXT
    flags[(text_class >= 0) & (text_class != best)] |= TEXT_DISAGREES
    close = (second != best) & (_entries(proba, best) - _entries(proba, second) < CLOSE)
    flags[close] |= CLOSE_CALL
    return flags


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
