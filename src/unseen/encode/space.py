"""`Space`: node vectors and class vectors, and whether the two can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.csd.acquire import acquire, class_texts
from unseen.encode.base import Encoder, Progress, encode, get_encoder
from unseen.encode.terms import bag
from unseen.encode.words import encode_words, word_weights
from unseen.errors import InputError
from unseen.vectors import unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unseen.classes import Classes
    from unseen.graph import Graph

DEFAULT = "static"
KINDS = {"words": "words for its feature columns", "counts": "features", "features": "features"}
APART = ("counts", "features")  # kinds that share no space with class texts


@dataclass(frozen=True, eq=False)
class Space:
    """Where nodes and classes lie before anything is learned.

    Attributes:
        nodes: one row for each node, unit length. [n, d]
        csds: for each kind of class text (name, description, both) one row a class. [C, d_s]
        shared: both were made by one encoder, so that a cosine between them means something.
        encoder: how the user would ask for it: "static", "words", "words:minilm", ...
        bags: words of nodes and of class texts (`terms.bag`), if they were counted.
    """

    nodes: NDArray[np.float32]
    csds: Mapping[str, NDArray[np.float32]]
    shared: bool
    encoder: str
    identity: str
    bags: tuple[Any, Any] | None = None


def embed(
    graph: Graph,
    classes: Classes,
    encoder: str = "auto",
    device: str = "cpu",
    progress: Progress | None = None,
    *,
    count_words: bool = False,
) -> Space:
    """Encode nodes and classes; count their words if asked to.

    "auto" reads texts where there are any, else words where the columns have names, else features:
    as counts, weighed as words are, where none is negative, and as they are otherwise. These share
    no space with the classes. "words", "counts" and "features" ask for one of the three.
    Any other name is what texts are read by: those of nodes, of columns and of classes, whichever
    there are; "words:minilm" and "counts:minilm+static" say both.
    """
    kind, reading = _kind(graph, encoder)
    reader = get_encoder(reading, device)
    nodes = _node_vectors(graph, kind, reader, progress)
    csds = acquire(classes, reader)
    name = reading if kind == "texts" else kind if reading == DEFAULT else f"{kind}:{reading}"
    bags = _bags(graph, classes, kind, progress) if count_words and kind not in APART else None
    return Space(unit(nodes), csds, kind not in APART, name, reader.identity, bags)


def _kind(graph: Graph, asked: str) -> tuple[str, str]:
    """Settle what the nodes are read from and by which encoder; refuse what they do not have."""
    if asked in KINDS or asked.startswith(tuple(f"{kind}:" for kind in KINDS)):
        kind, _, reading = asked.partition(":")
        if (graph.features if kind in APART else graph.vocabulary) is None:
            raise InputError(
                f"encoder: {asked!r} reads what the graph does not have: {KINDS[kind]}; "
                "add it to the nodes, or choose another encoder"
            )
        return kind, reading or DEFAULT
    reading = DEFAULT if asked == "auto" else asked
    if graph.texts is not None:
        return "texts", reading
    if graph.vocabulary is not None:
        return "words", reading
    X = graph.features
    kind = "counts" if (X.data if sp.issparse(X) else X).min(initial=0) >= 0 else "features"
    # Only relations between classes count here, and two readers see more of them than one.
    return kind, reading if DEFAULT in reading.split("+") else f"{reading}+{DEFAULT}"


def _bags(graph: Graph, classes: Classes, kind: str, progress: Progress | None) -> tuple[Any, Any]:
    words = bag(class_texts(classes, "description"))
    if kind == "words":
        return sp.csr_array(sp.csr_array(graph.features) @ bag(graph.vocabulary or ())), words
    return bag(graph.texts or (), progress), words


def _node_vectors(
    graph: Graph, kind: str, reader: Encoder, progress: Progress | None
) -> NDArray[np.float32]:
    if kind in APART:
        X = word_weights(graph.features) if kind == "counts" else graph.features
        return np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float32)
    if kind == "words":
        return encode_words(graph.features, graph.vocabulary or (), reader, progress)
    return encode(reader, graph.texts or (), progress)
