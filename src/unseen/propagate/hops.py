"""`Hops`: what a node and its surroundings say, distance by distance (Sec. 5.2 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.propagate.operators import hop_weights
from unseen.propagate.sparse import SparseBlocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.operators import Operator


LARGE = 2_000_000_000  # multiplications: seconds of scipy, worth the compiled loop of `memory`


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

    @property
    def own(self) -> NDArray[np.float32]:
        """Hop 0: what the node itself says. [n, d]"""
        return self.blocks[0]

    def composed(self) -> NDArray[np.float32]:
        r"""Return :math:`z = \sum_k \omega_k P^k X`. [n, d]"""
        z = self.weights[0] * self.blocks[0]
        for weight, block in zip(self.weights[1:], self.blocks[1:], strict=True):
            z += weight * block
        return np.asarray(z, dtype=np.float32)


def decompose(X: Any, operator: Operator, hops: int, laziness: float) -> Hops:
    """Walk `hops` steps (K) from X [n, d] and weigh them as a lazy walk does (beta, Eq. 13).

    Of a sparse X no block is formed before somebody asks for it.
    """
    if sp.issparse(X):
        return Hops(SparseBlocks(X, operator, hops), hop_weights(hops, laziness))
    blocks = [np.asarray(X, dtype=np.float32)]
    if hops * operator.matrix.nnz * blocks[0].shape[1] >= LARGE:
        from unseen.propagate import memory

        return Hops(memory.walk(operator, blocks[0], hops), hop_weights(hops, laziness))
    for _ in range(hops):
        blocks.append(operator.step(blocks[-1]))
    return Hops(tuple(blocks), hop_weights(hops, laziness))
