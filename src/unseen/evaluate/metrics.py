"""How good predictions are: accuracy beside its floor, calibration, and accuracy at coverage.

Accuracy alone flatters: a constant answer reaches the share of the commonest class. So `Scores`
always holds the majority floor and the macro accuracy beside it.

A predicted position of -1 is the answer "none of these": no wrong class, but no right one either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from unseen.core.classes import Classes


SHARES = (1.0, 0.9, 0.8, 0.7, 0.5)  # of the nodes, the surest first, that tables show


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
    _check_positions("truth", t, classes)
    _check_positions("predicted", p, classes)
    return np.bincount(t * classes + p, minlength=classes * classes).reshape(classes, classes)


def harmonic_mean(seen_accuracy: float, unseen_accuracy: float) -> float:
    """Return 2 s u / (s + u), the usual score of generalised zero-shot; 0 when both are 0.

    >>> harmonic_mean(0.6, 0.3)
    0.4
    """
    total = seen_accuracy + unseen_accuracy
    return 2 * seen_accuracy * unseen_accuracy / total if total else 0.0


@dataclass(frozen=True)
class Generalised:
    """The generalised protocol: nodes of seen and of unseen classes, answered among all classes."""

    seen_nodes: int
    unseen_nodes: int
    seen_accuracy: float
    unseen_accuracy: float
    harmonic_mean: float


def generalised_scores(
    truth: ArrayLike, predicted: ArrayLike, seen: Sequence[int]
) -> Generalised | None:
    """Return the accuracy on nodes of seen classes, of the others, and their harmonic mean.

    Both accuracies are shares of nodes. None where the truth has nodes of one kind only.

    Args:
        truth: true class of each node. [n]
        predicted: class that each node got. [n]
        seen: positions of the classes that had labelled nodes.
    """
    t, p = _pair(truth, predicted)
    familiar = np.isin(t, np.asarray(seen, dtype=np.int64))
    if familiar.all() or not familiar.any():
        return None
    of_seen, of_unseen = (accuracy(t[which], p[which]) for which in (familiar, ~familiar))
    return Generalised(
        seen_nodes=int(familiar.sum()),
        unseen_nodes=int((~familiar).sum()),
        seen_accuracy=of_seen,
        unseen_accuracy=of_unseen,
        harmonic_mean=harmonic_mean(of_seen, of_unseen),
    )


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

    def at(self, shares: Sequence[float] = SHARES) -> Coverage:
        """Return the first point that covers each share of the nodes; NaN where none does.

        Equally sure nodes are kept together, so that a point may cover more than was asked for.
        """
        point = np.searchsorted(self.coverage, np.asarray(shares) - 1e-9)
        return Coverage(
            np.append(self.threshold, np.nan)[point],
            np.append(self.coverage, np.nan)[point],
            np.append(self.accuracy, np.nan)[point],
        )


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

    `accuracy`, `macro_accuracy` and `recall` count "none of these" as wrong; `accuracy_answered`
    is among the other nodes alone, and None without any. `confusion`, `calibration` and `coverage`
    are of answered nodes too; `coverage` counts them as a share of all. `support` [C] is the number
    of true nodes, and `recall` [C] is NaN for classes without one. `calibration` and `coverage` are
    None when no confidence was given or nothing answered, `generalised` when it is not known which
    classes were seen or all nodes are of one kind. The two `missing` counts are ids found in one
    file only.
    """

    names: Sequence[str]
    nodes: int
    accuracy: float
    macro_accuracy: float
    majority_floor: float
    support: NDArray[np.int64]
    recall: NDArray[np.float64]
    confusion: NDArray[np.int64]
    abstained: int
    share_answered: float
    accuracy_answered: float | None
    calibration: Calibration | None = None
    coverage: Coverage | None = None
    generalised: Generalised | None = None
    missing_in_truth: int = 0
    missing_in_predictions: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain Python values that JSON can hold (NaN becomes None)."""
        nested = {
            "calibration": self.calibration,
            "coverage": self.coverage,
            "surest": None if self.coverage is None else self.coverage.at(),
            "generalised": self.generalised,
        }
        whole = {name: _plain(value) for name, value in vars(self).items() if name not in nested}
        for name, part in nested.items():
            fields = vars(part).items() if part is not None else None
            whole[name] = None if fields is None else {key: _plain(value) for key, value in fields}
        if whole["surest"] is not None:
            whole["surest"]["share"] = list(SHARES)
        return whole


def score(
    truth: ArrayLike, predicted: ArrayLike, confidence: ArrayLike | None, classes: Classes
) -> Scores:
    """Compare true and predicted class positions, and confidences if there are any; each [n].

    A predicted position of -1 stands for "none of these".
    """
    t, p = _pair(truth, predicted)
    C, answered = len(classes), p != -1
    some, right = bool(answered.any()), (t == p)[answered]
    _check_positions("truth", t, C)
    counts = confusion(t[answered], p[answered], C) if some else np.zeros((C, C), dtype=np.int64)
    with np.errstate(invalid="ignore"):
        support = np.bincount(t, minlength=C)
        recall = np.diag(counts) / support
    stated = None if confidence is None or not some else _confident(confidence, t == p)[0][answered]
    curve = None if stated is None else coverage_curve(stated, right)
    return Scores(
        names=tuple(classes.names),
        nodes=len(t),
        accuracy=accuracy(t, p),
        macro_accuracy=macro_accuracy(t, p),
        majority_floor=majority_floor(t),
        support=support,
        recall=recall,
        confusion=counts,
        abstained=int((~answered).sum()),
        share_answered=float(answered.mean()),
        accuracy_answered=float(right.mean()) if some else None,
        calibration=None if stated is None else calibration(stated, right),
        coverage=None
        if curve is None
        else replace(curve, coverage=curve.coverage * answered.mean()),
    )


def _pair(truth: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    t, p = np.asarray(truth), np.asarray(predicted)
    if t.ndim != 1 or t.shape != p.shape:
        raise InputError(f"truth {t.shape} and predicted {p.shape}: expected two equal lengths")
    if not len(t):
        raise InputError("truth: there are no nodes to score; give at least one")
    return t.astype(np.int64, casting="same_kind"), p.astype(np.int64, casting="same_kind")


def _check_positions(name: str, values: NDArray[np.int64], classes: int) -> None:
    if values.min() < 0 or values.max() >= classes:
        raise InputError(
            f"{name}: expected class positions from 0 to {classes - 1}, found "
            f"{values.min()} to {values.max()}; leave out nodes without a class"
        )


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
