r"""Messages between neighbours that count less where a node has many of them (`PooledEM`).

.. math:: b_{ic} \propto t_{ic} \prod_{j \sim i} (1 - h + h C b_{jc})^{a_{ij} / \sqrt{\deg i}}

t, b [n, C], h the edge homophily; repeated `HOPS` times from b = t, damped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator

HOPS = 3  # how far messages travel
DAMPING = 0.5  # of old messages in new ones


def messages_of(
    p: NDArray[np.float32],
    operator: Operator,
    level: float,
    fixed: NDArray[np.int64] | None,
) -> NDArray[np.float32]:
    """Return b after K damped rounds; nodes that are fixed send messages and receive none."""
    possible = int((p.max(axis=0) > 0).sum())  # C of the formula
    with np.errstate(divide="ignore"):
        own = np.log(p)
    degrees = np.maximum(np.asarray(operator.weights.sum(axis=1)).ravel(), 1.0)
    scale = (1 / np.sqrt(degrees))[:, None].astype(np.float32)
    q = p
    for _ in range(HOPS):
        sent = np.log(1 - level + level * possible * q).astype(np.float32)
        received = softmax(own + scale * operator.aggregate(sent))
        q = DAMPING * q + (1 - DAMPING) * received
        if fixed is not None:
            q[fixed] = p[fixed]
    return np.asarray(q, dtype=np.float32)
