"""What changed between two versions of a run, node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.classes import NONE_OF_THESE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.serve.served import Served

SHOWN = 40  # pairs of classes between which nodes move


def changes(before: Served, after: Served) -> NDArray[np.int64]:
    """Return nodes of both whose class has another name, the surest in it first. [m]

    Nodes that have their class from people come last: that they changed says nothing.
    """
    n = min(before.nodes, after.nodes)
    old, new = _named(before, n), _named(after, n)
    rows = np.flatnonzero(old != new)
    confidence, labelled = np.asarray(after.confidence)[rows], np.asarray(after.known)[rows] > 0
    return rows[np.lexsort((-confidence, labelled | np.isin(rows, after.outside)))]


def _named(served: Served, n: int) -> NDArray[Any]:
    """Return the class of each node by name. [n]"""
    names = np.array([*served.names, NONE_OF_THESE], dtype=object)
    return np.asarray(names[np.asarray(served.label[:n])])


def moved(before: Served, after: Served, rows: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return how many nodes went from which class to which, most first."""
    width = len(after.names) + 1
    keys, sizes = np.unique(
        (np.asarray(before.label)[rows].astype(np.int64) + 1) * width
        + np.asarray(after.label)[rows]
        + 1,
        return_counts=True,
    )
    order = np.argsort(-sizes, kind="stable")[:SHOWN]
    return [
        {
            "from": before.name(int(key) // width - 1),
            "to": after.name(int(key) % width - 1),
            "nodes": int(size),
        }
        for key, size in zip(keys[order], sizes[order], strict=True)
    ]
