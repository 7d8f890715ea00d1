"""How well class descriptions reflect how classes really relate (the paper's Eq. 1 to 3, Table 1).

Good CSDs put those classes near each other whose nodes are near each other. With o_i the mean node
vector of class i and s_i its CSD,

    Pr(j | i)  = exp(o_i . o_j) / sum_{t != i} exp(o_i . o_t)        Eq. 1
    Pr^(j | i) = exp(s_i . s_j) / sum_{t != i} exp(s_i . s_t)        Eq. 2
    quality    = (1 / C) sum_i dis(Pr(. | i), Pr^(. | i))            Eq. 3

with `dis` the KL divergence, the Euclidean distance (both: less is better) or the cosine (more is
better). The classes of these sums may be all classes or the seen ones; to *choose* CSDs, only the
seen ones are fair.

Two remarks on the printed Table 1. KL and Euclidean are sums over the classes there, not means. And
the appendix reduces bags of words to 128 dimensions and brings node vectors to unit length
(`prepare`), but what reproduces the print is `class_prototypes` of the plain words without SVD and
`quality(..., unit=True)`: eight of the nine figures of Cora and of Citeseer's LABEL-CSDs to all
digits, the ninth but for its last (Citeseer's TEXT-CSDs differ: KL 0.0095 against 0.0077).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from unseen.core.errors import InputError, shortlist

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Measure = Literal["kl", "cosine", "euclidean"]
Reduce = Literal["mean", "sum"]


def informative(classes: int) -> bool:
    """Tell whether quality can tell CSDs apart: with fewer than three classes it is constant."""
    return classes >= 3


def prepare(vectors: Any, dimensions: int | None = 128, unit: bool = True) -> NDArray[np.float64]:
    """Return node vectors as the paper's appendix has them: SVD, then each of unit length.

    X ~ U S V' with the largest singular values; row v becomes (U S)_v / |(U S)_v|. A matrix that
    has no more columns (or rows) than `dimensions` is not reduced. A row of zeros stays zero.

    Args:
        vectors: one row a node, dense or sparse. [n, d]
        dimensions: how many singular directions to keep, or None for no SVD.
        unit: bring rows to unit length.
    """
    X = _rows(vectors)
    if dimensions is not None and dimensions < min(X.shape):
        start = np.ones(min(X.shape))  # a fixed start makes the answer reproducible
        left, values, _ = svds(X, k=dimensions, v0=start)
        X = left * values
    dense = _dense(X)
    return _unit(dense) if unit else dense


def class_prototypes(
    vectors: Any, labels: ArrayLike, classes: int | Sequence[int] | NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mean vector of each class's nodes, o_c = mean_{v: y_v = c} x_v. [C, d]

    Args:
        vectors: one row a node, dense or sparse. [n, d]
        labels: class position of each node, -1 where none is known. [n]
        classes: how many classes, or which of them (rows come back in this order).
    """
    which = np.arange(classes) if isinstance(classes, int) else np.asarray(classes, np.int64)
    total, count = class_sums(vectors, labels, which)
    if (count == 0).any():
        raise InputError(
            f"labels: no node is labelled with class {shortlist(which[count == 0])}, so it has no "
            "prototype; leave such classes out"
        )
    return np.asarray(total / count[:, None])


def class_sums(
    vectors: Any, labels: ArrayLike, which: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum of the vectors of each class's nodes, and how many these are. [C, d], [C]"""
    X, y = _rows(vectors), np.asarray(labels)
    if y.shape != (X.shape[0],):
        raise InputError(f"labels: expected {X.shape[0]:,} (one for each node), found {y.shape}")
    belongs = (y == which[:, None]).astype(np.float64)  # [C, n]
    return _dense(sp.csr_array(belongs) @ X), belongs.sum(axis=1)


def relation(vectors: ArrayLike) -> NDArray[np.float64]:
    """Return Pr(j | i) of Eq. 1 in row i: softmax of v_i . v_j over the other classes, 0 for j = i.

    Args:
        vectors: one row a class, C >= 2. [C, d]

    Returns:
        Rows that sum to 1, with a zero diagonal. [C, C]
    """
    logs = _log_relation(_matrix(vectors))
    probabilities = np.exp(logs)
    np.fill_diagonal(probabilities, 0.0)
    return np.asarray(probabilities)


def quality(
    prototypes: ArrayLike,
    csds: ArrayLike,
    measure: Measure = "kl",
    reduce: Reduce = "mean",
    unit: bool = True,
) -> float:
    """Compare the two relations by Eq. 3, class by class, and average (or add up) over classes.

    `kl` is sum_j Pr(j|i) ln(Pr(j|i) / Pr^(j|i)) and, like `euclidean`, 0 for equal relations;
    `cosine` is 1 for equal ones. With two classes each distribution has one entry, 1, so that all
    CSDs get the same value (0, 0 or 1): ask `informative` first.

    Args:
        prototypes: mean node vector of each class. [C, d]
        csds: CSD of each class, in the same order. [C, d_s]
        measure: "kl", "cosine" or "euclidean".
        reduce: "mean" as in Eq. 3, or "sum" as in the printed Table 1 (kl and euclidean).
        unit: bring both to unit length first.
    """
    centres, described = _matrix(prototypes), _matrix(csds)
    if len(centres) != len(described):
        raise InputError(
            f"csds: expected {len(centres)} rows (one for each class), found {len(described)}"
        )
    if unit:
        centres, described = _unit(centres), _unit(described)
    P, Q = relation(centres), relation(described)  # [C, C] each
    if measure == "kl":  # from logarithms, so that a tiny Pr^ does not become infinite
        each = (P * (_log_relation(centres) - _log_relation(described))).sum(axis=1)
    elif measure == "cosine":
        each = (_unit(P) * _unit(Q)).sum(axis=1)
    elif measure == "euclidean":
        each = np.linalg.norm(P - Q, axis=1)
    else:
        raise InputError(f"measure: expected kl, cosine or euclidean, found {measure!r}")
    if reduce not in ("mean", "sum"):
        raise InputError(f"reduce: expected mean or sum, found {reduce!r}")
    return float(each.mean() if reduce == "mean" else each.sum())


def _log_relation(V: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln Pr(j | i), and 0 on the diagonal, where it plays no part. [C, C]"""
    if len(V) < 2:
        raise InputError(f"classes: found {len(V)}, but a relation needs at least two")
    scores = V @ V.T
    np.fill_diagonal(scores, -np.inf)
    scores -= scores.max(axis=1, keepdims=True)  # the largest exponent is 0: none overflows
    logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    np.fill_diagonal(logs, 0.0)
    return np.asarray(logs)


def _rows(vectors: Any) -> Any:
    """Return vectors as a float64 CSR array if they are sparse, else as a dense one. [n, d]"""
    return sp.csr_array(vectors, dtype=np.float64) if sp.issparse(vectors) else _matrix(vectors)


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.toarray() if sp.issparse(X) else X)


def _matrix(values: ArrayLike) -> NDArray[np.float64]:
    X = np.asarray(values, dtype=np.float64)
    if X.ndim != 2 or not np.isfinite(X).all():
        raise InputError(f"vectors: expected finite numbers in rows [C, d], found shape {X.shape}")
    return X


def _unit(X: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(X / np.where(length > 0, length, 1.0))
