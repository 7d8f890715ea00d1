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

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.arrays import masked, softmax, unit
from unseen.models.base import Inference, Model, Reading, State, check_shared, clamp
from unseen.models.homophily import EDGES, Homophily, deviation, estimate_homophily, sharpen
from unseen.models.typicality import KEPT, Insiders, best_fit, hops_around, own_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator
    from unseen.core.task import Task

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
        Z = hops_around(task, X)
        self.insiders_ = Insiders.fit(Z, best_fit(X, Z, self.centres_, task))
        return self

    def _fit(self, task: Task, X: NDArray[np.float32], S: NDArray[np.float32]) -> None:
        rng = np.random.default_rng(self.seed)
        scores = masked(X @ S.T, task.allowed)  # [n, C]
        self.homophily_ = (
            Homophily(0.0, 0.0, 0.0, 0.5 * deviation(scores), measured=False, edges=False)
            if task.operator is None
            else estimate_homophily(X, scores, task.labels, task.operator, rng)
        )
        self.level_, self.start_temperature_ = self.homophily_.usable, self.homophily_.temperature
        operator = task.operator if self.level_ else None
        edges = None if operator is None else operator.sample_edges(EDGES, rng)
        self.csds_, centres = S, S
        self.centres_, self.centre_temperature_ = S, self.start_temperature_
        for _ in range(self.rounds):
            p = self._sharpened(masked(X @ centres.T, task.allowed), edges, task.labels)
            q = self._propagate(p, operator)[-1]
            self.centres_, self.centre_temperature_ = centres, self.temperature_
            centres = self._centres(S, class_means(X, q))
        if self.description_weight < 1 and self.rounds:
            self._discriminate(X, q)
        else:
            self.means_, self.precision_ = S, np.eye(S.shape[1], dtype=np.float32)
        self._sharpened(masked(self._discriminant(X), task.allowed), edges, task.labels)

    def infer(self, task: Task) -> Inference:
        """Read the texts, then send messages.

        The confidence is the mean of three posteriors: of the description alone, of the text and
        of the messages. Messages alone are too sure of themselves: neighbours repeat each other.
        """
        X = self._rows(task)
        description = softmax(masked(X @ self.csds_.T, task.allowed) / self.start_temperature_)
        text = softmax(masked(self._discriminant(X), task.allowed) / self.temperature_)
        for p in (description, text):
            clamp(p, task.labels)
            if task.fixed is not None:
                p[task.fixed_nodes] = task.fixed
        steps = self._propagate(text, task.operator if self.level_ else None, task.fixed_nodes)
        sure = (description + text + steps[-1]) / np.float32(3)
        return Inference(tuple(steps), sure, self._background(task, X))

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
        S = np.concatenate([self.csds_, unit(task.S[new])])
        centres, temperature, found = S, self.start_temperature_, S[new]
        scores, old = X @ S.T, X @ self.centres_.T  # only what is new changes from round to round
        for _ in range(self.rounds):
            p = softmax(masked(scores, task.allowed) / temperature)
            clamp(p, task.labels)
            found = class_means(X, self._propagate(p, operator)[-1][:, new])
            centres = np.concatenate([self.centres_, self._centres(S[new], found)])
            scores = np.hstack([old, X @ centres[new].T])
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

    def _background(self, task: Task, X: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return the probability of none of the classes. [n]"""
        if self.insiders_ is None:
            return None
        Z = hops_around(task, X)
        background = self.insiders_.background(Z, best_fit(X, Z, self.centres_, task))
        background[task.labels >= 0] = 0.0
        return background

    def _rows(self, task: Task) -> NDArray[np.float32]:
        """Return node vectors of unit length, in the space of the class vectors. [n, d]"""
        return own_vectors(task)

    def _discriminant(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the linear discriminant of each class. [n, C]"""
        weights = self.means_ @ self.precision_  # [C, d]
        bias = -0.5 * (weights * self.means_).sum(axis=1)
        scores = np.asarray(X @ weights.T + bias, dtype=np.float32)
        scores[~X.any(axis=1)] = 0.0  # nothing is known of them: their neighbours answer
        return scores

    def _centres(self, S: NDArray[np.float32], found: NDArray[np.float32]) -> NDArray[np.float32]:
        """Third line of the formula. [C, d]"""
        weight = self.description_weight
        return unit(weight * S + (1 - weight) * unit(found))

    def _sharpened(
        self,
        scores: NDArray[np.float32],
        edges: NDArray[np.int64] | None,
        labels: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        """First line: scores of own texts as probabilities, labelled nodes at certainty. [n, C]"""
        self.temperature_ = 0.5 * deviation(scores)
        if edges is not None:
            self.temperature_, _, _ = sharpen(scores, edges, labels)
        p = softmax(scores / self.temperature_)
        clamp(p, labels)
        return p

    def _propagate(
        self,
        p: NDArray[np.float32],
        operator: Operator | None,
        fixed: NDArray[np.int64] | None = None,
    ) -> list[NDArray[np.float32]]:
        """Second line, K times; return the beliefs after each, the first being p. K+1 x [n, C]

        Nodes that are fixed send messages and receive none.
        """
        steps = [p]
        if operator is None:
            return steps
        possible = int((p.max(axis=0) > 0).sum())  # C of the formula
        with np.errstate(divide="ignore"):
            own = np.log(p)  # -inf stays -inf: no neighbour overrules what is certain
        for _ in range(self.hops):
            messages = np.log(1 - self.level_ + self.level_ * possible * steps[-1])
            received = softmax(own + operator.aggregate(messages))
            steps.append(DAMPING * steps[-1] + (1 - DAMPING) * received)
            if fixed is not None:
                steps[-1][fixed] = p[fixed]
        return steps

    def _discriminate(self, X: NDArray[np.float32], q: NDArray[np.float32]) -> None:
        """Learn class means [C, d] and the inverse of the covariance within classes [d, d]."""
        n, d = X.shape
        self.means_ = class_means(X, q)
        within = X.T @ X / n - (self.means_.T * (q.sum(axis=0) / n)) @ self.means_
        ridge = max(RIDGE * float(np.trace(within)) / d, 1e-6)  # not 0 where all nodes are alike
        within += ridge * np.eye(d, dtype=np.float32)
        self.precision_ = np.linalg.inv(within).astype(np.float32)


def class_means(X: NDArray[np.float32], q: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean vector of each class, nodes weighted by q. [C, d]"""
    return np.asarray((q.T @ X) / np.maximum(q.sum(axis=0), 1e-9)[:, None], dtype=np.float32)
