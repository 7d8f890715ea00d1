"""Composed hops of nodes on disk: never stored, only their lengths (see `disk.py`)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import unit
from unseen.engines.base import labelled_nodes, picked, sampled_nodes

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
        self._known = {} if task.operator is None else self._measure(task)

    @property
    def lengths(self) -> NDArray[np.float32]:
        """Of each z before it is scaled. [n]"""
        found: NDArray[np.float32] = self._known["lengths"]
        return found

    def cosines(self, W: NDArray[np.float32]) -> Rows:
        """Return z_i w_c. [n, C]"""
        engine, operator = self.engine, self.operator
        if operator is None:
            return engine.map(lambda X: unit(X) @ W.T, self.X)
        inverse = np.divide(
            1, self.lengths, out=np.zeros_like(self.lengths), where=self.lengths > 0
        )
        narrow = engine.map(lambda X: np.asarray(X @ W.T, dtype=np.float32), self.X)
        found = engine.room(len(W))
        for which in engine.columns(len(W), arrays=2):
            Y = self._diffused(narrow, which)
            for span in engine.spans:
                some = Y[span, : which.stop - which.start]
                found.array[span, which] = some * inverse[span, None]
            del Y, some  # before the next columns are taken
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

    def sample(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return some nodes and their z; all where there are few. [m], [m, d]"""
        return self.known(sampled_nodes(self.engine.nodes))

    def known(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return those of some nodes whose z was kept, and it. [m], [m, d]"""
        if self.operator is None:
            return nodes, unit(self.engine.take(self.X, nodes))
        found, rows = picked(nodes, self._known["nodes"], self._known["sample"])
        return found, unit(rows)

    def _measure(self, task: Task) -> dict[str, Any]:
        """Return lengths and the sample, formed once for a task."""
        key = ("lengths", self.hops, self.laziness)
        kept = task.memo.get(key)
        if kept is not None and kept[0] is task.X and kept[1] is task.operator:
            before: dict[str, Any] = kept[2]
            return before
        name = getattr(task.X, "name", "")  # of rows that are kept
        if name:
            name = f"lengths-{name}-{self.hops}-{self.laziness}"
        make = partial(self._measured, labelled_nodes(task.labels))
        found = self.engine.once(name, make) if name else make()
        task.memo[key] = (task.X, task.operator, found)
        return found

    def _measured(self, labelled: NDArray[np.int64]) -> dict[str, Any]:
        engine, width = self.engine, self.X.shape[1]
        nodes = np.union1d(sampled_nodes(engine.nodes), labelled)
        sample = np.empty((len(nodes), width), dtype=np.float32)
        squares = np.zeros(engine.nodes, dtype=np.float64)
        for which in engine.columns(width, arrays=2):
            Y = self._diffused(self.X, which)
            sample[:, which] = Y[nodes, : which.stop - which.start]
            for span in engine.spans:
                squares[span] += np.einsum("nc,nc->n", Y[span], Y[span])
            del Y  # before the next columns are taken
        return {"lengths": np.sqrt(squares).astype(np.float32), "nodes": nodes, "sample": sample}
