r"""What can be said about each class of a version: its size, what it is confused with, warnings.

What the descriptions alone predict is :math:`e_c = \sum_i \mathrm{softmax}_c(\cos(x_i, s_c) /
\tau)` over nodes without a label, with the temperature that models start from. A class is a sink
where it takes more than `SINK` times that, and by more than chance would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import masked, softmax, unit
from unseen.models.homophily import deviation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task

SINK = 2.0  # times what descriptions predict
LEAST = 20  # nodes beyond it, below which nothing is said
ALIKE = 0.6  # cosine of two centred class vectors above which their classes will be confused
CLOSE = 0.1  # difference of two probabilities that counts as undecided
UNDECIDED = 0.3  # share of a class's nodes that may be so with one other class
SHOWN = 5  # other classes


def class_stats(task: Task, answers: dict[str, NDArray[Any]]) -> list[dict[str, Any]]:
    """Return one entry a class."""
    expected = _expected(task)
    S = unit(np.asarray(task.S, dtype=np.float32))
    cosines = S @ S.T
    label, free = answers["label"], answers["known"] == 0
    found = []
    for c in range(task.classes):
        own = np.flatnonzero((label == c) & free)
        confidence = answers["confidence"][own]
        others = _confused(c, own, answers, cosines, task.allowed)
        entry = {
            "nodes": len(own),
            "known": int(((label == c) & ~free).sum()),
            "expected": None if expected is None else round(float(expected[c]), 1),
            "confidence": round(float(confidence.mean()), 4) if len(own) else None,
            "histogram": np.histogram(confidence, 20, (0, 1))[0].tolist(),
            "confused": others,
            "allowed": bool(task.allowed[c]),
        }
        entry["sink"] = is_sink(entry["nodes"], entry["expected"])
        found.append(entry)
    return found


def is_sink(nodes: int, expected: float | None) -> bool:
    """Tell whether a class takes far more nodes than descriptions predict."""
    return expected is not None and nodes > SINK * expected + LEAST


def _expected(task: Task) -> NDArray[np.float64] | None:
    """Return how many unlabelled nodes the descriptions alone predict. [C]"""
    if not task.shared:
        return None
    X, S = unit(np.asarray(task.X)), unit(task.S)
    scores = masked(X @ S.T, task.allowed)
    p = softmax(scores / np.float32(0.5 * deviation(scores)))
    return np.asarray(p[task.labels < 0].sum(axis=0, dtype=np.float64))


def _confused(
    c: int,
    own: NDArray[np.int64],
    answers: dict[str, NDArray[Any]],
    cosines: NDArray[np.float32],
    allowed: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    """Return the classes that come second most often, or are described most alike."""
    p = answers["proba"][own]
    second = np.bincount(
        answers["runner_up"][own][answers["runner_up"][own] >= 0], minlength=len(cosines)
    )
    order = np.argsort(-(second + cosines[c]), kind="stable")
    found: list[dict[str, Any]] = []
    for d in order.tolist():
        if d == c or not allowed[d] or len(found) == SHOWN:
            continue
        close = float((p[:, c] - p[:, d] < CLOSE).mean()) if len(own) else 0.0
        alike = bool(cosines[c, d] > ALIKE)
        found.append(
            {
                "class": d,
                "nodes": int(second[d]),
                "cosine": round(float(cosines[c, d]), 4),
                "undecided": round(close, 4),
                "hard": alike or (close > UNDECIDED and len(own) >= LEAST),
            }
        )
    return found


def warnings_of(stats: list[dict[str, Any]], names: list[str]) -> list[list[str]]:
    """Return what to say about each class, in sentences."""
    found: list[list[str]] = []
    for c, entry in enumerate(stats):
        said = []
        if entry["sink"]:
            said.append(
                f"{names[c]!r} takes {entry['nodes']:,} nodes where descriptions predict "
                f"{entry['expected']:,.0f}; it may be a sink: say in its description what does "
                "not belong to it, or add the class that is missing"
            )
        for other in entry["confused"]:
            if other["hard"]:
                d = other["class"]
                said.append(
                    f"{names[c]!r} and {names[d]!r} are hard to tell apart (cosine of their texts "
                    f"{other['cosine']:.2f}, {other['undecided']:.0%} of its nodes undecided); "
                    "describe what sets them apart, or merge them"
                )
        found.append(said)
    return found
