r"""`DiskOperator`: the graph on disk as linear maps, as `core/operator.py` has it in memory.

Rows that are summed lie anywhere, and a disk is slow at that. So the columns of a block are taken
some at a time, as many as fit into memory, and the graph streams past them. Sums are those of the
compiled loop where the extra `fast` is installed, else SciPy's. What is aggregated is summed in
float64, as in memory: sums of logarithms are large, and their last bit shows in a posterior.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import MissingExtraError
from unseen.engines.disk import LANES, Disk, cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.engines.base import Rows
    from unseen.engines.disk_graph import DiskGraph

EDGES = 1 << 20  # of a stretch of rows, unless one row has more
ROWS = 1 << 16  # of a stretch, at most

Sums = Callable[..., Any]


class DiskOperator:
    """An adjacency on disk, ready to be multiplied with."""

    def __init__(self, graph: DiskGraph, engine: Disk) -> None:
        self.graph, self.engine, self.nodes = graph, engine, graph.nodes
        total = float(graph.degrees[0].sum())
        self.mean_weight = float(np.float32(total / graph.entries)) if graph.entries else 1.0

    @property
    def entries(self) -> int:
        """Number of non-zeros: an edge that counts both ways is two."""
        return self.graph.entries

    @cached_property
    def strength(self) -> NDArray[np.float32]:
        """Sums of weights by row, in units of the mean weight. [n]"""
        return np.asarray(self.graph.degrees[0] / self.mean_weight, dtype=np.float32)

    @cached_property
    def factors(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """D^-1/2 of rows and of columns; 0 where there is nothing to divide by. Twice [n]"""
        rows, columns = self.graph.degrees
        return _inverse_root(rows), _inverse_root(columns)

    @cached_property
    def stretches(self) -> list[slice]:
        """Rows that are summed together, of about equally many edges."""
        indptr, at, n, found = self.graph.indptr, 0, self.nodes, []
        while at < n:
            fits = int(np.searchsorted(indptr, int(indptr[at]) + EDGES, side="right")) - 1
            end = min(max(fits, at + 1), at + ROWS, n)
            found.append(slice(at, end))
            at = end
        return found

    def aggregate(self, rows: Rows) -> Rows:
        """Return A B in units of the mean weight. [n, c] on disk, or [n]"""
        if isinstance(rows, np.ndarray) and rows.ndim == 1:
            return self._vector(rows)
        width, engine = rows.shape[1], self.engine
        found = engine.room(width)
        scale = np.full(self.nodes, 1 / self.mean_weight)
        for which in engine.columns(width, arrays=1):
            count = which.stop - which.start
            Z = self.block(count)
            engine.load(rows, which, Z)

            def keep(rows: slice, sums: Any, which: slice = which, count: int = count) -> None:
                found.array[rows, which] = sums[:, :count]

            self._stream(Z, scale, keep)
            del Z  # before the next columns are taken
        return found

    def propagate(self, rows: Rows) -> Rows:
        """Return P B, P of the paper. [n, c] on disk"""
        width, engine = rows.shape[1], self.engine
        found, (left, right) = engine.room(width), self.factors
        for which in engine.columns(width, arrays=1):
            count = which.stop - which.start
            Z = self.block(count)
            engine.load(rows, which, Z, right)

            def keep(rows: slice, sums: Any, which: slice = which, count: int = count) -> None:
                found.array[rows, which] = sums[:, :count]

            self._stream(Z, left, keep)
            del Z
        return found

    def lazy_step(self, Y: NDArray[np.float32], Z: NDArray[np.float32], laziness: float) -> None:
        """Turn Y into beta Y + (1 - beta) P Y, in place; Z is room for as much. Twice [n, c]"""
        left, right = self.factors
        np.multiply(Y, right[:, None], out=Z)
        beta = np.float32(laziness)

        def add(rows: slice, sums: Any) -> None:
            some = Y[rows]
            some *= beta
            some += sums

        self._stream(Z, (1 - beta) * left, add)

    def block(self, columns: int) -> NDArray[np.float32]:
        """Return room for some columns, rounded up as the loops like it. [n, c]"""
        return np.zeros((self.nodes, -(-columns // LANES) * LANES), dtype=np.float32)

    def sample_edges(self, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return up to `most` edges drawn at random, as `Operator` draws them. [2, m]"""
        count = self.entries
        at = np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))
        source = np.searchsorted(self.graph.indptr, at, side="right") - 1
        return np.stack([source, self.graph.indices[at]]).astype(np.int64)

    def random_neighbours(
        self, nodes: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return a neighbour of each node, drawn at random; itself where it has none. [m]"""
        indptr = self.graph.indptr
        degrees = indptr[nodes + 1] - indptr[nodes]
        drawn = indptr[nodes] + (rng.random(len(nodes)) * degrees).astype(np.int64)
        found = nodes.copy()
        found[degrees > 0] = self.graph.indices[drawn[degrees > 0]]
        return found

    def has_edges(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether there is an edge from each source to its target. [m]"""
        ends, columns, _ = self.edges_of(source)
        rows = np.repeat(np.arange(len(source)), np.diff(ends))
        found = np.zeros(len(source), dtype=bool)
        found[rows[columns == target[rows]]] = True
        return found

    def edges_of(
        self, nodes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
        """Return the neighbours of some nodes as the rows of a CSR matrix: ends, columns, weights.

        The neighbours of `nodes[r]` lie at ends[r] to ends[r + 1]. [m + 1], [e], [e]
        """
        indptr = self.graph.indptr
        counts = indptr[nodes + 1] - indptr[nodes]
        ends = np.zeros(len(nodes) + 1, dtype=np.int64)
        np.cumsum(counts, out=ends[1:])
        at = np.arange(ends[-1]) + np.repeat(indptr[nodes] - ends[:-1], counts)
        weights = (
            np.ones(len(at), np.float32)
            if self.graph.weights is None
            else self.graph.weights[at] / np.float32(self.mean_weight)
        )
        return ends, self.graph.indices[at].astype(np.int64), weights

    def _stream(
        self,
        Z: NDArray[np.float32],
        left: NDArray[Any],
        use: Callable[[slice, Any], None],
    ) -> None:
        """Hand the sums of each stretch of rows, times their factor, to `use`."""
        graph, sums = self.graph, compiled_sums()

        def work(rows: slice) -> None:
            ends = graph.indptr[rows.start : rows.stop + 1]
            edges = slice(int(ends[0]), int(ends[-1]))
            weights = None if graph.weights is None else graph.weights[edges]
            use(rows, sums(ends, graph.indices[edges], weights, Z, left[rows]))

        with ThreadPoolExecutor(cores()) as pool:
            for rows, _ in zip(self.stretches, pool.map(work, self.stretches), strict=True):
                if self.engine.progress is not None:
                    self.engine.progress("sums over edges", rows.stop, self.nodes)

    def _vector(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return A v. [n]"""
        found, graph = np.empty(self.nodes, dtype=np.float32), self.graph
        Z = np.asarray(values, dtype=np.float32)[:, None]
        scale = np.full(1, 1 / self.mean_weight)
        for rows in self.stretches:
            ends = graph.indptr[rows.start : rows.stop + 1]
            edges = slice(int(ends[0]), int(ends[-1]))
            weights = None if graph.weights is None else graph.weights[edges]
            found[rows] = by_scipy(ends, graph.indices[edges], weights, Z, scale)[:, 0]
        return found


def by_scipy(
    ends: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[np.float32] | None,
    Z: NDArray[np.float32],
    left: NDArray[Any],
) -> NDArray[Any]:
    """Return left_r times the sum over the edges of r of w Z_j, in the precision of left. [m, c]"""
    data = np.ones(len(indices), left.dtype) if weights is None else weights.astype(left.dtype)
    shape = (len(ends) - 1, len(Z))
    A = sp.csr_array((data, indices, (ends - ends[0]).astype(indices.dtype)), shape=shape)
    found: NDArray[Any] = (A @ Z) * left[:, None]
    return found


def compiled_sums() -> Sums:
    """Return the compiled loop, or SciPy's where it is not installed."""
    try:
        from unseen.propagate.memory import sums
    except MissingExtraError:
        return by_scipy
    return sums


def _inverse_root(degrees: NDArray[np.float64]) -> NDArray[np.float32]:
    positive = degrees > 0
    return np.where(positive, np.where(positive, degrees, 1.0) ** -0.5, 0).astype(np.float32)
