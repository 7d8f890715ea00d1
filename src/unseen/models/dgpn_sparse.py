r"""DGPN on sparse attributes: the training loop of `dgpn.py`, with its gradients written out.

Nothing wide is ever formed. With :math:`Z = X W` [n, d_h], the latent vectors of hop k are
:math:`h^{(k)} = \mathrm{ReLU}(a_k P^k Z + b)`, where a is omega when inputs are weighed and 1 when
latent vectors are. Only the rows that labelled nodes can hear are computed: T, the labelled nodes,
at the last hop, those and their neighbours at the one before, and so on. Backwards, with
:math:`\Delta_k = \partial Q / \partial P^k Z`, Horner's rule walks as many steps as forwards:

.. math:: \partial Q / \partial Z = \Delta_0 + P^T (\Delta_1 + P^T (\Delta_2 + \dots)), \qquad
          \partial Q / \partial W = X^T\, \partial Q / \partial Z.

The local head folds into one small matrix, :math:`\phi_{loc}(h) \cdot s_c = h \cdot (V s_c) + c
\cdot s_c`, so that its scores, their softmax and its gradient take one look at each latent vector.

Dropout takes a random byte for each entry, so its rate is rounded to 1/256. Arrays are written
where they lay in the epoch before. One thread, the same bits on every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.sparse import SparseBlocks

EIGHT = 8  # rows: products of fewer, or of a number between, are slower in BLAS than of the next
NEVER = np.float32(-1e30)  # score of a class that is there to fill up the eight

compiled = njit(cache=True, fastmath=True, nogil=True, error_model="numpy")


class Maps(NamedTuple):
    """The three maps and their biases, or the gradient of the loss with respect to them."""

    W: NDArray[np.float32]  # psi [d, d_h]
    b: NDArray[np.float32]  # [d_h]
    V_loc: NDArray[np.float32]  # phi_loc [d_h, d_s]
    c_loc: NDArray[np.float32]  # [d_s]
    V_com: NDArray[np.float32]  # phi_com [d_h, d_s]
    c_com: NDArray[np.float32]  # [d_s]


class Training:
    """What the labelled nodes can hear in K hops, cut out of X and P, and room to work in.

    Args:
        blocks: sparse attributes and the graph.
        labelled: the nodes to learn from, T. [m]
        own: position of each one's class among the rivals. [m]
        rivals: CSDs of the classes that the softmaxes run over. [C', d_s]
        before, after: weights of the hops before psi and after it. Twice [K+1]
        local: weight of the sum over hops of the local losses.
        dropout: share of latent entries left out in an epoch.
        drop_prediction: whether entries of the composed prediction are left out as well.
        latent: d_h.
    """

    def __init__(
        self,
        blocks: SparseBlocks,
        labelled: NDArray[np.int64],
        own: NDArray[np.int64],
        rivals: NDArray[np.float32],
        before: list[float],
        after: list[float],
        local: float,
        dropout: float,
        drop_prediction: bool,
        latent: int,
    ) -> None:
        P = blocks.operator.matrix
        rows = [np.sort(labelled)]  # of the last hop first
        for _ in range(blocks.hops):
            rows.append(np.union1d(rows[-1], P[rows[-1]].indices))
        rows.reverse()
        steps = [P[here][:, there] for there, here in pairwise(rows)]
        self.X, self.X_back = _csr(blocks.X[rows[0]]), _csr(blocks.X[rows[0]].T)
        self.steps, self.back = [_csr(step) for step in steps], [_csr(step.T) for step in steps]
        self.at = [np.searchsorted(each, labelled).astype(np.int32) for each in rows]
        self.own = own
        self.rivals = np.zeros((-(-len(rivals) // EIGHT) * EIGHT, rivals.shape[1]), np.float32)
        self.rivals[: len(rivals)] = rivals
        self.classes = len(rivals)
        self.before, self.after = np.array(before, np.float32), np.array(after, np.float32)
        self.local = local
        self.dropped = round(256 * dropout)
        self.scale = np.float32(256 / (256 - self.dropped))
        self.drop_prediction = drop_prediction
        hops, m, d_s = len(rows), len(labelled), rivals.shape[1]
        self.noise_shape = (hops + 1, m, max(latent, d_s))
        self._heard = [np.empty((len(each), latent), np.float32) for each in rows]
        self._delta = [np.empty_like(each) for each in self._heard]
        self._H, self._dH = (np.empty((hops, m, latent), np.float32) for _ in range(2))
        self._z, self._d_z = (np.empty((m, latent), np.float32) for _ in range(2))
        self._f = np.empty((len(self.rivals), hops * m), np.float32)
        self._g = np.empty((len(self.rivals), m), np.float32)
        self._s, self._mask = (np.empty((m, d_s), np.float32) for _ in range(2))
        self._dW = np.empty((blocks.X.shape[1], latent), np.float32)

    def train(
        self, maps: Maps, epochs: int, rate: float, decay: float, seed: int
    ) -> Iterator[float]:
        """Take steps of Adam, in place, and give the loss before each."""
        random = np.random.SFC64(seed)
        size = int(np.prod(self.noise_shape))
        first, second = (Maps(*(np.zeros_like(each) for each in maps)) for _ in range(2))
        for epoch in range(1, epochs + 1):
            words = random.random_raw(-(-size // 8))
            noise = words.view(np.uint8)[:size].reshape(self.noise_shape)
            loss, gradients = self.losses(maps, noise)
            for value, gradient, m, v in zip(maps, gradients, first, second, strict=True):
                _adam(value.ravel(), gradient.ravel(), m.ravel(), v.ravel(), epoch, rate, decay)
            yield loss

    def losses(self, maps: Maps, noise: NDArray[np.uint8]) -> tuple[float, Maps]:
        """Return Q (Eq. 21) and its gradient; a byte of `noise` below the rate drops an entry."""
        W, b, V_loc, c_loc, V_com, c_com = maps
        H, z, f, g, scale = self._H, self._z, self._f, self._g, self.scale
        # P^k Z on the rows that are needed, then psi and its dropout on the labelled ones
        _multiply(*self.X, W, self._heard[0])
        for step, (near, far) in zip(self.steps, pairwise(self._heard), strict=True):
            _multiply(*step, near, far)
        z.fill(0)
        for k, u in enumerate(self._heard):
            a_k, omega = self.before[k], self.after[k]
            _to_latent(u, self.at[k], a_k, b, noise[k], self.dropped, scale, omega, H[k], z)
        flat = H.reshape(-1, H.shape[2])  # [(K+1)m, d_h]

        # the local loss, Eq. 17-18, folded
        A: NDArray[np.float32] = self.rivals @ V_loc.T  # [C', d_h]
        a: NDArray[np.float32] = self.rivals @ c_loc  # [C']
        a[self.classes :] = NEVER
        np.matmul(A, flat.T, out=f)  # [C', (K+1)m]
        f += a[:, None]
        share = self.local * len(H)
        q_loc = share * _cross_entropy(f, np.tile(self.own, len(H)))
        f *= np.float32(share)
        d_A: NDArray[np.float32] = f @ flat
        d_a: NDArray[np.float32] = f.sum(axis=1)
        np.matmul(f.T, A, out=self._dH.reshape(flat.shape))

        # the compositional loss, Eq. 20
        predicted = np.matmul(z, V_com, out=self._s)  # [m, d_s]
        predicted += c_com
        if self.drop_prediction:
            np.multiply(noise[-1, :, : len(c_com)] >= self.dropped, scale, out=self._mask)
            predicted *= self._mask
        np.matmul(self.rivals, predicted.T, out=g)  # [C', m]
        g[self.classes :] = NEVER
        q_com = _cross_entropy(g, self.own)
        d_predicted = np.matmul(g.T, self.rivals, out=self._s)
        if self.drop_prediction:
            d_predicted *= self._mask
        np.matmul(d_predicted, V_com.T, out=self._d_z)

        # back through psi, where Delta_k takes the place of h^(k), then Horner's rule
        d_b = np.zeros_like(b)
        for k, d in enumerate(self._dH):
            _from_latent(H[k], d, self._d_z, self.after[k], scale, self.before[k], d_b)
        delta = H[-1]
        for k in range(len(H) - 2, -1, -1):
            _multiply(*self.back[k], delta, self._delta[k])
            delta = self._delta[k]
            _add_rows(delta, self.at[k], H[k])
        _multiply(*self.X_back, delta, self._dW)
        return q_com + q_loc, Maps(
            W=self._dW,
            b=d_b,
            V_loc=d_A.T @ self.rivals,
            c_loc=d_a @ self.rivals,
            V_com=z.T @ d_predicted,
            c_com=d_predicted.sum(axis=0),
        )


def _cross_entropy(scores: NDArray[np.float32], own: NDArray[np.int64]) -> float:
    """Return the mean of -ln softmax(scores)[own] and put its gradient in their place. [C', m]"""
    nodes = np.arange(scores.shape[1])
    scores -= scores.max(axis=0)
    right = scores[own, nodes].sum(dtype=np.float64)
    np.exp(scores, out=scores)
    total = scores.sum(axis=0)
    scores /= total * np.float32(len(nodes))
    scores[own, nodes] -= np.float32(1 / len(nodes))
    return float((np.log(total).sum(dtype=np.float64) - right) / len(nodes))


def _csr(matrix: Any) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return a sparse matrix as compiled code takes it."""
    found = sp.csr_array(matrix, dtype=np.float32)
    return found.indptr.astype(np.int32), found.indices.astype(np.int32), found.data


@compiled
def _multiply(indptr, indices, data, B, out):  # type: ignore[no-untyped-def]
    """out = M B for M in CSR, four entries of a row at a time. [n, d]"""
    for i in range(len(out)):
        row, at, end = out[i], indptr[i], indptr[i + 1]
        row[:] = np.float32(0)
        while at + 4 <= end:
            p, q, r, s = data[at], data[at + 1], data[at + 2], data[at + 3]
            one, two = B[indices[at]], B[indices[at + 1]]
            three, four = B[indices[at + 2]], B[indices[at + 3]]
            for c in range(len(row)):
                row[c] += p * one[c] + q * two[c] + r * three[c] + s * four[c]
            at += 4
        while at < end:
            _add(row, data[at], B[indices[at]])
            at += 1


@compiled
def _add(row, weight, other):  # type: ignore[no-untyped-def]
    """row += weight * other"""
    for c in range(len(row)):
        row[c] += weight * other[c]


@compiled
def _add_rows(delta, at, more):  # type: ignore[no-untyped-def]
    """delta[at] += more"""
    for i in range(len(at)):
        _add(delta[at[i]], np.float32(1), more[i])


@compiled
def _to_latent(heard, at, before, b, noise, dropped, scale, after, H, z):  # type: ignore[no-untyped-def]
    """h = dropout(ReLU(a_k u + b)) of the labelled rows, and its share of z. [m, d_h]"""
    for i in range(len(at)):
        u, h, byte = heard[at[i]], H[i], noise[i]
        for c in range(len(b)):
            value = before * u[c] + b[c]
            h[c] = value * scale if (value > 0) & (byte[c] >= dropped) else np.float32(0)
        _add(z[i], after, h)


@compiled
def _from_latent(H, d_h, d_z, after, scale, before, d_b):  # type: ignore[no-untyped-def]
    """Put Delta_k in the place of h^(k): its gradient, through dropout and ReLU. [m, d_h]"""
    for i in range(len(H)):
        h, d, z = H[i], d_h[i], d_z[i]
        for c in range(len(h)):
            gradient = (d[c] + after * z[c]) * scale if h[c] > 0 else np.float32(0)
            d_b[c] += gradient
            h[c] = gradient * before


@compiled
def _adam(value, gradient, first, second, step, rate, decay):  # type: ignore[no-untyped-def]
    """One step of Adam (0.9, 0.999, 1e-8), in place."""
    one, two = 1 - 0.9**step, 1 - 0.999**step
    pace, root = np.float32(rate / one), np.float32(1 / np.sqrt(two))
    for i in range(len(value)):
        g = gradient[i] + np.float32(decay) * value[i]
        first[i] = np.float32(0.9) * first[i] + np.float32(0.1) * g
        second[i] = np.float32(0.999) * second[i] + np.float32(0.001) * g * g
        value[i] -= pace * first[i] / (np.sqrt(second[i]) * root + np.float32(1e-8))
