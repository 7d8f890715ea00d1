r"""ESZSL: a bilinear score between nodes and classes, learned in closed form.

With X [m, d] the vectors of the labelled nodes, S [C_s, d_s] the CSDs of the classes that they
belong to and Y [m, C_s] holding +1 at a node's own class and -1 elsewhere, W [d, d_s] minimises

.. math::
    \lVert X W S^\top - Y \rVert^2 + \gamma \lVert W S^\top \rVert^2
    + \lambda \lVert X W \rVert^2 + \gamma \lambda \lVert W \rVert^2,

which has the solution

.. math::
    W = (X^\top X + \gamma I)^{-1}\, X^\top Y S\, (S^\top S + \lambda I)^{-1}, \qquad
    \mathrm{score}(i, c) = x_i^\top W s_c.

Romera-Paredes and Torr, ICML 2015 (https://proceedings.mlr.press/v37/romera-paredes15.html), whose
X and S are the transposes of those here; Y in {-1, +1} is theirs. Only own attributes are read,
never the graph, and no CSD of an unseen class before `scores`.

Both inverses are ridge regressions. Each is solved through the smaller of two systems, since
:math:`(A^\top A + \gamma I)^{-1} A^\top = A^\top (A A^\top + \gamma I)^{-1}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unseen.core.errors import InputError
from unseen.models.base import check_widths, seen_classes
from unseen.models.training import CsdModel, dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task

POWERS_OF_TEN = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


@dataclass(repr=False, eq=False)
class ESZSL(CsdModel):
    """Two ridge regressions, one on the side of the nodes and one on that of the classes.

    Args:
        node_ridge: gamma, which keeps the inverse of X'X from exploding.
        class_ridge: lambda, which does the same for S'S.

    Attributes:
        map_: W. [d, d_s]
        csds_: class vectors. [C, d_s]
    """

    needs_labels = True
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "node_ridge": POWERS_OF_TEN,
        "class_ridge": POWERS_OF_TEN,
    }

    node_ridge: float = 1.0
    class_ridge: float = 1.0

    def fit(self, task: Task) -> Self:
        """Solve for W with the labelled nodes and the CSDs of their classes."""
        seen = seen_classes("ESZSL", task, 1)  # [C_s]
        for name in ("node_ridge", "class_ridge"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name}: expected more than 0, found {getattr(self, name)}")
        labelled = np.flatnonzero(task.labels >= 0)  # [m]
        Y = np.full((len(labelled), len(seen)), -1.0)  # [m, C_s]
        Y[np.arange(len(labelled)), np.searchsorted(seen, task.labels[labelled])] = 1.0
        left = _ridge(dense(task.X[labelled]), Y, self.node_ridge)  # (X'X + gI)^-1 X'Y  [d, C_s]
        right = _ridge(task.S[seen], np.eye(len(seen)), self.class_ridge)  # [d_s, C_s]
        self.map_: NDArray[np.float64] = left @ right.T  # W [d, d_s]
        self.csds_ = task.S.copy()
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        """Return x_i' W s_c. [n, C]"""
        check_widths(task, *self.map_.shape)
        return dense(task.X) @ (self.map_ @ self.csds_.T).astype(np.float32)


def _ridge(A: NDArray[np.float32], B: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
    """Return (A'A + ridge I)^-1 A'B for A [rows, columns]. [columns, columns of B]"""
    from scipy.linalg import solve

    A64 = A.astype(np.float64)
    rows, columns = A.shape
    if rows < columns:
        found = A64.T @ solve(A64 @ A64.T + ridge * np.eye(rows), B, assume_a="pos")
    else:
        found = solve(A64.T @ A64 + ridge * np.eye(columns), A64.T @ B, assume_a="pos")
    return np.asarray(found)
