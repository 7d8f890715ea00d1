r"""Latent semantic analysis of the texts of the graph at hand, a second reader beside the encoder.

An encoder has learned from other texts. With the counts :math:`c_{ij}` of word j in text i,

.. math::
    t_{ij} &\propto \log(1 + c_{ij})\, (1 + \log\tfrac{1 + n}{1 + n_j})
        && \text{of unit length}\quad [n, w] \\
    T &\approx U \Sigma V^\top                                         && V\ [w, t] \\
    y_i &= \mathrm{unit}(V^\top t_i - \bar y)                                && [t]

(Deerwester et al., "Indexing by Latent Semantic Analysis", 1990), where :math:`n_j` is the number
of texts with word j and
:math:`\bar y` a mean, of nodes or of classes. Class texts are read in the same way, and what is
read stands beside the encoder's centred vectors x and s:

.. math:: x_i' = \mathrm{unit}(x_i, a\, y_i), \qquad s_c' = \mathrm{unit}(s_c, b\, y_c)

with b below a: a line about a class holds few of the words that its nodes use. Names and
descriptions both count here, whichever of them the encoder reads. Words are hashed, so that no list
of them has to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from unseen.core.arrays import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.base import Progress

WORD = re.compile(r"[^\W_]{2,}")
NODES, CLASSES = 0.5, 0.3  # a and b
WIDTH = 128  # t
BUCKETS = 1 << 18  # that words are hashed into
FEW = 3  # texts that have to share a word before it says anything
MOST = 20_000  # words, the commonest
LEAST = 300  # texts, below which words meet too rarely
PORTION = 20_000  # texts whose words are counted at a time
TEXTS = 10  # for each direction, at least


def bag_of_words(texts: Sequence[str], progress: Progress | None = None) -> Any:
    """Return how often each text has each word, by hash: CSR, [n, BUCKETS]."""
    from sklearn.feature_extraction.text import HashingVectorizer

    reader = HashingVectorizer(
        n_features=BUCKETS, alternate_sign=False, norm=None, token_pattern=WORD.pattern
    )
    parts = []
    for at in range(0, len(texts), PORTION):
        if progress is not None:
            progress("count words", at, len(texts))
        parts.append(reader.transform(texts[at : at + PORTION]))
    return sp.csr_array(sp.vstack(parts), dtype=np.float32)


def words_of(texts: Iterable[str]) -> Iterator[str]:
    """Return the words of texts, one after another, as they are counted."""
    for text in texts:
        yield from WORD.findall(text.lower())


@lru_cache(maxsize=100_000)
def column_of(word: str) -> int:
    """Return the column that `bag_of_words` counts a word in."""
    from sklearn.utils import murmurhash3_32

    return abs(int(murmurhash3_32(word, seed=0))) % BUCKETS


@dataclass(frozen=True, eq=False)
class LSA:
    """What was learned about the words of a graph.

    Attributes:
        words: their columns in a bag, ascending. [w]
        idf: how much each of them says. [w]
        directions: V. [w, t]
        node_centre, class_centre: means before vectors are scaled. Twice [t]
    """

    words: NDArray[np.integer]
    idf: NDArray[np.float32]
    directions: NDArray[np.float32]
    node_centre: NDArray[np.float32]
    class_centre: NDArray[np.float32]

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
        idf = (1 + np.log((1 + n) / (1 + having[words]))).astype(np.float32)
        T = weighed(nodes, words, idf)
        V = np.ascontiguousarray(randomized_svd(T, width, random_state=0)[2].T, np.float32)
        centres = (
            np.asarray((read @ V).mean(axis=0)) for read in (T, weighed(classes, words, idf))
        )
        return cls(words, idf, V, *centres)

    def nodes(self, bags: Any) -> NDArray[np.float32]:
        """Return a y of nodes. [n, t]"""
        return self._read(NODES, bags, self.node_centre)

    def classes(self, bags: Any) -> NDArray[np.float32]:
        """Return b y of classes. [C, t]"""
        return self._read(CLASSES, bags, self.class_centre)

    def _read(self, weight: float, bags: Any, centre: NDArray[np.float32]) -> NDArray[np.float32]:
        T = weighed(bags, self.words, self.idf)
        read = unit(np.asarray(T @ self.directions) - centre)  # [n, t]
        read[np.diff(T.indptr) == 0] = 0  # none of the words: nothing is known
        return np.float32(weight) * read


def weighed(bags: Any, words: NDArray[np.integer], idf: NDArray[np.float32]) -> Any:
    """Return t of each row; one without any of the words is zero. CSR, [n, w]"""
    T = sp.csr_array(bags[:, words], dtype=np.float32)
    T.data = np.log1p(T.data) * idf[T.indices]
    lengths = np.sqrt(sp.csr_array(T * T).sum(axis=1))
    T.data /= np.repeat(np.maximum(lengths, 1e-9), np.diff(T.indptr)).astype(np.float32)
    return T
