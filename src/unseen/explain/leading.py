r"""The words of many texts that speak for one class against another.

The lead of a token p of text i (what stands between two spaces) is the difference of its shares in
two linear scores, those of `words.py`, up to a factor that the whole text has in common:

.. math::
    \frac{n_{ip}\, g_p^\top (w_a - w_b)_e}{m_i |e_i| L_i}
    + \sum_{\text{terms } j \in p} \frac{f_i t_{ij} V_j^\top (w_a - w_b)_y}{c_{ij}}

with :math:`g_p` the sum of its token vectors, :math:`n_{ip}` how often it stands there and
:math:`c_{ij}` the count of term j. All texts of a block are read at once: a few sparse products.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.encode.static import StaticEncoder, counts
from unseen.explain.strings import packed
from unseen.prepare.words import WORD as COUNTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.prepare.preparer import Preparer
    from unseen.prepare.words import WordReader

PORTION = 8192  # texts at a time
MOST = 3  # words of a reason
LEAST = 0.25  # of the lead of the first of them
LONGEST = 30  # characters of a word
EDGES = re.compile(r"^[\W_]+|[\W_]+$")
WORD = re.compile(r"(?=.*[^\W\d_])[\w'’./+-]+")  # with a letter, without brackets
COMMON = (
    "a about all also an and any are as at be been but by can did do does doing done each for from "
    "had has have he her his how if "
    "in into is it its more most no not of on one or other our out over per she so some such than "
    "that the their them then there these they this those through to under up use used using via "
    "was we were what when where which while who will with within without you your"
)
FUNCTION_WORDS = frozenset(COMMON.split())  # they lean to a class by chance, and tell nothing


@dataclass(frozen=True, eq=False)
class LeadingWords:
    """Finds them, block by block; `of` says whether there is anything to find them by.

    Attributes:
        encoder: `static`, or None where only word statistics are by word.
        centre: of the node vectors. [d]
        readers: of single words, if there are any.
        weights: of the classes, in the space of prepared nodes. [C, d']
    """

    encoder: StaticEncoder | None
    centre: NDArray[np.float64]
    readers: tuple[WordReader, ...]
    weights: NDArray[np.float64]

    @classmethod
    def of(cls, reader: Any, preparer: Preparer, weights: Any) -> LeadingWords | None:
        """Return what finds words, for a reader of texts; None where nothing is by word."""
        encoder = reader if isinstance(reader, StaticEncoder) else None
        readers, centre = preparer.word_readers, preparer.node_centre_.astype(np.float64)
        width = len(centre) + sum(each.directions.shape[1] for each in readers)
        if weights is None or weights.shape[1] != width or (encoder is None and not readers):
            return None  # as of a model that works in a space of its own
        return cls(encoder, centre, readers, np.asarray(weights, dtype=np.float64))

    def __call__(
        self, texts: Sequence[str], mine: NDArray[np.int64], theirs: NDArray[np.int64]
    ) -> NDArray[np.uint8]:
        """Return the words that speak for `mine` against `theirs`, packed. [b, WIDTH]"""
        spans = [slice(at, at + PORTION) for at in range(0, max(len(texts), 1), PORTION)]
        found = [_chosen(*self.leads(texts[span], mine[span], theirs[span])) for span in spans]
        return packed(", ".join(words) for part in found for words in part)

    def leads(
        self, texts: Sequence[str], mine: NDArray[np.int64], theirs: NDArray[np.int64]
    ) -> tuple[list[str], Any]:
        """Return the distinct tokens, and the lead of each in each text: CSR [n, w]."""
        column: defaultdict[str, int] = defaultdict()
        column.default_factory = column.__len__  # a new token gets the next column
        tokens_of = str.split if self.encoder is None else self.encoder.cut
        D = counts([[column[token] for token in tokens_of(text)] for text in texts], len(column))
        D.sum_duplicates()
        tokens, row = list(column), np.repeat(np.arange(len(texts)), np.diff(D.indptr))
        lead = np.zeros(D.nnz)
        d = len(self.centre)
        if self.encoder is not None and tokens:
            sums = self.encoder.word_sums(tokens)[0]
            e = (D @ sums).astype(np.float64)  # m times the mean, [n, d]
            length = np.linalg.norm(e, axis=1)  # m |e|
            e /= np.maximum(length, 1e-12)[:, None]
            L = np.linalg.norm(e - self.centre, axis=1)
            P = sums @ self.weights[:, :d].T  # [w, C]
            factor = 1 / np.maximum(length * L, 1e-12)
            lead = D.data * (P[D.indices, mine[row]] - P[D.indices, theirs[row]]) * factor[row]
        for reader in self.readers if tokens else ():
            W, d = (
                self.weights[:, d : d + reader.directions.shape[1]],
                d + reader.directions.shape[1],
            )
            lead = lead + _leads_by(reader, W, D, row, tokens, mine, theirs)
        return tokens, sp.csr_array((lead, D.indices, D.indptr), shape=D.shape)


def _leads_by(
    reader: WordReader,
    W: NDArray[np.float64],
    D: Any,
    row: NDArray[np.int64],
    tokens: list[str],
    mine: NDArray[np.int64],
    theirs: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the second part of the formula for each entry of D [n, w]."""
    terms = [
        [t for t in (reader.row_of(word) for word in COUNTED.findall(token)) if t >= 0]
        for token in tokens
    ]
    Q = counts(terms, len(reader.words))  # [w, w']
    Q.sum_duplicates()
    C = sp.csr_array(D @ Q)
    C.sort_indices()
    of = np.repeat(np.arange(C.shape[0]), np.diff(C.indptr))
    t = np.log1p(C.data) * reader.idf[C.indices].astype(np.float64)
    t /= np.sqrt(np.maximum(np.bincount(of, t * t, C.shape[0]), 1e-18))[of]
    T = sp.csr_array((t, C.indices, C.indptr), shape=C.shape)
    factor = np.broadcast_to(
        reader.factor(T @ reader.directions - reader.node_centre).ravel(), len(D.indptr) - 1
    )
    V = reader.directions @ W.T  # [w', C]
    each = factor[of] * t * (V[C.indices, mine[of]] - V[C.indices, theirs[of]]) / C.data
    sizes = np.diff(Q.indptr)[D.indices]  # terms of each entry's token
    entry = np.repeat(np.arange(D.nnz), sizes)
    first = np.repeat(Q.indptr[D.indices] - np.append(0, np.cumsum(sizes)[:-1]), sizes)
    at = first + np.arange(len(entry))  # where in Q
    width = np.int64(C.shape[1])
    place = np.searchsorted(of * width + C.indices, row[entry] * width + Q.indices[at])
    return np.asarray(np.bincount(entry, each[place] * Q.data[at], D.nnz) * D.data)


def _chosen(tokens: list[str], leads: Any) -> list[list[str]]:
    """Return the words of each text with the largest leads, the first first."""
    spelled = [EDGES.sub("", token) for token in tokens]
    number: dict[str, int] = {}
    word_of = np.full(len(tokens), -1)
    for p, word in enumerate(spelled):
        plain = word.casefold()
        if 2 <= len(word) <= LONGEST and WORD.fullmatch(word) and plain not in FUNCTION_WORDS:
            word_of[p] = number.setdefault(plain, len(number))
    n, width = leads.shape[0], np.int64(max(len(number), 1))
    row, word = np.repeat(np.arange(n), np.diff(leads.indptr)), word_of[leads.indices]
    some = np.flatnonzero(word >= 0)
    row, word, lead, token = row[some], word[some], leads.data[some], leads.indices[some]
    order = np.lexsort((-lead, word, row))  # the spelling that says most stands for the word
    row, word, lead, token = row[order], word[order], lead[order], token[order]
    _, first, of = np.unique(row * width + word, return_index=True, return_inverse=True)
    lead, row, token = np.bincount(of, lead, len(first)), row[first], token[first]
    order = np.lexsort((-lead, row))
    lead, row, token = lead[order], row[order], token[order]
    begin = np.searchsorted(row, row)  # of the words of the same text
    kept = (np.arange(len(row)) - begin < MOST) & (lead > 1e-9) & (lead >= LEAST * lead[begin])
    found: list[list[str]] = [[] for _ in range(n)]
    for i, p in zip(row[kept].tolist(), token[kept].tolist(), strict=True):
        found[i].append(spelled[p])
    return found
