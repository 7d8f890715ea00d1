r"""Over-clustering: divide the unlabelled nodes into classes, minding how class texts relate.

k-means with one cluster for each class divides where the data are plainest, and that is often not
where classes part. So nodes are divided more finely, and the fine clusters are given to classes,
several to one, :math:`\pi: a \mapsto c`, so that

.. math::
    \gamma N \operatorname{corr}_{c<d}(D_{cd}(\pi), G_{cd})
    + \kappa\, B(\pi) / B + \eta\, H(\pi) / \ln u

is as large as hill climbing makes it: classes relate as their texts do (D, G and :math:`\gamma N`
as in `matching.py`), much of the variance B between fine clusters lies between classes, and the
sizes of the u classes have a high entropy H. Several divisions vote, node by node.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.models.matching import SHARPNESS, likeness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Edges = Callable[[NDArray[np.float32]], NDArray[np.float32] | None]

KAPPA = 10.0  # set on text graphs made nameless; half or twice as much loses a point to four
ETA = 5.0  # the same from 3 to 10; the higher, the harder a small class is to find
FINE = 2  # fine clusters for each class
LEAST = 8  # fine clusters, for fewer classes
DIVISIONS = 7  # that vote
STARTS = 10  # of a climb
MOST = 8  # unseen classes, beyond which nothing was gained
IMPOSSIBLE = -1e9  # the score when a class is left without a node


@dataclass(frozen=True, eq=False)
class Division:
    """Fine clusters, and what it takes to tell which of them are one class."""

    of: NDArray[np.int64]  # fine cluster of each node [f]
    sizes: NDArray[np.float32]  # [m]
    fine: tuple[NDArray[np.float32], ...]  # mean vectors of fine clusters, by reading  [m, r]
    known: tuple[NDArray[np.float32], ...]  # mean vectors of seen classes, by reading  [C_s, r]
    edges: NDArray[np.float32] | None = None  # between fine clusters and seen classes [m+C_s] twice


def divide(
    readings: Sequence[NDArray[np.float32]],
    known: Sequence[NDArray[np.float32]],
    G: NDArray[np.float64],
    free: NDArray[np.bool_],
    seed: int,
    edges: Edges | None = None,
) -> NDArray[np.int64]:
    """Return a cluster of each node, as many as classes are unseen; their names mean little. [f]

    Args:
        readings: vectors of the nodes, read in several ways; the last is clustered. Each [f, d]
        known: mean vectors of the seen classes in the same readings. Each [C_s, d]
        G: likeness of class texts, standardised. [C, C]
        free: which classes have no label. [C]
        seed: of k-means and of the starts.
        edges: gives the weight of the edges between groups and seen classes, of which group each
            node is in [f, m]; None where there are no edges. [m+C_s, m+C_s]
    """
    from scipy.optimize import linear_sum_assignment

    count, Z = int(free.sum()), readings[-1]
    m = min(max(LEAST, FINE * count), len(np.unique(Z, axis=0)))
    if not 2 <= count <= min(m, MOST):
        return _k_means(Z, count, seed)
    found = []
    for turn in np.random.SeedSequence(seed).generate_state(DIVISIONS).tolist():
        division = _fine_clusters(readings, known, m, turn, edges)
        score, given = _climb(division, G, free, np.random.default_rng(turn))
        found.append((score, given[division.of]))
    best, groups = max(found, key=lambda each: each[0])
    votes = np.zeros((len(Z), count))
    for score, groups_of in found:
        shared = np.zeros((count, count))  # names are found later, so those of the best will do
        np.add.at(shared, (groups_of, groups), 1)
        votes[np.arange(len(Z)), linear_sum_assignment(-shared)[1][groups_of]] += np.exp(
            score - best
        )
    voted: NDArray[np.int64] = votes.argmax(axis=1)
    return voted if len(np.unique(voted)) == count else groups


def _fine_clusters(
    readings: Sequence[NDArray[np.float32]],
    known: Sequence[NDArray[np.float32]],
    m: int,
    seed: int,
    edges: Edges | None = None,
) -> Division:
    of = _k_means(readings[-1], m, seed, starts=1)
    member = np.asarray(of[:, None] == np.arange(m), dtype=np.float32)  # [f, m]
    sizes = member.sum(axis=0)
    fine, seen = [], []
    for X, means in zip(readings, known, strict=True):
        mu = member.T @ X / np.maximum(sizes, 1)[:, None]
        span = np.linalg.qr(np.concatenate([mu, means]).T)[0]  # all that cosines can see  [d, r]
        fine.append(mu @ span)
        seen.append(means @ span)
    linked = None if edges is None else edges(member)
    return Division(of, sizes, tuple(fine), tuple(seen), linked)


def _climb(
    division: Division, G: NDArray[np.float64], free: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[float, NDArray[np.int64]]:
    """Return the best score and the class of each fine cluster there. [m]

    A step gives one fine cluster to another class, or exchanges two classes.
    """
    m, u = len(division.sizes), int(free.sum())
    moves = np.arange(m * u)  # each a fine cluster and a class
    names = np.tile(np.arange(u), (u * (u - 1) // 2, 1))  # of classes, two exchanged  [pairs, u]
    pairs, (one, other) = np.arange(len(names)), np.triu_indices(u, 1)
    names[pairs, one], names[pairs, other] = other, one
    best, top = IMPOSSIBLE - 1, np.zeros(m, np.int64)
    for _ in range(STARTS):
        given = rng.permutation(np.arange(m) % u)  # [m]
        score, reached = IMPOSSIBLE - 1, _scores(given[None], division, G, free)
        steps = given[None]
        while reached.max() > score + 1e-9:
            score, given = float(reached.max()), steps[reached.argmax()]
            moved = np.tile(given, (m * u, 1))
            moved[moves, moves // u] = moves % u
            steps = np.concatenate([moved, names[:, given]])
            reached = _scores(steps, division, G, free)
        if score > best:
            best, top = score, given
    return best, top


def _scores(
    given: NDArray[np.int64],
    division: Division,
    G: NDArray[np.float64],
    free: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the formula for many ways to give fine clusters to classes. [b, m] to [b]"""
    u = int(free.sum())
    share = (given[:, None, :] == np.arange(u)[:, None]) * division.sizes  # [b, u, m]
    sizes = share.sum(axis=2)  # [b, u]
    weights = share / np.maximum(sizes, 1)[:, :, None]
    means = []
    for fine, known in zip(division.fine, division.known, strict=True):
        groups = np.empty((len(given), len(free), fine.shape[1]), np.float32)
        groups[:, free], groups[:, ~free] = weights @ fine, known
        means.append(groups)
    i, j = np.triu_indices(len(free), 1)
    D = likeness(means, _edges_between(given, division, free))
    fit = SHARPNESS * (D[:, i, j] @ G[i, j])  # gamma N corr
    last = division.fine[-1]  # the reading that was clustered
    centre = division.sizes @ last / division.sizes.sum()
    between = (((means[-1][:, free] - centre) ** 2).sum(axis=2) * sizes).sum(axis=1)
    most = max(float(division.sizes @ ((last - centre) ** 2).sum(axis=1)), 1e-9)
    p = sizes / division.sizes.sum()
    entropy = -(p * np.log(np.maximum(p, 1e-9))).sum(axis=1) / np.log(u)
    score = fit + KAPPA * between / most + ETA * entropy
    return np.where(sizes.min(axis=1) > 0, score, IMPOSSIBLE)


def _edges_between(
    given: NDArray[np.int64], division: Division, free: NDArray[np.bool_]
) -> NDArray[np.float32] | None:
    """Return the weight of the edges between classes, for many ways. [b, m] to [b, C, C]"""
    if division.edges is None:
        return None
    m, (known,) = given.shape[1], np.nonzero(~free)
    part = np.zeros((len(given), len(free), len(division.edges)), np.float32)
    part[:, free, :m] = given[:, None, :] == np.arange(int(free.sum()))[:, None]
    part[:, known, m + np.arange(len(known))] = 1
    return np.asarray(part @ division.edges @ part.swapaxes(1, 2))


def _k_means(Z: NDArray[np.float32], count: int, seed: int, starts: int = 10) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():  # of fewer distinct rows than clusters: some stay empty
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(count, n_init=starts, random_state=seed).fit_predict(Z)
    return np.asarray(found, dtype=np.int64)
