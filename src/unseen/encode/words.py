"""Bags of words into the space of an encoder, through the words that the columns count.

With counts c [n, v] and the vector e_j of the word of column j,

    tf_ij   = log(1 + c_ij)
    idf_j   = 1 + log((1 + n) / (1 + n_j))      n_j: how many rows have word j
    w_ij    = tf_ij idf_j / sum_k tf_ik idf_k   each row sums to 1
    x_i     = sum_j w_ij e_j                    X = W E, [n, d]

so that a row of counts lands where a text of the same words would: next to the class descriptions
which the same encoder has read. A row without words is the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.encode.base import Encoder, Progress, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray


def encode_words(
    counts: Any, vocabulary: Sequence[str], encoder: Encoder, progress: Progress | None = None
) -> NDArray[np.float32]:
    """Return the weighted mean of each row's word vectors, [n, d].

    Args:
        counts: dense or sparse, [n, v]; how often (or how strongly, or whether) each word occurs.
        vocabulary: the word of each column; those that no row uses are not encoded.
        encoder: reads each word as a text of its own.
        progress: see `encode`.
    """
    W = word_weights(counts)  # [n, v]
    if len(vocabulary) != W.shape[1]:
        raise InputError(
            f"vocabulary: expected {W.shape[1]:,} words (one for each feature column), "
            f"found {len(vocabulary):,}"
        )
    used = np.flatnonzero(np.bincount(W.indices, minlength=W.shape[1]))
    E = encode(encoder, [vocabulary[j] for j in used.tolist()], progress)  # [used, d]
    X: NDArray[np.float32] = W[:, used] @ E
    return X


def word_weights(counts: Any) -> Any:
    """Return TF-IDF weights whose rows sum to 1 (or 0, for a row without words): CSR, [n, v]."""
    C = sp.csr_array(counts, dtype=np.float32, copy=True)
    if not (C.data >= 0).all() or not np.isfinite(C.data).all():
        raise InputError(
            "features: a bag of words must hold counts, zero or more; found a value that is "
            "negative or not finite. Leave the vocabulary out to use the columns as plain features"
        )
    C.sum_duplicates()
    C.eliminate_zeros()
    n, v = C.shape
    rows_with = np.bincount(C.indices, minlength=v)  # n_j
    idf = 1.0 + np.log((1.0 + n) / (1.0 + rows_with))  # [v]
    C.data = (np.log1p(C.data) * idf[C.indices]).astype(np.float32)
    totals = C.sum(axis=1, dtype=np.float64)  # [n]
    scale = np.divide(1.0, totals, out=np.zeros(n), where=totals > 0)
    C.data = (C.data * np.repeat(scale, np.diff(C.indptr))).astype(np.float32)
    return C
