r"""Words: how often texts have them, and readers that say something about each of them.

A reader knows words j of a graph, how much each of them says, and a direction :math:`V_j`. A text
with counts :math:`c_{ij}` becomes

.. math::
    t_{ij} &\propto \log(1 + c_{ij})\, \mathrm{idf}_j, \qquad
        \mathrm{idf}_j = 1 + \log\tfrac{1 + n}{1 + n_j}  && \text{of unit length}\quad [n, w] \\
    y_i &= V^\top t_i - \bar y                            && [t]

where :math:`n_j` of n texts have word j and :math:`\bar y` is a mean, of nodes or of classes; and
y, times a factor, stands beside the encoder's vectors. Words are hashed, so that no list of them
has to be kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.base import Progress

WORD = re.compile(r"[^\W_]{2,}")
BUCKETS = 1 << 18  # that words are hashed into
PORTION = 20_000  # texts whose words are counted at a time


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
        parts.append(reader.transform(map(_composed, texts[at : at + PORTION])))
    return sp.csr_array(sp.vstack(parts), dtype=np.float32)


def words_of(texts: Iterable[str]) -> Iterator[str]:
    """Return the words of texts, one after another, as they are counted."""
    for text in texts:
        yield from WORD.findall(_composed(text).lower())


def _composed(text: str) -> str:
    """Return a text with its accents in their letters: apart from these, they end a word."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@lru_cache(maxsize=100_000)
def column_of(word: str) -> int:
    """Return the column that `bag_of_words` counts a word in; ten times as fast."""
    from sklearn.utils import murmurhash3_32

    return abs(int(murmurhash3_32(word, seed=0))) % BUCKETS


def idf_of(bags: Any, words: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return how much each word says, by how many of the texts have it. [w]"""
    having = np.bincount(bags.indices, minlength=BUCKETS)[words]
    return np.asarray(1 + np.log((1 + bags.shape[0]) / (1 + having)), dtype=np.float32)


def weighed(bags: Any, words: NDArray[np.integer], idf: NDArray[np.float32]) -> Any:
    """Return t of each row; one without any of the words is zero. CSR, [n, w]"""
    T = sp.csr_array(bags[:, words], dtype=np.float32)
    T.data = np.log1p(T.data) * idf[T.indices]
    lengths = np.sqrt(sp.csr_array(T * T).sum(axis=1))
    T.data /= np.repeat(np.maximum(lengths, 1e-9), np.diff(T.indptr)).astype(np.float32)
    return T


@dataclass(frozen=True, eq=False)
class WordReader:
    """What was learned about the words of a graph.

    Attributes:
        words: their columns in a bag, ascending. [w]
        idf: how much each of them says. [w]
        directions: V. [w, t]
        node_centre, class_centre: means of y. Twice [t]
    """

    words: NDArray[np.integer]
    idf: NDArray[np.float32]
    directions: NDArray[np.float32]
    node_centre: NDArray[np.float32]
    class_centre: NDArray[np.float32]

    beside: ClassVar[tuple[float, float]]  # lengths beside vectors of unit length: node, class

    def factor(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return what y of nodes [n, t] is multiplied by: here, to have one length. [n, 1]"""
        length = np.linalg.norm(y, axis=1, keepdims=True)
        return np.asarray(self.beside[0] / np.maximum(length, 1e-12))

    def nodes(self, bags: Any) -> NDArray[np.float32]:
        """Return y of nodes, as it stands beside their vectors. [n, t]"""
        y, known = self._read(bags, self.node_centre)
        return np.where(known, y * self.factor(y), 0).astype(np.float32)

    def classes(self, bags: Any) -> NDArray[np.float32]:
        """Return y of classes, all of one length, as it stands beside their vectors. [C, t]"""
        y, known = self._read(bags, self.class_centre)
        length = np.maximum(np.linalg.norm(y, axis=1, keepdims=True), 1e-12)
        return np.where(known, y * (self.beside[1] / length), 0).astype(np.float32)

    def row_of(self, word: str) -> int:
        """Return which of its words this is; -1 where it is none."""
        word = word.lower()
        return self._rows.get(column_of(word), -1) if WORD.fullmatch(word) else -1

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {column: row for row, column in enumerate(self.words.tolist())}

    def _read(
        self, bags: Any, centre: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return y [n, t], and which rows have any of the words. [n, 1]"""
        T = weighed(bags, self.words, self.idf)
        y = np.asarray(T @ self.directions, dtype=np.float32) - centre
        return y, (np.diff(T.indptr) > 0)[:, None]
