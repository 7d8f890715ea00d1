r"""How much of a decision is due to each hop.

With messages from k hops away, the posterior of node i is :math:`q^{(k)}_i`. With the winner a and
the runner-up b, hop k moved the decision by

.. math::
    \Delta_k = \ln \frac{q^{(k)}_{ia}}{q^{(k)}_{ib}}
             - \ln \frac{q^{(k-1)}_{ia}}{q^{(k-1)}_{ib}},
    \qquad \Delta_0 = \ln \frac{q^{(0)}_{ia}}{q^{(0)}_{ib}} ,

and its share is what it moved in the winner's favour, :math:`\max(\Delta_k, 0)`, over the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TINY = 1e-9


def hop_shares(
    steps: Sequence[NDArray[np.float32]], winner: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return the share of each hop in each decision; rows sum to one. [n, K+1]

    Args:
        steps: posteriors with messages from 0, 1, ..., K hops away, each [n, C].
        winner: class that each node got. [n]
        second: runner-up of each node. [n]
    """
    row = np.arange(len(winner))
    lead = np.stack(
        [np.log((q[row, winner] + TINY) / (q[row, second] + TINY)) for q in steps], axis=1
    )  # [n, K+1]
    moved = np.maximum(np.diff(lead, axis=1, prepend=0.0), 0.0)
    moved[moved.sum(axis=1) <= 0, 0] = 1.0  # even from the start: only the own text had a say
    return np.asarray(moved / moved.sum(axis=1, keepdims=True), dtype=np.float32)
