r"""Held-out words: how well answers agree with words that they have not seen. No label is needed.

The words of every node are divided at random. A candidate is fitted on one half of them; the other
half, read alone, scores its labels: with the labels :math:`a_i` of the candidate, :math:`b_i` of
the other half's own text, and :math:`w_i` the probability that node i is of any listed class,

.. math:: \kappa = \frac{p_o - p_e}{1 - p_e}, \qquad
    p_o = \sum_i w_i [a_i = b_i], \quad p_e = \sum_c \sum_i w_i [a_i = c] \sum_i w_i [b_i = c]

(Cohen's kappa, 1960, with weights that sum to one), the mean of both ways round. Two halves of one
text share its accidents, but not those of its neighbours. Texts are read by the `static` encoder,
whichever reads them in the end: it is fast enough to read them twice.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import filled, masked, unit, weighted_kappa
from unseen.encode.base import encode, get_encoder
from unseen.engines.base import engine_of
from unseen.models.blocks import winners
from unseen.prepare.encoded import DEFAULT, Encoded, Words
from unseen.prepare.preparer import Preparer
from unseen.prepare.words import bag_of_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.core.graph import Graph
    from unseen.core.labels import Labels
    from unseen.core.task import Task
    from unseen.engines.base import Rows
    from unseen.models.base import Model
    from unseen.select.preparation import Prepared

LEAST, MOST = 300, 20_000  # nodes: fewer say too little, more take too long to read twice


@dataclass(frozen=True, eq=False)
class Halves:
    """The task as the `static` encoder reads it, and node vectors of both halves of the words."""

    task: Task
    one: Rows  # [n, d]; zero where a half has no words
    other: Rows

    def kappas(self, candidates: Mapping[str, Model], w: NDArray[np.float32]) -> dict[str, float]:
        """Return how well each candidate agrees with words it has not seen; nodes weigh w [n]."""
        found = dict.fromkeys(candidates, 0.0)
        engine, S, allowed = engine_of(self.task), self.task.S, self.task.allowed
        for X, held_out in ((self.one, self.other), (self.other, self.one)):
            task = replace(self.task, X=X, memo={})  # hops of its own, formed once
            asked = engine.map(filled, held_out) & engine.map(filled, X) & (task.labels < 0)
            theirs = engine.map(lambda J: winners(masked(J @ S.T, allowed)), held_out, where=asked)
            for name, model in candidates.items():
                mine = model.fit(task).predict(task)[asked]
                found[name] += weighted_kappa(mine, theirs, w[asked], task.classes) / 2
        return found

    def own(self) -> float:
        """Return how well the halves agree when each is read alone."""
        engine, S = engine_of(self.task), self.task.S
        asked = engine.map(filled, self.one) & engine.map(filled, self.other)
        a, b = (
            engine.map(lambda X: winners(X @ S.T), X, where=asked) for X in (self.one, self.other)
        )
        return weighted_kappa(a, b, np.ones(len(a), np.float32), self.task.classes)


def halve(
    prepared: Prepared, graph: Graph, classes: Classes, labels: Labels, seed: int
) -> Halves | None:
    """Divide the words of each node, by its text alone; None without texts, or with few nodes."""
    if graph.texts is None or classes.vectors is not None:
        return None
    if not LEAST <= graph.nodes <= MOST:
        return None
    if prepared.preparer.encoder_ == DEFAULT:
        preparer, encoded, task = prepared.preparer, prepared.encoded, prepared.task
    else:
        preparer = Preparer(DEFAULT)
        encoded = preparer.encode(graph, classes)
        preparer.fit(encoded).class_text_ = prepared.preparer.class_text_
        task = preparer.task(encoded, graph, labels, prepared.task.allowed)
    reader, words = get_encoder(DEFAULT), encoded.words
    csds, name, identity = encoded.csds, encoded.encoder, encoded.identity

    def view(texts: Sequence[str], first: bool) -> NDArray[np.float32]:
        part = [_half(text, first, seed) for text in texts]
        X = encode(reader, part, cache=False)
        X[[not text for text in part]] = 0.0
        half = None if words is None else Words(bag_of_words(part), words.classes)
        read = Encoded(unit(X), csds, True, name, identity, half)
        rows: NDArray[np.float32] = preparer.transform(read)[0]
        return rows

    engine = engine_of(graph)
    one, other = (
        engine.map(lambda texts, first=first: view(texts, first), graph.texts)
        for first in (True, False)
    )
    return Halves(task, one, other)


def _half(text: str, first: bool, seed: int) -> str:
    """Return one half of the words of a text, drawn by the text alone."""
    words, rng = text.split(), Random(zlib.crc32(text.encode("utf-8", "replace"), seed))
    chosen = set(rng.sample(range(len(words)), (len(words) + rng.randrange(2)) // 2))
    return " ".join(word for i, word in enumerate(words) if (i in chosen) == first)
