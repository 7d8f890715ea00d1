r"""Text neighbours: a node is like the nodes whose vectors are nearest to its own, edges or not.

Of m sampled nodes (*anchors*) with vectors :math:`x_a` and posteriors :math:`q_a`, the k nearest
to node i, N(i), without itself, say

.. math:: s_{ic} = \sum_{a \in N(i)} \kappa_{ia} q_{ac} / \sum_{a \in N(i)} \kappa_{ia}, \qquad
    \kappa_{ia} = \max(\cos(x_i, x_a), 0)^3

x [n, d], s [n, C]. How much that is worth shows in how often s finds the class that :math:`q_a`
gives an anchor, without looking at it. All labelled nodes are anchors, as far as there is room.
(Liu, He and Chang, "Large Graph Construction for Scalable Semi-Supervised Learning", 2010: anchors
instead of all pairs keep it linear in n.) A class that came later, which no anchor knows, has what
t gives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.engines.base import engine_of
from unseen.models.blocks import settled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Rows

ANCHORS = 2_000  # m
LARGE = 20_000  # nodes above which half as many have to do
NEAREST = 10  # k
ENOUGH = 300  # anchors, of which the k nearest are near
ITSELF = 0.9999  # cosine from which an anchor is taken to be the node itself
PORTION = 2_000  # nodes that are compared with all anchors at a time
TIE = 1e-6  # of two cosines in float32: which is larger depends on how they were added up
LINKS = "text neighbours"  # where a task keeps them, if it does
DIGITS = 9  # of a cosine in float64 that are sure


@dataclass(frozen=True, eq=False)
class Links:
    """The nearest anchors of nodes and their weights; what classes there are changes neither.

    Attributes:
        vectors: of the anchors. [m, d]
        nearest: positions of the nearest. [n, k]
        weights: kappa. [n, k]
    """

    vectors: NDArray[np.float32]
    nearest: NDArray[np.int16]
    weights: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TextNeighbours:
    """Anchors: vectors [m, d], and their posteriors by class [C, m]."""

    vectors: NDArray[np.float32]
    posteriors: NDArray[np.float32]

    @classmethod
    def fit(cls, X: Rows, q: Rows, task: Task, seed: int) -> Self:
        """Draw anchors among the nodes of a task; labelled nodes come first."""
        rng, engine = np.random.default_rng(seed), engine_of(task)
        order = rng.permutation(task.nodes)
        order = order[np.argsort(task.labels[order] < 0, kind="stable")]
        nodes = np.sort(order[: ANCHORS if task.nodes <= LARGE else ANCHORS // 2])
        rows = np.asarray(engine.take(X, nodes), dtype=np.float32)
        own = np.asarray(engine.take(q, nodes), dtype=np.float32)
        known = rows.any(axis=1)
        return cls(rows[known], np.ascontiguousarray(own[known].T))

    def weight(self) -> float:
        """Return how much s may count: the share of anchors whose class it finds, cubed.

        Less where anchors are few, since the nearest of them are not near then.
        """
        if len(self.vectors) <= NEAREST:
            return 0.0
        q = self.posteriors.T
        said = self._read(self.vectors, q, np.ones(q.shape[1], dtype=bool))
        found = float((said.argmax(axis=1) == q.argmax(axis=1)).mean())
        return found**3 * min(len(q) / ENOUGH, 1.0)

    def read(self, X: Rows, t: Rows, task: Task) -> Rows:
        """Return s; labelled and fixed nodes, and those like no anchor, keep to t. [n, C]"""
        if len(self.vectors) <= NEAREST:
            return t
        allowed, links = task.allowed, task.memo.get(LINKS)
        if links is not None and np.array_equal(links.vectors, self.vectors):
            found = self._read(links, t, allowed)
            return np.where(settled(task)[:, None], t, found)
        return engine_of(task).map(
            lambda X, t, done: np.where(done[:, None], t, self._read(X, t, allowed)),
            X,
            t,
            settled(task),
        )

    def links(self, X: NDArray[np.float32]) -> Links | None:
        """Return the nearest anchors of nodes; None where there are too few. X [n, d]"""
        if len(self.vectors) <= NEAREST:
            return None
        nearest = np.empty((len(X), NEAREST), dtype=np.int16)
        weights = np.empty((len(X), NEAREST), dtype=np.float32)
        for at in range(0, len(X), PORTION):
            rows = slice(at, at + PORTION)
            nearest[rows], weights[rows] = self._weighed(X[rows])
        return Links(self.vectors, nearest, weights)

    def _weighed(self, X: NDArray[np.float32]) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the nearest anchors of some nodes, and kappa. [b, k]"""
        near = np.asarray(X @ self.vectors.T)
        best = self._nearest(X, near)
        return best, np.maximum(np.take_along_axis(near, best, axis=1), 0) ** 3

    def _read(
        self, X: NDArray[np.float32] | Links, t: NDArray[np.float32], allowed: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        said = np.array(t, dtype=np.float32)
        posteriors = np.where(allowed[:, None], self.posteriors, np.float32(0)).T  # [m, C]
        new = allowed & ~self.posteriors.any(
            axis=1
        )  # classes that came later: no anchor knows them
        for at in range(0, len(said), PORTION):
            rows = slice(at, at + PORTION)
            best, weight = (
                (X.nearest[rows], X.weights[rows])
                if isinstance(X, Links)
                else self._weighed(X[rows])
            )  # [b, k]
            s = np.einsum("bk,bkc->bc", weight, posteriors[best])
            total = s.sum(axis=1, keepdims=True)
            s /= np.maximum(total, 1e-12)
            s *= 1 - said[rows][:, new].sum(axis=1, keepdims=True)
            s[:, new] = said[rows][:, new]
            said[rows] = np.where(total > 0, s, said[rows])
        return said

    def _nearest(self, X: NDArray[np.float32], near: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the k nearest anchors of some nodes, by their cosines, the first of equals. [b, k]

        Cosines with the anchor that is the node itself are set to zero. What float32 cannot tell
        apart is compared in float64, so that every engine takes the same anchors.
        """
        row, anchor = np.nonzero(np.abs(near - ITSELF) < TIE)
        if len(row):
            near[row, anchor] = _exact("md,md->m", X[row], self.vectors[anchor])
        near[near > ITSELF] = 0.0
        order = np.argpartition(-near, (NEAREST - 1, NEAREST), axis=1)[:, : NEAREST + 1]
        best = order[:, :NEAREST]
        last, following = np.take_along_axis(near, order[:, -2:], axis=1).T
        tied = np.flatnonzero((last - following < TIE) & (last > 0))
        if len(tied):
            exact = np.where(near[tied] == 0, 0, _exact("md,ad->ma", X[tied], self.vectors))
            best[tied] = np.argsort(-exact, axis=1, kind="stable")[:, :NEAREST]
        return best


def _exact(what: str, one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return cosines to the digits that are sure."""
    wide = np.einsum(what, one.astype(np.float64), other.astype(np.float64), optimize=True)
    found: NDArray[np.float64] = np.round(wide, DIGITS)
    return found
