r"""Belief propagation with class means that learn from unlabelled nodes (transductive).

Every class has a centre :math:`m_c` that starts at its description :math:`s_c`. A round is

.. math::
    p_{ic} &\propto \exp(\cos(x_i, m_c) / \tau)                           && \text{own text} \\
    q_{ic} &\propto p_{ic} \prod_{j \sim i} (1 - h + h C q_{jc})^{a_{ij}} && \text{messages} \\
    m_c &\propto \lambda\, s_c + (1 - \lambda)\, \overline{x}_c(q)          && \text{new centres}

with X [n, d], S [C, d], p and q [n, C], the edge homophily h and the temperature from
`homophily.py`, and :math:`\overline{x}_c(q)` the mean direction of the nodes weighted by q.
Labelled nodes keep their label. The description keeps the weight :math:`\lambda` for ever, so that
a class cannot drift away from its name, and all classes are equally likely beforehand, so that
small ones are not swallowed. The last round reads the texts through a linear discriminant of the
q-weighted classes (shared covariance) instead of the cosine.

The second line is loopy belief propagation on a pairwise Markov random field whose compatibility
is h on the diagonal, with the messages of the sum-product algorithm taken from beliefs (the
mean-field shortcut of Gatterbauer et al., "Linearized and Single-Pass Belief Propagation",
https://arxiv.org/abs/1406.7288); the rounds are expectation maximisation. It is repeated K times
from q = p; after k times messages have come from k hops away, so what the k-th time adds to the
winner's lead is the share of hop k.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.arrays import masked, softmax, unit
from unseen.engines.base import engine_of
from unseen.engines.memory import MEMORY
from unseen.models.base import Inference, Model, Reading, State, check_shared
from unseen.models.blocks import clamp, logarithms, possible, read
from unseen.models.discriminant import precision_within
from unseen.models.homophily import EDGES, Homophily, deviation, estimate_homophily, sharpen
from unseen.models.typicality import KEPT, Insiders, best_fit, hops_around, own_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator
    from unseen.core.task import Task
    from unseen.engines.base import Engine, Rows

DAMPING = 0.5  # of old beliefs in new ones: without it two-coloured graphs swing
RIDGE = 0.1  # of the mean variance, added to the covariance of the discriminant


class BeliefPropagation(Model):
    """Texts, neighbours and class means correct each other over the unlabelled nodes.

    Args:
        description_weight: lambda; 1 leaves every centre at its description.
        rounds: how often centres are re-estimated.
        hops: K, how far messages travel in a round.
        seed: for the edges that are sampled to estimate h.

    Attributes:
        homophily_: what was found out about the edges (`Homophily`).
        csds_: class vectors of unit length. [C, d]
        centres_: class centres of the last round. [C, d]
        means_: class means of the discriminant. [C, d]
        precision_: inverse of the covariance within classes. [d, d]
        insiders_: what tells insiders from outsiders (`Insiders`).
        level_: the h that is worked with; 0 where edges mislead or say nothing.
        start_temperature_, centre_temperature_, temperature_: tau of the first round, of the last
            one, and of the discriminant.
    """

    adds_classes = True
    adds_nodes = True
    by_class = ("csds_", "centres_", "means_")
    any_engine = True
    insiders_: Insiders | None = None

    def __init__(
        self, description_weight: float = 0.5, rounds: int = 6, hops: int = 6, seed: int = 0
    ) -> None:
        self.description_weight = description_weight
        self.rounds = rounds
        self.hops = hops
        self.seed = seed

    def fit(self, task: Task) -> Self:
        """Estimate h, the temperatures, the centres and the discriminant."""
        check_shared("BeliefPropagation", task)
        X = self._rows(task)
        self._fit(task, X, unit(task.S))
        Z = hops_around(task)
        self.insiders_ = Insiders.fit(Z, best_fit(X, Z, self.centres_, task), engine_of(task))
        return self

    def _fit(self, task: Task, X: Rows, S: NDArray[np.float32]) -> None:
        rng, engine, allowed = np.random.default_rng(self.seed), engine_of(task), task.allowed

        def cosines(X: Any, centres: NDArray[np.float32]) -> NDArray[np.float32]:
            return masked(X @ centres.T, allowed)

        scores = engine.map(lambda X: cosines(X, S), X)  # [n, C]
        self.homophily_ = estimate_homophily(X, scores, task.labels, task.operator, rng, engine)
        self.level_, self.start_temperature_ = self.homophily_.usable, self.homophily_.temperature
        operator = task.operator if self.level_ else None
        edges = None if operator is None else operator.sample_edges(EDGES, rng)
        self.csds_, centres = S, S
        self.centres_, self.centre_temperature_ = S, self.start_temperature_
        for _ in range(self.rounds):
            scores = engine.map(lambda X, at=centres: cosines(X, at), X)
            self.temperature_ = self._sharpness(scores, edges, task)
            p = engine.map(lambda s, y: read(s, y, self.temperature_), scores, task.labels)
            q = last(self._propagate(p, operator, task))
            self.centres_, self.centre_temperature_ = centres, self.temperature_
            centres = self._centres(S, class_means(X, q, engine))
        if self.description_weight < 1 and self.rounds:
            self.means_, size = weighted_means(X, q, engine)
            everyone = np.ones(task.nodes, dtype=np.float32)
            self.precision_ = precision_within(X, everyone, self.means_, size, RIDGE, engine)
        else:
            self.means_, self.precision_ = S, np.eye(S.shape[1], dtype=np.float32)
        scores = engine.map(lambda X: masked(self._discriminant(X), allowed), X)
        self.temperature_ = self._sharpness(scores, edges, task)

    def infer(self, task: Task) -> Inference:
        """Read the texts, then send messages.

        The confidence is the mean of three posteriors: of the description alone, of the text and
        of the messages. Messages alone are too sure of themselves: neighbours repeat each other.
        """
        X, engine, allowed = self._rows(task), engine_of(task), task.allowed

        def among(scores: Any, labels: Any, temperature: float) -> NDArray[np.float32]:
            return read(masked(scores, allowed), labels, temperature)

        description = engine.map(
            lambda X, y: among(X @ self.csds_.T, y, self.start_temperature_), X, task.labels
        )
        text = engine.map(
            lambda X, y: among(self._discriminant(X), y, self.temperature_), X, task.labels
        )
        if task.fixed is not None:  # a part of a graph, in memory
            description[task.fixed_nodes] = text[task.fixed_nodes] = task.fixed
        steps = tuple(self._propagate(text, task.operator if self.level_ else None, task))
        confidence = engine.map(
            lambda *three: sum(three[1:], three[0]) / np.float32(3), description, text, steps[-1]
        )
        return Inference(steps, confidence, self._background(task, X))

    def readings(self, task: Task) -> tuple[Reading, ...]:
        """Return the own text, which is linear; messages multiply it and are no part of a mean."""
        text = softmax(
            masked(self._discriminant(self._rows(task)), task.allowed) / self.temperature_
        )
        clamp(text, task.labels)
        weights = self.means_ @ self.precision_
        bias = -0.5 * (weights * self.means_).sum(axis=1)
        return (Reading("own text", None, text, weights, bias, float(self.temperature_)),)

    def add_classes(self, task: Task) -> Self:
        """Return a copy that knows more classes; the old ones stay as they were fitted.

        First all classes compete by their descriptions alone, so that the new ones get a fair
        start; then the new centres learn from the nodes at hand, round by round.
        """
        new = slice(len(self.csds_), None)
        X, operator = self._rows(task), task.operator if self.level_ else None
        engine, allowed = engine_of(task), task.allowed
        S = np.concatenate([self.csds_, unit(task.S[new])])
        centres, temperature, found = S, self.start_temperature_, S[new]
        for _ in range(self.rounds):
            p = engine.map(
                lambda X, y, at=centres, t=temperature: read(masked(X @ at.T, allowed), y, t),
                X,
                task.labels,
            )
            q = engine.view(lambda q: q[:, new], last(self._propagate(p, operator, task)))
            found = class_means(X, q, engine)
            centres = np.concatenate([self.centres_, self._centres(S[new], found)])
            temperature = self.centre_temperature_
        learned = found if self.description_weight < 1 else S[new]
        twin = type(self)(**self.get_params())
        twin.__dict__.update(self.__dict__)
        twin.csds_, twin.centres_ = S, centres
        twin.means_ = np.concatenate([self.means_, learned])
        return twin

    def describe(self) -> dict[str, Any]:
        """Return the homophily, and a warning where the graph was left aside."""
        return self.homophily_.describe()

    def state(self) -> State:
        """Return what was learned, by name."""
        learned = super().state() | {"homophily_": asdict(self.homophily_)}
        if self.insiders_ is not None:
            learned |= self.insiders_.state()
        return {name: value for name, value in learned.items() if name != "insiders_"}

    def restore(self, state: State) -> Self:
        """Take up what `state` returned."""
        super().restore({name: value for name, value in state.items() if name not in KEPT})
        self.homophily_ = Homophily(**state["homophily_"])
        self.insiders_ = Insiders.restored(state) if KEPT[0] in state else None
        return self

    def _background(self, task: Task, X: Rows) -> NDArray[np.float32] | None:
        """Return the probability of none of the classes. [n]"""
        if self.insiders_ is None:
            return None
        Z = hops_around(task)
        background = self.insiders_.background(
            Z, best_fit(X, Z, self.centres_, task), engine_of(task)
        )
        background[task.labels >= 0] = 0.0
        return background

    def _rows(self, task: Task) -> Rows:
        """Return node vectors of unit length, in the space of the class vectors. [n, d]"""
        return own_vectors(task)

    def _discriminant(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the linear discriminant of each class. [n, C]"""
        means = self.means_.astype(np.float64)
        weights = means @ self.precision_  # [C, d]
        bias = -0.5 * (weights * means).sum(axis=1)
        scores = np.asarray(X @ weights.T.astype(np.float32) + bias, dtype=np.float32)
        scores[~X.any(axis=1)] = 0.0  # nothing is known of them: their neighbours answer
        return scores

    def _centres(self, S: NDArray[np.float32], found: NDArray[np.float32]) -> NDArray[np.float32]:
        """Third line of the formula. [C, d]"""
        weight = self.description_weight
        return unit(weight * S + (1 - weight) * unit(found))

    def _sharpness(self, scores: Rows, edges: NDArray[np.int64] | None, task: Task) -> float:
        """Return the temperature of scores: what the edges say, or half their deviation."""
        engine = engine_of(task)
        if edges is None:
            return 0.5 * deviation(scores, engine)
        return sharpen(scores, edges, task.labels, engine)[0]

    def _propagate(self, p: Rows, operator: Operator | None, task: Task) -> Iterator[Rows]:
        """Second line, K times; yield the beliefs after each, the first being p. K+1 x [n, C]

        Nodes that are fixed send messages and receive none.
        """
        yield p
        if operator is None:
            return
        engine, h, fixed, q = engine_of(task), self.level_, task.fixed_nodes, p
        count = int((engine.reduce(possible, p) > 0).sum())  # C of the formula
        own = engine.view(logarithms, p)
        for _ in range(self.hops):
            messages = engine.map(lambda q: np.log(1 - h + h * count * q), q)
            q = engine.map(_damped, q, own, operator.aggregate(messages))
            if fixed is not None:
                q[fixed] = p[fixed]
            yield q


def class_means(X: Rows, q: Rows, engine: Engine = MEMORY) -> NDArray[np.float32]:
    """Return the mean vector of each class, nodes weighted by q. [C, d]"""
    return weighted_means(X, q, engine)[0]


def weighted_means(
    X: Rows, q: Rows, engine: Engine = MEMORY
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the mean vector of each class, nodes weighted by q, and its weight. [C, d], [C]"""
    total, size = engine.reduce(lambda X, q: (q.T @ X, q.sum(axis=0, dtype=np.float64)), X, q)
    means = np.asarray(total / np.maximum(size, 1e-9)[:, None], dtype=np.float32)
    return means, np.asarray(size, dtype=np.float32)


def last(steps: Iterable[Rows]) -> Rows:
    """Return the last of some rows, without holding on to those before."""
    return deque(steps, maxlen=1)[0]


def _damped(
    q: NDArray[np.float32], own: NDArray[np.float32], received: NDArray[np.float32]
) -> NDArray[np.float32]:
    return DAMPING * q + (1 - DAMPING) * softmax(own + received)
