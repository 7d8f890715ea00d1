r"""Which words of a text speak for a class: exact shares of a linear score.

With `static`, a text's vector is the mean of its tokens' vectors, and everything up to the score is
linear but for lengths, which are numbers once the text is given. With e the encoder's vector,
:math:`\hat e = (e / |e| - \bar x) / L`, LSA's :math:`\hat y = (V^\top t - \bar y) / M`, and N the
length of both side by side,

.. math::
    u^\top w = \sum_{\text{tokens } j} \frac{E_{t_j}^\top w_e}{m |e| L N}
             + \sum_{\text{words } j} \frac{a\, t_j V_j^\top w_y}{M N}
             - \frac{\bar x^\top w_e}{L N} - \frac{a\, \bar y^\top w_y}{M N} ,

so that shares of words, centring and bias add up to the score. With another encoder only LSA's
shares are by word; what the encoder adds is one number.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import murmurhash3_32

from unseen.core.arrays import unit
from unseen.encode.static import StaticEncoder
from unseen.prepare.lsa import BUCKETS, NODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.prepare.lsa import LSA
    from unseen.prepare.preparer import Preparer

WORD = re.compile(r"[^\W_]+|[^\w\s]|_+")
COUNTED = re.compile(r"[^\W_]{2,}")  # as LSA counts words


@dataclass(frozen=True, eq=False)
class WordShares:
    """What each word adds to the score of some classes.

    Attributes:
        how: "exact", or "lsa" where the encoder's part is not by word.
        spans: beginning and end of each word, in characters. [w, 2]
        shares: [w, k] for k classes; encoder: what is not by word. [k]
        centring, bias, score: the rest, and the sum. Each [k]
    """

    how: str
    spans: NDArray[np.int64]
    shares: NDArray[np.float64]
    encoder: NDArray[np.float64]
    centring: NDArray[np.float64]
    bias: NDArray[np.float64]
    score: NDArray[np.float64]


def word_shares(
    encoder: Any, preparer: Preparer, text: str, weights: NDArray[Any], bias: NDArray[Any]
) -> WordShares | None:
    """Return the shares of words in the scores of k classes; None for a text that says nothing.

    Args:
        encoder: that reads texts.
        preparer: fitted.
        text: of a node.
        weights, bias: of these classes. [k, d'], [k]
    """
    spans = np.array([m.span() for m in WORD.finditer(text)], dtype=np.int64).reshape(-1, 2)
    if not len(spans):
        return None
    W = np.asarray(weights, dtype=np.float64)
    centre = preparer.node_centre_.astype(np.float64)
    d = len(centre)
    W_e, W_y = W[:, :d], W[:, d:]
    exact = isinstance(encoder, StaticEncoder)
    if exact:
        rows, starts = encoder.token_vectors(text)  # [m, d], [m]
        if not len(rows):
            return None
        rows = rows.astype(np.float64)
        mean = rows.mean(axis=0)
        by_token = rows @ W_e.T / len(rows)  # [m, k]
    else:
        mean = np.asarray(encoder.encode([text])[0], dtype=np.float64)
    length = float(np.linalg.norm(mean))
    if length == 0:
        return None
    apart = mean / length - centre
    L = float(np.linalg.norm(apart)) or 1.0
    shares = np.zeros((len(spans), len(W)))
    rest = np.zeros(len(W))
    if exact:
        at = np.clip(np.searchsorted(spans[:, 0], starts, side="right") - 1, 0, None)
        np.add.at(shares, at, by_token / (length * L))
    else:
        rest = mean @ W_e.T / (length * L)
    centring = -(centre @ W_e.T) / L
    N = 1.0
    if preparer.lsa_ is not None:
        counted, moved, y_norm = _lsa(preparer.lsa_, text, spans, W_y)
        shares += counted
        centring = centring + moved
        N = float(np.hypot(1.0, NODES * y_norm))
    bias = np.asarray(bias, dtype=np.float64)
    shares, rest, centring = shares / N, rest / N, centring / N
    score = shares.sum(axis=0) + rest + centring + bias
    return WordShares("exact" if exact else "lsa", spans, shares, rest, centring, bias, score)


def _lsa(
    lsa: LSA, text: str, spans: NDArray[np.int64], W: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return LSA's shares by word [w, k], its centring [k], and whether it knew a word (1 or 0)."""
    shares = np.zeros((len(spans), len(W)))
    terms = [lsa_term(lsa, text[lo:hi]) for lo, hi in spans.tolist()]
    found = lsa_vector(lsa, terms)
    if found is None:
        return shares, np.zeros(len(W)), 0.0
    counts, t, V, y = found
    M = float(np.linalg.norm(y)) or 1.0
    each = NODES * (t[:, None] * (V @ W.T)) / M  # [w', k]
    slot = {row: i for i, row in enumerate(counts)}
    for s, row in enumerate(terms):
        if row >= 0:
            shares[s] = each[slot[row]] / counts[row]
    return shares, -NODES * (lsa.node_centre.astype(np.float64) @ W.T) / M, 1.0


def lsa_term(lsa: LSA, word: str) -> int:
    """Return the row of a word in LSA's directions; -1 where it has none."""
    word = word.lower()
    if not COUNTED.fullmatch(word):
        return -1
    column = _column(word)
    i = int(np.searchsorted(lsa.words, column))
    return i if i < len(lsa.words) and lsa.words[i] == column else -1


@lru_cache(maxsize=100_000)
def _column(word: str) -> int:
    """Return the bucket of a word, as `bag_of_words` has it; ten times as fast."""
    return abs(int(murmurhash3_32(word, seed=0))) % BUCKETS


def lsa_vector(
    lsa: LSA, terms: list[int]
) -> tuple[dict[int, int], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None:
    """Return counts by row, t [w'], V of these rows [w', t] and V^T t less its mean [t].

    None, where none of the words is known.
    """
    counts = Counter(sorted(row for row in terms if row >= 0))
    if not counts:
        return None
    rows = np.fromiter(counts, np.int64, len(counts))
    times = np.fromiter(counts.values(), np.float64, len(counts))
    t = np.log1p(times) * lsa.idf[rows].astype(np.float64)
    t /= np.linalg.norm(t)
    V = lsa.directions[rows].astype(np.float64)
    return counts, t, V, t @ V - lsa.node_centre


def beside(lsa: LSA, X: NDArray[np.float32], texts: Sequence[str]) -> NDArray[np.float32]:
    """Return what `LSA.beside_nodes` returns, for a few texts. [m, d + t]"""
    read = np.zeros((len(texts), lsa.directions.shape[1]))
    for i, text in enumerate(texts):
        found = lsa_vector(lsa, [lsa_term(lsa, word) for word in COUNTED.findall(text)])
        if found is not None:
            read[i] = NODES * found[3] / (np.linalg.norm(found[3]) or 1.0)
    return unit(np.hstack([unit(X), read.astype(np.float32)]))
