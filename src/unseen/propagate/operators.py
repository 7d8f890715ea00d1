r"""One step over the graph, and the weights of the hops that a lazy walk decomposes into.

The paper (DGPN, Sec. 5.2) takes :math:`P = D^{-1/2} A D^{-1/2}` and writes K lazy steps as

.. math:: (\beta I + (1 - \beta) P)^K x
          = \sum_{k=0}^{K} \binom{K}{k} \beta^{K-k} (1 - \beta)^k P^k x \qquad \text{(Eq. 13)}

so that hop k has the weight :math:`\omega_k = \binom{K}{k} \beta^{K-k} (1-\beta)^k`. With
:math:`\beta = 1/2` these are the normalised weights of the plain GCN (Eq. 10).
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray


def hop_weights(hops: int, laziness: float) -> NDArray[np.float32]:
    """Return omega_k for k = 0..K (Eq. 13); they sum to one. [K+1]

    >>> hop_weights(2, 0.5).tolist()
    [0.25, 0.5, 0.25]
    """
    return np.array(
        [comb(hops, k) * laziness ** (hops - k) * (1 - laziness) ** k for k in range(hops + 1)],
        dtype=np.float32,
    )


class Operator:
    """The graph as two linear maps on a block of columns [n, d].

    `step` is P of the paper; in a directed graph the rows are scaled by out-degrees and the columns
    by in-degrees, which is the same matrix when ties count both ways. `gather` sums what the
    neighbours hold, each as often as its tie is stronger than the average one.
    """

    def __init__(self, adjacency: Any) -> None:
        A = sp.csr_array(adjacency, dtype=np.float32)
        rows, columns = A.sum(axis=1), A.sum(axis=0)
        left, right = (np.sqrt(_inverse(degrees)) for degrees in (rows, columns))
        self.nodes = int(A.shape[0])
        self.matrix = sp.csr_array(sp.diags_array(left) @ A @ sp.diags_array(right))
        self._ties = sp.csr_array(A / A.data.mean()) if A.nnz else A

    def step(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return P X. [n, d]"""
        return np.asarray(self.matrix @ block, dtype=np.float32)

    def gather(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum over neighbours j of a_ij X_j. [n, d]"""
        return np.asarray(self._ties @ block, dtype=np.float32)

    def ties(self, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return up to `most` ties drawn at random, as two rows of node positions. [2, m]"""
        count = self._ties.nnz
        at = np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))
        source = np.searchsorted(self._ties.indptr, at, side="right") - 1
        return np.stack([source, self._ties.indices[at]]).astype(np.int64)

    def wander(self, nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Return a neighbour of each node, drawn at random; itself where it has none. [m]"""
        lo, degrees = self._ties.indptr[nodes], np.diff(self._ties.indptr)[nodes]
        drawn = lo + (rng.random(len(nodes)) * degrees).astype(np.int64)
        found = nodes.copy()
        found[degrees > 0] = self._ties.indices[drawn[degrees > 0]]
        return found

    def tied(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether a hop from each source looks at its target. [m]"""
        found: NDArray[np.bool_] = np.asarray(self._ties[source, target]).ravel() != 0
        return found

    def neighbours(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the neighbours that a hop from this node looks at, and the strengths."""
        lo, hi = self._ties.indptr[node], self._ties.indptr[node + 1]
        return self._ties.indices[lo:hi].astype(np.int64), self._ties.data[lo:hi]


def _inverse(degrees: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 1/d, and 0 for isolated nodes, whose hops are then zero."""
    d = np.asarray(degrees, dtype=np.float32).ravel()
    return np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
