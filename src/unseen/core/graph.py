"""`Graph`: who is linked to whom, and what is known about each node. Checked once, then frozen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from unseen.core.adjacency import HEAVIEST, LIGHTEST, from_edges, from_matrix, isolated
from unseen.core.arrays import check_numbers
from unseen.core.classes import missing, whole_text
from unseen.core.errors import InputError, MissingExtraError
from unseen.core.html import MOST_ROWS, html_table
from unseen.core.names import check_ordered, check_unique_ids, checked_ids, checked_words
from unseen.core.operator import Operator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Repairs:
    """What was put right or left out while the graph was built, so that a report can tell."""

    duplicate_edges: int = 0
    self_loops: int = 0
    isolated_nodes: int = 0
    nodes_without_text: int = 0
    unused_columns: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with a text and/or a feature vector for each node.

    Args:
        adjacency: square, sparse or dense, [n, n]; entry (i, j) is the weight of the edge i -> j.
        features: one row for each node, dense or sparse, [n, d].
        texts: one text for each node; a node may lack one ("" or None) if others have texts.
        ids: unique names of the nodes; their positions when left out.
        vocabulary: the word that each feature column counts; makes `features` a bag of words.
        directed: keep edges one-way, so that a hop looks from source to target only. Otherwise an
            edge counts in both directions, with the larger weight where the two differ.
        feature_names: what the feature columns are called, where they have names: a model that was
            fitted on some finds them again by these.

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
    feature_names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        A, loops = self.adjacency, 0
        if isinstance(A, _Sound):
            A = A.adjacency
        else:
            A, loops = from_matrix(A, self.directed)
        n = A.shape[0]
        if n == 0:
            raise InputError("graph: there are no nodes; give at least two")
        ids = tuple(map(str, range(n))) if self.ids is None else checked_ids(self.ids)
        _check_length("ids", len(ids), n)
        check_unique_ids(ids)
        features = None if self.features is None else _checked_features(self.features, n, ids)
        texts = None if self.texts is None else _checked_texts(self.texts, ids)
        vocabulary = (
            None if self.vocabulary is None else checked_words("vocabulary", self.vocabulary)
        )
        if vocabulary is not None and (features is None or len(vocabulary) != features.shape[1]):
            found = "no features" if features is None else f"{features.shape[1]} feature columns"
            raise InputError(
                f"vocabulary: has {len(vocabulary)} words but the graph has {found}; "
                "give one word for each feature column"
            )
        names = None
        if self.feature_names is not None:
            names = checked_words("feature_names", self.feature_names)
        if names is not None:
            _check_names(names, features)
        if texts is not None and not any(texts):
            texts = None
        if texts is None and features is None:
            none = "every text is empty and there are no features"
            none = "nodes have neither texts nor features" if self.texts is None else none
            raise InputError(
                f"graph: {none}, so nothing can be said about the nodes; "
                "give `texts` or `features` (a `text` column or numeric columns in the nodes file)"
            )
        repairs = replace(
            self.repairs,
            self_loops=self.repairs.self_loops + loops,
            isolated_nodes=isolated(A, self.directed),
            nodes_without_text=0 if texts is None else texts.count(""),
        )
        for name, value in (
            ("adjacency", A),
            ("repairs", repairs),
            ("ids", ids),
            ("texts", texts),
            ("features", features),
            ("vocabulary", vocabulary),
            ("feature_names", names),
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
        unused_columns: Iterable[str] = (),
        **content: Any,
    ) -> Self:
        """Build a graph from two columns of node positions and, perhaps, a column of weights.

        An edge that is listed more than once (in an undirected graph: in either order) is kept
        once, with its largest weight.
        """
        A, repeats, loops = from_edges(source, target, weight, nodes, directed)
        repairs = Repairs(repeats, loops, unused_columns=tuple(unused_columns))
        return cls(_Sound(A), directed=directed, repairs=repairs, **content)

    @property
    def nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.adjacency.shape[0])

    @property
    def edges(self) -> int:
        """Number of distinct edges, self-loops left out."""
        return int(self.adjacency.nnz if self.directed else self.adjacency.nnz // 2)

    @cached_property
    def operator(self) -> Operator:
        """The graph as linear maps on a block of columns, as models are given it."""
        return Operator(self.adjacency)

    def positions(self) -> dict[str, int]:
        """Return the row of each id."""
        return {name: i for i, name in enumerate(self.ids or ())}

    def to_pyg(self) -> Any:
        """Return a `torch_geometric.data.Data` with `x` (dense), `edge_index` and `edge_weight`.

        An undirected edge is there in both directions, as PyG has it. Texts and ids come along as
        lists, `text` and `node_ids`.
        """
        try:
            import torch
            from torch_geometric.data import Data
        except ImportError as error:
            raise MissingExtraError("to_pyg", "pyg") from error
        A = self.adjacency.tocoo()
        data = Data(
            edge_index=torch.from_numpy(np.stack([A.row, A.col]).astype(np.int64)),
            edge_weight=torch.from_numpy(A.data.copy()),
            num_nodes=self.nodes,
            node_ids=list(self.ids or ()),
        )
        if self.features is not None:
            X = self.features.toarray() if sp.issparse(self.features) else self.features.copy()
            data.x = torch.from_numpy(X)
        if self.texts is not None:
            data.text = list(self.texts)
        return data

    def __repr__(self) -> str:
        content = [name for name in ("texts", "features") if getattr(self, name) is not None]
        return f"Graph({self.nodes:,} nodes, {self.edges:,} edges, {' and '.join(content)})"

    def _repr_html_(self) -> str:
        ids, texts, degrees = self.ids or (), self.texts, np.diff(self.adjacency.indptr)
        columns = ["id", "neighbours", *([] if texts is None else ["text"])]
        rows = (
            (ids[i], degrees[i], *(() if texts is None else (texts[i],)))
            for i in islice(range(self.nodes), MOST_ROWS)
        )
        return html_table(repr(self), columns, rows, self.nodes)


@dataclass(frozen=True)
class _Sound:
    """An adjacency that is already as `from_matrix` would make it."""

    adjacency: Any


def _check_length(what: str, found: int, expected: int) -> None:
    if found != expected:
        raise InputError(f"{what}: expected {expected:,} (one for each node), found {found:,}")


def _check_names(names: tuple[str, ...], features: Any) -> None:
    if features is None or len(names) != features.shape[1] or len(set(names)) < len(names):
        found = "no features" if features is None else f"{features.shape[1]} feature columns"
        raise InputError(
            f"feature_names: {len(set(names))} different ones for {found}; give one for each column"
        )


def _checked_texts(given: Sequence[Any], ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts, "" for those that are missing or blank."""
    check_ordered("texts", given)
    texts = tuple(given)
    _check_length("texts", len(texts), len(ids))
    for i, text in enumerate(texts):
        if not isinstance(text, str) and not missing(text):
            raise InputError(
                f"texts: node {ids[i]!r} (row {i + 1}) has type {type(text).__name__}; "
                "expected text, or None where there is none; convert it"
            )
        if isinstance(text, str):
            whole_text(text, f"texts: node {ids[i]!r}")
    return tuple(text if isinstance(text, str) and text.strip() else "" for text in texts)


def _checked_features(given: Any, n: int, ids: tuple[str, ...]) -> Any:
    sparse = sp.issparse(given)
    if hasattr(given, "dtype"):
        check_numbers("features", given)
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
    values = X.data if sparse else X
    largest = max(values.max(initial=0), -values.min(initial=0))
    if largest and not LIGHTEST <= largest <= HEAVIEST:
        raise InputError(
            f"features: the largest value is {largest:.3g}; expected one from {LIGHTEST:g} to "
            f"{HEAVIEST:g}, whose square is a number of 32 bits; scale all features alike"
        )
    return X
