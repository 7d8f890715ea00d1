"""`Served`: a version as a worker holds it: small parts loaded, large ones memory-mapped."""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.classes import NONE_OF_THESE, Classes
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.encode.base import as_encoder
from unseen.explain.strings import title
from unseen.io.atomic import read_json
from unseen.models.text_neighbours import LINKS
from unseen.prepare.encoded import APART
from unseen.run import load
from unseen.serve.class_stats import warnings_of
from unseen.serve.links import stored_links
from unseen.serve.outsiders import without_edges
from unseen.serve.strings import Index, Strings, mapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.models.text_neighbours import Links

START = 2_000  # bytes of a text that its title is looked for in


@lru_cache(maxsize=4)
def _encoder(name: str, device: str) -> Any:
    """Return an encoder; versions share it."""
    return as_encoder(name, device)


class Served:
    """A version of a run.

    Attributes:
        number: of the version.
        meta: what the arrays were made of.
        classifier: fitted; without its graph, whose arrays are here.
        label, runner_up, confidence, proba, known, posterior: the answers, one row a node.
    """

    def __init__(self, number: int, run: Path, arrays: Path) -> None:
        self.number, self.run, self.arrays = number, run, arrays
        self.meta: dict[str, Any] = read_json(arrays / "meta.json")
        self.stats: list[dict[str, Any]] = read_json(arrays / "classes.json")
        self.names: list[str] = self.meta["names"]
        self.position = {name: c for c, name in enumerate(self.names)}
        self.warnings = warnings_of(self.stats, self.names)
        self.ids, self.texts = Strings(arrays, "ids"), Strings(arrays, "texts")
        self.index = Index(arrays, self.ids)
        self.label = self._map("label")
        self.runner_up = self._map("runner_up")
        self.confidence = self._map("confidence")
        self.proba = self._map("proba")
        self.known = self._map("known")
        self.posterior = self._map("posterior")
        self.places = self._map("places")
        self.indptr, self.indices = self._map("indptr"), self._map("indices")
        self.edge_weights = self._map("weights")
        self.classifier = load(run / "model")

    def _map(self, name: str) -> NDArray[Any]:
        return mapped(self.arrays / f"{name}.npy")

    @property
    def nodes(self) -> int:
        """Number of nodes of its graph."""
        return len(self.ids)

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Vectors of unit length. [n, d]"""
        return self._map("X")

    @property
    def around(self) -> NDArray[np.float32]:
        """Three lazy hops of the vectors, of unit length. [n, d]"""
        return self._cache("Z")

    @cached_property
    def class_vectors(self) -> NDArray[np.float32]:
        """Class vectors. [C, d]"""
        return self._map("S")

    @cached_property
    def moved(self) -> NDArray[np.float32]:
        """What each hop added to the lead of the class over the runner-up. [n, K+1]"""
        return self._map("moved")

    @cached_property
    def background(self) -> NDArray[np.float32]:
        """How much each node looks like one of no listed class; NaN where it is not known. [n]"""
        return self._map("background")

    @cached_property
    def flags(self) -> NDArray[np.uint8]:
        """What deserves a look (`explain/reasons.py`), as bits. [n]"""
        return self._map("flags")

    @cached_property
    def links(self) -> Links | None:
        """The text neighbours of all nodes, where the model asks them."""
        return stored_links(self.arrays, self.classifier.model_)

    @property
    def degrees(self) -> NDArray[np.float32]:
        """Sums of edge weights by row and by column. [2, n]"""
        return self._cache("degrees")

    @cached_property
    def adjacency(self) -> Any:
        """The graph, CSR. [n, n]"""
        few = len(self.indices) < 2**31  # positions of one type, so that nothing is copied
        parts = (
            self.edge_weights,
            self.indices,
            self.indptr.astype(np.int32) if few else self.indptr,
        )
        return sp.csr_array(parts, shape=(self.nodes, self.nodes))

    @cached_property
    def operator(self) -> Operator:
        """The graph as linear maps, in single precision: three times as fast, the same answers."""
        cut = len(self.outside) > 0
        found = Operator(without_edges(self.adjacency, self.outside) if cut else self.adjacency)
        found.weights = found.weights.astype(np.float32)
        return found

    @cached_property
    def outside(self) -> NDArray[np.int64]:
        """Nodes that people know to be of no listed class; their edges say nothing."""
        return np.array(self.meta["outsiders"], dtype=np.int64)

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """Which classes a node may be answered with. [C]"""
        return np.array(self.meta["allowed"], dtype=bool)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The label that each node was fitted with, -1 where there is none. [n]"""
        return np.where(self.known > 0, self.label, -1).astype(np.int64)

    @cached_property
    def classes(self) -> Classes:
        """The classes with their descriptions."""
        found: Classes = self.classifier.class_texts_
        return found

    @cached_property
    def encoder(self) -> Any:
        """What reads texts."""
        asked = self.meta["encoder"]
        reading = asked.partition(":")[2] or "static" if asked.partition(":")[0] in WORDS else asked
        return _encoder(reading, self.classifier.device)

    @property
    def reads_texts(self) -> bool:
        """Whether a text is all that is needed to answer about a node."""
        return bool(self.meta["texts"]) and self.meta["encoder"].partition(":")[0] not in WORDS

    def reading(self, r: int, part: str = "") -> NDArray[Any]:
        """Return an array of a reading."""
        key = f"reading{r}{'.' + part if part else ''}"
        return self._cache(key)

    def _cache(self, key: str) -> NDArray[Any]:
        kept: dict[str, NDArray[Any]] = self.__dict__.setdefault("_kept", {})
        if key not in kept:
            kept[key] = self._map(key)
        return kept[key]

    def task(
        self,
        S: NDArray[np.float32] | None = None,
        allowed: NDArray[np.bool_] | None = None,
        labels: NDArray[np.int64] | None = None,
    ) -> Task:
        """Return the task of all nodes, perhaps with other classes; nothing is encoded again."""
        # what models read of all nodes, whatever the classes
        memo: dict[Any, Any] = {"unit": self.vectors, "around": self.around, LINKS: self.links}
        return Task(
            self.vectors,
            self.class_vectors if S is None else S,
            self.codes if labels is None else labels,
            self.operator,
            self.allowed if allowed is None else allowed,
            bool(self.meta["shared"]),
            memo=memo,
        )

    def name(self, c: int) -> str:
        """Return the name of a class, or the answer of no class."""
        return self.names[c] if c >= 0 else NONE_OF_THESE

    def title(self, i: int) -> str:
        """Return what a node is called: its text's first sentence, or its id where it has none."""
        return title(self.texts.start(i, START)) or self.ids[i]

    def neighbours(self, i: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the neighbours of a node and the weights of the edges to them."""
        lo, hi = int(self.indptr[i]), int(self.indptr[i + 1])
        return self.indices[lo:hi].astype(np.int64), np.asarray(self.edge_weights[lo:hi])

    def brief(self, i: int, label: Any = None) -> dict[str, Any]:
        """Return a node as lists show it."""
        c, second = int(self.label[i]), int(self.runner_up[i])
        return {
            "position": i,
            "id": self.ids[i],
            "title": self.title(i),
            "class": c if c >= 0 else None,
            "confidence": round(float(self.confidence[i]), 4),
            "runner_up": second if second >= 0 else None,
            "known": bool(self.known[i]),
            "added": False,
            "label": label,
        }

    def of_class(self, c: int) -> NDArray[np.int64]:
        """Return the unlabelled nodes that were given a class, surest first; -1 for none. [m]"""
        ends = self._cache("by_class_ends")
        return self._cache("by_class")[int(ends[c + 1]) : int(ends[c + 2])]

    def members(self, c: int, order: str = "surest") -> NDArray[np.int64]:
        """Return all nodes of a class: those given it by confidence, then those labelled so. [m]"""
        given = self.of_class(c)[:: 1 if order == "surest" else -1]
        labelled = np.flatnonzero((self.label == c) & (self.known > 0)) if c >= 0 else given[:0]
        return np.concatenate([given, labelled])

    @property
    def by_doubt(self) -> NDArray[np.int64]:
        """Unlabelled nodes, the least certain first."""
        return self._cache("by_doubt")


WORDS = ("words", *APART)  # encoders that read features, not texts
