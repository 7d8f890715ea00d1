"""The loops of `sparse.py`, compiled. They are short, but run over all entries in each epoch.

Compilers make vector code of a loop only if each row is a slice that starts at 0 (an index that may
be negative is checked), branches are selections, and nothing in it can raise. `compiled` may
contract products and sums; `exact` rounds each on its own, as NumPy does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from unseen.propagate.kernels import LANES, gather

if TYPE_CHECKING:
    from numpy.typing import NDArray

exact = njit(cache=True, nogil=True, error_model="numpy")
compiled = njit(cache=True, fastmath=True, nogil=True, error_model="numpy")


class CSR(NamedTuple):
    """A sparse matrix as `gather` takes it."""

    indptr: NDArray[np.int32]  # [n + 1]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    ones: NDArray[np.float32]  # [n]


def csr(matrix: Any) -> CSR:
    """Return a sparse matrix as compiled code takes it."""
    found = sp.csr_array(matrix, dtype=np.float32)
    ones = np.ones(found.shape[0], np.float32)
    return CSR(found.indptr.astype(np.int32), found.indices.astype(np.int32), found.data, ones)


def multiply(M: CSR, B: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """out = M B. [n, c]"""
    vectors = (0,) * (B.shape[1] // LANES)
    gather(M.indptr, M.indices, M.data, B.reshape(-1), vectors, M.ones, out.reshape(-1))


def cross_entropy(
    scores: NDArray[np.float32],  # [C', m]
    own: NDArray[np.int64],  # [m] or more
    bias: NDArray[np.float32],  # [C]
    weight: float,
) -> float:
    """Return the weighted mean of -ln softmax(scores + bias)[own]; its gradient replaces scores.

    Rows beyond those that have a bias are 0 and stay so.
    """
    sums = np.empty(scores.shape[1], np.float32)
    right = _shift(scores, bias, own, sums)
    real = scores[: len(bias)]
    np.exp(real, out=real)
    _to_gradient(real, own, sums, np.float32(weight))
    return float(weight * (np.log(sums).sum(dtype=np.float64) - right) / len(sums))


@compiled
def to_latent(received, at, b, noise, dropped, scale, before, after, H, z, start, stop):  # type: ignore[no-untyped-def]
    """h = dropout(ReLU(a_k u + b)) of the labelled rows, and its share of z. [m, c]"""
    bias = b[start:stop]
    for i in range(len(at)):
        u, byte = received[at[i]], noise[i][start:stop]
        h, sums = H[i][start:stop], z[i][start:stop]
        for c in range(len(bias)):
            value = before * u[c] + bias[c]
            h[c] = value * scale if (value > 0) & (byte[c] >= dropped) else np.float32(0)
        for c in range(len(bias)):
            sums[c] += after * h[c]


@compiled
def from_latent(H, d_h, d_z, before, after, scale, d_b, start, stop):  # type: ignore[no-untyped-def]
    """Put Delta_k in the place of h^(k): its gradient, through dropout and ReLU. [m, c]"""
    sums = d_b[start:stop]
    for i in range(len(H)):
        h, d, z = H[i][start:stop], d_h[i][start:stop], d_z[i][start:stop]
        for c in range(len(sums)):
            gradient = (d[c] + after * z[c]) * scale if h[c] > 0 else np.float32(0)
            sums[c] += gradient
            h[c] = gradient * before


@compiled
def add_rows(delta, at, more, start, stop):  # type: ignore[no-untyped-def]
    """delta[at] += more, some columns of it. [m, c]"""
    for i in range(len(at)):
        row, other = delta[at[i]], more[i][start:stop]
        for c in range(len(other)):
            row[c] += other[c]


@exact
def drop(rows, bias, noise, dropped, scale):  # type: ignore[no-untyped-def]
    """rows = dropout(rows + bias). [m, d_s]"""
    for i in range(len(rows)):
        row, byte = rows[i], noise[i]
        for c in range(len(bias)):
            row[c] = (row[c] + bias[c]) * scale if byte[c] >= dropped else np.float32(0)


@exact
def _shift(scores, bias, own, top):  # type: ignore[no-untyped-def]
    """Add its bias to each class, take the highest score away; return the sum of the right ones."""
    for c in range(len(bias)):
        row = scores[c]
        for i in range(len(row)):
            row[i] += bias[c]
            top[i] = row[i] if (c == 0) | (row[i] > top[i]) else top[i]
    for c in range(len(bias)):
        row = scores[c]
        for i in range(len(row)):
            row[i] -= top[i]
    right = 0.0
    for i in range(len(top)):
        right += scores[own[i], i]
    return right


@exact
def _to_gradient(powers, own, sums, weight):  # type: ignore[no-untyped-def]
    """From powers to the gradient of their mean loss; leave their sums over classes."""
    count, one = np.float32(len(sums)), np.float32(1 / len(sums))
    sums[:] = powers[0]
    for c in range(1, len(powers)):
        row = powers[c]
        for i in range(len(row)):
            sums[i] += row[i]
    for c in range(len(powers)):
        row = powers[c]
        for i in range(len(row)):
            row[i] /= sums[i] * count
    for i in range(len(sums)):
        powers[own[i], i] -= one
    for c in range(len(powers)):
        row = powers[c]
        for i in range(len(row)):
            row[i] *= weight


@exact
def draw(state, words):  # type: ignore[no-untyped-def]
    """Fill `words` with what SFC64 draws next: numpy's own, without waiting for Python."""
    a, b, c, count = state
    for i in range(len(words)):
        word = a + b + count
        count += np.uint64(1)
        a = b ^ (b >> np.uint64(11))
        b = c + (c << np.uint64(3))
        c = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
        words[i] = word
    state[0], state[1], state[2], state[3] = a, b, c, count


@compiled
def adam(value, gradient, first, second, step, rate, decay):  # type: ignore[no-untyped-def]
    """One step of Adam (0.9, 0.999, 1e-8), in place."""
    one, two = 1 - 0.9**step, 1 - 0.999**step
    pace, root = np.float32(rate / one), np.float32(1 / np.sqrt(two))
    for i in range(len(value)):
        g = gradient[i] + np.float32(decay) * value[i]
        first[i] = np.float32(0.9) * first[i] + np.float32(0.1) * g
        second[i] = np.float32(0.999) * second[i] + np.float32(0.001) * g * g
        value[i] -= pace * first[i] / (np.sqrt(second[i]) * root + np.float32(1e-8))
