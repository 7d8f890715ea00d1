r"""Edge homophily, estimated without a label of any unseen class.

Let :math:`p_i` [C] be what node i's own text says about its class, and :math:`\pi` the mean of p.
If an edge joins two nodes of one class with probability h, and two independent nodes otherwise,
then an edge (i, j) is more likely than a random pair of nodes by the factor

.. math:: 1 - h + h \, a_{ij}, \qquad a_{ij} = \sum_c p_{ic} p_{jc} / \pi_c .

The mean log-factor L at the h that makes the observed edges likeliest is the *information* that a
node's text carries about its neighbour's class. L also tells how sharp p should be, and which of
several class descriptions reads the texts best: one that finds noise agrees with no neighbour.
Where labels of both ends of enough edges are known, h is counted instead: Newman's assortativity
("Mixing patterns in networks", https://arxiv.org/abs/cond-mat/0209450), which corrects for chance.

The likeliest h, :math:`h_1`, is too high as a homophily of the graph: a text often names its
neighbour, so that neighbours share words without sharing a class. Nodes that are two or three hops
apart, without an edge between them, name each other less. So the homophily is the share of it that
one hop more leaves, from their likeliest :math:`h_2` and :math:`h_3`,

.. math:: h = \min\Big(h_1, \frac{h_3 + \epsilon h_1}{h_2 + \epsilon}\Big),

where whatever p understates or overstates cancels, and :math:`h_1` stands in where :math:`h_2` is
lost in noise. Lastly, edges are compared with matched non-edges: pairs of nodes whose texts are as
similar as those of the edge. Edges whose ends agree clearly less than those mislead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import filled, masked, softmax, weighted_kappa
from unseen.engines.base import engine_of
from unseen.engines.memory import MEMORY
from unseen.models.blocks import clamp, winners

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator
    from unseen.core.task import Task
    from unseen.engines.base import Engine, Rows

EDGES = 20_000  # sampled for an estimate; enough for two digits of h
POOL = 3_000  # nodes among which the other end of a matched non-edge is sought
COMPARED = 4_000  # edges that are compared with matched non-edges
BLOCK = 250  # edges that are looked at at a time
SHARPNESS = (0.3, 0.4, 0.5, 0.6, 0.75, 0.9)  # temperatures tried, in deviations of the scores
HIGHEST = 0.95  # h stays below 1, so that no edge is absolute
MISLEADING = 0.75  # edges with less than this share of the information of matched non-edges mislead
ENOUGH = 50  # pairs of nodes that suffice to measure something on them
USELESS = 0.05  # h below this says nothing
AGREED = 0.02  # kappa, beyond what chance explains, at which diffusion counts fully
NOISE = 0.1  # epsilon: h_2 well below this is lost in noise


@dataclass(frozen=True)
class Homophily:
    """What was found out about the edges of a graph."""

    level: float  # h in [0, 1]: 0 = edges say nothing about classes
    information: float  # L, nats an edge
    control: float  # L of matched non-edges
    temperature: float
    measured: bool  # h was counted on labelled edges, not inferred from texts
    edges: bool = True  # whether there are any

    @property
    def misleading(self) -> bool:
        """Whether unconnected nodes with similar texts agree clearly more than neighbours do."""
        return not self.measured and self.information < MISLEADING * self.control

    @property
    def usable(self) -> float:
        """The h to work with: 0 where edges mislead or say nothing."""
        return 0.0 if self.misleading or self.level < USELESS else self.level

    def describe(self) -> dict[str, Any]:
        """Return what a record says about it."""
        found = {
            "level": round(self.level, 3),
            "information": round(self.information, 4),
            "control": round(self.control, 4),
            "measured": self.measured,
            "used": self.usable > 0,
        }
        return {"homophily": found, "warnings": [self.warning] if self.warning else []}

    @property
    def warning(self) -> str:
        """A sentence where edges are not used although they exist; else empty."""
        if self.usable or not self.edges:
            return ""
        why = "hardly agree on a class"
        if self.misleading:
            why = "agree less than unconnected nodes with similar texts"
        return f"The graph was left aside: neighbours {why}."


def estimate_homophily(
    X: Rows,
    scores: Rows,
    labels: NDArray[np.int64],
    operator: Operator | None,
    rng: np.random.Generator,
    engine: Engine = MEMORY,
) -> Homophily:
    """Estimate the homophily of a graph from text-only scores.

    Args:
        X: node vectors, centred and of unit length. [n, d]
        scores: how each class fits each node's own text; -inf where a class is not allowed. [n, C]
        labels: class positions, -1 = unknown; edges with two labelled ends are counted. [n]
        operator: the graph, if there is one.
        rng: for sampling.
        engine: whose rows X and scores are.
    """
    edges = np.zeros((2, 0), np.int64) if operator is None else operator.sample_edges(EDGES, rng)
    if operator is None or edges.shape[1] == 0:
        return Homophily(0.0, 0.0, 0.0, 0.5 * deviation(scores, engine), False, edges=False)
    temperature, level, information = sharpen(scores, edges, labels, engine)
    counted = _assortativity(labels, edges)
    if counted is not None:
        return Homophily(counted, information, 0.0, temperature, True)
    total, count = engine.reduce(lambda s: _column_sums(softmax(s / temperature)), scores)
    prior = np.asarray(total / count, dtype=np.float32)

    def overlap(source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.float32]:
        p, q = (softmax(engine.take(scores, ends) / temperature) for ends in (source, target))
        return _overlap(p, q, prior)

    compared = edges[:, rng.permutation(edges.shape[1])[:COMPARED]]
    source, target, other = _matched_non_edges(X, compared, rng, engine)
    _, near = _fit_level(overlap(source, target))
    _, far = _fit_level(overlap(source, other))
    level = _decayed(level, overlap, edges, operator, rng)
    return Homophily(level, near, far, temperature, False)


def sharpen(
    scores: Rows,
    edges: NDArray[np.int64],
    labels: NDArray[np.int64],
    engine: Engine = MEMORY,
) -> tuple[float, float, float]:
    """Return the temperature at which edges are best explained, with its level h and its L."""
    spread = deviation(scores, engine)
    best = (0.5 * spread, 0.0, -np.inf)
    ends, inverse = np.unique(edges, return_inverse=True)
    source, target = inverse.reshape(edges.shape)
    rows, known = engine.take(scores, ends), labels[ends]
    for factor in SHARPNESS:
        p = softmax(rows / (factor * spread))
        clamp(p, known)
        level, information = _fit_level(_overlap(p[source], p[target], p.mean(axis=0)))
        if information > best[2]:
            best = (factor * spread, level, information)
    return best if best[2] > 1e-3 else (0.5 * spread, 0.0, 0.0)


def deviation(scores: Rows, engine: Engine = MEMORY) -> float:
    """Return the root mean square of scores around each node's own mean, a scale for softmax."""
    total, count = engine.reduce(_squares, scores)
    return float(np.sqrt(total / count)) or 1.0


def _squares(scores: NDArray[np.float32]) -> tuple[float, int]:
    """Return the sum of squares of scores around their mean, and how many are finite."""
    kept = scores[:, np.isfinite(scores[0])]
    mean = float(((kept - kept.mean(axis=1, keepdims=True)) ** 2).mean())
    return mean * kept.size, kept.size


def _column_sums(p: NDArray[np.float32]) -> tuple[NDArray[np.float64], int]:
    return p.sum(axis=0, dtype=np.float64), len(p)


def _overlap(
    p: NDArray[np.float32], q: NDArray[np.float32], prior: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return a_ij for each pair of rows. [m]"""
    weight = np.divide(1.0, prior, out=np.zeros_like(prior), where=prior > 1e-6)
    overlap: NDArray[np.float32] = np.einsum("mc,mc,c->m", p, q, weight, optimize=True)
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


def _decayed(
    nearest: float,
    overlap: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]],
    edges: NDArray[np.int64],
    operator: Operator,
    rng: np.random.Generator,
) -> float:
    """Return h, from h_1 and pairs without an edge; h_1 itself where these are few."""
    start, end = edges
    levels = []
    for _ in range(2):
        end = operator.random_neighbours(end, rng)
        apart = (start != end) & ~operator.has_edges(start, end)
        start, end = start[apart], end[apart]
        if len(start) < ENOUGH:
            return nearest
        levels.append(_fit_level(overlap(start, end))[0])
    return min(nearest, (levels[1] + NOISE * nearest) / (levels[0] + NOISE))


def _assortativity(labels: NDArray[np.int64], edges: NDArray[np.int64]) -> float | None:
    """Return h counted on edges between labelled nodes, corrected for chance; None if too few."""
    ends = labels[edges]
    ends = ends[:, (ends >= 0).all(axis=0)]
    if ends.shape[1] < ENOUGH or (ends == ends[0, 0]).all():  # one class agrees anywhere
        return None
    share = np.bincount(ends.ravel()) / ends.size
    chance = float((share**2).sum())
    same = float((ends[0] == ends[1]).mean())
    return min(max(0.0, (same - chance) / max(1.0 - chance, 1e-6)), HIGHEST)


def _matched_non_edges(
    X: Rows, edges: NDArray[np.int64], rng: np.random.Generator, engine: Engine
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each edge (i, j) find a node k whose text is as similar to i's as j's is."""
    source, target = edges
    pool = rng.choice(X.shape[0], size=min(POOL, X.shape[0]), replace=False)
    rows = engine.take(X, np.concatenate([source, target, pool]))
    one, other, among = np.split(rows, [len(source), 2 * len(source)])
    wanted = np.einsum("md,md->m", one, other)
    others, found = among.T, np.empty_like(source)
    for at in range(0, len(source), BLOCK):  # the similarities of a block fit the cache
        part = slice(at, at + BLOCK)
        apart = one[part] @ others  # [b, pool]
        apart -= wanted[part, None]
        np.abs(apart, out=apart)
        apart[(pool == source[part, None]) | (pool == target[part, None])] = np.inf
        found[part] = pool[apart.argmin(axis=1)]
    return source, target, found


def diffusion_weight(scores: Rows, task: Task) -> float:
    """Return g: whether neighbours, read without the node itself, agree with its own text.

    What the neighbours say, :math:`(P X) S^\\top`, is :math:`P (X S^\\top)`.
    """
    if task.operator is None:
        return 0.0
    engine, allowed = engine_of(task), task.allowed

    def confident(scores: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.where(np.isfinite(scores), scores, np.float32(0))

    near = task.operator.propagate(engine.map(confident, scores))
    own, mine = engine.map(winners, scores), engine.map(filled, engine.view(confident, scores))
    theirs = engine.map(lambda near: winners(masked(near, allowed)), near)
    asked = mine & engine.map(filled, near)
    if not asked.any():
        return 0.0
    own, theirs = own[asked], theirs[asked]
    kappa = weighted_kappa(own, theirs, np.ones(len(own), np.float32), task.classes)
    shares = (np.bincount(each, minlength=task.classes) / len(own) for each in (own, theirs))
    chance = min(float(np.prod(np.stack(list(shares)), axis=0).sum()), 0.99)
    error = float(np.sqrt(chance / (len(own) * (1 - chance))))  # of kappa where there is none
    return float(np.clip((kappa - 2 * error) / AGREED, 0, 1))
