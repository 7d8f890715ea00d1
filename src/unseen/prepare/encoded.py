"""`Encoded`: nodes and classes as an encoder reads them, and whether the two can be compared."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.arrays import unit
from unseen.core.errors import InputError
from unseen.encode.base import Encoder, Progress, as_encoder, encode
from unseen.encode.class_relations import class_relations
from unseen.encode.class_texts import class_texts, class_vectors
from unseen.encode.words import encode_words, word_weights
from unseen.engines.base import engine_of
from unseen.prepare.words import bag_of_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.core.graph import Graph

DEFAULT = "static"
KINDS = {"words": "words for its feature columns", "counts": "features", "features": "features"}
APART = ("counts", "features")  # kinds that share no space with class texts
VECTORS = "vectors"  # of nodes and classes, in hand


@dataclass(frozen=True, eq=False)
class Words:
    """The words of nodes and of class texts.

    Attributes:
        nodes, classes: how often each of them has each word (`words.bag_of_words`): rows
            [n, BUCKETS], and an array [C, BUCKETS].
        texts: of nodes, one each; None where words are the names of feature columns.
        columns: these names.
        class_texts: what `classes` counts.
    """

    nodes: Any
    classes: Any
    texts: Any = None
    columns: Sequence[str] = ()
    class_texts: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Encoded:
    """Where nodes and classes lie before anything is learned.

    Attributes:
        nodes: one row for each node, unit length; zero where nothing is known of it. [n, d]
        csds: for each kind of class text (name, description, both) one row a class. [C, d_s]
        shared: both lie in one space, so that a cosine between them means something.
        encoder: how the user would ask for it: "static", "words", "words:minilm", ...
        identity: of the encoder's weights; "" where it is not known.
        words: of nodes and of class texts, where there are any.
        engine: whose rows `nodes` and the words of nodes are; None: arrays.
        reader: the encoder that read the texts of nodes, where it did.
        relations: how alike class texts are, where nodes share no space with them. [R, C, C]
    """

    nodes: Any
    csds: Mapping[str, NDArray[np.float32]]
    shared: bool
    encoder: str
    identity: str
    words: Words | None = None
    engine: Any = None
    reader: Any = None
    relations: NDArray[np.float32] | None = None

    @property
    def apart(self) -> bool:
        """Whether nodes are features, of which zeros may mean something."""
        return self.encoder.partition(":")[0] in APART

    @property
    def mark(self) -> str:
        """Short for the encoder, in names of what is kept."""
        return _mark(self.encoder, self.identity)

    @property
    def own(self) -> str:
        """What a node's own evidence is called in a sentence."""
        kind = self.encoder.partition(":")[0]
        return "features" if kind in (*APART, VECTORS) else kind if kind in KINDS else "text"


def encode_inputs(
    graph: Graph,
    classes: Classes,
    encoder: Any = "auto",
    device: str = "cpu",
    progress: Progress | None = None,
) -> Encoded:
    """Encode nodes and classes, and count their words.

    "auto" reads texts where there are any, else words where the columns have names, else features:
    as counts, weighed as words are, where none is negative, and as they are otherwise. These share
    no space with the classes. "words", "counts" and "features" ask for one of the three.
    Any other name, or an object, is what texts are read by: those of nodes, of columns and of
    classes, whichever there are; "words:minilm" and "counts:minilm+static" say both. Classes that
    bring their own vectors are not encoded; nodes then are their features, unless an encoder is
    asked for.
    """
    if classes.vectors is not None:
        return _with_vectors(graph, classes, encoder, device, progress)
    kind, reading = _kind(graph, encoder)
    reader = as_encoder(reading, device)
    nodes = _node_vectors(graph, kind, reader, progress, _by_name(reading, device))
    name = (
        reader.name if kind == "texts" else kind if reading == DEFAULT else f"{kind}:{reader.name}"
    )
    words = None if kind in APART else _words(graph, classes, kind, progress)
    csds = class_vectors(classes, reader)
    own = getattr(graph, "engine", None)
    read = reader if kind == "texts" else None
    relations = class_relations(classes, reader) if kind in APART else None
    shared = kind not in APART
    return Encoded(nodes, csds, shared, name, reader.identity, words, own, read, relations)


def _with_vectors(
    graph: Graph, classes: Classes, encoder: Any, device: str, progress: Progress | None
) -> Encoded:
    S = unit(np.asarray(classes.vectors, dtype=np.float32))
    name, identity = VECTORS, ""
    if not isinstance(encoder, str) or encoder not in ("auto", VECTORS, *KINDS):
        reader = as_encoder(encoder, device)
        named = _by_name(encoder, device)
        nodes = _node_vectors(graph, "texts", reader, progress, named)
        name, identity = reader.name, ""
        if nodes.shape[1] != S.shape[1]:
            raise InputError(
                f"classes: have vectors of {S.shape[1]} dimensions, but {reader.name} makes "
                f"{nodes.shape[1]}; give class texts, or name the encoder that made the vectors"
            )
    elif graph.features is None:
        raise InputError(
            "classes: come with vectors, but nodes have no features to compare them with; give "
            "features in the same space, or the encoder that made the class vectors"
        )
    else:
        nodes = unit(_dense(graph.features))
    own = getattr(graph, "engine", None)
    same = nodes.shape[1] == S.shape[1]
    return Encoded(nodes, {VECTORS: S}, same, name, identity, None, own)


def _kind(graph: Graph, asked: Any) -> tuple[str, Any]:
    """Settle what the nodes are read from and by which encoder; refuse what they do not have."""
    named = isinstance(asked, str)
    if named and (asked in KINDS or asked.startswith(tuple(f"{kind}:" for kind in KINDS))):
        kind, _, reading = asked.partition(":")
        if (graph.features if kind in APART else graph.vocabulary) is None:
            raise InputError(
                f"encoder: {asked!r} reads what the graph does not have: {KINDS[kind]}; "
                "add it to the nodes, or choose another encoder"
            )
        return kind, reading or DEFAULT
    reading = DEFAULT if named and asked == "auto" else asked
    if graph.texts is not None:
        return "texts", reading
    if graph.vocabulary is not None:
        return "words", reading
    if graph.features is None:
        raise InputError("graph: nodes have neither texts nor features; give one of them")
    X = graph.features
    kind = "counts" if (X.data if sp.issparse(X) else X).min(initial=0) >= 0 else "features"
    return kind, reading


def _words(graph: Graph, classes: Classes, kind: str, progress: Progress | None) -> Words:
    described = class_texts(classes, "description")
    of_classes = bag_of_words(described)
    if kind == "words":
        names = graph.vocabulary or ()
        bags = sp.csr_array(sp.csr_array(graph.features) @ bag_of_words(names))
        return Words(bags, of_classes, None, names, described)
    engine = engine_of(graph)
    shown = None if engine.keeps else progress
    bags = engine.view(lambda texts: bag_of_words(texts, shown), graph.texts)
    return Words(bags, of_classes, graph.texts, (), described)


def _node_vectors(
    graph: Graph,
    kind: str,
    reader: Encoder,
    progress: Progress | None,
    by_name: tuple[str, str] | None,
) -> Any:
    """Return rows of unit length, zero where nothing is known. [n, d]"""
    if kind in APART:
        return unit(_dense(word_weights(graph.features) if kind == "counts" else graph.features))
    if kind == "words":
        return unit(encode_words(graph.features, graph.vocabulary or (), reader, progress))
    if graph.texts is None:
        raise InputError(
            "graph: nodes have no texts for the encoder to read; give texts, or leave the encoder "
            "out to use features"
        )
    engine = engine_of(graph)
    shown = None if engine.keeps else progress  # which tells of each block
    read = Reading(reader, by_name, cache=not engine.keeps, progress=shown)
    return engine.map(read, graph.texts, keep=f"{VECTORS}-{_mark(reader.name, reader.identity)}")


class Reading:
    """Texts to vectors, as a function that can be sent to another machine and built there.

    Args:
        reader: the encoder.
        by_name: its name and device, where it has a name: what is sent instead of its weights.
        cache: look up and keep vectors on disk.
        progress: as in `encode`.

    Attributes:
        actors: the device; tells an engine that this is costly to build, hence wants one an actor.
    """

    def __init__(
        self,
        reader: Encoder | None,
        by_name: tuple[str, str] | None,
        cache: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.reader, self.by_name, self.cache, self.progress = reader, by_name, cache, progress
        self.actors = "cpu" if by_name is None else by_name[1]

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return rows of unit length, zero where a text is blank. [b, d]"""
        if self.reader is None:
            self.reader = as_encoder(*(self.by_name or ()))
        X = encode(self.reader, texts, self.progress, cache=self.cache)
        X[[not text.strip() for text in texts]] = 0.0  # their neighbours answer for them
        return unit(X)

    def __reduce__(self) -> tuple[Any, ...]:
        return Reading, (self.reader if self.by_name is None else None, self.by_name)


def blank(nodes: NDArray[np.float32], apart: bool) -> NDArray[np.bool_]:
    """Tell of which of these rows nothing is known. [b]"""
    return np.zeros(len(nodes), dtype=bool) if apart else np.asarray(~nodes.any(axis=1))


def _by_name(encoder: Any, device: str) -> tuple[str, str] | None:
    return (encoder, device) if isinstance(encoder, str) else None


def _mark(name: str, identity: str) -> str:
    return f"{zlib.crc32(f'{name} {identity}'.encode()):08x}"


def _dense(X: Any) -> NDArray[np.float32]:
    return np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float32)
