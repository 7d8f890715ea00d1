r"""`Preparer`: from a graph and its classes to the vectors that models compare. Fitted once.

With the encoder's vectors x of nodes and s of classes, of unit length,

.. math::
    \hat x_i &= \mathrm{unit}(x_i - \bar x) && [n, d] \\
    \hat s_c &= \mathrm{unit}(s_c - \bar s) && [C, d_s]

and beside both, where there are words, how near each of them is to the words of the class texts
(`word_match.py`) and, where there are enough, what latent semantic analysis of the graph's own
texts says (`lsa.py`), scaled to unit length again. Class texts share one dominating direction,
which says nothing: centring is the single most useful step. In a graph of a few nodes,
:math:`\bar x` leans on the mean of the class texts. A node without words stays at zero: nothing is
known of it.

Centring takes it that nodes are of several classes: where all are of one, it takes away what tells
them from the other classes, and they are spread over those. Fit on a mixed graph, and let `explain`
read them by its centre.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.arrays import unit
from unseen.core.errors import InputError, SavedFileError
from unseen.core.task import Task
from unseen.engines.base import engine_of
from unseen.engines.memory import MEMORY
from unseen.prepare.encoded import Encoded, Words, blank, encode_inputs
from unseen.prepare.lsa import LSA
from unseen.prepare.word_match import WordMatch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.core.graph import Graph
    from unseen.core.labels import Labels
    from unseen.encode.base import Progress
    from unseen.engines.base import Engine
    from unseen.prepare.words import WordReader

READ = 50_000  # nodes whose words are learned from, at most
FEW_NODES = 5  # that the class texts weigh as much as, when nodes are centred


class Preparer:
    """Encode, centre, read the words of the graph.

    Args:
        encoder: a name that `unseen.get_encoder` knows, "auto", what nodes are read from ("words",
            "counts", "features", "counts:minilm"), or an object with `encode(list of texts)`.
        device: "cpu", "cuda" or "auto", for encoders that run a network.

    Attributes:
        encoder_, identity_: what made the vectors: a name, and what changes with its weights.
        shared_: whether nodes and classes lie in one space.
        class_text_: which text stands for a class: "name", "description" or "both".
        node_centre_: mean of the node vectors. [d]
        class_centres_: mean of the class vectors, by kind of class text. Each [d_s]
        lsa_: word statistics of the graph; None where there are too few words, or none.
        match_: how near single words are to the classes; None where there are none.
    """

    def __init__(self, encoder: Any = "auto", device: str = "cpu") -> None:
        self.encoder = encoder
        self.device = device

    def encode(self, graph: Graph, classes: Classes, progress: Progress | None = None) -> Encoded:
        """Read nodes and classes with the encoder, once fitted with the one that was used then."""
        fitted = hasattr(self, "encoder_")
        asked = self.encoder_ if fitted and isinstance(self.encoder, str) else self.encoder
        found = encode_inputs(graph, classes, asked, self.device, progress)
        if fitted:
            self._check(found)
        return found

    def fit(self, encoded: Encoded) -> Self:
        """Find the centres and the word statistics; class texts are taken as preferred."""
        engine = engine_of(encoded)
        apart = encoded.apart
        total, count = engine.reduce(lambda X: _sum(X[~blank(X, apart)]), encoded.nodes)
        self.fit_centres(total, int(count), encoded)
        if encoded.words is not None:
            self._read_words(encoded.words, encoded.nodes.shape[0], engine)
        return self

    def _read_words(self, words: Words, n: int, engine: Engine) -> None:
        """Fit what reads single words, on some of the nodes where there are many."""
        nodes, bags, columns = np.arange(n), words.nodes, words.columns
        if n > READ:
            nodes = np.sort(np.random.default_rng(0).permutation(n)[:READ])
        if n > READ or engine is not MEMORY:
            bags = engine.take(bags, nodes)
        if words.texts is not None:
            columns = engine.take(words.texts, nodes)
        self.lsa_ = LSA.fit(bags, words.classes)
        self.match_ = WordMatch.fit(bags, words.classes, columns, words.class_texts)

    def fit_centres(self, total: NDArray[np.floating], count: int, encoded: Encoded) -> Self:
        """Find the centres from the sum [d] of the `count` node vectors that are not zero.

        The sum may have been reduced over blocks: no row of `encoded.nodes` is looked at.
        """
        self.encoder_, self.identity_ = encoded.encoder, encoded.identity
        self.shared_, self.class_text_ = encoded.shared, next(iter(encoded.csds), "")
        if encoded.shared:
            total = total + FEW_NODES * encoded.csds[self.class_text_].mean(axis=0)
            count += FEW_NODES
        self.node_centre_ = np.asarray(total / max(count, 1), dtype=np.float32)
        self.class_centres_ = {kind: S.mean(axis=0) for kind, S in encoded.csds.items()}
        self.lsa_, self.match_ = None, None
        return self

    def centred(self, encoded: Encoded) -> Any:
        """Return the encoder's node vectors, centred, without word statistics: rows. [n, d]"""
        centre, apart = self.node_centre_, encoded.apart
        return engine_of(encoded).view(lambda X: _centred(X, centre, apart), encoded.nodes)

    def class_vectors(self, encoded: Encoded, kind: str | None = None) -> NDArray[np.float32]:
        """Return the encoder's class vectors of a kind, centred. [C, d_s]"""
        kind = kind or self.class_text_
        S = encoded.csds[kind if kind in encoded.csds else "name"]
        return unit(S - self.class_centres_[kind])

    def transform(self, encoded: Encoded) -> tuple[Any, NDArray[np.float32]]:
        """Return node vectors [n, d'], as rows, and class vectors [C, d_s'] as models take them."""
        S = self.class_vectors(encoded)
        if not self.word_readers:
            return self.centred(encoded), S
        if encoded.words is None:
            raise InputError(
                "nodes: have features only, but the model was made from words; give texts, or a "
                "vocabulary for the columns"
            )
        centre, apart = self.node_centre_, encoded.apart
        X = engine_of(encoded).map(
            lambda nodes, bags: self.beside_nodes(_centred(nodes, centre, apart), bags),
            encoded.nodes,
            encoded.words.nodes,
            keep=f"prepared-{encoded.mark}",
        )
        return X, self.beside_classes(S, encoded.words.classes)

    @property
    def word_readers(self) -> tuple[WordReader, ...]:
        """What is known about single words, in the order of the columns it adds to vectors."""
        return tuple(each for each in (self.lsa_, self.match_) if each is not None)

    def beside_nodes(self, X: NDArray[np.float32], bags: Any) -> NDArray[np.float32]:
        """Return centred node vectors with what their words say beside them. [n, d']"""
        return unit(np.hstack([unit(X), *(each.nodes(bags) for each in self.word_readers)]))

    def beside_classes(self, S: NDArray[np.float32], bags: Any) -> NDArray[np.float32]:
        """Return centred class vectors with what their words say beside them. [C, d']"""
        return unit(np.hstack([unit(S), *(each.classes(bags) for each in self.word_readers)]))

    def task(
        self, encoded: Encoded, graph: Graph, labels: Labels, allowed: NDArray[np.bool_]
    ) -> Task:
        """Return the task that a model is given."""
        X, S = self.transform(encoded)
        return Task(
            X,
            S,
            labels.codes,
            graph.operator,
            allowed,
            self.shared_,
            encoded.relations,
            engine=encoded.engine,
        )

    def plain_task(
        self,
        encoded: Encoded,
        graph: Graph,
        labels: Labels,
        allowed: NDArray[np.bool_],
        kind: str | None = None,
    ) -> Task:
        """Return the task without word statistics: the encoder's vectors, centred."""
        X, S = self.centred(encoded), self.class_vectors(encoded, kind)
        return Task(
            X, S, labels.codes, graph.operator, allowed, self.shared_, engine=encoded.engine
        )

    def state(self) -> dict[str, Any]:
        """Return what was learned: arrays and plain values, by name."""
        found = {name: value for name, value in vars(self).items() if name.endswith("_")}
        centres = found.pop("class_centres_")
        found |= {f"class_centre.{kind}": value for kind, value in centres.items()}
        for part in ("lsa", "match"):
            read = found.pop(f"{part}_")
            if read is not None:
                names = (each.name for each in fields(read))
                found |= {f"{part}.{name}": getattr(read, name) for name in names}
        return found

    def restore(self, state: Mapping[str, Any]) -> Self:
        """Take up what `state` returned, in place of `fit`."""
        for name in ("encoder_", "identity_", "shared_", "class_text_", "node_centre_"):
            setattr(self, name, state[name])
        self.class_centres_ = _part(state, "class_centre.")
        if self.class_text_ not in self.class_centres_:
            raise SavedFileError(
                f"model: the centre of class texts {self.class_text_!r} is missing"
            )
        lsa, match = _part(state, "lsa."), _part(state, "match.")
        self.lsa_ = LSA(**lsa) if lsa else None
        self.match_ = WordMatch(**match) if match else None
        return self

    def _check(self, encoded: Encoded) -> None:
        if encoded.nodes.shape[1] != len(self.node_centre_):
            raise InputError(
                f"nodes: have vectors of {encoded.nodes.shape[1]:,} dimensions, but the model was "
                f"made for {len(self.node_centre_):,}; give the same features, or texts that its "
                f"encoder ({self.encoder_}) can read"
            )
        if encoded.identity != self.identity_:
            raise InputError(
                f"encoder: {self.encoder_!r} is not the version that the model was made with, so "
                "its vectors may differ; classify again, or install the version named in the record"
            )


def _centred(
    nodes: NDArray[np.float32], centre: NDArray[np.float32], apart: bool
) -> NDArray[np.float32]:
    X = unit(nodes - centre)
    X[blank(nodes, apart)] = 0.0
    return X


def _sum(rows: NDArray[np.float32]) -> tuple[NDArray[np.float64], int]:
    """Return the sum of rows [d], and how many there are."""
    return rows.sum(axis=0, dtype=np.float64), len(rows)


def _part(state: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {n.removeprefix(prefix): value for n, value in state.items() if n.startswith(prefix)}
