r"""Typicality: how likely a node is of any of the listed classes at all.

With :math:`f_i = \max_c \cos(x_i, m_c)`, how well the best class fits node i, spread over the graph
by three lazy random-walk steps, plus :math:`\max_c \cos(z_i, m_c)`, how well it fits the hops
around it, a mixture of two normal distributions is fitted by EM: outsiders below, insiders above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.engines.base import engine_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Diffusion, Rows

STEPS, ROUNDS = 3, 60  # of the spreading, and of EM
NARROW = 1e-3  # least deviation of a normal distribution


def best_fit(
    X: Rows, Z: Diffusion, centres: NDArray[np.float32], task: Task
) -> NDArray[np.float32]:
    """Return how well the best allowed class fits each node and its neighbours. [n]"""
    kept = centres[task.allowed] if len(centres) == len(task.allowed) else centres
    engine = engine_of(task)
    own = engine.map(lambda X: (X @ kept.T).max(axis=1), X)  # [n]
    far = engine.map(lambda scores: scores.max(axis=1), Z.cosines(kept))
    if task.operator is None:
        return np.asarray(own + far, dtype=np.float32)
    degrees = task.operator.strength
    linked = degrees > 0
    inverse = 1 / np.maximum(degrees, np.float32(1e-9))
    for _ in range(STEPS):
        own = np.where(linked, 0.5 * own + 0.5 * inverse * task.operator.aggregate(own), own)
    return np.asarray(own + far, dtype=np.float32)


@dataclass(frozen=True)
class TwoNormals:
    """A mixture of two normal distributions on the line: mean, deviation and share of each."""

    low: float
    high: float
    low_deviation: float
    high_deviation: float
    share: float  # of the upper one

    @classmethod
    def fit(cls, values: NDArray[np.float32]) -> Self:
        """Fit by EM, started at the quartiles."""
        v = values.astype(np.float64)
        low, high = (float(q) for q in np.quantile(v, (0.25, 0.75)))
        spread = float(v.std()) + 1e-6
        found = cls(low, high, spread, spread, 0.5)
        for _ in range(ROUNDS):
            r = found._upper(v)
            share = float(np.clip(r.mean(), 0.02, 0.98))
            up, down = max(r.sum(), 1e-9), max((1 - r).sum(), 1e-9)
            high, low = float((r * v).sum() / up), float(((1 - r) * v).sum() / down)
            wide = float(np.sqrt((r * (v - high) ** 2).sum() / up)) + NARROW
            narrow = float(np.sqrt(((1 - r) * (v - low) ** 2).sum() / down)) + NARROW
            found = cls(low, high, narrow, wide, share)
        return found

    def upper(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of the distribution with the larger mean. [n]"""
        r = self._upper(values.astype(np.float64))
        return np.asarray(r if self.high > self.low else 1 - r, dtype=np.float32)

    def _upper(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        a = (
            np.log(self.share / self.high_deviation)
            - 0.5 * ((v - self.high) / self.high_deviation) ** 2
        )
        b = (
            np.log((1 - self.share) / self.low_deviation)
            - 0.5 * ((v - self.low) / self.low_deviation) ** 2
        )
        return np.asarray(1 / (1 + np.exp(np.clip(b - a, -50, 50))))
