"""What models do with a block of rows: small functions that are handed to the moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task


def winners(p: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the best class of each row. [b]"""
    best: NDArray[np.int64] = p.argmax(axis=1)
    return best


def clamp(p: NDArray[np.float32], labels: NDArray[np.int64]) -> None:
    """Set the rows of labelled nodes to certainty, in place."""
    known = np.flatnonzero(labels >= 0)
    p[known] = 0.0
    p[known, labels[known]] = 1.0


def read(
    scores: NDArray[np.float32], labels: NDArray[np.int64], temperature: float
) -> NDArray[np.float32]:
    """Return scores as probabilities, labelled nodes at certainty. [b, C]"""
    p = softmax(scores / temperature)
    clamp(p, labels)
    return p


def possible(p: NDArray[np.float32]) -> NDArray[np.int64]:
    """Tell, by 1 or 0, which classes some row holds possible. [C]"""
    return np.asarray((p > 0).any(axis=0), dtype=np.int64)


def logarithms(p: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ln p; -inf stays -inf, so that no neighbour overrules what is certain. [b, C]"""
    with np.errstate(divide="ignore"):
        return np.log(p)


def averaged(weights: Sequence[float]) -> Callable[..., NDArray[np.float32]]:
    """Return what takes the mean of as many blocks, with these weights. [b, C]"""
    shares = [np.float32(weight / sum(weights)) for weight in weights]

    def mean(*blocks: NDArray[np.float32]) -> NDArray[np.float32]:
        found = shares[0] * blocks[0]
        for share, block in zip(shares[1:], blocks[1:], strict=True):
            found += share * block
        return found

    return mean


def settled(task: Task) -> NDArray[np.bool_]:
    """Tell which nodes have a label, or were answered before. [n]"""
    found: NDArray[np.bool_] = task.labels >= 0
    if task.fixed_nodes is not None:
        found[task.fixed_nodes] = True
    return found
