r"""Messages between neighbours that count less where a node has many of them (`PooledEM`).

.. math:: b_{ic} \propto t_{ic} \prod_{j \sim i} (1 - h + h C b_{jc})^{a_{ij} / \sqrt{\deg i}}

t, b [n, C], h the edge homophily; repeated `HOPS` times from b = t, damped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import softmax
from unseen.engines.base import engine_of
from unseen.models.blocks import logarithms, possible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator
    from unseen.core.task import Task
    from unseen.engines.base import Rows

HOPS = 3  # how far messages travel
DAMPING = 0.5  # of old messages in new ones


def messages_of(p: Rows, operator: Operator, level: float, task: Task) -> Rows:
    """Return b after K damped rounds; nodes that are fixed send messages and receive none."""
    engine, fixed, q = engine_of(task), task.fixed_nodes, p
    count = int((engine.reduce(possible, p) > 0).sum())  # C of the formula
    own = engine.view(logarithms, p)
    scale = 1 / np.sqrt(np.maximum(operator.strength, np.float32(1)))  # [n]
    for _ in range(HOPS):
        sent = engine.map(lambda q: np.log(1 - level + level * count * q), q)
        q = engine.map(_damped, q, own, operator.aggregate(sent), scale)
        if fixed is not None:
            q[fixed] = p[fixed]
    return q


def _damped(
    q: NDArray[np.float32],
    own: NDArray[np.float32],
    received: NDArray[np.float32],
    scale: NDArray[np.float32],
) -> NDArray[np.float32]:
    return DAMPING * q + (1 - DAMPING) * softmax(own + scale[:, None] * received)
