r"""Which words of a text speak for a class: exact shares of a linear score.

With `static`, a text's vector is the mean of its tokens' vectors, and everything up to the score is
linear but for lengths, which are numbers once the text is given. With e the encoder's vector,
:math:`\hat e = (e / |e| - \bar x) / L`, :math:`f (V^\top t - \bar y)` what a reader of words adds
(LSA, word matching: `prepare/words.py`), and N the length of all of them side by side,

.. math::
    u^\top w = \sum_{\text{tokens } j} \frac{E_{t_j}^\top w_e}{m |e| L N}
             + \sum_{\text{words } j} \frac{f\, t_j V_j^\top w_y}{N}
             - \frac{\bar x^\top w_e}{L N} - \frac{f\, \bar y^\top w_y}{N} ,

so that shares of words, centring and bias add up to the score. With another encoder only what the
readers of words add is by word; what the encoder adds is one number.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import unit
from unseen.encode.static import StaticEncoder
from unseen.prepare.words import WORD as COUNTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.prepare.preparer import Preparer
    from unseen.prepare.words import WordReader

WORD = re.compile(r"[^\W_]+|[^\w\s]|_+")


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
    W_e = W[:, :d]
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
        of = np.clip(np.searchsorted(spans[:, 0], starts, side="right") - 1, 0, None)
        np.add.at(shares, of, by_token / (length * L))
    else:
        rest = mean @ W_e.T / (length * L)
    centring = -(centre @ W_e.T) / L
    squared, at = 1.0, d  # of the length of all that stands side by side
    for reader in preparer.word_readers:
        width = reader.directions.shape[1]
        shared, moved, long = _by_word(reader, text, spans, W[:, at : at + width])
        shares, centring = shares + shared, centring + moved
        squared, at = squared + long**2, at + width
    N = float(np.sqrt(squared))
    bias = np.asarray(bias, dtype=np.float64)
    shares, rest, centring = shares / N, rest / N, centring / N
    score = shares.sum(axis=0) + rest + centring + bias
    return WordShares("exact" if exact else "lsa", spans, shares, rest, centring, bias, score)


def _by_word(
    reader: WordReader, text: str, spans: NDArray[np.int64], W: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return a reader's shares by word [w, k], its centring [k], and the length of what it adds."""
    shares = np.zeros((len(spans), len(W)))
    terms = [reader.row_of(text[lo:hi]) for lo, hi in spans.tolist()]
    found = counted(reader, terms)
    if found is None:
        return shares, np.zeros(len(W)), 0.0
    counts, t, V, y = found
    factor = float(reader.factor(y[None]).item())
    each = factor * (t[:, None] * (V @ W.T))  # [w', k]
    slot = {row: i for i, row in enumerate(counts)}
    for s, row in enumerate(terms):
        if row >= 0:
            shares[s] = each[slot[row]] / counts[row]
    centring = -factor * (reader.node_centre.astype(np.float64) @ W.T)
    return shares, centring, factor * float(np.linalg.norm(y))


def counted(
    reader: WordReader, terms: list[int]
) -> tuple[dict[int, int], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None:
    """Return counts by row, t [w'], V of these rows [w', t] and y [t].

    None, where none of the words is known.
    """
    counts = Counter(sorted(row for row in terms if row >= 0))
    if not counts:
        return None
    rows = np.fromiter(counts, np.int64, len(counts))
    times = np.fromiter(counts.values(), np.float64, len(counts))
    t = np.log1p(times) * reader.idf[rows].astype(np.float64)
    t /= np.linalg.norm(t)
    V = reader.directions[rows].astype(np.float64)
    return counts, t, V, t @ V - reader.node_centre


def beside(
    readers: Sequence[WordReader], X: NDArray[np.float32], texts: Sequence[str]
) -> NDArray[np.float32]:
    """Return what `Preparer.beside_nodes` returns, for a few texts. [m, d']"""
    said = [unit(X)]
    for reader in readers:
        read = np.zeros((len(texts), reader.directions.shape[1]))
        for i, text in enumerate(texts):
            found = counted(reader, [reader.row_of(word) for word in COUNTED.findall(text)])
            if found is not None:
                read[i] = found[3] * reader.factor(found[3][None]).item()
        said.append(read.astype(np.float32))
    return unit(np.hstack(said))
