"""A long list of ties, by position, becomes a sparse adjacency: sorted, every tie once.

The tie (i, j) is the integer 2^32 i + j. In a sorted list of these, equal ties are neighbours, the
rows of a CSR matrix follow each other, and the lower half of each integer is its column. NumPy
sorts such integers faster than ties can be thrown into rows one by one. A long list is done in
parts, some rows of the matrix at a time, by several threads: NumPy lets them run side by side.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from unseen.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PART = 1 << 26  # ties that are sorted together, about; every part looks through the whole list
CHUNK = 1 << 19  # ties that are looked through together: they stay in the cache
LOW, HIGH = (0, 1) if sys.byteorder == "little" else (1, 0)  # halves of an integer in memory


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
    bounds = np.linspace(0, nodes, 2 + times * listed // PART).astype(int).tolist()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
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
) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.float32]]:
    """Return how many ties each row from `low` up has, their columns and, if any, weights."""
    keys, values = _gathered(ties, low, high, directed)
    if ties.values is None:
        keys.sort()
    else:
        order = np.argsort(keys)
        keys, values = keys[order], values[order]
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    if not first.all():
        keys = keys[first]
        if ties.values is not None:
            values = np.maximum.reduceat(values, np.flatnonzero(first))
    begin = np.searchsorted(keys, np.arange(low, high + 1, dtype=np.int64) << 32)
    return np.diff(begin), keys.view(np.int32)[LOW::2].copy(), values


def _gathered(
    ties: Ties, low: int, high: int, directed: bool
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return ties that start at these rows, in either direction unless directed, as integers.

    Their weights come along, unless there are none.
    """
    keys, values = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.float32)]
    for start in range(0, len(ties.rows), CHUNK):
        rows, columns = (ends[start : start + CHUNK] for ends in ties[:2])
        for i, j in [(rows, columns)] if directed else [(rows, columns), (columns, rows)]:
            here = np.flatnonzero((i >= low) & (i < high) & (i != j))
            found = np.empty((len(here), 2), dtype=np.int32)
            found[:, HIGH], found[:, LOW] = i[here], j[here]
            keys.append(found.view(np.int64).ravel())
            if ties.values is not None:
                values.append(ties.values[start : start + CHUNK][here])
    return np.concatenate(keys), np.concatenate(values)
