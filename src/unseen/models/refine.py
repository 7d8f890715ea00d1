r"""Refine: let texts, descriptions and the graph agree with each other over the unlabelled nodes.

Every class has a centre :math:`m_c` that starts at its description. A round is

.. math::
    p_{ic} &\propto \exp(\cos(x_i, m_c) / \tau)                              && \text{own text} \\
    q_{ic} &\propto p_{ic} \prod_{j \sim i} (1 - h + h C q_{jc})^{a_{ij}} && \text{neighbours} \\
    m_c &\propto \lambda\, s_c + (1 - \lambda)\, \overline{x}_c(q)             && \text{new centres}

with the agreement h of the graph and the temperature from `agreement.py`, C the number of classes,
and :math:`\overline{x}_c(q)` the mean direction of the nodes weighted by q. Labelled nodes keep
their label. The description keeps the weight :math:`\lambda` for ever, so that a class cannot
drift away from its name, and all classes are equally likely beforehand, so that small ones are not
swallowed. The last round reads the texts through a linear discriminant of the q-weighted classes
(shared covariance) instead of the cosine.

The second line is repeated K times from q = p; after k times a node has heard from k hops away, so
what the k-th time adds to the winner's lead is the share of hop k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.models.agreement import TIES, Agreement, clamp, deviation, judge_ties, sharpen
from unseen.models.base import Model, check_fit
from unseen.vectors import masked, softmax, unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.hops import Hops
    from unseen.propagate.operators import Operator

DAMPING = 0.5  # of old beliefs in new ones: without it two-coloured graphs swing
RIDGE = 0.1  # of the mean variance, added to the covariance of the discriminant


@dataclass(frozen=True, eq=False)
class Opinions:
    """What each source says about each node, from the narrowest to the widest. Each [n, C]."""

    description: NDArray[np.float32]  # own text against the descriptions alone
    text: NDArray[np.float32]  # own text against what was learned about the classes
    hops: tuple[NDArray[np.float32], ...]  # K+1 times; hops[k] has heard from k hops away
    confidence: NDArray[np.float32]  # how sure one may be

    @property
    def beliefs(self) -> NDArray[np.float32]:
        """The widest opinion, which decides the label."""
        return self.hops[-1]


class Refine(Model):
    """Beliefs over the graph with centres that learn from unlabelled nodes (transductive).

    Args:
        description_weight: lambda; 1 leaves every centre at its description.
        rounds: how often centres are re-estimated.
        hops: K, how far beliefs travel in a round.
        seed: for the ties that are sampled to estimate h.
    """

    def __init__(
        self, description_weight: float = 0.5, rounds: int = 6, hops: int = 6, seed: int = 0
    ) -> None:
        self.description_weight = description_weight
        self.rounds = rounds
        self.hops = hops
        self.seed = seed

    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Estimate h, the temperatures, the centres and the discriminant."""
        check_fit(hops, labels, csds, same_space=True)
        self._refine(self._rows(hops), labels, csds, operator, among)
        return self

    def _refine(
        self,
        X: NDArray[np.float32],
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None,
        among: NDArray[np.bool_] | None,
    ) -> None:
        rng, S = np.random.default_rng(self.seed), unit(csds)
        scores = masked(X @ S.T, among)  # [n, C]
        self.agreement_ = (
            Agreement(0.0, 0.0, 0.0, 0.5 * deviation(scores), measured=False)
            if operator is None
            else judge_ties(X, scores, labels, operator, rng)
        )
        self.level_, self.start_temperature_ = self.agreement_.usable, self.agreement_.temperature
        walk = operator if self.level_ else None
        ties = None if walk is None else walk.ties(TIES, rng)
        self.csds_, centres = S, S
        self.centres_, self.centre_temperature_ = S, self.start_temperature_
        for _ in range(self.rounds):
            p = self._read(masked(X @ centres.T, among), ties, labels)
            q = self._believe(p, walk)[-1]
            self.centres_, self.centre_temperature_ = centres, self.temperature_
            centres = self._centres(S, class_means(X, q))
        if self.description_weight < 1 and self.rounds:
            self._discriminate(X, q)
        else:
            self.means_, self.precision_ = S, np.eye(S.shape[1], dtype=np.float32)
        self._read(masked(self._discriminant(X, self.means_), among), ties, labels)

    def scores(self, hops: Hops, csds: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return what own texts alone say: the discriminant before any neighbour. [n, C]

        Classes that come with other CSDs are known by these alone.
        """
        means = self.means_ if csds is None else self._expected_means(unit(csds))  # [C, d]
        return self._discriminant(self._rows(hops), means)

    def opinions(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        operator: Operator | None,
        among: NDArray[np.bool_] | None = None,
    ) -> Opinions:
        """Read the texts, then let beliefs travel; nothing is learned any more.

        The confidence is the mean of the three opinions: neighbours of one mind sound surer than
        they are.
        """
        return self._opinions(self._rows(hops), labels, operator, among)

    def _opinions(
        self,
        X: NDArray[np.float32],
        labels: NDArray[np.int64],
        operator: Operator | None,
        among: NDArray[np.bool_] | None,
    ) -> Opinions:
        description = softmax(masked(X @ self.csds_.T, among) / self.start_temperature_)
        own = masked(self._discriminant(X, self.means_), among)
        text = softmax(own / self.temperature_)
        clamp(description, labels)
        clamp(text, labels)
        steps = self._believe(text, operator if self.level_ else None)
        confidence = (description + text + steps[-1]) / np.float32(3)
        return Opinions(description, text, tuple(steps), confidence)

    def with_classes(
        self,
        csds: NDArray[np.float32],
        hops: Hops,
        labels: NDArray[np.int64],
        operator: Operator | None,
        among: NDArray[np.bool_] | None = None,
    ) -> Refine:
        """Return a copy that knows more classes; the old ones stay as they were fitted.

        First all classes compete by their descriptions alone, so that the new ones get a fair
        start; then the new centres learn from the nodes at hand, round by round.

        Args:
            csds: vectors of the new classes. [C_new, d]
            hops, labels, operator, among: the nodes at hand, as in `opinions`.
        """
        new = slice(len(self.csds_), None)
        X, walk = self._rows(hops), operator if self.level_ else None
        S = np.concatenate([self.csds_, unit(csds)])
        centres, temperature, found = S, self.start_temperature_, S[new]
        for _ in range(self.rounds):
            p = softmax(masked(X @ centres.T, among) / temperature)
            clamp(p, labels)
            found = class_means(X, self._believe(p, walk)[-1][:, new])
            centres = np.concatenate([self.centres_, self._centres(S[new], found)])
            temperature = self.centre_temperature_
        learned = found if self.description_weight < 1 else S[new]
        return self._copy(csds_=S, centres_=centres, means_=np.concatenate([self.means_, learned]))

    def _rows(self, hops: Hops) -> NDArray[np.float32]:
        """Return own vectors of unit length, in the space of the CSDs. [n, d]"""
        return unit(hops.own)

    def _discriminant(
        self, X: NDArray[np.float32], means: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return the linear discriminant of each class. [n, C]"""
        weights = means @ self.precision_  # [C, d]
        bias = -0.5 * (weights * means).sum(axis=1)
        return np.asarray(X @ weights.T + bias, dtype=np.float32)

    def _expected_means(self, S: NDArray[np.float32]) -> NDArray[np.float32]:
        """Place new classes as far along their CSDs as the fitted ones are on average. [C, d]"""
        return float((self.means_ * self.csds_).sum(axis=1).mean()) * S

    def _centres(self, S: NDArray[np.float32], found: NDArray[np.float32]) -> NDArray[np.float32]:
        """Third line of the formula. [C, d]"""
        weight = self.description_weight
        return unit(weight * S + (1 - weight) * unit(found))

    def _read(
        self,
        scores: NDArray[np.float32],
        ties: NDArray[np.int64] | None,
        labels: NDArray[np.int64],
    ) -> NDArray[np.float32]:
        """First line: scores of own texts as probabilities, labelled nodes at certainty. [n, C]"""
        self.temperature_ = 0.5 * deviation(scores)
        if ties is not None:
            self.temperature_, _, _ = sharpen(scores, ties, labels)
        p = softmax(scores / self.temperature_)
        clamp(p, labels)
        return p

    def _believe(
        self, p: NDArray[np.float32], operator: Operator | None
    ) -> list[NDArray[np.float32]]:
        """Second line, K times; return the beliefs after each, the first being p. K+1 x [n, C]"""
        steps = [p]
        if operator is None:
            return steps
        possible = int((p.max(axis=0) > 0).sum())  # C of the formula
        with np.errstate(divide="ignore"):
            own = np.log(p)  # -inf stays -inf: no neighbour overrules what is certain
        for _ in range(self.hops):
            heard = np.log(1 - self.level_ + self.level_ * possible * steps[-1])
            told = softmax(own + operator.gather(heard))
            steps.append(DAMPING * steps[-1] + (1 - DAMPING) * told)
        return steps

    def _discriminate(self, X: NDArray[np.float32], q: NDArray[np.float32]) -> None:
        """Learn class means [C, d] and the inverse of the covariance within classes [d, d]."""
        n, d = X.shape
        self.means_ = class_means(X, q)
        within = X.T @ X / n - (self.means_.T * (q.sum(axis=0) / n)) @ self.means_
        ridge = max(RIDGE * float(np.trace(within)) / d, 1e-6)  # not 0 where all nodes are alike
        within += ridge * np.eye(d, dtype=np.float32)
        self.precision_ = np.linalg.inv(within).astype(np.float32)

    def _copy(self, **learned: NDArray[np.float32]) -> Refine:
        twin = Refine(**self.get_params())
        twin.__dict__.update({**self.__dict__, **learned})
        return twin


def class_means(X: NDArray[np.float32], q: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean vector of each class, nodes weighted by belief. [C, d]"""
    return np.asarray((q.T @ X) / np.maximum(q.sum(axis=0), 1e-9)[:, None], dtype=np.float32)
