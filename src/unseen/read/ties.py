"""A list of ties, by position, becomes a sparse adjacency: sorted, every tie once.

The tie (i, j) is the integer 2^32 i + j. In a sorted list of these, equal ties are neighbours, the
rows of a CSR matrix follow each other, and the lower half of each integer is its column. NumPy
sorts such integers faster than ties can be thrown into rows one by one. A long list is done in
parts, some rows of the matrix at a time, by several threads, and all in one place: sorted ties of
eight bytes leave room for columns and values of four. Fresh memory is what takes longest.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
import scipy.sparse as sp

from unseen.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PART = 1 << 26  # ties that are sorted together, about; every part looks through the whole list
LONG = 1 << 20  # ties; fewer are sorted while loops would be compiled


class Ties(NamedTuple):
    """Both ends of every tie, [m], and their weights, [m], unless all are 1."""

    rows: NDArray[np.integer]
    columns: NDArray[np.integer]
    values: NDArray[np.float32] | None


def adjacency(ties: Ties, nodes: int, directed: bool) -> tuple[Any, int, int]:
    """Return A as float32 CSR without loops, and how many repeated ties and loops were left out.

    A tie that is listed more than once keeps its largest weight; where ties are not directed,
    (j, i) is the same tie as (i, j), and A is symmetric. Positions have to be below `nodes`.
    """
    times, listed = 1 if directed else 2, len(ties.rows)
    counts, indices, values = (_few if listed < LONG else _many)(ties, nodes, directed)
    size = np.int32 if len(indices) < 2**31 else np.int64
    begin = np.zeros(nodes + 1, dtype=size)
    np.cumsum(counts, out=begin[1:])
    A = sp.csr_array((values, indices.astype(size, copy=False), begin), shape=(nodes, nodes))
    A.has_canonical_format = True
    loops = int(np.count_nonzero(ties.rows == ties.columns))
    repeats = listed - loops - A.nnz // times
    if ties.values is not None:
        check_weights(A)
        A.eliminate_zeros()
    return A, repeats, loops


def check_weights(A: Any) -> None:
    """Raise unless every tie has a weight that a tie can have."""
    wrong = ~(np.isfinite(A.data) & (A.data >= 0))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        row = int(np.searchsorted(A.indptr, at, side="right")) - 1
        raise InputError(
            f"adjacency: the tie from node {row} to node {A.indices[at]} has weight {A.data[at]}; "
            "a weight is the strength of a tie and must be a positive, finite number"
        )


Rows = tuple["NDArray[np.int64]", "NDArray[np.int32]", "NDArray[np.float32]"]


def _few(ties: Ties, nodes: int, directed: bool) -> Rows:
    """Return how many ties each row has, their columns and their weights."""
    i, j = (np.asarray(ends, np.int64) for ends in ties[:2])
    if not directed:
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
    apart = np.flatnonzero(i != j)
    keys = (i[apart] << 32) + j[apart]
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    kept = np.ones(len(first), np.float32)
    if ties.values is not None:
        given = ties.values if directed else np.tile(ties.values, 2)
        kept = np.maximum.reduceat(given[apart[order]], first).astype(np.float32)
    counts = np.bincount(keys[first] >> 32, minlength=nodes)
    return counts, keys[first].astype(np.int32), kept  # the lower half of each


def _many(ties: Ties, nodes: int, directed: bool) -> Rows:
    """Do the same by compiled loops."""
    from unseen.read.loops import count_ties, gather_ties, move, to_rows

    rows, columns, values = ties
    threads = pl.thread_pool_size()
    parts = threads * (1 + (1 if directed else 2) * len(rows) // (threads * PART))
    bounds = np.linspace(0, nodes, 1 + parts).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        sizes = list(
            pool.map(lambda *ends: count_ties(rows, columns, *ends, directed), bounds, bounds[1:])
        )
        begin = np.cumsum([0, *(size + 1 for size in sizes)]).tolist()  # with room for one more
        keys = np.empty(begin[-1], np.int64)
        weights = np.empty(0 if values is None else len(keys), np.float32)
        counts = np.zeros(nodes, np.int64)

        def sort(low: int, high: int, first: int, last: int) -> int:
            """Sort the ties of some rows in their stretch; return how many are left of them."""
            given = weights[first:last]
            gather_ties(rows, columns, values, low, high, directed, keys[first:last], given)
            mine, order, found = keys[first : last - 1], None, None
            if values is None:
                mine.sort()
            else:
                order, found = np.argsort(mine), given.copy()
                mine[:] = mine[order]
            return int(
                to_rows(mine, order, found, low, counts[low:high], mine.view(np.int32), given)
            )

        left = list(pool.map(sort, bounds, bounds[1:], begin, begin[1:]))
    flat, there = keys.view(np.int32), 0
    for first, size in zip(begin, left, strict=False):
        move(flat, 2 * first, there, size)
        move(weights, first, there, size if len(weights) else 0)
        there += size
    if values is None:  # behind the columns
        weights = flat.view(np.float32)[there:]
        weights[:there] = 1
    return counts, flat[:there], weights[:there]
