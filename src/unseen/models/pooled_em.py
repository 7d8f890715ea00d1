r"""Pooled EM: class means learn from the average of text, diffusion and messages.

Three readings of each node, with class centres :math:`m_c` that start at the class vectors
:math:`s_c`, x the node vectors and z three lazy hops of them (Eq. 13),

.. math::
    t_{ic} \propto \exp(\cos(x_i, m_c) / \tau), \quad
    d_{ic} \propto \exp(\cos(z_i, m_c) / \tau'), \quad
    b_{ic} \propto t_{ic} \prod_{j \sim i} (1 - h + h C b_{jc})^{a_{ij} / \sqrt{\deg i}}

are averaged to :math:`q \propto t + g (2 - u) d + u b` (a linear opinion pool). Each is right where
the others fail: own text where neighbours mislead, diffusion where texts are weak and degrees high,
messages where neighbours agree. The weight g is 0 where what neighbours say, read without the node
itself, agrees with its own text no better than by chance (Cohen's kappa within two standard
errors), and rises to 1; :math:`u = \min(h / 0.3, 1)`, since messages say little where h is low. In
the end, nodes with similar texts have a say, too (s, `text_neighbours.py`):
:math:`p \propto q + a s`. Where possible answers have labels, so has what these teach (r,
`labelled_nodes.py`). New centres are

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

from unseen.core.arrays import masked, unit
from unseen.engines.base import engine_of
from unseen.models.base import Inference, Model, Reading, State, check_shared
from unseen.models.belief_propagation import weighted_means
from unseen.models.blocks import averaged, read
from unseen.models.discriminant import precision_within
from unseen.models.homophily import (
    EDGES,
    Homophily,
    deviation,
    diffusion_weight,
    estimate_homophily,
    sharpen,
)
from unseen.models.labelled_nodes import SHARE, LabelledNodes
from unseen.models.messages import messages_of
from unseen.models.text_neighbours import TextNeighbours
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
    from unseen.engines.base import Diffusion, Rows

LABELLED = 5.0  # unlabelled nodes that one with the label of a possible answer counts as
RIDGE = 1.0  # of the mean variance, added to the covariance of the discriminant
CLEAR = 0.3  # homophily from which messages count fully


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
        anchors_, anchor_posteriors_, alike_weight_: of the nodes that others are compared with, and
            a. [m, d], [C, m]
        labelled_: what labels of possible answers teach. [C, 2, d+1]
        typical_: the two normal distributions of fit to the class vectors (`TwoNormals`).
        insiders_: what tells insiders from outsiders, by the centres of the last round
            (`Insiders`).
    """

    adds_classes = True
    adds_nodes = True
    by_class = ("csds_", "centres_", "means_", "bias_", "anchor_posteriors_", "labelled_")
    any_engine = True

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
        rng, S, allowed = np.random.default_rng(self.seed), unit(task.S), task.allowed
        engine, (X, Z) = engine_of(task), self._rows(task)
        scores = engine.map(lambda X: masked(X @ S.T, allowed), X)
        self.homophily_ = estimate_homophily(X, scores, task.labels, task.operator, rng, engine)
        usable = task.operator if self.homophily_.usable > 0 else None
        edges = None if usable is None else usable.sample_edges(EDGES, rng)
        self.diffusion_weight_ = diffusion_weight(scores, task)
        fit = best_fit(X, Z, S, task)
        self.typical_ = TwoNormals.fit(fit)
        w = self.typical_.upper(fit)  # [n]
        known = task.labels >= 0
        answers = np.where(known, allowed[task.labels], False)  # labels of possible answers
        w[known] = 1.0
        w[answers] = LABELLED
        labelled = LABELLED * np.bincount(task.labels[answers], minlength=task.classes)
        self.csds_ = self.centres_ = self.means_ = S
        self.precision_ = np.eye(S.shape[1], dtype=np.float32)
        self.bias_ = np.zeros(len(S), dtype=np.float32)
        q = self._pool(task, X, Z, edges, learn=True)[-1]
        for left in range(self.rounds, 0, -1):
            weighed = engine.view(lambda q, w: q * w[:, None], q, w)
            found, count = weighted_means(X, weighed, engine)  # [C, d], [C]
            size = count[:, None]
            reach = max(float(np.average((found * S).sum(axis=1), weights=count)), 0.05)
            kappa = np.float32(self.pseudo_nodes)
            means = (kappa * np.float32(reach) * S + size * found) / (kappa + size)
            weight = self.description_weight * kappa / np.maximum(kappa + labelled[:, None], 1e-9)
            weight = weight.astype(np.float32)
            self.centres_ = unit(weight * S + (1 - weight) * unit(means))
            self.means_ = self.centres_
            if left == 1:
                self.means_ = means.astype(np.float32)
                self.precision_ = precision_within(X, w, found, count, RIDGE, engine)
                weights = self.means_.astype(np.float64) @ self.precision_
                self.bias_ = (-0.5 * (weights * self.means_).sum(axis=1)).astype(np.float32)
            q = self._pool(task, X, Z, edges, learn=True)[-1]
        alike = TextNeighbours.fit(X, q, task, self.seed)
        self.anchors_, self.anchor_posteriors_ = alike.vectors, alike.posteriors
        self.alike_weight_ = alike.weight()
        self.labelled_ = LabelledNodes.fit(X, Z, S, task, self.seed).weights
        self.insiders_ = Insiders.fit(Z, best_fit(X, Z, self.centres_, task), engine_of(task))
        return self

    def infer(self, task: Task) -> Inference:
        """Return the posterior of own text alone, and with what the neighbours say.

        `background` is the probability of none of the classes.
        """
        X, Z = self._rows(task)
        steps: tuple[Rows, ...] = self._pool(task, X, Z, None, learn=False)  # t, q
        if not self.uses_graph:
            steps = steps[:1]
        engine, alike = engine_of(task), self._alike(task, X, steps[0])
        steps = tuple(engine.map(averaged((1, self.alike_weight_)), p, alike) for p in steps)
        if taught := LabelledNodes(self.labelled_):
            both = averaged((1 - SHARE, SHARE))
            steps = tuple(engine.map(both, p, taught.read(X, Z, p, task)) for p in steps)
        fit = best_fit(X, Z, self.centres_, task)
        background = self.insiders_.background(Z, fit, engine)
        background[task.labels >= 0] = 0.0
        return Inference(steps, steps[-1], background)

    def readings(self, task: Task) -> tuple[Reading, ...]:
        """Return t, d, b, s and r; the first two are linear."""
        (X, Z), a, taught = self._rows(task), self.alike_weight_, LabelledNodes(self.labelled_)
        left = (1 - SHARE if taught else 1.0) / (1 + a)
        total, parts = self._parts(task, X, Z, None, learn=False)
        none, omega = np.zeros(len(self.csds_), np.float32), hop_weights(STEPS, LAZINESS)
        linear = (
            ("own text", self.means_ @ self.precision_, self.bias_, self.temperature_, None),
            ("hops around it", self.centres_, none, self.hop_temperature_, omega),
            ("messages of neighbours", None, None, 1.0, None),
        )
        said = (
            Reading(name, float(pool / total) * left, p, w, b, float(tau), hops)
            for (pool, p), (name, w, b, tau, hops) in zip(parts, linear, strict=False)
        )
        alike = self._alike(task, X, parts[0][1])
        found = (*said, Reading("nodes with similar texts", a * left, alike))
        if not taught:
            return found
        p = averaged([each.pool or 0.0 for each in found])(*(each.posterior for each in found))
        return (*found, Reading("labelled nodes", SHARE, taught.read(X, Z, p, task)))

    def add_classes(self, task: Task) -> Self:
        """Return a copy that knows more classes, by their class vectors; the old ones stay."""
        new, reach = unit(task.S[len(self.csds_) :]), (self.means_ * self.csds_).sum(axis=1).mean()
        twin = self.take_classes(np.arange(len(self.csds_)))
        twin.csds_ = np.concatenate([self.csds_, new])
        twin.centres_ = np.concatenate([self.centres_, new])
        added = np.float32(reach) * new
        bias = -0.5 * ((added @ self.precision_) * added).sum(axis=1) * bool(self.bias_.any())
        twin.means_ = np.concatenate([self.means_, added])
        twin.bias_ = np.concatenate([self.bias_, bias]).astype(np.float32)
        for name in ("anchor_posteriors_", "labelled_"):
            old = getattr(self, name)  # none of them knows the new classes
            setattr(twin, name, np.concatenate([old, np.zeros_like(old[:1]).repeat(len(new), 0)]))
        return twin

    def typical(self, task: Task) -> NDArray[np.float32]:
        """Return w, the probability that a node is of any of the classes. [n]"""
        w = self.typical_.upper(best_fit(*self._rows(task), self.csds_, task))
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

    def _alike(self, task: Task, X: Rows, text: Rows) -> Rows:
        """Return s; labelled nodes, and those answered before, keep to t. [n, C]"""
        return TextNeighbours(self.anchors_, self.anchor_posteriors_).read(X, text, task)

    def _rows(self, task: Task) -> tuple[Rows, Diffusion]:
        """Return node vectors of unit length [n, d], and their hops."""
        return own_vectors(task), hops_around(task)

    def _pool(
        self, task: Task, X: Rows, Z: Diffusion, edges: NDArray[np.int64] | None, learn: bool
    ) -> tuple[Rows, Rows]:
        """Return t and q; learn the temperatures if asked to."""
        weights, parts = zip(*self._parts(task, X, Z, edges, learn)[1], strict=True)
        return parts[0], engine_of(task).map(averaged(weights), *parts)

    def _parts(
        self, task: Task, X: Rows, Z: Diffusion, edges: NDArray[np.int64] | None, learn: bool
    ) -> tuple[float, list[tuple[float, Rows]]]:
        """Return t, d and b with their weights, and the sum of the weights."""
        engine, allowed = engine_of(task), task.allowed
        weights = self.means_ @ self.precision_  # [C, d]

        def discriminant(X: Any) -> NDArray[np.float32]:
            scores = np.asarray(X @ weights.T + self.bias_, dtype=np.float32)
            scores[~X.any(axis=1)] = 0.0  # nothing is known of them: their neighbours answer
            return masked(scores, allowed)

        scores = engine.map(discriminant, X)
        far = engine.view(lambda s: masked(s, allowed), Z.cosines(self.centres_))
        if learn:
            self.hop_temperature_ = 0.5 * deviation(far, engine)
            self.temperature_ = (
                0.5 * deviation(scores, engine)
                if edges is None
                else sharpen(scores, edges, task.labels, engine)[0]
            )
        text = engine.map(lambda s, y: read(s, y, self.temperature_), scores, task.labels)
        diffusion = engine.map(lambda s, y: read(s, y, self.hop_temperature_), far, task.labels)
        if task.fixed is not None:  # a part of a graph, in memory
            text[task.fixed_nodes] = diffusion[task.fixed_nodes] = task.fixed
        level, g = self.homophily_.usable, self.diffusion_weight_
        u = min(level / CLEAR, 1.0) if task.operator is not None else 0.0
        parts = [(1.0, text), (g * (2 - u), diffusion)]
        if u > 0 and task.operator is not None:
            parts.append((u, messages_of(text, task.operator, level, task)))
        return 1 + g * (2 - u) + u, parts
