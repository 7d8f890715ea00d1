"""A few steps on rows of vectors that more than one room takes, and checks of given matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to length one; a row of zeros stays."""
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
    known = lengths > 0
    scaled: NDArray[np.float32] = np.empty_like(rows, np.float32)
    np.divide(rows, np.where(known, lengths, 1)[:, None], out=scaled, casting="same_kind")
    if not known.all():  # a mask in the division itself would make it half as slow again
        scaled[~known] = 0.0
    return scaled


def filled(rows: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell which rows are not zero throughout. [b]"""
    return np.asarray(rows.any(axis=1))


def masked(scores: NDArray[np.float32], allowed: NDArray[np.bool_] | None) -> NDArray[np.float32]:
    """Return scores with -inf in the columns of classes that are not allowed. [n, C]"""
    if allowed is None:
        return scores
    return np.where(allowed, scores, np.float32(-np.inf))


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return exp(l) / sum exp(l) along each row; -inf is probability zero."""
    top = np.ascontiguousarray(logits.T).max(axis=0)  # six times as fast as along short rows
    e = np.exp(logits - top[:, None])
    return np.asarray(e / e.sum(axis=1, keepdims=True), dtype=np.float32)


def weighted_kappa(
    a: NDArray[np.int64], b: NDArray[np.int64], w: NDArray[np.float32], classes: int
) -> float:
    """Return Cohen's kappa of two labellings, nodes weighed.

    >>> round(weighted_kappa(np.array([0, 0, 1]), np.array([0, 1, 1]), np.ones(3), 2), 2)
    0.4
    """
    total = float(w.sum())
    if total <= 0:
        return 0.0
    share = w / total
    agree = float(share[a == b].sum())
    chance = float(
        np.bincount(a, weights=share, minlength=classes)
        @ np.bincount(b, weights=share, minlength=classes)
    )
    return (agree - chance) / max(1 - chance, 1e-9)


def real_numbers(given: Any, what: str) -> NDArray[np.float32]:
    """Return what somebody else has made as real numbers of 32 bits; anything else is refused."""
    found = given.toarray() if hasattr(given, "toarray") else given
    try:
        if np.iscomplexobj(found):
            raise TypeError("complex numbers")
        return np.asarray(found, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} is no array of real numbers ({error}); convert it") from error


def check_numbers(what: str, given: Any) -> None:
    """Refuse an array of anything but real numbers, and a sparse matrix that is not sound.

    `scipy.sparse` believes the indices of a matrix; converting one whose indices point outside of
    it reads and writes there.
    """
    kind = getattr(given, "dtype", np.dtype(float))
    if not isinstance(kind, np.dtype) or kind.kind not in "biuf":
        raise InputError(
            f"{what}: found values of type {kind}; expected real numbers; convert them"
        )
    form = getattr(given, "format", None)
    if form == "coo":
        ends = zip(given.coords, given.shape, strict=True)
        sound = all(_within(found, size) and len(found) == len(given.data) for found, size in ends)
    elif form in ("csr", "csc", "bsr") and given.ndim == 2:
        size = np.array(given.shape) // (given.blocksize if form == "bsr" else 1)
        major, minor = size if form != "csc" else size[::-1]
        indices, indptr = given.indices, given.indptr
        sound = len(indptr) == major + 1 and indptr[0] == 0 and _rising(indptr)
        sound = sound and indptr[-1] <= len(indices) and len(indices) <= len(given.data)
        sound = sound and _within(indices, minor)
    else:
        return
    if not sound:
        raise InputError(
            f"{what}: its indices point outside of its shape {given.shape}; make the matrix again"
        )


def _within(found: NDArray[Any], size: int) -> bool:
    return not len(found) or bool(found.min() >= 0 and found.max() < size)


def _rising(found: NDArray[Any]) -> bool:
    return bool((found[1:] >= found[:-1]).all())
