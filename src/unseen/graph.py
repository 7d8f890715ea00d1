"""`Graph`: who is tied to whom, and what is known about each node. Checked once, then frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from unseen.errors import InputError, shortlist
from unseen.read.ties import Ties, adjacency, check_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MAX_NAMED = 3  # offenders named in one message


@dataclass(frozen=True)
class Repairs:
    """What was put right while the graph was built: counted, so that a report can tell."""

    duplicate_edges: int = 0
    self_loops: int = 0
    isolated_nodes: int = 0


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with a text and/or a feature vector for each node.

    Args:
        adjacency: square, sparse or dense, [n, n]; entry (i, j) is the strength of the tie i -> j.
        features: one row for each node, dense or sparse, [n, d].
        texts: one non-empty text for each node.
        ids: unique names of the nodes; their positions when left out.
        vocabulary: the word that each feature column counts; makes `features` a bag of words.
        directed: keep ties one-way, so that a hop looks from source to target only. Otherwise a tie
            counts in both directions, with the larger weight where the two directions differ.

    >>> Graph([[0, 1], [0, 0]], texts=["a cat", "a dog"])
    Graph(2 nodes, 1 edges, texts)
    """

    adjacency: Any
    features: Any = None
    texts: Sequence[str] | None = None
    ids: Sequence[str] | None = None
    vocabulary: Sequence[str] | None = None
    directed: bool = False
    repairs: Repairs = field(default_factory=Repairs)

    def __post_init__(self) -> None:
        A, repairs = _checked_adjacency(self.adjacency, self.directed, self.repairs)
        n = A.shape[0]
        ids = tuple(map(str, range(n))) if self.ids is None else tuple(map(str, self.ids))
        _check_length("ids", len(ids), n)
        _check_unique_ids(ids)
        texts = None if self.texts is None else tuple(self.texts)
        if texts is not None:
            _check_length("texts", len(texts), n)
            _check_texts(texts, ids)
        features = None if self.features is None else _checked_features(self.features, n, ids)
        vocabulary = None if self.vocabulary is None else tuple(map(str, self.vocabulary))
        if vocabulary is not None and (features is None or len(vocabulary) != features.shape[1]):
            found = "no features" if features is None else f"{features.shape[1]} feature columns"
            raise InputError(
                f"vocabulary: has {len(vocabulary)} words but the graph has {found}; "
                "give one word for each feature column"
            )
        if texts is None and features is None:
            raise InputError(
                "graph: nodes have neither texts nor features, so nothing can be said about them; "
                "give `texts` or `features` (a `text` column or numeric columns in the nodes file)"
            )
        for name, value in (
            ("adjacency", A),
            ("repairs", repairs),
            ("ids", ids),
            ("texts", texts),
            ("features", features),
            ("vocabulary", vocabulary),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        nodes: int,
        directed: bool = False,
        **content: Any,
    ) -> Self:
        """Build a graph from two columns of node positions and, perhaps, a column of weights.

        A tie that is listed more than once (in an undirected graph: in either order) is kept once,
        with its largest weight.
        """
        rows, columns = _positions(source), _positions(target)
        values = None if weight is None else np.asarray(weight, dtype=np.float32)
        if len(rows) != len(columns) or (values is not None and len(values) != len(rows)):
            more = "" if values is None else f" and {len(values):,} weights"
            raise InputError(
                f"edges: found {len(rows):,} sources, {len(columns):,} targets{more}; "
                "expected one of each for every edge"
            )
        _check_inside(rows, columns, nodes)
        A, repeats, loops = adjacency(Ties(rows, columns, values), nodes, directed)
        repairs = Repairs(duplicate_edges=repeats, self_loops=loops)
        return cls(_Sound(A), directed=directed, repairs=repairs, **content)

    @property
    def nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.adjacency.shape[0])

    @property
    def edges(self) -> int:
        """Number of distinct ties, self-loops left out."""
        return int(self.adjacency.nnz if self.directed else self.adjacency.nnz // 2)

    def positions(self) -> dict[str, int]:
        """Return the row of each id."""
        return {name: i for i, name in enumerate(self.ids or ())}

    def to_pyg(self) -> Any:
        """Return the graph as a `torch_geometric.data.Data`."""
        from unseen.read.objects import to_pyg

        return to_pyg(self)

    def __repr__(self) -> str:
        content = [name for name in ("texts", "features") if getattr(self, name) is not None]
        return f"Graph({self.nodes:,} nodes, {self.edges:,} edges, {' and '.join(content)})"


@dataclass(frozen=True)
class _Sound:
    """An adjacency that is already as `_checked_adjacency` would make it."""

    adjacency: Any


def _checked_adjacency(given: Any, directed: bool, repairs: Repairs) -> tuple[Any, Repairs]:
    """Return A as float32 CSR, no diagonal, symmetric unless directed, and what was mended."""
    sound = isinstance(given, _Sound)
    A = given.adjacency if sound else sp.csr_array(given, dtype=np.float32, copy=True)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise InputError(f"adjacency: expected a square matrix [n, n], found shape {A.shape}")
    if A.shape[0] == 0:
        raise InputError("graph: there are no nodes; give at least two")
    loops = 0
    if not sound:
        A, loops = _mended(A, directed)
    linked = np.diff(A.indptr) > 0
    if directed:  # else whoever is pointed at points back
        linked[A.indices] = True
    return A, Repairs(repairs.duplicate_edges, repairs.self_loops + loops, int((~linked).sum()))


def _mended(A: Any, directed: bool) -> tuple[Any, int]:
    """Return A as it has to be, and how many loops it had."""
    A.sum_duplicates()
    check_weights(A)
    loops = int(np.count_nonzero(A.diagonal()))
    if loops:
        A = sp.csr_array(A - sp.diags_array(A.diagonal(), format="csr"))
    if not directed:
        A = sp.csr_array(A.maximum(A.T))
    A.eliminate_zeros()
    A.sort_indices()
    return A, loops


def _positions(given: ArrayLike) -> NDArray[Any]:
    """Return positions as they are if they are int32, which halves the memory, else as int64."""
    found = np.asarray(given)
    return found if found.dtype == np.int32 else found.astype(np.int64, copy=False)


def _check_inside(rows: NDArray[Any], columns: NDArray[Any], nodes: int) -> None:
    if not len(rows) or (
        min(rows.min(), columns.min()) >= 0 and max(rows.max(), columns.max()) < nodes
    ):
        return
    outside = (np.minimum(rows, columns) < 0) | (np.maximum(rows, columns) >= nodes)
    at = int(np.flatnonzero(outside)[0])
    raise InputError(
        f"edges: edge {at + 1} joins positions {rows[at]} and {columns[at]}, but there are "
        f"{nodes:,} nodes; positions count from 0"
    )


def _check_length(what: str, found: int, expected: int) -> None:
    if found != expected:
        raise InputError(f"{what}: expected {expected:,} (one for each node), found {found:,}")


def _check_unique_ids(ids: tuple[str, ...]) -> None:
    if len(set(ids)) < len(ids):
        twice = [name for name, count in Counter(ids).items() if count > 1]
        raise InputError(
            f"ids: {len(twice):,} occur more than once ({shortlist(twice, MAX_NAMED)}); "
            "every node needs an id of its own"
        )


def _check_texts(texts: tuple[str, ...], ids: tuple[str, ...]) -> None:
    with suppress(TypeError):  # something that is no text
        if all(map(str.strip, texts)):
            return
    empty = [
        ids[i] for i, text in enumerate(texts) if not isinstance(text, str) or not text.strip()
    ]
    if empty:
        raise InputError(
            f"texts: {len(empty):,} of {len(ids):,} nodes have an empty or missing text "
            f"({shortlist(empty, MAX_NAMED)}); give each a text, if only its name, or drop the node"
        )


def _checked_features(given: Any, n: int, ids: tuple[str, ...]) -> Any:
    sparse = sp.issparse(given)
    X: Any
    try:
        X = sp.csr_array(given, dtype=np.float32) if sparse else np.asarray(given, np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"features: expected numbers only ({error})") from error
    if X.ndim != 2 or X.shape[1] == 0:
        raise InputError(f"features: expected one row of numbers a node, found shape {X.shape}")
    _check_length("features", X.shape[0], n)
    sums = X.sum(axis=1, dtype=np.float64)  # not finite where an entry is not
    if not np.isfinite(sums).all():
        row = int(np.flatnonzero(~np.isfinite(sums))[0])
        raise InputError(
            f"features: node {ids[row]!r} (row {row + 1}) has a value that is NaN or infinite; "
            "replace such values with numbers before you go on"
        )
    return X
