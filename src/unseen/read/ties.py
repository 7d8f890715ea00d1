"""A long list of ties, by position, becomes a sparse adjacency: sorted, every tie once.

The tie (i, j) is the integer 2^32 i + j. In a sorted list of these, equal ties are neighbours, the
rows of a CSR matrix follow each other, and the lower half of each integer is its column. NumPy
sorts such integers faster than ties can be thrown into rows one by one. A long list is done in
parts, some rows of the matrix at a time, by several threads.
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
    threads = 1 if listed < LONG else pl.thread_pool_size()
    count = threads * (1 + times * listed // (threads * PART))  # so that none has nothing to do
    bounds = np.linspace(0, nodes, 1 + count).astype(int).tolist()
    with ThreadPoolExecutor(threads) as pool:
        parts = list(
            pool.map(lambda low, high: _some_rows(ties, low, high, directed), bounds, bounds[1:])
        )
    counts, indices = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    if ties.values is None:
        values = np.ones(len(indices), dtype=np.float32)
    else:
        values = np.concatenate([part[2] for part in parts])
    del parts
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


def _some_rows(
    ties: Ties, low: int, high: int, directed: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Return how many ties each row from `low` up has, their columns and, if any, weights."""
    if len(ties.rows) < LONG:
        return _few_rows(ties, low, high, directed)
    from unseen.read.loops import count_ties, gather_ties, to_rows

    rows, columns, values = ties
    found = count_ties(rows, columns, low, high, directed)
    weighed = 0 if values is None else found
    keys, given = np.empty(found, np.int64), np.empty(weighed, np.float32)
    gather_ties(rows, columns, values, low, high, directed, keys, given)
    order = None
    if values is None:
        keys.sort()
    else:
        order = np.argsort(keys)
        keys = keys[order]
    counts = np.zeros(high - low, np.int64)
    indices, kept = np.empty(found, np.int32), np.empty(weighed, np.float32)
    there = to_rows(keys, order, None if values is None else given, low, counts, indices, kept)
    return counts, indices[:there], kept[:there]


def _few_rows(
    ties: Ties, low: int, high: int, directed: bool
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Do the same without loops."""
    i, j = (np.asarray(ends, np.int64) for ends in ties[:2])
    if not directed:
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
    here = np.flatnonzero((i >= low) & (i < high) & (i != j))
    keys = (i[here] << 32) + j[here]
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    kept = np.empty(0, np.float32)
    if ties.values is not None:
        values = ties.values if directed else np.tile(ties.values, 2)
        kept = np.maximum.reduceat(values[here[order]], first).astype(np.float32)
    counts = np.bincount((keys[first] >> 32) - low, minlength=high - low)
    return counts, keys[first].astype(np.int32), kept  # the lower half of each
