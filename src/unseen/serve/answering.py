"""Answers about texts that are not in the graph: `add_nodes` on the arrays, in milliseconds.

What `ZeroShotNodeClassifier.add_nodes` does, with the vectors and posteriors of the old nodes read
from the arrays instead of being made again: neighbours speak through their posteriors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.abstain import OUTSIDE
from unseen.core.arrays import unit
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.encode.base import encode
from unseen.explain.words import beside
from unseen.io.join import MOST
from unseen.models.base import infer
from unseen.models.blocks import clamp
from unseen.prediction import probabilities, shown
from unseen.prepare.encoded import Encoded
from unseen.serve.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.serve.served import Served


@dataclass(frozen=True, eq=False)
class Later:
    """A neighbour that is not in the graph: an added node that was answered before."""

    vector: NDArray[np.float32]  # [d]
    posterior: NDArray[np.float32]  # [C]
    weight: float  # of the edge to it
    degree: float  # sum of the weights of its edges


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers about some texts: posterior and probabilities [m, C], label and runner-up [m]."""

    posterior: NDArray[np.float32]
    proba: NDArray[np.float32]
    label: NDArray[np.int64]  # -1 for none of these
    runner_up: NDArray[np.int64]

    def row(self, i: int, served: Served) -> dict[str, Any]:
        """Return an answer as the API shows it."""
        c, second = int(self.label[i]), int(self.runner_up[i])
        return {
            "class": c if c >= 0 else None,
            "name": served.name(c),
            "confidence": round(float(self.proba[i].max()), 4),
            "runner_up": second if second >= 0 else None,
            "probabilities": np.round(self.proba[i].astype(float), 6).tolist(),
        }


class _Whole:
    """What an operator of a part asks of the whole: the mean weight and the degrees."""

    def __init__(self, mean_weight: float, degrees: tuple[NDArray[Any], NDArray[Any]]) -> None:
        self.mean_weight, self.degrees = mean_weight, degrees


def vectors_of(served: Served, texts: Sequence[str]) -> NDArray[np.float32]:
    """Return texts as models take them. [m, d]"""
    if not served.reads_texts:
        raise ApiError(
            409,
            "nodes of this run are read from features, not from texts, so a text alone cannot be "
            "answered; use `unseen predict` with a features file",
            "texts",
        )
    X = unit(encode(served.encoder, texts, cache=False))
    X[[not text.strip() for text in texts]] = 0.0
    preparer = served.classifier.preparer_
    rows: NDArray[np.float32] = preparer.centred(
        Encoded(X, {}, True, served.meta["encoder"], "", None)
    )
    return beside(preparer.word_readers, rows, texts)


def answer_texts(
    served: Served,
    X: NDArray[np.float32],
    neighbours: Sequence[Sequence[tuple[int, float]]],
    fixed: dict[int, NDArray[np.float32]] | None = None,
    later: Sequence[Later] = (),
) -> Answers:
    """Answer nodes that are no neighbours of each other.

    Args:
        X: their vectors. [m, d]
        neighbours: positions in the graph and weights, for each of them.
        fixed: posteriors of neighbours to take instead of those that are kept.
        later: neighbours of all of them that are not in the graph.
    """
    alone = [i for i, near in enumerate(neighbours) if not near and not later]
    parts: list[tuple[list[int], Any]] = []
    if alone:
        task = Task(
            X[alone],
            served.class_vectors,
            operator=Operator(sp.csr_array((len(alone), len(alone)), dtype=np.float32)),
            allowed=served.allowed,
            shared=bool(served.meta["shared"]),
        )
        parts.append((alone, _read(served, task, len(alone))))
    for i, near in enumerate(neighbours):
        if near or later:
            task = _around(served, X[i], near, fixed or {}, later)
            parts.append(([i], _read(served, task, 1)))
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    posterior, sure, background = (
        np.concatenate([found[k] for _, found in parts])[order] for k in range(3)
    )
    return settle(served, posterior, sure, background)


def _read(served: Served, task: Task, m: int) -> tuple[NDArray[Any], ...]:
    found = infer(served.classifier.model_, task)
    none = np.full(m, np.nan, np.float32)
    background = none if found.background is None else found.background[:m]
    return found.posterior[:m], found.confidence[:m], background


def settle(
    served: Served,
    posterior: NDArray[np.float32],
    sure: NDArray[np.float32],
    background: NDArray[np.float32],
    allowed: NDArray[np.bool_] | None = None,
) -> Answers:
    """From posteriors [m, C], how far they may be believed [m, C] and background [m] to answers."""
    classifier, rows = served.classifier, np.arange(len(posterior))
    best = posterior.argmax(axis=1)
    allowed = served.allowed if allowed is None else allowed
    rest = np.where(allowed, posterior, np.float32(-1.0))
    rest[rows, best] = -2.0
    only = allowed.sum() < 2
    second = best if only else rest.argmax(axis=1)
    confidence = sure[rows, best]
    if not only:
        confidence = classifier.calibration_(confidence)
    proba = probabilities(posterior, best, confidence, allowed)
    out = np.zeros(len(best), dtype=bool)
    if classifier.open_world:
        out |= background >= OUTSIDE  # NaN is no reason
    if classifier.abstain is not None:
        out |= shown(proba[rows, best]) < classifier.abstain
    return Answers(
        posterior,
        proba,
        np.where(out, -1, best),
        np.where(out, best, np.where(second == best, -1, second)),
    )


def _around(
    served: Served,
    x: NDArray[np.float32],
    near: Sequence[tuple[int, float]],
    fixed: dict[int, NDArray[np.float32]],
    later: Sequence[Later],
) -> Task:
    """Return the task of one node and those around it, whose posteriors are fixed."""
    A, ends = served.adjacency, np.array([at for at, _ in near], dtype=np.int64)
    weights = np.array([weight for _, weight in near], dtype=np.float32)
    close = np.unique(ends)
    far = np.unique(A[close].indices)
    halo = np.union1d(close, far) if len(far) <= MOST else close
    f, more = len(halo), len(later)
    inner = sp.coo_array(A[halo][:, halo])
    at = np.append(np.searchsorted(halo, ends) + 1, np.arange(f + 1, f + 1 + more))
    weights = np.append(weights, np.array([each.weight for each in later], np.float32))
    zero = np.zeros(len(at), dtype=np.int64)
    rows, columns = [inner.row + 1, zero], [inner.col + 1, at]
    data = [inner.data, weights]
    added = len(at)
    if not served.meta["directed"]:
        rows.append(at)
        columns.append(zero)
        data.append(weights)
        added *= 2
    part = sp.coo_array(
        (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))),
        shape=(1 + f + more, 1 + f + more),
    )
    known, own = served.degrees[:, halo], np.array([each.degree for each in later], np.float32)
    strength = np.float32(weights.sum())
    out, into = (np.concatenate([[np.float32(0)], each, own]) for each in known)
    out[0] = strength
    np.add.at(into, at[: len(ends)], weights[: len(ends)])
    if not served.meta["directed"]:
        np.add.at(out, at[: len(ends)], weights[: len(ends)])
        into[0] = strength
    before, count = float(served.meta["mean_weight"]), int(served.meta["non_zeros"])
    total = before * count + float(strength) * (1 if served.meta["directed"] else 2)
    whole: Any = _Whole(total / max(count + added, 1), (out, into))
    posterior = np.array(served.posterior[halo], dtype=np.float32)
    clamp(posterior, served.codes[halo])
    for node, row in fixed.items():
        posterior[np.searchsorted(halo, node)] = row
    posterior = np.vstack([posterior, *(each.posterior[None] for each in later)])
    return Task(
        np.vstack([x[None], served.vectors[halo], *(each.vector[None] for each in later)]),
        served.class_vectors,
        operator=Operator(part, (whole, np.arange(1 + f + more))),
        allowed=served.allowed,
        shared=bool(served.meta["shared"]),
        fixed_nodes=np.arange(1, 1 + f + more),
        fixed=posterior,
    )
