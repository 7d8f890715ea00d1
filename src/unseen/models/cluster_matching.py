"""Cluster matching: the classes of nodes whose features have no names, by how classes relate.

Three steps. The unlabelled nodes are divided into as many clusters as there are unseen classes,
with an eye on how class texts relate (`over_clustering.py`). `BeliefPropagation` sharpens them,
started at their means and free to leave them. Then clusters are matched to classes by how they
relate to each other and to seen classes (`matching.py`); T, how likely each match is, is the
confidence.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.arrays import unit
from unseen.core.errors import InputError
from unseen.models.base import Inference, seen_classes
from unseen.models.belief_propagation import BeliefPropagation, class_means
from unseen.models.matching import cosines, likeness, match, together
from unseen.models.over_clustering import divide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator
    from unseen.core.task import Task

WIDTH = 128  # of node vectors, after a projection on their main directions
STEPS, LAZINESS = 5, 0.5  # of the diffusion that smooths vectors for clusters and geometry
STRANGE = 0.2  # share of labelled nodes that are less like their class than an outsider may be
CHANCE = 1.05  # times the share that guessing would match, below which T says nothing


class ClusterMatching(BeliefPropagation):
    """Clusters matched to unseen classes by how classes relate (transductive).

    Args:
        seed: of k-means and of the edges that are sampled to estimate homophily.

    Attributes (beside those of `BeliefPropagation`, in the projected space):
        projection_: main directions of the node vectors. [d, w]
        plan_: how likely each cluster is each class; the identity for seen ones. [C, C]
        shares_: the share of clustered nodes in each cluster, times T of its match. [C_u]
    """

    needs_labels = True
    adds_classes = False
    any_engine = False  # k-means and the singular vectors want all nodes at once
    description_weight, rounds, hops = 0.0, 6, 6  # a cluster may leave its start

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, task: Task) -> Self:
        """Divide, sharpen, match."""
        seen, unseen = seen_classes("ClusterMatching", task, 2), task.unseen
        if (task.labels < 0).sum() < len(unseen):
            raise InputError(
                f"labels: ClusterMatching needs an unlabelled node for each unseen class, found "
                f"{(task.labels < 0).sum()} for {len(unseen)} classes; leave unneeded classes out"
            )
        self.projection_ = _main_directions(task.X, self.seed)
        X = self._rows(task)  # [n, w]
        Z = _smooth(X, task.operator)
        readings = (X, Z) if task.operator is None else (X, task.operator.propagate(X), Z)
        groups = task.labels.copy()
        free = np.flatnonzero(task.labels < 0)
        if task.allowed[seen].any():  # some of the unlabelled nodes are of seen classes
            free = free[_outsiders(Z, task.labels, seen, free, len(unseen))]
        kept = np.union1d(seen, unseen)
        new = np.isin(kept, unseen)
        relations = [cosines(task.S)] if task.relations is None else list(task.relations)
        G = together([each[np.ix_(kept, kept)] for each in relations])
        if len(unseen):
            member = _indicators(task.labels, task.classes)
            known = [class_means(each, member)[seen] for each in readings]
            groups[free] = unseen[
                divide(
                    [each[free] for each in readings],
                    known,
                    G,
                    new,
                    self.seed,
                    partial(_edges, task.operator, member[:, seen], free),
                )
            ]
        self._fit(task, X, unit(class_means(X, _indicators(groups, task.classes))))
        q = super().infer(task).posterior
        means = [class_means(each, q)[kept] for each in readings]
        T = match(likeness(means, _between(task.operator, q[:, kept])), G, new)
        self._rename(unseen, T, q.sum(axis=0)[unseen])
        return self

    @property
    def chance(self) -> float:
        """The share of nodes that a guessed matching would give their true class."""
        return 1.0 / max(1, len(self.shares_))

    @property
    def expected(self) -> float:
        """The share of clustered nodes whose cluster has its right class, as T has it."""
        return float(self.shares_.sum()) if len(self.shares_) else 1.0

    @property
    def certain(self) -> bool:
        """Whether the two geometries say more than a guess would."""
        return len(self.shares_) < 2 or self.expected > CHANCE * self.chance

    def infer(self, task: Task) -> Inference:
        """As `BeliefPropagation`, with the doubt about the matching in the confidence."""
        found = super().infer(task)
        return Inference(found.by_hop, found.confidence @ self.plan_)

    def describe(self) -> dict[str, Any]:
        """Add how often the matching is expected to be right."""
        found = super().describe()
        if len(self.shares_) > 1:
            found["warnings"].append(
                "Features without names: clusters of nodes were matched to classes by how classes "
                f"relate, which is expected to be right for {self.expected:.0%} of the nodes that "
                "were clustered."
            )
        return found

    def add_classes(self, task: Task) -> Self:
        """Refuse: without a common space a description alone says nothing about nodes."""
        raise InputError(
            "classes: features without names cannot be compared with the text of a new class; "
            "run `unseen classify` with all classes"
        )

    def _rows(self, task: Task) -> NDArray[np.float32]:
        return unit(task.X @ self.projection_)

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
    """Return centred unit rows after a lazy diffusion. [n, w]"""
    if operator is not None:
        for _ in range(STEPS):
            X = LAZINESS * X + (1 - LAZINESS) * operator.propagate(X)
    return unit(X - X.mean(axis=0))


def _outsiders(
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
    outside = np.flatnonzero(closest[free] < usual)
    if len(outside) < 2 * least:  # nothing stands out: the least alike will do
        outside = np.argsort(closest[free])[: max(2 * least, len(free) // 2)]
    return outside


def _edges(
    operator: Operator | None,
    known: NDArray[np.float32],
    free: NDArray[np.int64],
    member: NDArray[np.float32],
) -> NDArray[np.float32] | None:
    """Return the edges between groups of free nodes [f, m] and seen classes [n, C_s]."""
    groups = np.zeros((len(known), member.shape[1]), np.float32)
    groups[free] = member
    return _between(operator, np.concatenate([groups, known], axis=1))


def _between(operator: Operator | None, groups: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """Return the weight of the edges between groups of nodes, either way. [n, g] to [g, g]"""
    if operator is None or not operator.entries:
        return None
    edges = groups.T @ operator.aggregate(groups)
    return np.asarray((edges + edges.T) / 2, dtype=np.float32)


def _indicators(groups: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """Return one column a group; rows of nodes without one are zero. [n, count]"""
    return np.asarray(groups[:, None] == np.arange(count), dtype=np.float32)
