"""`Hops`: what a node and its surroundings say, distance by distance (Sec. 4.2 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.propagate.operators import hop_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.operators import Operator


@dataclass(frozen=True, eq=False)
class Hops:
    """The subparts P^k X of each node and the weight of each hop."""

    blocks: tuple[NDArray[np.float32], ...]  # K+1 times [n, d]
    weights: NDArray[np.float32]  # [K+1]

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


def decompose(X: NDArray[np.float32], operator: Operator, hops: int, laziness: float) -> Hops:
    """Walk `hops` steps (K) from X [n, d] and weigh them as a lazy walk does (beta, Eq. 13)."""
    blocks = [np.asarray(X, dtype=np.float32)]
    for _ in range(hops):
        blocks.append(operator.step(blocks[-1]))
    return Hops(tuple(blocks), hop_weights(hops, laziness))
