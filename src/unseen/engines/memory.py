"""`Memory`: one block, as NumPy has it. Every move is one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.arrays import unit
from unseen.engines.base import ALONE, chosen, sampled_nodes, sums
from unseen.propagate.hops import decompose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Function, Rows, T, Team


class Memory:
    """All rows are one block."""

    name = "memory"
    keeps = False

    def map(
        self,
        function: Function,
        *rows: Rows,
        where: NDArray[np.bool_] | None = None,
        keep: str = "",
    ) -> Rows:
        """Return what the function makes of the rows."""
        return function(*(rows if where is None else (chosen(each, where) for each in rows)))

    def view(self, function: Function, *rows: Rows) -> Rows:
        """Return the same: there is room for it."""
        return function(*rows)

    def reduce(
        self, function: Function, *rows: Rows, where: NDArray[np.bool_] | None = None
    ) -> Any:
        """Return the sums of what the function gives, in float64."""
        return sums(function, rows if where is None else [chosen(each, where) for each in rows])

    def take(self, rows: Rows, nodes: NDArray[np.int64]) -> Any:
        """Return some rows."""
        return rows[nodes] if hasattr(rows, "shape") else [rows[i] for i in nodes.tolist()]

    def array(self, rows: Rows) -> NDArray[Any]:
        """Return the array that rows are."""
        return np.asarray(rows)

    def diffuse(self, task: Task, hops: int, laziness: float) -> Composed:
        """Compose the hops, once for a task and all that differ from it by labels alone."""
        if task.operator is None and not sp.issparse(task.X):
            return Composed(unit(task.X))
        key = ("composed", hops, laziness)
        kept = task.memo.get(key)
        if kept is None or kept[0] is not task.X or kept[1] is not task.operator:
            z = unit(decompose(task.X, task.operator, hops, laziness).composed())
            kept = task.memo[key] = (task.X, task.operator, Composed(z))
        found: Composed = kept[2]
        return found

    def train(self, job: Callable[[Team], T]) -> T:
        """Do the job here."""
        return job(ALONE)

    def once(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Make it: nothing outlives a process that is only in memory."""
        return make()


class Composed:
    """z of every node, in hand."""

    def __init__(self, Z: NDArray[np.float32]) -> None:
        self.Z = Z  # [n, d]

    def cosines(self, W: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return z_i w_c. [n, C]"""
        return np.asarray(self.Z @ W.T, dtype=np.float32)

    def sample(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return some nodes and their z; all where there are few. [m], [m, d]"""
        nodes = sampled_nodes(len(self.Z))
        return nodes, self.Z if len(nodes) == len(self.Z) else self.Z[nodes]

    def known(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the nodes, all of them, and their z. [m], [m, d]"""
        return nodes, self.Z[nodes]


MEMORY = Memory()
