"""Align: find the classes of nodes whose features have no names, by how classes relate.

Three steps. The unlabelled nodes are cut into as many clusters as there are unseen classes, with an
eye on how class texts relate (`cuts.py`). `Refine` sharpens them, started at their means and
free to leave them. Then clusters are named by how they relate to each other and to seen classes
(`naming.py`); T, how likely each name is, is the confidence in the matching.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.errors import InputError
from unseen.models.base import check_fit, seen_classes
from unseen.models.cuts import cut
from unseen.models.naming import cosines, likeness, match, standard
from unseen.models.refine import Opinions, Refine, class_means
from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.hops import Hops
    from unseen.propagate.operators import Operator

WIDTH = 128  # of node vectors, after a projection on their main directions
STEPS, LAZINESS = 5, 0.5  # of the walk that smooths vectors for clusters and geometry
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
        """Cut, sharpen, name."""
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
        kept = np.union1d(seen, unseen)
        new = np.isin(kept, unseen)
        G = standard(cosines(csds[kept]))
        if len(unseen):
            known = [class_means(each, _indicators(labels, len(csds)))[seen] for each in (X, Z)]
            groups[free] = unseen[cut((X[free], Z[free]), known, G, new, self.seed)]
        starts = class_means(X, _indicators(groups, len(csds)))
        self._refine(X, labels, starts, operator, allowed)
        q = self._opinions(X, labels, operator, allowed).beliefs
        T = match(likeness(class_means(X, q)[kept], class_means(Z, q)[kept]), G, new)
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
