"""Which nodes the map shows, and where: a stratified sample placed in two dimensions by t-SNE.

t-SNE runs on one thread. Its many short parallel loops gain little from a second core and, on a
machine that is busy with something else, wait for each other several times longer than they work;
one thread also makes the sums, and so the picture, the same each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from unseen.core.arrays import unit
from unseen.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator

MAP_NODES = 2_000  # about 3 s on one core; 3,000 take half as long again and look no clearer
FEW = 10  # below this, t-SNE has no neighbourhoods to keep: plain PCA
DIMENSIONS = 30  # kept by PCA before t-SNE
PERPLEXITY = 30.0
EXAGGERATION = 4.0  # mild: leaves groups room, where the usual 12 packs them into spots
STEPS = 300  # 250 of early exaggeration, then 50 to settle
JITTER = 1e-3  # share of the spread; tells equal vectors apart


class Surroundings:
    """Directions of nodes, each added to the mean of its neighbours' when a map asks for it.

    Texts of a few words say little by themselves, and answers do not come from them alone: a map
    of own vectors scatters nodes that their neighbours hold together.
    """

    def __init__(self, vectors: NDArray[np.float32], operator: Operator) -> None:
        self._vectors, self._operator = vectors, operator

    def __len__(self) -> int:
        return len(self._vectors)

    def __getitem__(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        own = unit(np.asarray(self._vectors[rows], dtype=np.float32))  # [m, d]
        ends, around, strength = self._operator.edges_of(rows)
        there, column = np.unique(around, return_inverse=True)
        if not len(there):
            return own
        P = sp.csr_array((strength, column, ends), shape=(len(rows), len(there)))
        near = unit(np.asarray(self._vectors[there], dtype=np.float32))
        total = np.asarray(P.sum(axis=1)).reshape(-1, 1)
        return np.asarray(own + (P @ near) / np.where(total > 0, total, 1.0), dtype=np.float32)


def surroundings(vectors: NDArray[np.float32], operator: Operator) -> Any:
    """Return what a map of these nodes is made of; their own vectors, where they are not all."""
    whole = len(vectors) == operator.nodes and operator.entries > 0
    return Surroundings(vectors, operator) if whole else vectors


def lay_out(
    vectors: NDArray[np.float32] | Surroundings, most: int, seed: int, groups: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Choose up to `most` nodes and place them so that nodes with similar vectors are near.

    Args:
        vectors: one row a node; only directions count, not lengths. [n, d]
        most: how many nodes to show at most; see `MAP_NODES`.
        seed: makes the sample and the picture reproducible.
        groups: the class of each node; small groups keep more of their nodes. [n]

    Returns:
        The rows chosen, ascending [m], and their places within [-1, 1]. [m, 2]
    """
    if len(vectors) != len(groups):
        raise InputError(f"map: {len(vectors):,} vectors but {len(groups):,} groups")
    rng = np.random.default_rng(seed)
    chosen = choose(groups, most, rng)
    return chosen, _place(np.asarray(vectors[chosen], dtype=np.float64), rng)


def choose(groups: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return up to `most` rows, ascending: half shared equally between groups, half by size."""
    if len(groups) <= most:
        return np.arange(len(groups), dtype=np.int64)
    _, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    quota = _quotas(sizes, most)
    order = rng.permutation(len(groups))
    order = order[np.argsort(member[order], kind="stable")]  # shuffled within each group
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(len(groups)) - np.repeat(starts, sizes)
    return np.sort(order[rank < np.repeat(quota, sizes)]).astype(np.int64)


def _quotas(sizes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return how many nodes each group may show; sums to `most`."""
    quota = np.minimum(sizes, most // (2 * len(sizes)))
    left = sizes - quota
    spare = most - int(quota.sum())
    exact = left * (spare / left.sum())
    quota = quota + np.floor(exact).astype(np.int64)
    short = most - int(quota.sum())
    largest = np.argsort(np.floor(exact) - exact, kind="stable")[:short]
    quota[largest] += 1
    return np.asarray(np.minimum(quota, sizes), dtype=np.int64)


def _place(X: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float32]:
    """Return places in two dimensions, finite and distinct, within [-1, 1]. [m, 2]"""
    from sklearn.decomposition import PCA  # slow to import, and a server seldom lays out

    m = len(X)
    if m < 2:
        return np.zeros((m, 2), dtype=np.float32)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    X = X / np.where(lengths > 0, lengths, 1.0)
    jitter = rng.normal(size=(m, 2))
    if float(np.ptp(X, axis=0).max()) < 1e-6:  # all alike: nothing to tell but how many
        return _fit(jitter)
    with threadpool_limits(limits=1):
        kept = min(DIMENSIONS, m - 1, X.shape[1])
        Y = PCA(kept, svd_solver="full", random_state=0).fit_transform(X)
        start = np.zeros((m, 2))
        start[:, : min(2, kept)] = Y[:, :2]
        start += JITTER * start[:, 0].std() * jitter
        if m < FEW:
            return _fit(start)
        return _fit(_embed(Y, start / start[:, 0].std() * 1e-4))


def _embed(Y: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
    from sklearn.manifold import TSNE

    embedding = TSNE(
        init=start.astype(np.float32),
        perplexity=min(PERPLEXITY, (len(Y) - 1) / 3),
        early_exaggeration=EXAGGERATION,
        max_iter=STEPS,
        random_state=0,
        n_jobs=1,
    )
    return np.asarray(embedding.fit_transform(Y.astype(np.float32)), dtype=np.float64)


def _fit(places: NDArray[np.float64]) -> NDArray[np.float32]:
    """Centre the picture and make its longest side reach from -1 to 1."""
    low, high = places.min(axis=0), places.max(axis=0)
    centred = places - (low + high) / 2
    return np.asarray(centred / (float(np.abs(centred).max()) or 1.0), dtype=np.float32)
