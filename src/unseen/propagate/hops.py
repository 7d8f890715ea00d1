r"""`Hops`: what a node and its surroundings say, distance by distance (Sec. 5.2 of the paper).

K lazy steps are a weighted sum of hops,

.. math:: (\beta I + (1 - \beta) P)^K x
          = \sum_{k=0}^{K} \binom{K}{k} \beta^{K-k} (1 - \beta)^k P^k x \qquad \text{(Eq. 13)}

so that hop k has the weight :math:`\omega_k = \binom{K}{k} \beta^{K-k} (1-\beta)^k`. With
:math:`\beta = 1/2` these are the normalised weights of the plain GCN (Eq. 10).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.propagate.sparse import SparseBlocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator
    from unseen.core.task import Task


def hop_weights(hops: int, laziness: float) -> NDArray[np.float32]:
    """Return omega_k for k = 0..K (Eq. 13); they sum to one. [K+1]

    >>> hop_weights(2, 0.5).tolist()
    [0.25, 0.5, 0.25]
    """
    return np.array(
        [comb(hops, k) * laziness ** (hops - k) * (1 - laziness) ** k for k in range(hops + 1)],
        dtype=np.float32,
    )


@dataclass(frozen=True, eq=False)
class Hops:
    """The subparts P^k X of each node and the weight of each hop."""

    blocks: Sequence[NDArray[np.float32]]  # K+1 times [n, d]; `SparseBlocks` forms them on demand
    weights: NDArray[np.float32]  # [K+1]

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and width of a block, (n, d)."""
        own = self.blocks.X if isinstance(self.blocks, SparseBlocks) else self.blocks[0]
        n, d = own.shape
        return int(n), int(d)

    def composed(self) -> NDArray[np.float32]:
        r"""Return :math:`z = \sum_k \omega_k P^k X`. [n, d]"""
        z = self.weights[0] * self.blocks[0]
        for weight, block in zip(self.weights[1:], self.blocks[1:], strict=True):
            z += weight * block
        return np.asarray(z, dtype=np.float32)


def hops_of(task: Task, hops: int, laziness: float) -> Hops:
    """Return the hops of a task, K and beta given; formed once, however often they are asked for.

    Without a graph, hops further away than 0 are zero.
    """
    blocks = task.memo.get(hops)
    whose = task.memo.get("of", (task.X, task.operator))
    if blocks is None or whose[0] is not task.X or whose[1] is not task.operator:
        own = task.engine  # whose rows X is; blocks are rows of it as well
        zeros = np.zeros_like if own is None else partial(own.map, np.zeros_like)
        blocks = decompose(task.X, task.operator, hops, laziness, zeros).blocks
        if whose[0] is task.X and whose[1] is task.operator:  # else a task made by `replace`
            task.memo["of"], task.memo[hops] = whose, blocks
    return Hops(blocks, hop_weights(hops, laziness))


def decompose(
    X: Any,
    operator: Operator | None,
    hops: int,
    laziness: float,
    zeros: Callable[[Any], Any] = np.zeros_like,
) -> Hops:
    """Propagate X [n, d] over `hops` steps (K) and weigh them as lazy steps do (beta, Eq. 13).

    Of a sparse X no block is formed before somebody asks for it.
    """
    weights = hop_weights(hops, laziness)
    if sp.issparse(X):
        return Hops(SparseBlocks(X, operator, hops), weights)
    blocks = [X if hasattr(X, "block") else np.asarray(X, dtype=np.float32)]
    for _ in range(hops):
        last = blocks[-1]
        blocks.append(zeros(last) if operator is None else operator.propagate(last))
    return Hops(tuple(blocks), weights)
