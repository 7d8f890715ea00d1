"""The rules of the game: which classes are seen, what a model may know, what is the floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unseen.classes import Labels, Split
from unseen.errors import InputError
from unseen.evaluate.metrics import majority_floor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def all_splits(classes: int, seen: int) -> Iterator[Split]:
    """Yield every way to call `seen` of the C classes seen and the rest unseen.

    There are C! / (s! (C-s)!), in lexicographic order of the seen classes. No class is
    held out for validation.

    >>> [split.unseen for split in all_splits(3, seen=2)]
    [(2,), (1,), (0,)]
    """
    if not 0 <= seen < classes:
        raise InputError(
            f"seen: expected 0 to {classes - 1} of {classes} classes, found {seen}; "
            "at least one class must stay unseen"
        )
    for chosen in combinations(range(classes), seen):
        yield Split(chosen, (), tuple(c for c in range(classes) if c not in chosen))


def of_classes(truth: ArrayLike, which: Sequence[int]) -> NDArray[np.int64]:
    """Return the positions of the nodes whose true class is one of these."""
    return np.flatnonzero(np.isin(np.asarray(truth), np.asarray(which, dtype=np.int64)))


def floor(truth: ArrayLike, unseen: Sequence[int]) -> float:
    """Return the accuracy of the best constant answer on the nodes of the unseen classes.

    max_{c in U} n_c / sum_{c in U} n_c, with n_c the nodes of class c. What does not beat it has
    learned nothing about the unseen classes that a single guess would not give.

    Args:
        truth: true class of each node, -1 where none is known. [n]
        unseen: positions of the unseen classes, U.
    """
    true = np.asarray(truth)
    nodes = of_classes(true, unseen)
    if not len(nodes):
        raise InputError(f"truth: no node belongs to the unseen classes {tuple(unseen)}")
    return majority_floor(true[nodes])


def hold_out(labels: Labels, split: Split) -> Labels:
    """Return the labels that a model may see in this split: those of its seen classes."""
    return labels.only(split.seen)
