"""Which nodes to label next: those whose labels would teach most, or those most likely wrong.

A few labels teach most where they cover the graph and the doubt. k-means with weights
:math:`1 - \\max_c p_{ic}` (doubt) divides the nodes, described by the hops around them and by their
probabilities side by side, into as many clusters as labels can be given, and the node nearest to
each centre is asked for: no two are near each other, and where nothing is in doubt nothing is
asked. (Typical rather than odd nodes: Hacohen et al., "Active Learning on a Budget", 2022.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import unit
from unseen.core.errors import InputError
from unseen.propagate.hops import decompose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator

HOPS, LAZINESS = 3, 0.5
POSTERIOR = 0.7  # weight of probabilities beside hops of unit length
DOUBT = 0.05  # least weight of a node
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
    hops = unit(decompose(X, operator, HOPS, LAZINESS).composed())[nodes[rows]]
    return np.asarray(rows[suggest_among(hops, proba[rows], count, seed)])


def suggest_among(
    Z: NDArray[np.float32], proba: NDArray[np.float32], count: int, seed: int = 0
) -> NDArray[np.int64]:
    """Return the same of nodes whose hops are at hand: Z, of unit length [m, d]. [count]"""
    from sklearn.cluster import KMeans

    if count < 1:
        raise InputError(f"count: expected 1 node or more, found {count}")
    if len(Z) <= count:
        return np.arange(len(Z))
    doubt = 1 - proba.max(axis=1)
    space = np.hstack([Z, np.float32(POSTERIOR) * proba])
    found = KMeans(min(count, len(np.unique(space, axis=0))), n_init=1, random_state=seed)
    groups = found.fit(space, sample_weight=doubt + DOUBT).labels_
    apart = ((space - found.cluster_centers_[groups]) ** 2).sum(axis=1)
    order = np.lexsort((apart, groups))  # by cluster, the nearest to its centre first
    first = order[np.r_[True, np.diff(groups[order]) > 0]]
    return np.asarray(first[np.argsort(-doubt[first], kind="stable")])


def likely_errors(proba: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the rows whose best class is least certain, the least certain first. [count]"""
    return np.argsort(proba.max(axis=1), kind="stable")[:count]
