r"""DGPN where X is sparse: the training loop of `model.py`, with its gradients written out.

Only the reproduction of the paper, whose nodes are bags of words, reaches this file.

Nothing wide is ever formed. With :math:`Z = X W` [n, d_h], the latent vectors of hop k are
:math:`h^{(k)} = \mathrm{ReLU}(a_k P^k Z + b)`, where a is omega when inputs are weighed and 1 when
latent vectors are. Only the rows that labelled nodes depend on are computed: T, the labelled nodes,
at the last hop, those and their neighbours at the one before, and so on. Backwards, with
:math:`\Delta_k = \partial Q / \partial P^k Z`, Horner's rule takes as many steps as forwards:

.. math:: \partial Q / \partial Z = \Delta_0 + P^T (\Delta_1 + P^T (\Delta_2 + \dots)), \qquad
          \partial Q / \partial W = X^T\, \partial Q / \partial Z.

The local head folds into one small matrix, :math:`\phi_{loc}(h) \cdot s_c = h \cdot (V s_c) + c
\cdot s_c`, so that its scores, their softmax and its gradient take one look at each latent vector.

Columns of the latent space do not meet on the way to h, nor on the way back from it. So an epoch is
three turns, and threads wait for each other only between them: each takes some columns, then one of
the two heads, then its columns again. Every number is summed by one thread in one order: the same
bits on every run, with any number of threads.

Dropout takes a random byte for each entry, so its rate is rounded to 1/256. Arrays are written
where they lay in the epoch before.

What was tried: several seeds in one product, so that indices are read once for all (they are 3 % of
its time; seeds had better run side by side, a core for each), and labelled nodes shared out instead
of heads (BLAS sums the last rows of a matrix in another order, hence other bits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unseen.models.dgpn.loops import (
    adam,
    add_rows,
    cross_entropy,
    csr,
    draw,
    drop,
    from_latent,
    multiply,
    to_latent,
)
from unseen.models.dgpn.maps import NAMES
from unseen.models.dgpn.threads import how_many, pool, stretches
from unseen.propagate.memory import WIDEST, columns
from unseen.propagate.sparse import SparseBlocks

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from unseen.models.dgpn.model import DGPN
    from unseen.models.dgpn.threads import Every
    from unseen.propagate.hops import Hops

EIGHT = 8  # rows: products of fewer, or of a number between, are slower in BLAS than of the next


class Maps(NamedTuple):
    """The three maps and their biases, or the gradient of the loss with respect to them."""

    W: NDArray[np.float32]  # psi [d, d_h]
    b: NDArray[np.float32]  # [d_h]
    V_loc: NDArray[np.float32]  # phi_loc [d_h, d_s]
    c_loc: NDArray[np.float32]  # [d_s]
    V_com: NDArray[np.float32]  # phi_com [d_h, d_s]
    c_com: NDArray[np.float32]  # [d_s]


class Columns:
    """Some columns of the latent space, and room for what is known of them alone.

    Args:
        at: which ones.
        rows: of V_com, whose gradient the same thread looks after.
        width: c, how many columns there is room for: `at` and zeros up to a multiple of 8.
        inputs: d.
        nodes: that are needed at each hop, n_k. [K+1]
    """

    def __init__(self, at: slice, rows: slice, width: int, inputs: int, nodes: list[int]) -> None:
        self.at, self.rows = at, rows
        self.own = slice(0, at.stop - at.start)  # the same columns, in here
        self.W, self.slope, self.first, self.second = (  # psi, its gradient, Adam's moments [d, c]
            np.zeros((inputs, width), np.float32) for _ in range(4)
        )
        self.received, self.delta = (  # P^k Z, and Delta_k + P^T (Delta_{k+1} + ..). [n_k, c]
            [np.zeros((n, width), np.float32) for n in nodes] for _ in range(2)
        )


class Training:
    """What labelled nodes receive in K hops, cut out of X and P, and room to work in.

    Args:
        model: its settings say what is minimised, and how.
        hops: of sparse attributes.
        labelled: the nodes to learn from, T. [m]
        own: position of each one's class among the rivals. [m]
        rivals: CSDs of the classes that the softmaxes run over. [C', d_s]
    """

    def __init__(
        self,
        model: DGPN,
        hops: Hops,
        labelled: NDArray[np.int64],
        own: NDArray[np.int64],
        rivals: NDArray[np.float32],
    ) -> None:
        blocks = hops.blocks
        assert isinstance(blocks, SparseBlocks)
        assert blocks.operator is not None
        self.model, latent = model, model.latent
        P = blocks.operator.matrix
        rows = [np.sort(labelled)]  # of the last hop first
        for _ in range(blocks.hops):
            rows.append(np.union1d(rows[-1], P[rows[-1]].indices))
        rows.reverse()
        steps = [P[here][:, there] for there, here in pairwise(rows)]
        self.X, self.X_back = csr(blocks.X[rows[0]]), csr(blocks.X[rows[0]].T)
        self.steps, self.back = [csr(step) for step in steps], [csr(step.T) for step in steps]
        self.at = [np.searchsorted(each, labelled).astype(np.int32) for each in rows]
        self.own = np.tile(own, len(rows))
        self.rivals = np.zeros((-(-len(rivals) // EIGHT) * EIGHT, rivals.shape[1]), np.float32)
        self.rivals[: len(rivals)] = rivals
        self.classes = len(rivals)
        self.before, self.after = (np.array(w, np.float32) for w in model._weights(hops))
        self.share = model._local_share(len(rows))  # of the local loss
        self.dropped = np.uint8(min(255, round(256 * model.dropout)))
        self.scale = np.float32(256 / (256 - int(self.dropped)))
        no = np.uint8(0), np.float32(1)
        self.drop_prediction = (self.dropped, self.scale) if model.drop_prediction else no

        count, m, d_s = len(rows), len(labelled), rivals.shape[1]
        edges = len(self.X[1]) + sum(len(step[1]) for step in self.steps)
        heads = m * (count * len(self.rivals) + d_s)
        self.threads = how_many(latent * (2 * edges + 3 * heads), latent)
        c, slices = columns(latent, min(WIDEST, -(-latent // self.threads)))
        pieces = zip(slices, stretches(latent, len(slices)), strict=True)
        nodes = [len(each) for each in rows]
        self.columns = [Columns(*piece, c, blocks.X.shape[1], nodes) for piece in pieces]
        self.noise_shape = (count + 1, m, max(latent, d_s))
        self._H, self._dH = (np.empty((count, m, latent), np.float32) for _ in range(2))
        self._z, self._d_z = (np.empty((m, latent), np.float32) for _ in range(2))
        self._f = np.empty((len(self.rivals), count * m), np.float32)
        self._g = np.empty((len(self.rivals), m), np.float32)
        self._s = np.empty((m, d_s), np.float32)

    def train(self, start: dict[str, Tensor]) -> Iterator[float]:
        """Take steps of Adam, in place, and give the loss before each; W is written at the end."""
        maps = Maps(*(start[name].numpy() for name in NAMES))
        rate, decay = self.model.learning_rate, self.model.decay
        state = np.random.SFC64(self.model.seed).state["state"]["state"]
        size = int(np.prod(self.noise_shape))
        words = np.empty((2, -(-size // 8)), np.uint64)  # of this epoch and of the next
        noise = [each.view(np.uint8)[:size].reshape(self.noise_shape) for each in words]
        gradients = Maps(*(np.zeros_like(each) for each in maps))
        narrow = [
            (value.reshape(-1), gradient.reshape(-1), *np.zeros((2, value.size), np.float32))
            for value, gradient in zip(maps[1:], gradients[1:], strict=True)
        ]
        self._take(maps.W)
        for part in self.columns:
            part.first[:] = part.second[:] = 0

        def learn(part: Columns) -> None:
            self._backward(part, gradients)
            flat = (each.reshape(-1) for each in (part.W, part.slope, part.first, part.second))
            adam(*flat, epoch, rate, decay)

        draw(state, words[1])
        with pool(self.threads) as every:
            for epoch in range(1, self.model.epochs + 1):
                meanwhile = partial(draw, state, words[(epoch + 1) % 2])
                loss = self._epoch(maps, noise[epoch % 2], gradients, learn, every, meanwhile)
                for each in narrow:
                    adam(*each, epoch, rate, decay)
                yield loss
        for part in self.columns:
            maps.W[:, part.at] = part.W[:, part.own]

    def losses(self, maps: Maps, noise: NDArray[np.uint8]) -> tuple[float, Maps]:
        """Return Q (Eq. 21) and its gradient; a byte of `noise` below the rate drops an entry."""
        gradients = Maps(*(np.empty_like(each) for each in maps))
        self._take(maps.W)
        with pool(self.threads) as every:
            learn = partial(self._backward, gradients=gradients)
            loss = self._epoch(maps, noise, gradients, learn, every)
        for part in self.columns:
            gradients.W[:, part.at] = part.slope[:, part.own]
        return loss, gradients

    def _take(self, W: NDArray[np.float32]) -> None:
        """Share W out."""
        for part in self.columns:
            part.W[:, part.own] = W[:, part.at]

    def _epoch(
        self,
        maps: Maps,
        noise: NDArray[np.uint8],
        gradients: Maps,
        learn: Callable[[Columns], None],
        every: Every,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> float:
        """Return Q, and bring `gradients` up to date but for W, which is up to `learn`."""

        def local_loss() -> float:
            loss = self._local_loss(maps, gradients)
            meanwhile()  # this head is the quicker one
            return loss

        every([partial(self._forward, part, maps.b, noise) for part in self.columns])
        losses = every([partial(self._composed_loss, maps, noise, gradients), local_loss])
        every([partial(learn, part) for part in self.columns])
        return sum(losses)

    def _forward(self, part: Columns, b: NDArray[np.float32], noise: NDArray[np.uint8]) -> None:
        """P^k Z on the rows that are needed, then psi and its dropout on the labelled ones."""
        self._z[:, part.at] = 0
        ends = (part.at.start, part.at.stop)
        source = part.W
        for k, (matrix, u) in enumerate(zip([self.X, *self.steps], part.received, strict=True)):
            multiply(matrix, source, u)
            source = u
            left_out = (noise[k], self.dropped, self.scale)
            weights = (self.before[k], self.after[k])
            to_latent(u, self.at[k], b, *left_out, *weights, self._H[k], self._z, *ends)

    def _local_loss(self, maps: Maps, gradients: Maps) -> float:
        """Return the local loss, Eq. 17-18, and leave its gradients; the head is folded."""
        f, A = self._f, self.rivals @ maps.V_loc.T  # [C', (K+1)m] and [C', d_h]
        h, d_h = (each.reshape(-1, each.shape[2]) for each in (self._H, self._dH))  # [(K+1)m, d_h]
        np.matmul(A, h.T, out=f)
        bias: NDArray[np.float32] = self.rivals @ maps.c_loc  # [C']
        loss = cross_entropy(f, self.own, bias[: self.classes], self.share)
        np.matmul(f.T, A, out=d_h)
        d_A: NDArray[np.float32] = f @ h  # [C', d_h]
        np.matmul(d_A.T, self.rivals, out=gradients.V_loc)
        np.matmul(f.sum(axis=1), self.rivals, out=gradients.c_loc)
        return loss

    def _composed_loss(self, maps: Maps, noise: NDArray[np.uint8], gradients: Maps) -> float:
        """Return the compositional loss, Eq. 20, and leave its gradients but for V_com."""
        g, s, left_out = self._g, self._s, (noise[-1], *self.drop_prediction)
        np.matmul(self._z, maps.V_com, out=s)  # [m, d_s]
        drop(s, maps.c_com, *left_out)
        np.matmul(self.rivals, s.T, out=g)  # [C', m]
        loss = cross_entropy(g, self.own, np.zeros(self.classes, np.float32), 1.0)
        np.matmul(g.T, self.rivals, out=s)
        drop(s, np.zeros_like(maps.c_com), *left_out)
        np.matmul(s, maps.V_com.T, out=self._d_z)
        s.sum(axis=0, out=gradients.c_com)
        return loss

    def _backward(self, part: Columns, gradients: Maps) -> None:
        """Back through psi, where Delta_k takes the place of h^(k), then Horner's rule."""
        at, H = part.at, self._H
        np.matmul(self._z[:, part.rows].T, self._s, out=gradients.V_com[part.rows])
        gradients.b[at] = 0
        for k, d in enumerate(self._dH):
            weights = (self.before[k], self.after[k], self.scale)
            from_latent(H[k], d, self._d_z, *weights, gradients.b, at.start, at.stop)
        part.delta[-1][:] = 0
        add_rows(part.delta[-1], self.at[-1], H[-1], at.start, at.stop)
        for k in range(len(H) - 2, -1, -1):
            multiply(self.back[k], part.delta[k + 1], part.delta[k])
            add_rows(part.delta[k], self.at[k], H[k], at.start, at.stop)
        multiply(self.X_back, part.delta[0], part.slope)
