r"""The graph as linear maps on a block of columns: what models are given instead of edges.

The paper (DGPN, Sec. 5.2) propagates by :math:`P = D^{-1/2} A D^{-1/2}`. In a directed graph the
rows are scaled by out-degrees and the columns by in-degrees, which is the same matrix when edges
count both ways.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Operator:
    """An adjacency matrix [n, n], ready to be multiplied with.

    Attributes:
        weights: the adjacency, CSR, in units of `mean_weight`. [n, n]
        mean_weight: of an edge.
        matrix: P of the paper, CSR. [n, n]

    Args:
        adjacency: dense or sparse. [n, n]
        part_of: the whole graph and the positions of these nodes in it, where this is a part: the
            mean weight and the degrees are then those of the whole.
    """

    def __init__(
        self, adjacency: Any, part_of: tuple[Operator, NDArray[np.int64]] | None = None
    ) -> None:
        A = sp.csr_array(adjacency, dtype=np.float32)
        self._part_of = part_of
        self.nodes = int(A.shape[0])
        mean = np.float32(A.data.mean(dtype=np.float64) if A.nnz else 1.0)
        if part_of is not None:
            mean = np.float32(part_of[0].mean_weight)
        self.mean_weight: float = float(mean)
        self.weights = sp.csr_array(A / mean) if A.nnz else A
        self._adjacency = A

    @cached_property
    def matrix(self) -> Any:
        """P, formed when it is first asked for."""
        A = self._adjacency
        rows, columns = self.degrees
        left, right = (np.sqrt(_inverse(degrees)) for degrees in (rows, columns))
        return sp.csr_array(sp.diags_array(left) @ A @ sp.diags_array(right))

    @cached_property
    def degrees(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Sums of weights by row and by column. Twice [n]"""
        if self._part_of is not None:
            whole, nodes = self._part_of
            rows, columns = whole.degrees
            return rows[nodes], columns[nodes]
        return self._adjacency.sum(axis=1), self._adjacency.sum(axis=0)

    @property
    def entries(self) -> int:
        """Number of non-zeros: an edge that counts both ways is two."""
        return int(self.weights.nnz)

    @cached_property
    def strength(self) -> NDArray[np.float32]:
        """Sums of `weights` by row. [n]"""
        return np.asarray(self.weights.sum(axis=1), dtype=np.float32).ravel()

    def propagate(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return P X. [n, d]"""
        return np.asarray(self.matrix @ block, dtype=np.float32)

    def aggregate(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return A X, the weighted sum over neighbours. [n, d], or [n]"""
        return np.asarray(self.weights @ block, dtype=np.float32)

    def sample_edges(self, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return up to `most` edges drawn at random, as two rows of node positions. [2, m]"""
        count = self.weights.nnz
        at = np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))
        source = np.searchsorted(self.weights.indptr, at, side="right") - 1
        return np.stack([source, self.weights.indices[at]]).astype(np.int64)

    def random_neighbours(
        self, nodes: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return a neighbour of each node, drawn at random; itself where it has none. [m]"""
        lo, degrees = self.weights.indptr[nodes], np.diff(self.weights.indptr)[nodes]
        drawn = lo + (rng.random(len(nodes)) * degrees).astype(np.int64)
        found = nodes.copy()
        found[degrees > 0] = self.weights.indices[drawn[degrees > 0]]
        return found

    def has_edges(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether there is an edge from each source to its target. [m]"""
        found: NDArray[np.bool_] = np.asarray(self.weights[source, target]).ravel() != 0
        return found

    def edges_of(
        self, nodes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Return the neighbours of some nodes as the rows of a CSR matrix: ends, columns, weights.

        The neighbours of `nodes[r]` lie at ends[r] to ends[r + 1]. [m + 1], [e], [e]
        """
        some = self.weights[nodes]
        return some.indptr.astype(np.int64), some.indices.astype(np.int64), some.data

    def neighbours(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the neighbours of a node and the weights of the edges to them."""
        lo, hi = self.weights.indptr[node], self.weights.indptr[node + 1]
        return self.weights.indices[lo:hi].astype(np.int64), self.weights.data[lo:hi]


def _inverse(degrees: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return 1/d, and 0 for isolated nodes, whose hops are then zero."""
    d = np.asarray(degrees, dtype=np.float32).ravel()
    return np.divide(1.0, d, out=np.zeros_like(d), where=d > 0)
