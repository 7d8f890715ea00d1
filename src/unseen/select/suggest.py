"""Which nodes to label next: those whose labels would teach most, or those most likely wrong.

A few labels teach most where they stand for all nodes: texts and graph are covered, no part of them
twice, and large parts as often as they are large, since labels also tell how large classes are.
k-means divides the nodes, described by their own vectors and by the hops around them, side by side,
into half as many clusters as labels can be given; each is asked for its share, drawn at random. The
most doubtful come first. (Stratified sampling by clusters, as in Nguyen and Smeulders, "Active
Learning Using Pre-clustering", 2004. Clusters weighted by doubt, or their centres alone, teach
less: docs/results.md.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import unit
from unseen.core.errors import InputError
from unseen.propagate.hops import decompose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator

HOPS, LAZINESS = 3, 0.5
MOST = 50_000  # nodes that are clustered


def suggest(
    X: NDArray[np.float32],
    operator: Operator,
    proba: NDArray[np.float32],
    nodes: NDArray[np.int64],
    count: int,
    seed: int = 0,
) -> NDArray[np.int64]:
    """Return rows of `proba` whose nodes would teach most, the most doubtful first. [count]

    Args:
        X: vectors of all nodes. [n, d]
        operator: the graph.
        proba: probabilities of the nodes without a label. [m, C]
        nodes: their positions in the graph. [m]
        count: how many labels can be given.
        seed: of k-means.
    """
    rows = np.arange(len(nodes))
    if len(rows) > max(count, MOST):
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST, replace=False))
    if count < 1 or len(rows) <= count:
        return suggest_among(proba, proba, count, seed)  # all of them, or a refusal
    space = beside(X, decompose(X, operator, HOPS, LAZINESS).composed(), nodes[rows])
    return np.asarray(rows[suggest_among(space, proba[rows], count, seed)])


def beside(X: Any, Z: Any, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return own vectors and hops of some nodes side by side, each of length one. [m, 2 d]"""
    return np.hstack([unit(np.asarray(each[nodes])) for each in (X, Z)])


def suggest_among(
    space: NDArray[np.float32], proba: NDArray[np.float32], count: int, seed: int = 0
) -> NDArray[np.int64]:
    """Return the same of nodes whose vectors lie `beside` their hops. [count]"""
    from sklearn.cluster import KMeans

    if count < 1:
        raise InputError(f"count: expected 1 node or more, found {count}")
    if len(space) <= count:
        return np.arange(len(space))
    found = KMeans(
        min((count + 1) // 2, len(np.unique(space, axis=0))), n_init=1, random_state=seed
    )
    groups = found.fit(space).labels_
    rng = np.random.default_rng(seed)
    chosen = np.concatenate(
        [
            rng.choice(np.flatnonzero(groups == group), size, replace=False)
            for group, size in enumerate(_shares(np.bincount(groups), count))
        ]
    )
    return np.asarray(chosen[np.argsort(proba[chosen].max(axis=1), kind="stable")])


def _shares(sizes: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Divide a number among groups by their sizes; largest remainders are rounded up."""
    exact = sizes * count / sizes.sum()
    shares: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    more = np.argsort(shares - exact, kind="stable")[: count - shares.sum()]
    shares[more] += 1
    return shares


def likely_errors(proba: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the rows whose best class is least certain, the least certain first. [count]"""
    return np.argsort(proba.max(axis=1), kind="stable")[:count]
