r"""K hops in memory: :math:`P X, P^2 X, \dots, P^K X` in K products, on all cores.

:math:`P = D_{out}^{-1/2} A D_{in}^{-1/2}` is never formed: with Z the rows of the hop before, each
times its right factor, a hop is a sum of rows of Z times a left factor, and where all edges have
one weight the graph is its indices alone,

.. math:: Z = D_{in}^{-1/2} P^{k-1} X, \qquad P^k X = D_{out}^{-1/2} A Z .

Columns are propagated in blocks of c <= 128: Z [n, c] is all the room that is needed beside X, the
graph and the hops. Rows are shared out in stretches of about equally many edges.

What was tried: narrower blocks, so that the rows of hubs stay in the cache (slower: more rows to
wait for, each too short), and nodes in the order of their degrees (no gain: a row fills whole cache
lines, so neighbours in memory do not matter).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.propagate.kernels import LANES, add_at, add_rows, count, gather
from unseen.propagate.rooms import rooms

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDEST = 128  # columns of a block: a row's sum fills the 16 registers of AVX2
ROOM = 1 << 21  # bytes of the sums of a stretch of rows: more would crowd Z out of the cache
EDGES = 1 << 18  # of a stretch, unless one row has more


class Parts(NamedTuple):
    """P in parts: P_ij = left_i w_ij right_j."""

    indptr: NDArray[Any]  # [n + 1]
    indices: NDArray[Any]  # [m]
    weights: NDArray[np.float32] | None  # [m]; None: all are 1
    left: NDArray[np.float32]  # [n]
    right: NDArray[np.float32]  # [n]


def propagate(
    adjacency: Any, X: Any, hops: int, *, out: Any = None, threads: int | None = None
) -> tuple[NDArray[Any], ...]:
    """Return X, P X, .., P^K X, K = `hops`. K+1 times [n, d]

    Args:
        adjacency: A [n, n].
        X: one row for each node. [n, d]
        out: where hops 1..K go: an array [K, n, d] or K arrays [n, d], memory-mapped or not. In
            float16 they take half the room, and each hop adds a rounding error of 1/2048 of its
            size (sums are in float32).
        threads: all cores that this process may use, unless given.

    >>> propagate([[0, 1], [1, 0]], [[1.0], [3.0]], 2)[1].tolist()
    [[3.0], [1.0]]
    """
    X = np.asarray(X, dtype=np.float32)
    P = parts_of(adjacency)
    nodes = len(P.left)
    if X.ndim != 2 or len(X) != nodes:
        raise InputError(f"X: expected one row for each of the {nodes:,} nodes, found {X.shape}")
    if hops < 0:
        raise InputError(f"hops: expected 0 or more steps, found {hops}")
    blocks: Sequence[NDArray[Any]] = (X, *_places(out, hops, X.shape))
    c, slices = columns(X.shape[1])
    Z = np.zeros((nodes, c), dtype=np.float32)
    parts = list(stretches(P.indptr, c, ROOM))
    with ThreadPoolExecutor(threads or cores()) as pool:
        for at in slices:
            Z[:, at.stop - at.start :] = 0
            for before, after in pairwise(blocks):

                def load(part: slice, before: NDArray[Any] = before, at: slice = at) -> None:
                    scale(before[part, at], P.right[part], Z[part])

                def step(part: slice, after: NDArray[Any] = after, at: slice = at) -> None:
                    ends = P.indptr[part.start : part.stop + 1]
                    own = slice(int(ends[0]), int(ends[-1]))
                    weights = None if P.weights is None else P.weights[own]
                    total = sums(ends, P.indices[own], weights, Z, P.left[part])
                    store(total, after[part, at])

                every(pool, load, parts)
                every(pool, step, parts)
    return tuple(blocks)


def parts_of(adjacency: Any) -> Parts:
    """Return P in parts; equal weights are left out, since P is the same with ones."""
    A = sp.csr_array(adjacency)
    n, *others = A.shape
    if others != [n]:
        raise InputError(f"adjacency: expected a square matrix [n, n], found shape {A.shape}")
    if A.nnz == 0 or (A.data[0] > 0 and (A.data == A.data[0]).all()):
        inward = np.zeros(n, dtype=np.int64)
        count(A.indices, inward)
        return Parts(A.indptr, A.indices, None, factors(np.diff(A.indptr)), factors(inward))
    data = np.asarray(A.data, dtype=np.float32)
    out, into = (np.zeros(n, dtype=np.float64) for _ in range(2))  # degrees
    add_rows(A.indptr, data, out)
    add_at(A.indices, data, into)
    return Parts(A.indptr, A.indices, data, factors(out), factors(into))


def factors(degrees: NDArray[Any]) -> NDArray[np.float32]:
    """Return d^-1/2, and 0 where there is nothing to divide by. [n]"""
    positive = degrees > 0
    return np.where(positive, np.where(positive, degrees, 1.0) ** -0.5, 0).astype(np.float32)


def columns(width: int, most: int = WIDEST) -> tuple[int, list[slice]]:
    """Return c, a multiple of 8 of at most `most`, and the columns of each block.

    >>> columns(300)
    (104, [slice(0, 100, None), slice(100, 200, None), slice(200, 300, None)])
    """
    blocks = -(-width // most)
    each = -(-width // max(blocks, 1))
    slices = [slice(i * each, min((i + 1) * each, width)) for i in range(blocks)]
    return max(LANES, -(-each // LANES) * LANES), slices


def stretches(indptr: NDArray[Any], c: int, room: int) -> Iterator[slice]:
    """Cut rows into stretches whose sums [m, c] take at most `room` bytes.

    A stretch of more than one row has at most `EDGES` edges.
    """
    at, n, most = 0, len(indptr) - 1, max(1, room // (4 * c))
    while at < n:
        fits = int(np.searchsorted(indptr, int(indptr[at]) + EDGES, side="right")) - 1
        end = min(max(fits, at + 1), at + most, n)
        yield slice(at, end)
        at = end


def scale(before: NDArray[Any], right: NDArray[np.float32], Z: NDArray[np.float32]) -> None:
    """Write the rows of a hop [m, w], times their factors [m], to Z [m, c]."""
    np.multiply(before, right[:, None], out=Z[:, : before.shape[1]], dtype=np.float32)


def sums(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[np.float32] | None,
    Z: NDArray[np.float32],
    left: NDArray[Any],
) -> NDArray[Any]:
    """Return left_r times the sum over the edges of r of w Z_j, for m rows, in a room. [m, c]

    In the precision of `left`: float64 where the order of additions must not show.
    """
    c = Z.shape[1]
    out = rooms.get("sums", (len(left), c), left.dtype)
    gather(indptr, indices, weights, Z.reshape(-1), (0,) * (c // LANES), left, out.reshape(-1))
    return out


def store(total: NDArray[np.float32], place: NDArray[Any]) -> None:
    """Copy the columns that belong to `place` [m, w] there, in its own precision."""
    try:
        with np.errstate(over="raise"):
            place[...] = total[:, : place.shape[1]]
    except FloatingPointError:
        raise InputError(
            f"out: {place.dtype} holds numbers up to {np.finfo(place.dtype).max:g}, found one of "
            f"{np.abs(total).max():g}; scale X down or store float32"
        ) from None


def every(pool: ThreadPoolExecutor, work: Callable[[Any], None], parts: Sequence[Any]) -> None:
    """Do `work` on every part; the first error ends it."""
    deque(pool.map(work, parts), maxlen=0)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _places(out: Any, hops: int, shape: tuple[int, int]) -> Sequence[NDArray[Any]]:
    """Return where hops 1..K are written."""
    if out is None:
        return [np.empty(shape, dtype=np.float32) for _ in range(hops)]
    found = [np.shape(place) for place in out]
    if found != [tuple(shape)] * hops:
        raise InputError(f"out: expected {hops} arrays of shape {shape}, found {found}")
    return list(out)
