"""From a list of edges, or a matrix, to the adjacency of a graph: CSR, no loops, every edge once.

The edge (i, j) is the integer 2^32 i + j. In a sorted list of these, equal edges are neighbours,
the rows of a CSR matrix follow each other, and the lower half of each integer is its column. An
undirected edge is sorted once, with i < j, and the transpose brings its other direction.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.arrays import check_numbers
from unseen.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LIGHTEST, HEAVIEST = 1e-18, 1e18  # weights, so that their sums and squares are numbers of 32 bits
BOUNDS = "a weight is a number from 1e-18 to 1e18; divide all weights by one number to get there"


def from_edges(
    source: ArrayLike, target: ArrayLike, weight: ArrayLike | None, nodes: int, directed: bool
) -> tuple[Any, int, int]:
    """Return A as float32 CSR, and how many repeated edges and loops were left out.

    An edge that is listed more than once keeps its largest weight. Unless edges are directed,
    (j, i) is the same edge as (i, j), and A is symmetric.
    """
    nodes = _count(nodes)
    i, j = _positions(source, "sources"), _positions(target, "targets")
    values = None if weight is None else _narrow(weight)
    _check_edges(i, j, values, nodes)
    keys = (i if directed else np.minimum(i, j)).astype(np.int64)
    keys <<= 32
    keys |= j if directed else np.maximum(i, j)
    apart = i != j
    loops = len(apart) - int(np.count_nonzero(apart))
    if loops:
        keys, values = keys[apart], None if values is None else values[apart]
    if values is None:
        keys.sort()
    else:
        order = np.argsort(keys)
        keys, values = keys[order], values[order]
    new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    repeats = len(keys) - int(np.count_nonzero(new))
    if repeats:
        if values is not None:
            values = np.maximum.reduceat(values, np.flatnonzero(new))
        keys = keys[new]
    entries = np.ones(len(keys), bool) if values is None else values  # a byte each until the end
    begin = np.searchsorted(keys, np.arange(nodes + 1, dtype=np.int64) << 32)
    size = np.int32 if len(keys) < 2**30 else np.int64  # A may have twice as many entries
    columns = keys.astype(np.int32).astype(size, copy=False)  # the lower half of each
    del keys, new, apart
    A = sp.csr_array((entries, columns, begin.astype(size)), shape=(nodes, nodes))
    A.has_canonical_format = True
    if not directed:
        A = A + _transposed(A)
    if weight is None:
        A.data = np.ones(A.nnz, np.float32)
    else:
        A.eliminate_zeros()
    return A, repeats, loops


def from_matrix(given: Any, directed: bool) -> tuple[Any, int]:
    """Return a matrix [n, n] as the adjacency of a graph, and how many loops it had."""
    matrix: Any = given if sp.issparse(given) else _array(given, "adjacency")
    check_numbers("adjacency", matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"adjacency: expected a square matrix [n, n], found shape {matrix.shape}")
    with np.errstate(over="ignore"):  # too large for 32 bits: infinite, which is refused
        A = sp.csr_array(matrix, dtype=np.float32, copy=True)
    _check_vanished(matrix.data if sp.issparse(matrix) else matrix, A.data)
    A.sum_duplicates()
    if not _sound(A.data).all():
        entries = A.tocoo()
        _check_weights(entries.row, entries.col, entries.data)
    loops = int(np.count_nonzero(A.diagonal()))
    if loops:
        A = sp.csr_array(A - sp.diags_array(A.diagonal(), format="csr"))
    if not directed:
        A = sp.csr_array(A.maximum(A.T))
    A.eliminate_zeros()
    A.sort_indices()
    return A, loops


def _narrow(weight: ArrayLike) -> NDArray[np.float32]:
    given = _array(weight, "weights")
    check_numbers("weights", given)
    _check_list(given, "weights")
    with np.errstate(over="ignore"):  # too large for 32 bits: infinite, which is refused
        narrow: NDArray[np.float32] = given.astype(np.float32)
    _check_vanished(given, narrow)
    return narrow


def _array(given: Any, what: str) -> NDArray[Any]:
    """Return what was given as an array; lists of lists of several lengths are none."""
    if np.ma.isMaskedArray(given):
        raise InputError(f"{what}: is a masked array, whose gaps nothing here knows; fill them in")
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(f"{what}: expected an array of numbers ({error}); convert it") from error


def _check_list(given: NDArray[Any], what: str) -> None:
    if given.ndim != 1:
        raise InputError(f"{what}: found shape {given.shape}; expected a list, one for each edge")


def _check_vanished(given: NDArray[Any], narrow: NDArray[np.float32]) -> None:
    """Refuse weights so small that they are zero in 32 bits, and their edges gone."""
    if given.dtype == np.float64 and np.count_nonzero(given) > np.count_nonzero(narrow):
        raise InputError(f"weights: some are too small to be told from zero; {BOUNDS}")


def _count(nodes: Any) -> int:
    """Return the number of nodes, a whole number that the columns of a matrix can count to."""
    try:
        found = index(nodes)
    except TypeError:
        raise InputError(f"nodes: found {nodes!r}; expected how many there are") from None
    if not 0 <= found < 2**31:
        raise InputError(f"nodes: found {found:,}; expected a number from 0 to {2**31 - 1:,}")
    return found


def isolated(A: Any, directed: bool) -> int:
    """Return how many nodes have no edge."""
    linked = np.diff(A.indptr) > 0
    if directed:  # else whoever is pointed at points back
        linked[A.indices] = True
    return int((~linked).sum())


def _transposed(A: Any) -> Any:
    """Return A^T with sorted rows, which it has when A has."""
    T = A.T.tocsr()
    T.has_canonical_format = True
    return T


def _positions(given: ArrayLike, what: str) -> NDArray[Any]:
    """Return positions as they are if they are int32, which halves the memory, else as int64."""
    found = _array(given, what)
    _check_list(found, what)
    if found.dtype.kind not in "iu":
        real = found.dtype.kind == "f" and bool(np.isfinite(found).all())
        if not real or bool((found != np.floor(found)).any()) or bool((abs(found) >= 2**53).any()):
            raise InputError(
                f"{what}: found values of type {found.dtype}; expected positions of nodes, whole "
                "numbers from 0; for ids use `from_frames`"
            )
    if found.dtype == np.uint64 and bool((found >= 2**63).any()):
        raise InputError(f"{what}: found position {found.max()}; positions count from 0")
    return found if found.dtype == np.int32 else found.astype(np.int64, copy=False)


def _check_edges(
    i: NDArray[Any], j: NDArray[Any], values: NDArray[np.float32] | None, nodes: int
) -> None:
    if len(i) != len(j) or (values is not None and len(values) != len(i)):
        more = "" if values is None else f" and {len(values):,} weights"
        raise InputError(
            f"edges: found {len(i):,} sources, {len(j):,} targets{more}; "
            "expected one of each for every edge"
        )
    if len(i) and (min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= nodes):
        at = int(np.flatnonzero((np.minimum(i, j) < 0) | (np.maximum(i, j) >= nodes))[0])
        raise InputError(
            f"edges: edge {at + 1} joins positions {i[at]} and {j[at]}, but there are "
            f"{nodes:,} nodes; positions count from 0"
        )
    if values is not None:
        _check_weights(i, j, values)


def _check_weights(i: NDArray[Any], j: NDArray[Any], values: NDArray[np.float32]) -> None:
    wrong = np.flatnonzero(~_sound(values))
    if len(wrong):
        at = int(wrong[0])
        raise InputError(
            f"adjacency: the edge from node {i[at]} to node {j[at]} has weight {values[at]}; "
            f"expected a positive, finite number ({BOUNDS})"
        )


def _sound(weights: NDArray[np.float32]) -> NDArray[np.bool_]:
    sound: NDArray[np.bool_] = usable(weights) | (weights == 0)
    return sound


def usable(weights: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return which weights are positive numbers that can be reckoned with in 32 bits."""
    found: NDArray[np.bool_] = (weights >= LIGHTEST) & (weights <= HEAVIEST)
    return found
