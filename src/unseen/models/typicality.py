r"""Typicality: how likely a node is of any of the listed classes at all.

With :math:`f_i = \max_c \cos(x_i, m_c)`, how well the best class fits node i, spread over the graph
by three lazy steps, plus :math:`\max_c \cos(z_i, m_c)`, how well it fits the hops
around it, a mixture of two normal distributions is fitted by EM: outsiders below, insiders above.

Outsiders are like each other too, whatever they are about. So `Insiders` learns from the nodes that
fit best and worst what tells the two apart, and reads every node by it:

.. math:: u = (W + \rho I)^{-1} (\bar z_{best} - \bar z_{worst}), \qquad
    v_i = \mathrm{standard}(u \cdot z_i) + \mathrm{standard}(f_i)

with W the covariance within both groups (a linear discriminant, as in self-training).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.arrays import unit
from unseen.engines.base import engine_of
from unseen.engines.memory import MEMORY, Composed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Diffusion, Engine, Rows

STEPS, LAZINESS = 3, 0.5  # of the spreading
ROUNDS = 60  # of EM
NARROW = 1e-3  # least deviation of a normal distribution
KEPT = ("insider_direction_", "insider_scale_", "insider_normals_")  # names in a saved model
EXTREMES = 0.3  # share of the nodes, at either end of fit, that the discriminant learns from


def own_vectors(task: Task) -> Rows:
    """Return x: node vectors of unit length, or those that somebody who asks often has kept."""
    return task.memo["unit"] if "unit" in task.memo else engine_of(task).view(unit, task.X)


def hops_around(task: Task) -> Diffusion:
    """Return z of every node: three lazy hops of the node vectors (Eq. 13), of unit length."""
    if "around" in task.memo:
        return Composed(np.asarray(task.memo["around"]))
    return engine_of(task).diffuse(task, STEPS, LAZINESS)


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

    def pooled(self) -> TwoNormals:
        """Return both with their common deviation, so that a larger value is never less likely."""
        variance = self.share * self.high_deviation**2 + (1 - self.share) * self.low_deviation**2
        common = float(np.sqrt(variance))
        return TwoNormals(self.low, self.high, common, common, self.share)

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


@dataclass(frozen=True, eq=False)
class Insiders:
    """What tells nodes of the listed classes from all others.

    Attributes:
        direction: u. [d]
        scale: mean and deviation of the discriminant, then of fit, to standardise them by. [2, 2]
        normals: of v.
    """

    direction: NDArray[np.float32]
    scale: NDArray[np.float64]
    normals: TwoNormals

    @classmethod
    def fit(cls, Z: Diffusion, fit: NDArray[np.float32], engine: Engine = MEMORY) -> Self:
        """Learn from hops of unit length, and from how well the best class fits [n].

        The direction is learned from a sample of the nodes where there are many.
        """
        low, high = np.quantile(fit, (EXTREMES, 1 - EXTREMES))
        nodes, rows = Z.sample()
        groups = [rows[fit[nodes] >= high], rows[fit[nodes] <= low]]
        best, worst = (each.mean(axis=0) for each in groups)
        W = sum((each.T @ each for each in groups), np.zeros((rows.shape[1],) * 2, np.float32))
        count = sum(map(len, groups))
        W = W / count - sum(
            len(each) / count * np.outer(mean, mean)
            for each, mean in zip(groups, (best, worst), strict=True)
        )
        ridge = max(float(np.trace(W)) / len(W), 1e-6)  # the mean variance
        direction = np.linalg.solve(W + ridge * np.eye(len(W)), best - worst).astype(np.float32)
        along = _along(Z, direction, engine)
        read = (each.astype(np.float64) for each in (along, fit))
        scale = np.array([(v.mean(), v.std() + 1e-9) for v in read])
        values = _standard(along, scale[0]) + _standard(fit, scale[1])
        return cls(direction, scale, TwoNormals.fit(values).pooled())

    def state(self) -> dict[str, Any]:
        """Return what was learned, by name."""
        normals = asdict(self.normals)
        return dict(zip(KEPT, (self.direction, self.scale, normals), strict=True))

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Self:
        """Return what `state` was made of."""
        direction, scale, normals = (state[name] for name in KEPT)
        return cls(direction, scale, TwoNormals(**normals))

    def background(
        self, Z: Diffusion, fit: NDArray[np.float32], engine: Engine = MEMORY
    ) -> NDArray[np.float32]:
        """Return the probability of none of the classes. [n]"""
        along = _along(Z, self.direction, engine)
        values = _standard(along, self.scale[0]) + _standard(fit, self.scale[1])
        return np.asarray(1 - self.normals.upper(values), dtype=np.float32)


def _along(Z: Diffusion, direction: NDArray[np.float32], engine: Engine) -> NDArray[np.float32]:
    """Return u z of every node. [n]"""
    found: NDArray[np.float32] = engine.map(lambda column: column[:, 0], Z.cosines(direction[None]))
    return found


def _standard(values: NDArray[np.float32], scale: NDArray[np.float64]) -> NDArray[np.float32]:
    mean, deviation = scale
    return np.asarray((values - mean) / deviation, dtype=np.float32)
