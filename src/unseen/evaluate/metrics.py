"""How good predictions are: accuracy beside its floor, calibration, and accuracy at coverage.

Accuracy alone flatters: a constant answer reaches the share of the commonest class. So `Scores`
always holds the majority floor and the macro accuracy beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from unseen.classes import Classes


def accuracy(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the share of nodes whose predicted class is the true one: mean_v [p_v = t_v]."""
    t, p = _pair(truth, predicted)
    return float(np.mean(t == p))


def macro_accuracy(truth: ArrayLike, predicted: ArrayLike) -> float:
    """Return the mean, over the true classes present, of the recall of each.

    (1 / |T|) sum_{c in T} mean_{v: t_v = c} [p_v = c]; a constant answer scores 1 / |T|.
    """
    t, p = _pair(truth, predicted)
    _, which = np.unique(t, return_inverse=True)
    return float(np.mean(np.bincount(which, weights=t == p) / np.bincount(which)))


def majority_floor(truth: ArrayLike) -> float:
    """Return the share of the commonest true class: the accuracy of the best constant answer."""
    t, _ = _pair(truth, truth)
    return float(np.unique(t, return_counts=True)[1].max() / len(t))


def confusion(truth: ArrayLike, predicted: ArrayLike, classes: int) -> NDArray[np.int64]:
    """Count nodes by true class (row) and predicted class (column). [C, C]"""
    t, p = _pair(truth, predicted)
    for name, values in (("truth", t), ("predicted", p)):
        if values.min() < 0 or values.max() >= classes:
            raise InputError(
                f"{name}: expected class positions from 0 to {classes - 1}, found "
                f"{values.min()} to {values.max()}; leave out nodes without a class"
            )
    return np.bincount(t * classes + p, minlength=classes * classes).reshape(classes, classes)


def harmonic_mean(seen_accuracy: float, unseen_accuracy: float) -> float:
    """Return 2 s u / (s + u), the usual score of generalised zero-shot; 0 when both are 0.

    >>> harmonic_mean(0.6, 0.3)
    0.4
    """
    total = seen_accuracy + unseen_accuracy
    return 2 * seen_accuracy * unseen_accuracy / total if total else 0.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """Confidence against accuracy in B bins of equal width; NaN in bins without a node. Each [B]"""

    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    count: NDArray[np.int64]
    error: float


def calibration(confidence: ArrayLike, correct: ArrayLike, bins: int = 10) -> Calibration:
    """Compare stated confidence with accuracy, bin by bin.

    Bin b holds the n_b nodes with confidence in (b/B, (b+1)/B], the first bin 0 as well. The
    expected calibration error is sum_b (n_b / n) |accuracy_b - confidence_b|.

    Args:
        confidence: between 0 and 1. [n]
        correct: whether the answer was right. [n]
        bins: how many bins, B.
    """
    q, right = _confident(confidence, correct)
    if bins < 1:
        raise InputError(f"bins: expected at least 1, found {bins}")
    edges = np.linspace(0, 1, bins + 1)
    which = np.searchsorted(edges[1:-1], q, side="left")
    count = np.bincount(which, minlength=bins)
    sum_q = np.bincount(which, weights=q, minlength=bins)
    sum_right = np.bincount(which, weights=right, minlength=bins)
    error = float(np.abs(sum_right - sum_q).sum() / len(q))  # n_b times the gap of bin b, summed
    size = np.where(count > 0, count, np.nan)
    return Calibration(sum_q / size, sum_right / size, count, error)


@dataclass(frozen=True, eq=False)
class Coverage:
    """Accuracy among the nodes whose confidence is at least a threshold. Each [m]"""

    threshold: NDArray[np.float64]
    coverage: NDArray[np.float64]
    accuracy: NDArray[np.float64]


def coverage_curve(confidence: ArrayLike, correct: ArrayLike) -> Coverage:
    """Return the accuracy of the surest nodes, for every share of nodes that one may keep.

    One point for each of the m distinct confidences q, from the largest: the coverage
    |{v: q_v >= q}| / n and the accuracy of those nodes. Equally sure nodes enter together, so
    that their order does not matter.
    """
    q, right = _confident(confidence, correct)
    values, which = np.unique(-q, return_inverse=True)
    kept = np.cumsum(np.bincount(which))
    return Coverage(-values, kept / len(q), np.cumsum(np.bincount(which, weights=right)) / kept)


@dataclass(frozen=True, eq=False)
class Scores:
    """All there is to say about predictions whose truth is known.

    `recall` [C] is NaN for classes without a true node. `calibration` and `coverage` are None when
    no confidence was given. The two `missing` counts are ids found in one file only.
    """

    names: Sequence[str]
    nodes: int
    accuracy: float
    macro_accuracy: float
    majority_floor: float
    recall: NDArray[np.float64]
    confusion: NDArray[np.int64]
    calibration: Calibration | None = None
    coverage: Coverage | None = None
    missing_in_truth: int = 0
    missing_in_predictions: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain Python values that JSON can hold (NaN becomes None)."""
        nested = {"calibration": self.calibration, "coverage": self.coverage}
        whole = {name: _plain(value) for name, value in vars(self).items() if name not in nested}
        for name, part in nested.items():
            fields = vars(part).items() if part is not None else None
            whole[name] = None if fields is None else {key: _plain(value) for key, value in fields}
        return whole


def score(
    truth: ArrayLike, predicted: ArrayLike, confidence: ArrayLike | None, classes: Classes
) -> Scores:
    """Compare true and predicted class positions, and confidences if there are any; each [n]."""
    t, p = _pair(truth, predicted)
    counts = confusion(t, p, len(classes))
    with np.errstate(invalid="ignore"):
        recall = np.diag(counts) / counts.sum(axis=1)
    return Scores(
        names=tuple(classes.names),
        nodes=len(t),
        accuracy=accuracy(t, p),
        macro_accuracy=macro_accuracy(t, p),
        majority_floor=majority_floor(t),
        recall=recall,
        confusion=counts,
        calibration=None if confidence is None else calibration(confidence, t == p),
        coverage=None if confidence is None else coverage_curve(confidence, t == p),
    )


def _pair(truth: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    t, p = np.asarray(truth), np.asarray(predicted)
    if t.ndim != 1 or t.shape != p.shape:
        raise InputError(f"truth {t.shape} and predicted {p.shape}: expected two equal lengths")
    if not len(t):
        raise InputError("truth: there are no nodes to score; give at least one")
    return t.astype(np.int64, casting="same_kind"), p.astype(np.int64, casting="same_kind")


def _confident(
    confidence: ArrayLike, correct: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    q, right = np.asarray(confidence, np.float64), np.asarray(correct, np.float64)
    if q.ndim != 1 or q.shape != right.shape or not len(q):
        raise InputError(
            f"confidence {q.shape} and correct {right.shape}: expected two equal lengths, not 0"
        )
    if not ((q >= 0) & (q <= 1)).all():  # also catches NaN
        raise InputError("confidence: expected numbers from 0 to 1, found others or NaN")
    return q, right


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(item) for item in value.tolist()]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and np.isnan(value) else value
