r"""Align: name the clusters of unlabelled nodes by how classes relate to each other.

Features without names share no space with class texts, so nothing says directly which cluster is
which class. What both sides have is a geometry: classes whose descriptions are alike should have
nodes that are alike. With the groups g of nodes (one for each seen class, one cluster for each
unseen one), their mean vectors :math:`\mu` of own features and :math:`\mu'` after a few hops, and
the centred CSDs :math:`s_c`,

.. math::
    D_{gh} &= \cos(\mu_g, \mu_h) + \cos(\mu'_g, \mu'_h), \qquad G_{cd} = \cos(s_c, s_d) \\
    P(\pi) &\propto \exp\big(\gamma N \operatorname{corr}_{g<h}(D_{gh}, G_{\pi(g) \pi(h)})\big),
    \qquad T_{gc} = \sum_{\pi: \pi(g) = c} P(\pi)

where :math:`\pi` gives every cluster another unseen class, seen groups keep theirs, N is the number
of pairs, and the terms of D are standardised. Maximising the correlation is the Gromov-Wasserstein
problem with squared loss, fused with the similarities to seen classes. Up to `COUNTED` clusters
the matchings are counted out, so that T is exact; beyond that POT's entropic solver finds T.

The clusters are found by k-means on hop-smoothed vectors and sharpened by `Refine`, started at
their means and free to leave them. T is the confidence in the matching.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.errors import InputError
from unseen.models.base import check_fit, seen_classes
from unseen.models.refine import Opinions, Refine, class_means
from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.hops import Hops
    from unseen.propagate.operators import Operator

WIDTH = 128  # of node vectors, after a projection on their main directions
STEPS, LAZINESS = 5, 0.5  # of the walk that smooths vectors for clusters and geometry
SHARPNESS = 0.4  # gamma, at which T was as often right as it said, on text graphs made nameless
COUNTED = 6  # unseen classes whose 720 matchings are counted out
STRANGE = 0.2  # share of labelled nodes that are less like their class than a stranger may be
CHANCE = 1.05  # times the share that guessing would match, below which T says nothing


class Align(Refine):
    """Clusters matched to unseen classes by how classes relate (transductive).

    Args:
        seed: of k-means and of the ties that are sampled to estimate h.
    """

    needs_labels = True
    description_weight, rounds, hops = 0.0, 6, 6  # of `Refine`: a cluster may leave its start

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Find the clusters, sharpen them, then find their names."""
        check_fit(hops, labels, csds, same_space=False)
        seen = seen_classes("Align", labels, 2)
        allowed = np.ones(len(csds), dtype=bool) if among is None else among
        unseen = np.setdiff1d(np.flatnonzero(allowed), seen)
        if (labels < 0).sum() < len(unseen):
            raise InputError(
                f"labels: Align needs an unlabelled node for each unseen class, found "
                f"{(labels < 0).sum()} for {len(unseen)} classes; leave unneeded classes out"
            )
        self.projection_ = _main_directions(hops.own, self.seed)
        X = self._rows(hops)  # [n, w]
        Z = _smooth(X, operator)
        groups = labels.copy()
        free = np.flatnonzero(labels < 0)
        if allowed[seen].any():  # some of the unlabelled nodes are of seen classes
            free = free[_strangers(Z, labels, seen, free, len(unseen))]
        if len(unseen):
            groups[free] = unseen[_k_means(Z[free], len(unseen), self.seed)]
        starts = class_means(X, _indicators(groups, len(csds)))
        self._refine(X, labels, starts, operator, allowed)
        q = self._opinions(X, labels, operator, allowed).beliefs
        kept = np.union1d(seen, unseen)
        D = _geometry(X, q, kept) + _geometry(Z, q, kept)
        G = _cosines(csds[kept])
        T = match(_standard(D), _standard(G), np.isin(kept, unseen))
        self._rename(unseen, T, q.sum(axis=0)[unseen])
        return self

    @property
    def chance(self) -> float:
        """The share of nodes that a guessed matching would give their true class."""
        return 1.0 / max(1, len(self.shares_))

    @property
    def expected(self) -> float:
        """The share of clustered nodes whose cluster has its right name, as T has it."""
        return float(self.shares_.sum()) if len(self.shares_) else 1.0

    @property
    def certain(self) -> bool:
        """Whether the two geometries say more than a guess would."""
        return len(self.shares_) < 2 or self.expected > CHANCE * self.chance

    def opinions(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        operator: Operator | None,
        among: NDArray[np.bool_] | None = None,
    ) -> Opinions:
        """As `Refine`, with the doubt about the names of clusters in the confidence."""
        told = super().opinions(hops, labels, operator, among)
        return replace(told, confidence=told.confidence @ self.plan_)

    def with_classes(
        self,
        csds: NDArray[np.float32],
        hops: Hops,
        labels: NDArray[np.int64],
        operator: Operator | None,
        among: NDArray[np.bool_] | None = None,
    ) -> Refine:
        """Refuse: without a common space a description alone says nothing about nodes."""
        raise InputError(
            "classes: features without names cannot be compared with the text of a new class; "
            "run `unseen classify` with all classes"
        )

    def _rows(self, hops: Hops) -> NDArray[np.float32]:
        return unit(hops.own @ self.projection_)

    def _rename(
        self, unseen: NDArray[np.int64], T: NDArray[np.float64], sizes: NDArray[np.float32]
    ) -> None:
        """Move every cluster to the class that it is matched with, and keep T."""
        from scipy.optimize import linear_sum_assignment

        weighed = T * (sizes / max(float(sizes.sum()), 1e-9))[:, None]
        cluster, name = linear_sum_assignment(-weighed)  # most nodes right, as T has it
        for learned in (self.csds_, self.centres_, self.means_):
            learned[unseen[name]] = learned[unseen[cluster]]
        self.plan_ = np.eye(len(self.csds_), dtype=np.float32)
        self.plan_[np.ix_(unseen[name], unseen)] = T[cluster]
        self.shares_ = np.asarray(weighed[cluster, name], dtype=np.float32)


def match(
    D: NDArray[np.float64], G: NDArray[np.float64], free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return T, how likely each free group is each free class. [u, u]

    Args:
        D: likeness of groups, standardised; group i is class i unless it is free. [C, C]
        G: likeness of classes, standardised. [C, C]
        free: which groups have no name yet. [C]
    """
    count = int(free.sum())
    if count < 2:
        return np.ones((count, count))
    if count > COUNTED:
        return _transport(D, G, free)
    orders = np.array(list(permutations(range(count))))  # [count!, u]
    names = np.tile(np.arange(len(D)), (len(orders), 1))
    names[:, free] = np.flatnonzero(free)[orders]
    i, j = np.triu_indices(len(D), 1)
    H, d = G[names[:, i], names[:, j]], D[i, j]  # [count!, N], [N]
    fit = SHARPNESS * (H @ d)  # both are standardised over the same pairs: gamma N corr
    likely = np.exp(fit - fit.max())
    likely /= likely.sum()
    T = np.zeros((count, count))
    for place in range(count):
        np.add.at(T[place], orders[:, place], likely)
    return T


def _transport(
    D: NDArray[np.float64], G: NDArray[np.float64], free: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return T by entropic fused Gromov-Wasserstein, the same problem relaxed. [u, u]

    With T = tau/u the costs of seen and of unseen pairs come in the ratio alpha = u/(u+2), and the
    entropy of exp(-gamma/2 sum (D-G)^2) is met by epsilon = 4 / (gamma (u+2)).
    """
    import ot

    u, seen = int(free.sum()), ~free
    M = ((D[free][:, None, seen] - G[free][None, :, seen]) ** 2).sum(axis=2)  # [u, u]
    inner = (np.where(np.eye(u, dtype=bool), 0.0, A[np.ix_(free, free)]) for A in (D, G))
    even = np.full(u, 1.0 / u)
    plan = ot.gromov.entropic_fused_gromov_wasserstein(
        M,
        *inner,
        even,
        even,
        alpha=u / (u + 2),
        epsilon=4 / (SHARPNESS * (u + 2)),
        max_iter=200,
        numItermax=10_000,
        warn=False,
    )
    return np.asarray(plan * u, dtype=np.float64)


def _main_directions(X: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """Return the leading right singular vectors of X, or the identity if X is narrow. [d, w]"""
    from sklearn.utils.extmath import randomized_svd

    if X.shape[1] <= WIDTH:
        return np.eye(X.shape[1], dtype=np.float32)
    width = min(WIDTH, len(X))
    return np.asarray(randomized_svd(X, width, random_state=seed)[2].T, dtype=np.float32)


def _smooth(X: NDArray[np.float32], operator: Operator | None) -> NDArray[np.float32]:
    """Return centred unit rows after a lazy walk. [n, w]"""
    for _ in range(STEPS if operator is not None else 0):
        X = LAZINESS * X + (1 - LAZINESS) * operator.step(X)  # type: ignore[union-attr]
    return unit(X - X.mean(axis=0))


def _k_means(Z: NDArray[np.float32], count: int, seed: int) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    found = KMeans(count, n_init=10, random_state=seed).fit_predict(Z)
    return np.asarray(found, dtype=np.int64)


def _strangers(
    Z: NDArray[np.float32],
    labels: NDArray[np.int64],
    seen: NDArray[np.int64],
    free: NDArray[np.int64],
    least: int,
) -> NDArray[np.int64]:
    """Return which of the free nodes are less like any seen class than its own nodes are."""
    like = Z @ unit(class_means(Z, _indicators(labels, int(seen[-1]) + 1))[seen]).T  # [n, C_s]
    closest = like.max(axis=1)
    usual = np.quantile(closest[labels >= 0], STRANGE)
    strange = np.flatnonzero(closest[free] < usual)
    if len(strange) < 2 * least:  # nothing stands out: the least alike will do
        strange = np.argsort(closest[free])[: max(2 * least, len(free) // 2)]
    return strange


def _indicators(groups: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """Return one column a group; rows of nodes without one are zero. [n, count]"""
    return np.asarray(groups[:, None] == np.arange(count), dtype=np.float32)


def _geometry(
    X: NDArray[np.float32], q: NDArray[np.float32], kept: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how alike groups are by their mean vectors, standardised. [C, C]"""
    return _standard(_cosines(class_means(X, q)[kept]))


def _cosines(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the cosines between centred rows. [C, C]"""
    centred = unit(rows - rows.mean(axis=0)).astype(np.float64)
    return np.asarray(centred @ centred.T)


def _standard(M: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale a symmetric matrix to mean 0 and deviation 1 above its diagonal."""
    above = M[np.triu_indices(len(M), 1)]
    return np.asarray((M - above.mean()) / max(float(above.std()), 1e-9))
