"""`Space`: node vectors and class vectors, and whether the two can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from unseen.csd.acquire import acquire
from unseen.encode.base import Encoder, Progress, encode, get_encoder
from unseen.encode.words import encode_words
from unseen.errors import InputError
from unseen.vectors import unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unseen.classes import Classes
    from unseen.graph import Graph


@dataclass(frozen=True, eq=False)
class Space:
    """Where nodes and classes lie before anything is learned.

    Attributes:
        nodes: one row for each node, unit length. [n, d]
        csds: for each kind of class text (name, description, both) one row a class. [C, d_s]
        shared: both were made by one encoder, so that a cosine between them means something.
        encoder: how the user would ask for it: "static", "words", "features", ...
    """

    nodes: NDArray[np.float32]
    csds: Mapping[str, NDArray[np.float32]]
    shared: bool
    encoder: str
    identity: str


def embed(
    graph: Graph,
    classes: Classes,
    encoder: str = "auto",
    device: str = "cpu",
    progress: Progress | None = None,
) -> Space:
    """Encode nodes and classes.

    "auto" reads texts where there are any, else words where the columns have names, else the plain
    features, which share no space with the classes. "words" and "features" ask for the latter two.
    """
    kind = _kind(graph, encoder)
    reader = get_encoder("static" if kind in ("words", "features") else kind, device)
    nodes = _node_vectors(graph, kind, reader, progress)
    csds = acquire(classes, reader)
    return Space(unit(nodes), csds, kind != "features", kind, reader.identity)


def _kind(graph: Graph, asked: str) -> str:
    """Settle what the nodes are read from, and refuse what they do not have."""
    if asked == "auto":
        if graph.texts is not None:
            return "static"
        return "features" if graph.vocabulary is None else "words"
    lacking = {
        "words": None if graph.vocabulary is not None else "words for its feature columns",
        "features": None if graph.features is not None else "features",
    }.get(asked, None if graph.texts is not None else "texts")
    if lacking:
        raise InputError(
            f"encoder: {asked!r} reads what the graph does not have: {lacking}; "
            "add it to the nodes, or choose another encoder"
        )
    return asked


def _node_vectors(
    graph: Graph, kind: str, reader: Encoder, progress: Progress | None
) -> NDArray[np.float32]:
    if kind == "features":
        X = graph.features
        return np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float32)
    if kind == "words":
        return encode_words(graph.features, graph.vocabulary or (), reader, progress)
    return encode(reader, graph.texts or (), progress)
