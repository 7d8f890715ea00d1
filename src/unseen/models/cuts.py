r"""Cut the unlabelled nodes into classes, with an eye on how class texts relate.

k-means with one cluster for each class finds the cuts that are plainest in the data, and these are
often not the ones that the classes make. So nodes are divided more finely, and the fine clusters
are given to classes, several to one, :math:`\pi: a \mapsto c`, so that

.. math::
    \gamma N \operatorname{corr}_{c<d}(D_{cd}(\pi), G_{cd})
    + \kappa \big( B(\pi) / B + H(\pi) / \ln u \big)

is as large as hill climbing makes it: classes relate as their texts do (D, G and :math:`\gamma N`
as in `naming.py`), much of the variance B between fine clusters lies between classes, and the sizes
of the u classes have a high entropy H. Several divisions vote, node by node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unseen.models.naming import SHARPNESS, likeness

if TYPE_CHECKING:
    from numpy.typing import NDArray

KAPPA = 10.0  # half or twice as much does nearly as well
FINE, LEAST = 2, 8  # fine clusters for each class, and at least
MOST = 10  # classes beyond which climbing takes too long
DIVISIONS, STARTS = 7, 10  # that vote; from which a climb starts
IMPOSSIBLE = -1e9  # the score when a class is left without a node


@dataclass(frozen=True, eq=False)
class Division:
    """Fine clusters, and what it takes to judge which of them are one class."""

    of: NDArray[np.int64]  # fine cluster of each node [f]
    sizes: NDArray[np.float32]  # [m]
    fine: tuple[NDArray[np.float32], ...]  # mean vectors of fine clusters, by reading  [m, r]
    known: tuple[NDArray[np.float32], ...]  # mean vectors of seen classes, by reading  [C_s, r]


def cut(
    readings: Sequence[NDArray[np.float32]],
    known: Sequence[NDArray[np.float32]],
    G: NDArray[np.float64],
    free: NDArray[np.bool_],
    seed: int,
) -> NDArray[np.int64]:
    """Return which unseen class each node is, by its place among them. [f]

    Args:
        readings: vectors of the nodes, read in several ways; the last is clustered. Each [f, d]
        known: mean vectors of the seen classes in the same readings. Each [C_s, d]
        G: likeness of class texts, standardised. [C, C]
        free: which classes have no label. [C]
        seed: of k-means and of the starts.
    """
    count, nodes = int(free.sum()), len(readings[-1])
    if count > MOST or count < 2:
        return _k_means(readings[-1], count, 10, seed)
    m = min(max(LEAST, FINE * count), nodes)
    found = []
    for turn in range(seed, seed + DIVISIONS):
        division = _divide(readings, known, m, turn)
        score, given = _climb(division, G, free, np.random.default_rng(turn))
        found.append((score, given[division.of]))
    best, groups = max(found, key=lambda told: told[0])
    votes = np.zeros((nodes, count))
    for score, told in found:
        votes[np.arange(nodes), told] += np.exp(score - best)
    voted: NDArray[np.int64] = votes.argmax(axis=1)
    return voted if len(np.unique(voted)) == count else groups


def _divide(
    readings: Sequence[NDArray[np.float32]],
    known: Sequence[NDArray[np.float32]],
    m: int,
    seed: int,
) -> Division:
    of = _k_means(readings[-1], m, 3, seed)
    member = np.asarray(of[:, None] == np.arange(m), dtype=np.float32)  # [f, m]
    sizes = member.sum(axis=0)
    fine, seen = [], []
    for X, means in zip(readings, known, strict=True):
        mu = member.T @ X / np.maximum(sizes, 1)[:, None]
        span = np.linalg.qr(np.concatenate([mu, means]).T)[0]  # all that cosines can see  [d, r]
        fine.append(mu @ span)
        seen.append(means @ span)
    return Division(of, sizes, tuple(fine), tuple(seen))


def _climb(
    division: Division, G: NDArray[np.float64], free: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[float, NDArray[np.int64]]:
    """Return the best score and the class of each fine cluster there. [m]

    A step gives one fine cluster to another class, or exchanges two classes.
    """
    m, u = len(division.sizes), int(free.sum())
    given = np.stack([rng.permutation(np.arange(m) % u) for _ in range(STARTS)])  # [S, m]
    score = _scores(given, division, G, free)
    which, where = np.divmod(np.arange(m * u), u)  # fine cluster and class of every move
    names = np.tile(np.arange(u), (u * (u - 1) // 2, 1))  # [pairs, u]
    pair = np.arange(len(names))
    one, other = np.triu_indices(u, 1)
    names[pair, one], names[pair, other] = other, one
    climbing = np.arange(STARTS)
    while len(climbing):
        at = given[climbing]
        moved = np.repeat(at[:, None], m * u, axis=1)  # [S', m u, m]
        moved[:, np.arange(m * u), which] = where
        steps = np.concatenate([moved, names[:, at].swapaxes(0, 1)], axis=1)
        reached = _scores(steps.reshape(-1, m), division, G, free).reshape(len(at), -1)
        best = reached.argmax(axis=1)
        higher = reached.max(axis=1) > score[climbing] + 1e-9
        given[climbing[higher]] = steps[higher, best[higher]]
        score[climbing[higher]] = reached.max(axis=1)[higher]
        climbing = climbing[higher]
    return float(score.max()), given[score.argmax()]


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
    fit = SHARPNESS * (likeness(*means)[:, i, j] @ G[i, j])  # gamma N corr
    centre = division.sizes @ fine / division.sizes.sum()
    between = (((groups[:, free] - centre) ** 2).sum(axis=2) * sizes).sum(axis=1)
    most = max(float(division.sizes @ ((fine - centre) ** 2).sum(axis=1)), 1e-9)
    p = sizes / division.sizes.sum()
    entropy = -(p * np.log(np.maximum(p, 1e-9))).sum(axis=1) / np.log(u)
    score = fit + KAPPA * (between / most + entropy)
    return np.where(sizes.min(axis=1) > 0, score, IMPOSSIBLE)


def _k_means(Z: NDArray[np.float32], count: int, starts: int, seed: int) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    found = KMeans(count, n_init=starts, random_state=seed).fit_predict(Z)
    return np.asarray(found, dtype=np.int64)
