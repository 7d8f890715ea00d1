r"""The two networks of Table 6: a GCN of two layers, and the decomposition of two steps.

Features X [n, d] have rows that sum to one; :math:`\hat P = \tilde I + \tilde P` is the step of
Eq. 14; C classes, K = 2. Both answer with logits [n, C]:

.. math::
    \text{Gcn} &: \hat P\, \mathrm{ReLU}(\hat P X W)\, V
        && W\,[d, 16],\ V\,[16, C] \\
    \text{Decomposed} &: \textstyle\sum_k \binom{K}{k}\, \mathrm{ReLU}(B_k X W + b)\, V + c
        && W\,[d, 128],\ V\,[128, C]

with :math:`B_k = \tilde I^{K-k} \tilde P^k` as Eq. 15 is printed, and, in the exact form, the mean
of all words of k factors :math:`\tilde P` and K-k factors :math:`\tilde I`: the two differ in the
order of the factors and in nothing else.

Where the paper is silent, this follows the GCN that it cites: dropout falls on the input of each
layer (entries of X, latent entries), matrices start by Glorot's rule, the GCN has no biases. The
perceptrons of the decomposed network have them, and they start at zero.

Only rows that matter are computed, and the map to few columns goes first: B_k (X W), never B_k X.

Papers: https://doi.org/10.1145/3447548.3467230 (Sec. 6.4), https://arxiv.org/abs/1609.02907 (GCN)
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.paper.gcn_decomposition import binomials, exact_blocks, printed_blocks, renormalised

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Generator, Tensor

HOPS = 2  # as many as the GCN has layers
HIDDEN, LATENT = 16, 128  # columns of W: of the GCN, of psi
DROPOUT = 0.5


class Network:
    """Weights, the first of which carries the penalty, and what they make of some of the nodes."""

    weights: list[Tensor]

    def __init__(self, features: Any) -> None:
        sums = np.asarray(features.sum(axis=1), dtype=np.float64).ravel()
        scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
        self.X = sp.csr_array(sp.diags_array(scale) @ features, dtype=np.float32)

    def cut(self, rows: NDArray[np.int64]) -> Any:
        """Return the parts of the graph and of X that the logits of these nodes are made of."""
        raise NotImplementedError

    def logits(self, cut: Any, rng: Generator | None = None) -> Tensor:
        """Return the logits of the nodes of a cut, with dropout if there is an `rng`. [m, C]"""
        raise NotImplementedError

    def predict(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the class of each of these nodes. [m]"""
        import torch

        with torch.no_grad():
            return np.asarray(self.logits(self.cut(rows)).argmax(dim=1).numpy())


class Gcn(Network):
    """Two layers: each averages over neighbours, then maps."""

    def __init__(self, adjacency: Any, features: Any, classes: int, rng: Generator) -> None:
        super().__init__(features)
        own, edges = renormalised(adjacency)
        self.P = sp.csr_array(own + edges, dtype=np.float32)
        self.weights = [glorot(self.X.shape[1], HIDDEN, rng), glorot(HIDDEN, classes, rng)]

    def cut(self, rows: NDArray[np.int64]) -> Any:
        """Return the second mixing, the first one, and X: of each only the rows asked for."""
        second, near = without_empty_columns(self.P[rows])
        first, around = without_empty_columns(self.P[near])
        return second, first, self.X[around]

    def logits(self, cut: Any, rng: Generator | None = None) -> Tensor:
        """Return P^ ReLU(P^ X W) V. [m, C]"""
        second, first, X = cut
        W, V = self.weights
        h = mix(first, mix(thinned(X, rng), W)).relu()
        return mix(second, dropped(h, rng) @ V)


class Decomposed(Network):
    """One layer for every subpart of Eq. 15, a weighted sum, and a linear map to the classes."""

    def __init__(
        self, adjacency: Any, features: Any, classes: int, rng: Generator, exact: bool
    ) -> None:
        import torch

        super().__init__(features)
        own, edges = renormalised(adjacency)
        start = sp.eye_array(own.shape[0], format="csr")
        omega = binomials(HOPS)
        if exact:
            words = exact_blocks(start, own, edges, HOPS)
            blocks = [word / count for word, count in zip(words, omega, strict=True)]
        else:
            blocks = printed_blocks(start, own, edges, HOPS)
        self.omega = torch.from_numpy(omega)
        self.B = [sp.csr_array(block, dtype=np.float32) for block in blocks]  # K+1 times [n, n]
        W, V = glorot(self.X.shape[1], LATENT, rng), glorot(LATENT, classes, rng)
        b, c = (torch.zeros(width, requires_grad=True) for width in (LATENT, classes))
        self.weights = [W, b, V, c]

    def cut(self, rows: NDArray[np.int64]) -> Any:
        """Return the rows of all B_k, one k below the other, and the rows of X that they reach."""
        stacked = sp.csr_array(sp.vstack([block[rows] for block in self.B]))
        stacked, reached = without_empty_columns(stacked)
        return stacked, self.X[reached]

    def logits(self, cut: Any, rng: Generator | None = None) -> Tensor:
        """Return sum_k omega_k ReLU(B_k X W + b) V + c. [m, C]"""
        import torch

        stacked, X = cut
        W, b, V, c = self.weights
        h = dropped((mix(stacked, mix(thinned(X, rng), W)) + b).relu(), rng)
        z = torch.einsum("k,kmh->mh", self.omega, h.view(HOPS + 1, -1, LATENT))  # Eq. 19
        return z @ V + c


def without_empty_columns(matrix: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the matrix without its empty columns, and which columns are left."""
    used = np.unique(matrix.indices)
    return matrix[:, used], used


def glorot(rows: int, columns: int, rng: Generator) -> Tensor:
    """Return a matrix to be learned, uniform within sqrt(6 / (rows + columns))."""
    import torch

    matrix = torch.nn.init.xavier_uniform_(torch.empty(rows, columns), generator=rng)
    return matrix.requires_grad_()


def dropped(values: Tensor, rng: Generator | None) -> Tensor:
    """Return the values with a share of them zero and the others larger for it."""
    if rng is None:
        return values
    kept = values.new_empty(values.shape).bernoulli_(1 - DROPOUT, generator=rng)
    return values * kept / (1 - DROPOUT)


def thinned(X: Any, rng: Generator | None) -> Any:
    """Return sparse X with dropout on the entries that it has."""
    import torch

    values = dropped(torch.from_numpy(X.data), rng).numpy()
    return sp.csr_array((values, X.indices, X.indptr), shape=X.shape)


def mix(matrix: Any, Z: Tensor) -> Tensor:
    """Return the product of a SciPy matrix [m, n] and a tensor [n, h]. [m, h]"""
    product: Tensor = _product().apply(Z, matrix)
    return product


@cache
def _product() -> Any:
    """Return M Z for a SciPy matrix M; its gradient by Z is M^T times what comes back."""
    import torch

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, Z: Tensor, matrix: Any) -> Tensor:
            ctx.matrix = matrix
            return torch.from_numpy(matrix @ Z.detach().numpy())

        @staticmethod
        def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
            return torch.from_numpy(ctx.matrix.T @ slopes[0].numpy()), None

    return Product
