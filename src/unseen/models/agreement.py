r"""How far neighbours can be believed, judged without a label of any unseen class.

Let :math:`p_i` be what node i's own text says about its class, and :math:`\pi` the mean of p. If a
tie joins two nodes of one class with probability h, and two independent nodes otherwise, then a tie
(i, j) is more likely than a pair of strangers by the factor

.. math:: 1 - h + h \, a_{ij}, \qquad a_{ij} = \sum_c p_{ic} p_{jc} / \pi_c .

The mean log-factor L at the h that makes the observed ties likeliest is the *information* that a
node's text carries about its neighbour's. L also tells how sharp p should be, and which of several
class descriptions reads the texts best: a description that finds noise agrees with nobody.

That likeliest h, :math:`h_1`, is too high as an *agreement* of the graph: a text often names its
neighbour, so that neighbours share words without sharing a class. Nodes that are two or three steps
apart and not tied name each other less. So the agreement is the share of it that one step more
leaves, from their likeliest :math:`h_2` and :math:`h_3`,

.. math:: h = \min\Big(h_1, \frac{h_3 + \epsilon h_1}{h_2 + \epsilon}\Big),

where whatever p understates or overstates cancels, and :math:`h_1` stands in where :math:`h_2` is
lost in noise. Lastly, ties are compared with strangers whose texts are as similar as those of
the tied pair; ties that agree clearly less than such strangers mislead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.vectors import softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.operators import Operator

TIES = 20_000  # sampled for an estimate; enough for two digits of h
STRANGERS = 3_000  # candidates among which a look-alike of a neighbour is sought
BLOCK = 250  # ties that are looked at at a time
SHARPNESS = (0.3, 0.4, 0.5, 0.6, 0.75, 0.9)  # temperatures tried, in deviations of the scores
HIGHEST = 0.95  # h stays below 1, so that no tie is absolute
MISLEADING = 0.75  # ties that carry less than this share of their look-alikes' information mislead
ENOUGH = 50  # pairs of nodes that suffice to measure something on them
USELESS = 0.05  # h below this says nothing
NOISE = 0.1  # epsilon: h_2 well below this is lost in noise


@dataclass(frozen=True)
class Agreement:
    """What was found out about the ties of a graph."""

    level: float  # h in [0, 1]: 0 = ties say nothing about classes
    information: float  # L, nats a tie
    control: float  # L of look-alike strangers
    temperature: float
    measured: bool  # h was counted on labelled ties, not inferred from texts

    @property
    def misleading(self) -> bool:
        """Whether strangers with similar texts agree clearly more than neighbours do."""
        return not self.measured and self.information < MISLEADING * self.control

    @property
    def usable(self) -> float:
        """The h to work with: 0 where ties mislead or say nothing."""
        return 0.0 if self.misleading or self.level < USELESS else self.level


def judge_ties(
    X: NDArray[np.float32],
    scores: NDArray[np.float32],
    labels: NDArray[np.int64],
    operator: Operator,
    rng: np.random.Generator,
) -> Agreement:
    """Estimate the agreement of a graph from text-only scores.

    Args:
        X: node vectors, centred and of unit length. [n, d]
        scores: how each class fits each node's own text; -inf where a class is not allowed. [n, C]
        labels: class positions, -1 = unknown; two labelled ends make a tie countable. [n]
        operator: the graph.
        rng: for sampling.
    """
    ties = operator.ties(TIES, rng)  # [2, m]
    spread = deviation(scores)
    if ties.shape[1] == 0:
        return Agreement(0.0, 0.0, 0.0, 0.5 * spread, False)
    temperature, level, information = sharpen(scores, ties, labels)
    p = softmax(scores / temperature)
    prior = p.mean(axis=0)
    counted = _count_labelled(labels, ties)
    if counted is not None:
        return Agreement(counted, information, 0.0, temperature, True)
    source, target, stranger = _look_alikes(X, ties[:, rng.permutation(ties.shape[1])[:4000]], rng)
    _, near = _fit_level(_overlap(p, prior, source, target))
    _, far = _fit_level(_overlap(p, prior, source, stranger))
    level = _agreement(level, p, prior, ties, operator, rng)
    return Agreement(level, near, far, temperature, False)


def sharpen(
    scores: NDArray[np.float32], ties: NDArray[np.int64], labels: NDArray[np.int64]
) -> tuple[float, float, float]:
    """Return the temperature at which ties are best explained, with its level h and its L."""
    spread = deviation(scores)
    best = (0.5 * spread, 0.0, -np.inf)
    ends, inverse = np.unique(ties, return_inverse=True)
    source, target = inverse.reshape(ties.shape)
    rows, known = scores[ends], labels[ends]
    for factor in SHARPNESS:
        p = softmax(rows / (factor * spread))
        clamp(p, known)
        level, information = _fit_level(_overlap(p, p.mean(axis=0), source, target))
        if information > best[2]:
            best = (factor * spread, level, information)
    return best if best[2] > 1e-3 else (0.5 * spread, 0.0, 0.0)


def deviation(scores: NDArray[np.float32]) -> float:
    """Return the root mean square of scores around each node's own mean, a scale for softmax."""
    allowed = np.isfinite(scores[0])
    kept = scores[:, allowed]
    return float(np.sqrt(((kept - kept.mean(axis=1, keepdims=True)) ** 2).mean())) or 1.0


def clamp(p: NDArray[np.float32], labels: NDArray[np.int64]) -> None:
    """Set the rows of labelled nodes to certainty, in place."""
    known = np.flatnonzero(labels >= 0)
    p[known] = 0.0
    p[known, labels[known]] = 1.0


def _overlap(
    p: NDArray[np.float32],
    prior: NDArray[np.float32],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Return a_ij for each pair. [m]"""
    weight = np.divide(1.0, prior, out=np.zeros_like(prior), where=prior > 1e-6)
    overlap: NDArray[np.float32] = np.einsum(
        "mc,mc,c->m", p[source], p[target], weight, optimize=True
    )
    return overlap


def _fit_level(overlap: NDArray[np.float32]) -> tuple[float, float]:
    """Return the likeliest h and the mean log-factor there, which is concave in h."""
    gain = overlap - 1.0
    low, high = 0.0, HIGHEST
    for _ in range(9):  # halve the bracket around the root of the slope, to two digits of h
        middle = (low + high) / 2
        rising = float((gain / (1.0 + middle * gain)).mean()) > 0
        low, high = (middle, high) if rising else (low, middle)
    level = high if high == HIGHEST else low
    return level, float(np.log1p(level * gain).mean())


def _agreement(
    nearest: float,
    p: NDArray[np.float32],
    prior: NDArray[np.float32],
    ties: NDArray[np.int64],
    operator: Operator,
    rng: np.random.Generator,
) -> float:
    """Return h, from h_1 and pairs that are not tied; h_1 itself where these are few."""
    start, end = ties
    levels = []
    for _ in range(2):
        end = operator.wander(end, rng)
        apart = (start != end) & ~operator.tied(start, end)
        start, end = start[apart], end[apart]
        if len(start) < ENOUGH:
            return nearest
        levels.append(_fit_level(_overlap(p, prior, start, end))[0])
    return min(nearest, (levels[1] + NOISE * nearest) / (levels[0] + NOISE))


def _count_labelled(labels: NDArray[np.int64], ties: NDArray[np.int64]) -> float | None:
    """Return h counted on ties between labelled nodes, corrected for chance; None if too few."""
    ends = labels[ties]
    ends = ends[:, (ends >= 0).all(axis=0)]
    if ends.shape[1] < ENOUGH or (ends == ends[0, 0]).all():  # one class agrees anywhere
        return None
    share = np.bincount(ends.ravel()) / ends.size
    chance = float((share**2).sum())
    same = float((ends[0] == ends[1]).mean())
    return min(max(0.0, (same - chance) / max(1.0 - chance, 1e-6)), HIGHEST)


def _look_alikes(
    X: NDArray[np.float32], ties: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each tie (i, j) find a node k whose text is as similar to i's as j's is."""
    source, target = ties
    crowd = rng.choice(len(X), size=min(STRANGERS, len(X)), replace=False)
    wanted = np.einsum("md,md->m", X[source], X[target])
    others, stranger = X[crowd].T, np.empty_like(source)
    for at in range(0, len(source), BLOCK):  # the likenesses of a block fit the cache
        part = slice(at, at + BLOCK)
        apart = X[source[part]] @ others  # [b, crowd]
        apart -= wanted[part, None]
        np.abs(apart, out=apart)
        apart[(crowd == source[part, None]) | (crowd == target[part, None])] = np.inf
        stranger[part] = crowd[apart.argmin(axis=1)]
    return source, target, stranger
