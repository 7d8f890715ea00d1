r"""Labelled nodes: what a classifier learns from labels of the very classes in question.

Two logistic regressions, of a node's own vector x and of the hops around it z, learn from labelled
nodes and from class vectors, each of which counts as three nodes:

.. math:: y_{ic} \propto \tfrac12 \operatorname{softmax}_c(x_i^\top v_c + b_c)
    + \tfrac12 \operatorname{softmax}_c(z_i^\top v'_c + b'_c), \qquad
    r_{ic} = \begin{cases} y_{ic} \sum_{c' \in L} p_{ic'} & c \in L \\ p_{ic} & c \notin L
    \end{cases}

with L the possible answers that have a label, over which y sums to one, and p what is said without
it. So labels decide between classes that have some, and a class that nobody has labelled keeps
what p gives it. x, z [n, d], v, v' [C, d], r [n, C].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.arrays import softmax
from unseen.engines.base import engine_of, labelled_nodes
from unseen.models.blocks import settled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Diffusion, Rows

INVERSE_RIDGE = 10.0  # C of scikit-learn
AS_NODES = 3.0  # labelled nodes that a class vector counts as
EXAMPLES = 2_000  # labelled nodes that are learned from, at most; as many of each class
STEPS = 500  # of the optimiser
SHARE = 0.58  # of r in the posterior


@dataclass(frozen=True, eq=False)
class LabelledNodes:
    """Weights of both regressions, the bias last; zero for a class without a label. [C, 2, d+1]"""

    weights: NDArray[np.float32]

    @classmethod
    def fit(cls, X: Rows, Z: Diffusion, S: NDArray[np.float32], task: Task, seed: int) -> Self:
        """Learn from labelled nodes of possible answers; nothing where fewer than two have any."""
        nodes = labelled_nodes(task.labels)
        nodes, rows = Z.known(nodes[task.allowed[task.labels[nodes]]])
        order = np.random.default_rng(seed).permutation(len(nodes))
        codes = task.labels[nodes[order]]
        seen = np.unique(codes)
        weights = np.zeros((len(S), 2, S.shape[1] + 1), dtype=np.float32)
        if len(seen) < 2:
            return cls(weights)
        most = max(EXAMPLES // len(seen), 1)
        chosen = np.sort(np.concatenate([order[codes == c][:most] for c in seen]))
        codes = np.concatenate([task.labels[nodes[chosen]], seen])
        weigh = np.r_[np.ones(len(chosen)), np.full(len(seen), AS_NODES)]
        own = engine_of(task).take(X, nodes[chosen])
        for which, vectors in enumerate((own, rows[chosen])):
            examples = np.concatenate([vectors, S[seen]])
            weights[seen, which] = _regression(examples, codes, weigh)
        return cls(weights)

    def __bool__(self) -> bool:
        """Tell whether anything was learned."""
        return bool(self.weights.any())

    def read(self, X: Rows, Z: Diffusion, p: Rows, task: Task) -> Rows:
        """Return r; labelled nodes, and those answered before, keep to p. [n, C]"""
        member = self.weights.any(axis=(1, 2)) & task.allowed  # L
        own, hops = self.weights[:, 0], self.weights[:, 1]
        if member.sum() < 2:
            return p

        def regress(scores: NDArray[np.float32], bias: NDArray[np.float32]) -> NDArray[np.float32]:
            return softmax(np.where(member, scores + bias, np.float32(-np.inf)))

        def within(
            X: Any, far: NDArray[np.float32], p: NDArray[np.float32], done: NDArray[np.bool_]
        ) -> NDArray[np.float32]:
            near = np.asarray(X @ own[:, :-1].T, dtype=np.float32)
            y = (regress(near, own[:, -1]) + regress(far, hops[:, -1])) / np.float32(2)
            r = np.where(member, y * p[:, member].sum(axis=1, keepdims=True), p)
            return np.where(done[:, None], p, r)

        return engine_of(task).map(within, X, Z.cosines(hops[:, :-1]), p, settled(task))


def _regression(
    rows: NDArray[np.float32], codes: NDArray[np.int64], weigh: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return weights and bias of each class that has a row, ascending. [C_s, d+1]"""
    from sklearn.linear_model import LogisticRegression

    # a close solution, in float64: engines differ in the last digit of the rows
    model = LogisticRegression(C=INVERSE_RIDGE, max_iter=STEPS, tol=1e-6)
    model.fit(rows.astype(np.float64), codes, sample_weight=weigh)
    weights, bias = model.coef_, model.intercept_
    if len(weights) == 1:  # two classes: one is measured against the other
        weights, bias = (np.concatenate([-each / 2, each / 2]) for each in (weights, bias))
    return np.column_stack([weights, bias])
