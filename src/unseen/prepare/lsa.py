r"""Latent semantic analysis of the texts of the graph at hand, a second reader beside the encoder.

An encoder has learned from other texts. With the weighed words T of all nodes (`words.py`),

.. math::
    T &\approx U \Sigma V^\top                  && V\ [w, t] \\
    y_i &= \mathrm{unit}(V^\top t_i - \bar y)   && [t]

(Deerwester et al., "Indexing by Latent Semantic Analysis", 1990). Class texts are read in the same
way; names and descriptions both count, whichever of them the encoder reads. Beside the encoder's
vectors, y of a class is shorter than y of a node: a line about a class holds few of the words that
its nodes use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from unseen.prepare.words import WordReader, idf_of, weighed

WIDTH = 128  # t
FEW = 3  # texts that have to share a word before it says anything
MOST = 20_000  # words, the commonest
LEAST = 300  # texts, below which words meet too rarely
TEXTS = 10  # for each direction, at least


@dataclass(frozen=True, eq=False)
class LSA(WordReader):
    """Words and their places in the latent space."""

    beside: ClassVar[tuple[float, float]] = (0.5, 0.3)

    @classmethod
    def fit(cls, nodes: Any, classes: Any) -> Self | None:
        """Learn from bags of nodes [n, BUCKETS] and classes [C, BUCKETS].

        None, where there are fewer than `LEAST` nodes or hardly a word that some of them share.
        """
        from sklearn.utils.extmath import randomized_svd

        n = nodes.shape[0]
        having = np.bincount(nodes.indices, minlength=nodes.shape[1])  # n_j
        words = np.flatnonzero(having >= FEW)
        words = np.sort(words[np.argsort(-having[words], kind="stable")[:MOST]]).astype(np.int32)
        width = min(WIDTH, n // TEXTS, len(words) // 2)
        if n < LEAST or width < 1:
            return None
        idf = idf_of(nodes, words)
        T = weighed(nodes, words, idf)
        V = np.ascontiguousarray(randomized_svd(T, width, random_state=0)[2].T, np.float32)
        centres = (
            np.asarray((read @ V).mean(axis=0)) for read in (T, weighed(classes, words, idf))
        )
        return cls(words, idf, V, *centres)
