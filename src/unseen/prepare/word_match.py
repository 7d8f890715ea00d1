r"""Word matching: how the words of a text relate to the words of the class texts, one by one.

The mean of many word vectors drowns the one word that tells. Here every word votes by itself: word
v is as near to class c as to the words u of its text,

.. math::
    k(v, u) &= \exp(\gamma (\cos(e_v, e_u) - 1)) \\
    p_{vc} &= \frac{\sum_u w_{cu} k(v, u)}{\sum_{c'} \sum_u w_{c'u} k(v, u)}  && [w, C] \\
    w_{cu} &\propto \log(1 + n_{cu})\, \mathrm{idf}_u\, \mathrm{icf}_u        && \text{sum to one}

with e vectors of single words (`encode/word_vectors.py`), less their mean, :math:`n_{cu}` how often
class text c has word u, and icf the same as idf, over classes. A word that is in a class text has
k = 1 there; a word that is near to none is as near to all. A text is the sum of its words,

.. math:: y_i' = \sum_v t_{iv} (p_v - \bar p), \qquad y_i = (y_i' - \bar y') / \sigma \quad [n, C]

with :math:`t_i` of unit length, weighed as LSA does. Unlike a vector of unit length, y is short
where no word tells; :math:`\sigma` is the length that it usually has, and larger in small graphs,
which do not show what words are common. Class texts are read as nodes are.
(A kernel between words as in the soft cosine of Sidorov et al., 2014,
https://doi.org/10.13053/CyS-18-3-2043; matching word by word as in the late interaction of Khattab
and Zaharia, 2020, https://arxiv.org/abs/2004.12832.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unseen.core.arrays import filled, unit
from unseen.encode.base import encode, get_encoder
from unseen.encode.word_vectors import word_vectors
from unseen.prepare.words import WordReader, column_of, idf_of, weighed, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARPNESS = 8.0  # gamma
MOST = 30_000  # words, the commonest
ENTRIES = 4_000_000  # of p, at most
PORTION = 1_000  # words that are compared with the words of class texts at a time
USUAL = 0.35  # length of y of a node, as it is in many graphs
FEW = 50  # nodes among which words say half as much: what is common is not known yet
LEAN = 5  # nodes that the class texts weigh as much as, when nodes are centred


@dataclass(frozen=True, eq=False)
class WordMatch(WordReader):
    """How near the words of a graph are to its classes: `directions` are p less its mean, [w, C].

    Attributes:
        scale: sigma. [1]
    """

    scale: NDArray[np.float32]

    beside: ClassVar[tuple[float, float]] = (0.25, 0.8)

    def factor(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return what y of nodes [n, C] is multiplied by, the same for all. [1]"""
        return self.beside[0] / self.scale

    @classmethod
    def fit(
        cls, bags: Any, class_bags: Any, texts: Sequence[str], class_texts: Sequence[str]
    ) -> Self | None:
        """Compare the words of some nodes with those of the classes.

        Args:
            bags, class_bags: of the same nodes, and of the classes. [n, BUCKETS], [C, BUCKETS]
            texts, class_texts: whose words they count; for nodes, texts or a list of words.
        """
        counted = [Counter(words_of([text])) for text in class_texts]
        of_classes = sorted(set().union(*counted))
        if not of_classes or len(counted) < 2:
            return None
        common = Counter(words_of(texts)).most_common(min(MOST, ENTRIES // len(counted)))
        found = _columns([*of_classes, *(word for word, _ in common)])  # class words come first
        columns = np.array(sorted(found), dtype=np.int32)  # [w]
        names = [found[column] for column in columns.tolist()]
        idf = idf_of(bags, columns)
        T = weighed(bags, columns, idf)
        having = np.bincount(T.indices, minlength=len(columns))
        E, U = _vectors(names, of_classes, having)
        p = _nearness(E, U, _class_words(counted, of_classes, names, idf))
        usual = np.average(p, axis=0, weights=np.asarray(T.sum(axis=0)).ravel() + 1e-6)
        directions = (p - usual).astype(np.float32)
        rows = np.asarray(T @ directions)[np.diff(T.indptr) > 0]
        of_class = np.asarray(weighed(class_bags, columns, idf) @ directions).mean(axis=0)
        centre = (rows.sum(axis=0) + LEAN * of_class) / (len(rows) + LEAN)
        return cls(
            columns,
            idf,
            directions,
            centre.astype(np.float32),
            of_class.astype(np.float32),
            np.array([USUAL * (1 + FEW / max(bags.shape[0], 1))], np.float32),
        )


def _columns(words: Sequence[str]) -> dict[int, str]:
    """Return the column that each word is hashed into; of two words in one, the first has it."""
    found: dict[int, str] = {}
    for word in words:
        found.setdefault(column_of(word), word)
    return found


def _vectors(
    names: Sequence[str], of_classes: Sequence[str], having: NDArray[np.integer]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return e of the words of nodes and of classes, less the mean over nodes. [w, d], [u, d]

    Words that the table does not know, of another script perhaps, are compared by the `static`
    encoder: it has columns of its own, which are zero for all words that the table does know.
    """
    E, U = (unit(word_vectors().encode(words)) for words in (names, of_classes))
    known = filled(E)
    mean = np.average(E, axis=0, weights=having * known + 1e-6)
    E, U = (np.where(filled(e)[:, None], unit(e - mean), 0) for e in (E, U))
    if known.all():
        return E, U
    of_nodes, of_class = (
        unit(encode(get_encoder("static"), list(words), cache=False))
        for words in (names, of_classes)
    )
    mean = np.average(of_nodes, axis=0, weights=having * ~known + 1e-6)
    of_nodes = np.where(known[:, None], 0, unit(of_nodes - mean))
    return np.hstack([E, of_nodes]), np.hstack([U, unit(of_class - mean)])


def _class_words(
    counted: Sequence[Counter[str]],
    of_classes: Sequence[str],
    names: Sequence[str],
    idf: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return w, how much each word of a class text says about its class. [C, u]"""
    weight = dict(zip(names, idf.tolist(), strict=True))
    rarest = float(idf.max())
    counts = np.array([[each[word] for word in of_classes] for each in counted], dtype=np.float32)
    icf = np.log((1 + len(counted)) / (1 + (counts > 0).sum(axis=0))) + 0.1
    w = np.log1p(counts) * np.array([weight.get(word, rarest) for word in of_classes]) * icf
    return np.asarray(w / np.maximum(w.sum(axis=1, keepdims=True), 1e-9), dtype=np.float32)


def _nearness(
    E: NDArray[np.float32], U: NDArray[np.float32], w: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return p. [w, C]"""
    p = np.empty((len(E), len(w)), dtype=np.float32)
    for at in range(0, len(E), PORTION):
        part = slice(at, at + PORTION)
        near = np.exp(np.float32(SHARPNESS) * (E[part] @ U.T - 1)) @ w.T
        p[part] = near / np.maximum(near.sum(axis=1, keepdims=True), 1e-12)
    return p
