"""Composed hops of nodes on disk: never stored, only their lengths (see `disk.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Rows
    from unseen.engines.disk import Disk


class NarrowDiffusion:
    """z of every node of a task, by what it does to narrow blocks."""

    def __init__(self, engine: Disk, task: Task, hops: int, laziness: float) -> None:
        self.engine, self.X, self.operator = engine, task.X, task.operator
        self.hops, self.laziness = hops, laziness
        self.lengths = None if task.operator is None else self._lengths(task)

    def cosines(self, W: NDArray[np.float32]) -> Rows:
        """Return z_i w_c. [n, C]"""
        engine, operator = self.engine, self.operator
        if operator is None or self.lengths is None:
            return engine.map(lambda X: unit(X) @ W.T, self.X)
        inverse = np.divide(
            1, self.lengths, out=np.zeros_like(self.lengths), where=self.lengths > 0
        )
        narrow = engine.map(lambda X: np.asarray(X @ W.T, dtype=np.float32), self.X)
        found = engine.room(len(W))
        for which in engine.columns(len(W), arrays=2):
            Y = self._diffused(narrow, which)
            for cut in engine.cuts:
                some = Y[cut, : which.stop - which.start]
                found.array[cut, which] = some * inverse[cut, None]
        return found

    def _diffused(self, rows: Rows, which: slice) -> NDArray[np.float32]:
        """Return L^K of some columns. [n, c]"""
        operator: Any = self.operator
        Y = operator.block(which.stop - which.start)
        self.engine.load(rows, which, Y)
        Z = np.empty_like(Y)
        for _ in range(self.hops):
            operator.lazy_step(Y, Z, self.laziness)
        return np.asarray(Y)

    def _lengths(self, task: Task) -> NDArray[np.float32]:
        """Return the length of each z, formed once for a task. [n]"""
        key = ("lengths", self.hops, self.laziness)
        kept = task.memo.get(key)
        if kept is not None and kept[0] is task.X and kept[1] is task.operator:
            found: NDArray[np.float32] = kept[2]
            return found
        name = getattr(task.X, "name", "")  # of rows that are kept
        if name:
            name = f"lengths-{name}-{self.hops}-{self.laziness}"
            found = self.engine.once(name, lambda: {"lengths": self._measured()})["lengths"]
        else:
            found = self._measured()
        task.memo[key] = (task.X, task.operator, found)
        return found

    def _measured(self) -> NDArray[np.float32]:
        squares = np.zeros(self.engine.nodes, dtype=np.float64)
        for which in self.engine.columns(self.X.shape[1], arrays=2):
            Y = self._diffused(self.X, which)
            for cut in self.engine.cuts:
                squares[cut] += np.einsum("nc,nc->n", Y[cut], Y[cut])
        return np.sqrt(squares).astype(np.float32)
