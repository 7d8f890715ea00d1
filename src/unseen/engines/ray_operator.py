r"""`RayOperator`: rows of the graph in partitions, each beside what its edges need of a block.

For the rows of partition i, :math:`Y_i = \sum_j A_{ij} B_j` over the blocks j that some edge of
theirs leads to: a task is given these blocks and no others, takes the rows that it needs out of
them, and sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unseen.engines.disk import LANES
from unseen.engines.disk_operator import DiskOperator, compiled_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.engines.base import Rows
    from unseen.engines.disk_graph import DiskGraph
    from unseen.engines.ray import Ray


class Partition(NamedTuple):
    """The edges of some rows, by positions among the rows that they need."""

    ends: NDArray[np.int64]  # [b + 1]
    indices: NDArray[np.int32]  # [e]
    weights: NDArray[np.float32] | None  # [e]
    needed: list[NDArray[np.int64]]  # rows of each block that is touched
    right: NDArray[np.float32]  # factors of these rows


class RayOperator(DiskOperator):
    """A graph that the driver holds, in partitions that the cluster holds."""

    def __init__(self, graph: DiskGraph, engine: Ray) -> None:
        super().__init__(graph, engine)
        self.cluster = engine
        put, parts = engine.ray.put, [self._partition(span) for span in engine.spans]
        self.parts = [(put(part), touched) for part, touched in parts]
        self._task = engine.ray.remote(num_returns=2, max_retries=10)(_summed)

    def aggregate(self, rows: Rows) -> Rows:
        """Return A B in units of the mean weight. [n, c] in the store, or [n]"""
        if isinstance(rows, np.ndarray) and rows.ndim == 1:
            return super().aggregate(rows)
        scale = np.full(self.nodes, 1 / self.mean_weight)
        return self._everywhere(rows, scale, right=False, stays=None)

    def propagate(self, rows: Rows) -> Rows:
        """Return P B. [n, c] in the store"""
        return self._everywhere(rows, self.factors[0], right=True, stays=None)

    def lazy(self, rows: Rows, laziness: float) -> Rows:
        """Return beta Y + (1 - beta) P Y. [n, c] in the store"""
        beta = np.float32(laziness)
        return self._everywhere(rows, (1 - beta) * self.factors[0], right=True, stays=beta)

    def _everywhere(self, rows: Rows, left: NDArray[Any], right: bool, stays: Any) -> Rows:
        engine = self.cluster
        if not hasattr(rows, "refs"):
            rows = engine.map(lambda block: block, rows)
        begun = [
            self._task.remote(
                part, left[span], right, stays, rows.refs[i], *(rows.refs[j] for j in touched)
            )
            for i, (span, (part, touched)) in enumerate(zip(engine.spans, self.parts, strict=True))
        ]
        return engine._gathered(begun)

    def _partition(self, span: slice) -> tuple[Partition, list[int]]:
        """Return the edges of some rows, and the blocks that they lead to."""
        graph, spans = self.graph, self.cluster.spans
        ends = graph.indptr[span.start : span.stop + 1]
        edges = slice(int(ends[0]), int(ends[-1]))
        columns, local = np.unique(graph.indices[edges], return_inverse=True)
        starts = np.array([each.start for each in spans])
        of = np.searchsorted(starts, columns, side="right") - 1
        touched = np.unique(of).tolist()
        needed = [columns[of == j].astype(np.int64) - starts[j] for j in touched]
        weights = None if graph.weights is None else np.array(graph.weights[edges])
        right = self.factors[1][columns]
        part = Partition(ends - ends[0], local.astype(np.int32).ravel(), weights, needed, right)
        return part, touched


def _summed(
    part: Partition,
    left: NDArray[Any],
    right: bool,
    stays: Any,
    own: NDArray[np.float32],
    *blocks: NDArray[np.float32],
) -> tuple[tuple[int, ...], NDArray[np.float32]]:
    """Return the sums of a partition, beside their shape."""
    width = own.shape[1]
    rows = max(1, len(part.right))  # one for rows without an edge
    Z = np.zeros((rows, -(-width // LANES) * LANES), dtype=np.float32)
    at = 0
    for block, needed in zip(blocks, part.needed, strict=True):
        Z[at : at + len(needed), :width] = block[needed]
        at += len(needed)
    if right and blocks:
        Z *= part.right[:, None]
    sums = compiled_sums()(part.ends, part.indices, part.weights, Z, left)[:, :width]
    found = sums.astype(np.float32) if stays is None else sums + stays * own
    return found.shape, found
