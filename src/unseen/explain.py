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
from typing import TYPE_CHECKING, overload

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


class Reasons(Sequence[str]):
    """One short sentence for each of some nodes, formed when it is asked for.

    Args:
        nodes: the nodes to explain. [m]
        winner: class of every node of the graph, labelled or predicted. [n]
        shares: of each hop in the decisions about `nodes`. [m, K+1]
        operator: the graph.
        ids: names of all nodes. [n]
        own: what a node's own evidence is called: "text", "words" or "features".
    """

    def __init__(
        self,
        nodes: NDArray[np.int64],
        winner: NDArray[np.int64],
        shares: NDArray[np.float32],
        operator: Operator,
        ids: Sequence[str],
        own: str,
    ) -> None:
        self._given = (nodes, winner, shares, operator, ids, own)

    def __len__(self) -> int:
        return len(self._given[0])

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if not isinstance(at, slice):
            return self[at : at + 1 or None][0]
        nodes, winner, shares, operator, ids, own = self._given
        return reasons(nodes[at], winner, np.asarray(shares[at]), operator, ids, own)


def reasons(
    nodes: NDArray[np.int64],
    winner: NDArray[np.int64],
    shares: NDArray[np.float32],
    operator: Operator,
    ids: Sequence[str],
    own: str,
) -> list[str]:
    """Return the sentences about some nodes at once; arguments as in `Reasons`."""
    if shares.shape[1] == 1:
        return [f"own {own} alone; the graph was not used"] * len(nodes)
    ends, around, strength = operator.edges_of(nodes)
    counts = np.diff(ends)
    row = np.repeat(np.arange(len(nodes)), counts)
    agreeing = winner[around] == winner[nodes][row]  # [e]
    agreed = np.bincount(row[agreeing], minlength=len(nodes))
    example = _strongest(row, np.where(agreeing, strength, -1.0), ends)  # [m]
    named = agreed > 0
    names = iter(names_of(ids, around[example[named]]))
    near = np.rint(shares[:, :2].astype(np.float64) * 100).astype(int).tolist()
    further = shares[:, 2:].astype(np.float64).sum(axis=1)
    rest = np.rint(further * 100).astype(int).tolist()
    sentences = []
    for i, (count, agree) in enumerate(zip(counts.tolist(), agreed.tolist(), strict=True)):
        if not count:
            sentences.append(f"own {own} alone; no neighbours")
            continue
        more = f", further hops {rest[i]}%" if further[i] >= 0.005 else ""
        sentence = (
            f"own {own} {near[i][0]}%, neighbours {near[i][1]}%{more}; "
            f"{agree} of {count} neighbours agree"
        )
        sentences.append(f"{sentence}, such as {next(names)!r}" if agree else sentence)
    return sentences


def names_of(ids: Sequence[str], nodes: NDArray[np.int64]) -> list[str]:
    """Return the names of some nodes; ids on disk are read together."""
    return ids.names(nodes) if hasattr(ids, "names") else [ids[i] for i in nodes.tolist()]


def _strongest(
    row: NDArray[np.int64], strength: NDArray[np.float32], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where the first of the largest entries of each row lies; any, if it has none. [m]"""
    found = np.zeros(len(ends) - 1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(ends))
    if len(filled):
        most = np.zeros(len(found), dtype=strength.dtype)
        most[filled] = np.maximum.reduceat(strength, ends[filled])
        at = np.where(strength == most[row], np.arange(len(row)), len(row))
        found[filled] = np.minimum.reduceat(at, ends[filled])
    return found
