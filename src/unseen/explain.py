r"""Why a node got its class: the share of each hop, and the neighbours that agree.

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

    from unseen.core.operator import Operator

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


def reasons(
    nodes: NDArray[np.int64],
    winner: NDArray[np.int64],
    shares: NDArray[np.float32],
    operator: Operator,
    ids: Sequence[str],
    own: str,
) -> list[str]:
    """Return one short sentence for each of these nodes.

    Args:
        nodes: the nodes to explain. [m]
        winner: class of every node of the graph, labelled or predicted. [n]
        shares: of each hop in the decisions about `nodes`. [m, K+1]
        operator: the graph.
        ids: names of all nodes. [n]
        own: what a node's own evidence is called: "text", "words" or "features".
    """
    if shares.shape[1] == 1:
        return [f"own {own} alone; the graph was not used"] * len(nodes)
    sentences = []
    for node, share in zip(nodes.tolist(), shares.tolist(), strict=True):
        around, strength = operator.neighbours(node)
        if len(around) == 0:
            sentences.append(f"own {own} alone; no neighbours")
            continue
        agreeing = winner[around] == winner[node]
        parts = [f"own {own} {share[0]:.0%}", f"neighbours {share[1]:.0%}"]
        if sum(share[2:]) >= 0.005:
            parts.append(f"further hops {sum(share[2:]):.0%}")
        sentence = f"{', '.join(parts)}; {int(agreeing.sum())} of {len(around)} neighbours agree"
        if agreeing.any():
            best = around[int(np.where(agreeing, strength, -1.0).argmax())]
            sentence += f", such as {ids[best]!r}"
        sentences.append(sentence)
    return sentences
