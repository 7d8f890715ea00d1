r"""Pooled EM: text, diffusion and messages share one opinion, from which class means learn.

Three readings of each node, with class centres :math:`m_c` that start at the class vectors
:math:`s_c`, x the node vectors and z three lazy hops of them (Eq. 13),

.. math::
    t_{ic} \propto \exp(\cos(x_i, m_c) / \tau), \quad
    d_{ic} \propto \exp(\cos(z_i, m_c) / \tau'), \quad
    b_{ic} \propto t_{ic} \prod_{j \sim i} (1 - h + h C b_{jc})^{a_{ij} / \sqrt{\deg i}}

are averaged to the posterior :math:`q = (t + g d + b) / (2 + g)` (a linear opinion pool). Each is
right where the others fail: own text where neighbours mislead, diffusion where texts are weak and
degrees high, messages where neighbours agree. The weight g is 0 where what neighbours say, read
without the node itself, agrees with its own text no better than by chance (Cohen's kappa within
two standard errors), and rises to 1. Where homophily is of no use, d stands in for b. New centres
are

.. math::
    \bar x_c &= \frac{\sum_i w_i q_{ic} x_i + \kappa \ell s_c}{\sum_i w_i q_{ic} + \kappa}, \qquad
    m_c \propto \lambda s_c + (1 - \lambda) \bar x_c / |\bar x_c| ,

so that a description counts as :math:`\kappa` nodes at the usual distance :math:`\ell`: a class of
few nodes keeps to its text. The world is open: :math:`w_i` is the probability that node i is of
*any* listed class, from a mixture of two normal distributions over how well its best class fits
it and its neighbours, so that outsiders move no centre. The last round reads texts through a linear
discriminant of the weighted classes (shared covariance). Labelled nodes keep their label.

X, Z [n, d], S, m [C, d], q [n, C], w [n]. EM for text classification with unlabelled documents:
Nigam et al., 2000, https://doi.org/10.1023/A:1007692713085; opinion pools: Genest and Zidek, 1986.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.arrays import masked, softmax, unit
from unseen.models.base import Inference, Model, Reading, State, check_shared, clamp
from unseen.models.belief_propagation import class_means
from unseen.models.homophily import (
    EDGES,
    Homophily,
    deviation,
    diffusion_weight,
    estimate_homophily,
    sharpen,
)
from unseen.models.messages import messages_of
from unseen.models.typicality import (
    KEPT,
    LAZINESS,
    STEPS,
    Insiders,
    TwoNormals,
    best_fit,
    hops_around,
    own_vectors,
)
from unseen.propagate.hops import hop_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task

LABELLED = 5.0  # unlabelled nodes that one with the label of a possible answer counts as
RIDGE = 0.3  # of the mean variance, added to the covariance of the discriminant


class PooledEM(Model):
    """Three readings of every node, pooled; class means that learn from likely insiders.

    Args:
        description_weight: lambda, of the class vector in its centre.
        pseudo_nodes: kappa, how many nodes a class vector counts as.
        rounds: how often centres are re-estimated; 0 leaves them at the class vectors.
        seed: for the edges that are sampled to estimate homophily.

    Attributes:
        homophily_: what was found out about the edges (`Homophily`).
        csds_, centres_: class vectors, and centres of the last round, of unit length. [C, d]
        means_, precision_, bias_: of the discriminant; no bias without one. [C, d], [d, d], [C]
        temperature_, hop_temperature_: tau of the discriminant, and tau'.
        diffusion_weight_: g.
        typical_: the two normal distributions of fit to the class vectors (`TwoNormals`).
        insiders_: what tells insiders from outsiders, by the centres of the last round
            (`Insiders`).
    """

    adds_classes = True
    adds_nodes = True
    by_class = ("csds_", "centres_", "means_", "bias_")

    def __init__(
        self,
        description_weight: float = 0.7,
        pseudo_nodes: float = 30.0,
        rounds: int = 5,
        seed: int = 0,
    ) -> None:
        self.description_weight = description_weight
        self.pseudo_nodes = pseudo_nodes
        self.rounds = rounds
        self.seed = seed

    def fit(self, task: Task) -> Self:
        """Estimate homophily, then centres and discriminant round by round."""
        check_shared("PooledEM", task)
        rng, S = np.random.default_rng(self.seed), unit(task.S)
        X, Z = self._rows(task)
        scores = masked(X @ S.T, task.allowed)
        self.homophily_ = (
            Homophily(0.0, 0.0, 0.0, 0.5 * deviation(scores), measured=False, edges=False)
            if task.operator is None
            else estimate_homophily(X, scores, task.labels, task.operator, rng)
        )
        usable = self.homophily_.usable > 0 and task.operator is not None
        edges = task.operator.sample_edges(EDGES, rng) if usable and task.operator else None
        self.diffusion_weight_ = diffusion_weight(X, scores, S, task)
        fit = best_fit(X, Z, S, task)
        self.typical_ = TwoNormals.fit(fit)
        w = self.typical_.upper(fit)[:, None]
        known = task.labels >= 0
        answers = np.where(known, task.allowed[task.labels], False)  # labels of possible answers
        w[known] = 1.0
        w[answers] = LABELLED
        labelled = LABELLED * np.bincount(task.labels[answers], minlength=task.classes)
        self.csds_ = self.centres_ = self.means_ = S
        self.precision_ = np.eye(S.shape[1], dtype=np.float32)
        self.bias_ = np.zeros(len(S), dtype=np.float32)
        q = self._pool(task, X, Z, edges, learn=True)[-1]
        for left in range(self.rounds, 0, -1):
            weighed = q * w
            found, size = class_means(X, weighed), weighed.sum(axis=0)[:, None]  # [C, d], [C, 1]
            reach = max(float(np.average((found * S).sum(axis=1), weights=size[:, 0])), 0.05)
            kappa = np.float32(self.pseudo_nodes)
            means = (kappa * np.float32(reach) * S + size * found) / (kappa + size)
            weight = self.description_weight * kappa / np.maximum(kappa + labelled[:, None], 1e-9)
            weight = weight.astype(np.float32)
            self.centres_ = unit(weight * S + (1 - weight) * unit(means))
            self.means_ = self.centres_
            if left == 1:
                self._discriminate(X, w, found, size, means)
            q = self._pool(task, X, Z, edges, learn=True)[-1]
        self.insiders_ = Insiders.fit(Z, best_fit(X, Z, self.centres_, task))
        return self

    def infer(self, task: Task) -> Inference:
        """Return the posterior of own text alone, and with what the neighbours say.

        `background` is the probability of none of the classes.
        """
        X, Z = self._rows(task)
        steps: tuple[NDArray[np.float32], ...] = self._pool(task, X, Z, None, learn=False)  # t, q
        if not self.uses_graph:
            steps = steps[:1]
        background = self.insiders_.background(Z, best_fit(X, Z, self.centres_, task))
        background[task.labels >= 0] = 0.0
        return Inference(steps, steps[-1], background)

    def readings(self, task: Task) -> tuple[Reading, ...]:
        """Return t, d and b; the first two are linear."""
        total, parts = self._parts(task, *self._rows(task), None, learn=False)
        none, omega = np.zeros(len(self.csds_), np.float32), hop_weights(STEPS, LAZINESS)
        linear = (
            ("own text", self.means_ @ self.precision_, self.bias_, self.temperature_, None),
            ("hops around it", self.centres_, none, self.hop_temperature_, omega),
            ("messages of neighbours", None, None, 1.0, None),
        )
        return tuple(
            Reading(name, float(pool / total), p, w, b, float(tau), hops)
            for (pool, p), (name, w, b, tau, hops) in zip(parts, linear, strict=False)
        )

    def add_classes(self, task: Task) -> Self:
        """Return a copy that knows more classes, by their class vectors; the old ones stay."""
        new = unit(task.S[len(self.csds_) :])
        reach = float((self.means_ * self.csds_).sum(axis=1).mean())
        twin = self.take_classes(np.arange(len(self.csds_)))
        twin.csds_ = np.concatenate([self.csds_, new])
        twin.centres_ = np.concatenate([self.centres_, new])
        added = np.float32(reach) * new
        bias = -0.5 * ((added @ self.precision_) * added).sum(axis=1) * bool(self.bias_.any())
        twin.means_ = np.concatenate([self.means_, added])
        twin.bias_ = np.concatenate([self.bias_, bias]).astype(np.float32)
        return twin

    def typical(self, task: Task) -> NDArray[np.float32]:
        """Return w, the probability that a node is of any of the classes. [n]"""
        X, Z = self._rows(task)
        w = self.typical_.upper(best_fit(X, Z, self.csds_, task))
        w[task.labels >= 0] = 1.0
        return w

    def describe(self) -> dict[str, Any]:
        """Return the homophily; a warning only where neighbours had no say at all."""
        found = self.homophily_.describe()
        found["homophily"]["used"] = self.uses_graph
        return found | ({"warnings": []} if self.uses_graph else {})

    @property
    def uses_graph(self) -> bool:
        """Whether neighbours had a say, by messages or by diffusion."""
        return self.homophily_.usable > 0 or self.diffusion_weight_ > 0

    def state(self) -> State:
        """Return what was learned, by name."""
        parts = {name: asdict(getattr(self, name)) for name in ("homophily_", "typical_")}
        learned = super().state() | parts | self.insiders_.state()
        return {name: value for name, value in learned.items() if name != "insiders_"}

    def restore(self, state: State) -> Self:
        """Take up what `state` returned."""
        super().restore({name: value for name, value in state.items() if name not in KEPT})
        self.homophily_ = Homophily(**state["homophily_"])
        self.typical_ = TwoNormals(**state["typical_"])
        self.insiders_ = Insiders.restored(state)
        return self

    def _rows(self, task: Task) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return node vectors and their hops, of unit length. [n, d], [n, d]"""
        X = own_vectors(task)
        return X, hops_around(task, X)

    def _pool(
        self,
        task: Task,
        X: NDArray[np.float32],
        Z: NDArray[np.float32],
        edges: NDArray[np.int64] | None,
        learn: bool,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return t and q; learn the temperatures if asked to."""
        total, parts = self._parts(task, X, Z, edges, learn)
        pooled = sum(weight * p for weight, p in parts) / total
        return parts[0][1], np.asarray(pooled, dtype=np.float32)

    def _parts(
        self,
        task: Task,
        X: NDArray[np.float32],
        Z: NDArray[np.float32],
        edges: NDArray[np.int64] | None,
        learn: bool,
    ) -> tuple[Any, list[tuple[Any, NDArray[np.float32]]]]:
        """Return t, d and b with their weights, and the sum of the weights."""
        weights = self.means_ @ self.precision_  # [C, d]
        scores = np.asarray(X @ weights.T + self.bias_, dtype=np.float32)
        scores[~X.any(axis=1)] = 0.0  # nothing is known of them: their neighbours answer
        scores, far = masked(scores, task.allowed), masked(Z @ self.centres_.T, task.allowed)
        if learn:
            self.temperature_, self.hop_temperature_ = 0.5 * deviation(scores), 0.5 * deviation(far)
            if edges is not None:
                self.temperature_ = sharpen(scores, edges, task.labels)[0]
        text, diffusion = softmax(scores / self.temperature_), softmax(far / self.hop_temperature_)
        for p in (text, diffusion):
            clamp(p, task.labels)
            if task.fixed is not None:
                p[task.fixed_nodes] = task.fixed
        level = self.homophily_.usable
        g = np.float32(self.diffusion_weight_)
        if level and task.operator is not None:
            messages = messages_of(text, task.operator, level, task.fixed_nodes)
            return 2 + g, [(1, text), (g, diffusion), (1, messages)]
        return 1 + 2 * g, [(1, text), (2 * g, diffusion)]

    def _discriminate(
        self,
        X: NDArray[np.float32],
        w: NDArray[np.float32],
        found: NDArray[np.float32],
        size: NDArray[np.float32],
        means: NDArray[np.float32],
    ) -> None:
        """Learn the inverse of the covariance within classes; keep the shrunk means."""
        n, d = float(size.sum()), X.shape[1]
        within = (X * w).T @ X / n - (found.T * (size[:, 0] / n)) @ found
        ridge = max(RIDGE * float(np.trace(within)) / d, 1e-6)
        within = within + ridge * np.eye(d, dtype=np.float32)
        self.precision_ = np.linalg.inv(within).astype(np.float32)
        self.means_ = np.asarray(means, dtype=np.float32)
        self.bias_ = -0.5 * ((self.means_ @ self.precision_) * self.means_).sum(axis=1)
