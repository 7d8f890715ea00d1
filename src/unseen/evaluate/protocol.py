"""The protocol: which classes are seen, what a model may know, what is the floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unseen.core.errors import InputError
from unseen.core.labels import Labels, Split
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


def generalised(
    labels: Labels, split: Split, seed: int, share: float = 0.2
) -> tuple[Labels, NDArray[np.int64]]:
    """Return the labels that a model may see in the generalised protocol, and the nodes held out.

    In the plain protocol a node in question is of an unseen class, and the model knows that. Here
    it does not. The rules:

    1. Of the labels of each seen class a share is held out, at random by `seed`; at least one node
       is held out and at least one is kept.
    2. The model is fitted with the labels that are kept.
    3. It answers among all classes, for the nodes held out and for all nodes of unseen classes.
    4. The score is the harmonic mean of the accuracy on the first and on the second
       (`metrics.generalised_scores`).

    Which nodes are held out of a class depends on the nodes of that class and on the seed only.

    Args:
        labels: the true class of every node, -1 where none is known.
        split: which classes are seen; labels of all others are hidden.
        seed: of the draw.
        share: of the labelled nodes of each seen class that are held out.
    """
    if not 0 < share < 1:
        raise InputError(f"share: expected more than 0 and less than 1, found {share}")
    held = []
    for c in split.seen:
        nodes = np.flatnonzero(labels.codes == c)
        if len(nodes) < 2:
            raise InputError(
                f"labels: seen class {c} has {len(nodes)} labelled nodes; expected two or more, "
                "one to learn from and one to hold out; call the class unseen or label more nodes"
            )
        count = min(max(round(share * len(nodes)), 1), len(nodes) - 1)
        held.append(np.random.default_rng((seed, c)).choice(nodes, count, replace=False))
    held_out = np.sort(np.concatenate([np.empty(0, np.int64), *held]))
    kept = hold_out(labels, split)
    kept.codes[held_out] = -1
    return kept, held_out
