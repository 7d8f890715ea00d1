"""`Ray`: blocks of rows in the object store of a cluster, worked on by tasks.

Ray schedules, moves, spills and, where a worker or a node is lost, computes again what was lost
(every block is the result of a task that gives the same each time). What has a name is written to
the folder of the run as well, so that a driver that was killed goes on. Blocks are ranges of rows
with about as many edges and nodes each. The driver holds ids and edges; vectors [n], small sums and
what is kept are all that comes back to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.engines.base import chosen
from unseen.engines.disk import Disk
from unseen.engines.ray_cluster import connect, translated
from unseen.engines.ray_data import encoded, table_of, texts_of
from unseen.engines.store import Blocks, Flat, View, part
from unseen.propagate.npy import full_disk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.encode.base import Progress
    from unseen.engines.base import Function, Rows, T, Team
    from unseen.engines.disk_graph import DiskGraph

RETRIES = 10  # of a task whose worker or node was lost


class Refs:
    """Rows [n, c] as blocks in the object store."""

    def __init__(self, engine: Ray, refs: list[Any], shape: tuple[int, ...], spans: Any) -> None:
        self.engine, self.refs, self.shape, self.spans = engine, refs, shape, spans
        self.name = ""

    def block(self, i: int) -> Any:
        """Return a block, fetched. [b, c]"""
        return self.engine.fetch(self.refs[i])

    def take(self, nodes: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows; each task gives those of its block. [m, c]"""
        found: NDArray[Any] = self.engine.take(self, nodes)
        return found

    __getitem__ = take

    def __len__(self) -> int:
        return int(self.shape[0])


class Ray(Disk):
    """Blocks in an object store; the folder holds what has a name."""

    name = "ray"

    def __init__(
        self,
        folder: Path,
        nodes: int,
        memory: int,
        block: int | None = None,
        progress: Progress | None = None,
        address: str | None = None,
        ends: NDArray[np.int64] | None = None,
    ) -> None:
        super().__init__(folder, nodes, memory, block, progress)
        if ends is not None:
            self.spans = balanced(ends, len(self.spans))
        self.ray = connect(address)
        self._task = self.ray.remote(num_returns=2, max_retries=RETRIES)(_work)
        self._texts: dict[int, tuple[Rows, list[Any]]] = {}

    def fetch(self, refs: Any) -> Any:
        """Return what lies in the store; an error of a task is the error that it had."""
        with translated(self.ray):
            return self.ray.get(refs)

    def __reduce__(self) -> Any:
        raise TypeError("an engine stays with the driver: a function of blocks must not hold it")

    def submit(self, function: Function, rows: Sequence[Rows], i: int, mask: Any = None) -> Any:
        """Begin a task on the block i of each of the rows; return where its result will be."""
        leaves: list[Any] = []
        tree = [self._leaf(each, i, leaves) for each in rows]
        return self._task.remote(function, tree, mask, *leaves)

    def map(
        self,
        function: Function,
        *rows: Rows,
        where: NDArray[np.bool_] | None = None,
        keep: str = "",
    ) -> Rows:
        """Return what the function gives for each row: [n] here, [n, c] in the store."""
        if keep:
            with full_disk(self.folder):
                return self._named(function, rows, keep)
        masks = [None if where is None else where[span] for span in self.spans]
        shared = self.ray.put(function)
        begun = [self.submit(shared, rows, i, mask) for i, mask in enumerate(masks)]
        return self._gathered(begun)

    def view(self, function: Function, *rows: Rows) -> Rows:
        """Return what the function gives, computed in whichever task reads it."""
        return View(function, rows, self.spans)

    def take(self, rows: Rows, nodes: NDArray[np.int64]) -> Any:
        """Return some rows; each task gives those of its block."""
        if not isinstance(rows, Refs | View):
            return super().take(rows, nodes)
        starts = np.array([span.start for span in self.spans])
        of = np.searchsorted(starts, nodes, side="right") - 1
        used = np.unique(of).tolist()
        wanted = {i: nodes[of == i] - starts[i] for i in used}
        begun = [self.submit(lambda block, at=wanted[i]: block[at], (rows,), i)[1] for i in used]
        found: Any = None
        for i, some in zip(used, self.fetch(begun), strict=True):
            if not isinstance(some, np.ndarray):  # sparse: in the order of the nodes, as taken
                return _stacked(self.fetch(begun), of, used)
            found = np.empty((len(nodes), *some.shape[1:]), some.dtype) if found is None else found
            found[of == i] = some
        return found

    def array(self, rows: Rows) -> NDArray[Any]:
        """Return rows as an array, mapped from a file of the driver."""
        if not isinstance(rows, Refs):
            return super().array(rows)
        found: Any = None
        at = 0
        for ref in rows.refs:
            block = self.fetch(ref)
            if found is None:
                found = Flat(self.scratch(), (rows.shape[0], *block.shape[1:]), block.dtype, ())
            found.array[at : at + len(block)] = block
            at += len(block)
        mapped: NDArray[Any] = found.array
        return mapped

    def diffuse(self, task: Task, hops: int, laziness: float) -> Any:
        """Return composed hops of which only the lengths are known."""
        from unseen.engines.ray_diffusion import RayDiffusion

        return RayDiffusion(self, task, hops, laziness)

    def operator(self, graph: DiskGraph) -> Any:
        """Return the graph as linear maps over the cluster."""
        from unseen.engines.ray_operator import RayOperator

        return RayOperator(graph, self)

    def train(self, job: Callable[[Team], T]) -> T:
        """Have workers of the cluster do the job together."""
        from unseen.engines.ray_train import train

        return train(self.ray, job, self.folder)

    def _leaf(self, rows: Rows, i: int, leaves: list[Any]) -> Any:
        """Note what a task needs of some rows; a view goes along as its function."""
        if isinstance(rows, View):
            return rows.function, [self._leaf(each, i, leaves) for each in rows.rows]
        if isinstance(rows, Refs):
            leaves.append(rows.refs[i])
        elif isinstance(rows, np.ndarray):
            leaves.append(rows[self.spans[i]])
        elif isinstance(rows, Blocks | Flat):
            leaves.append(rows.block(i))
        else:
            leaves.append(self._stored(rows)[i])
        return len(leaves) - 1

    def _stored(self, texts: Rows) -> list[Any]:
        """Return where the texts of each block lie in the store; they are put there once."""
        if id(texts) not in self._texts:
            blocks = (part(texts, i, self.spans) for i in range(len(self.spans)))
            refs = [self.ray.put(table_of(block)) for block in blocks]
            self._texts[id(texts)] = texts, refs  # held, so that no other gets its id
        return self._texts[id(texts)][1]

    def _gathered(self, begun: list[Any]) -> Rows:
        shapes = self.fetch([meta for meta, _ in begun])
        refs = [block for _, block in begun]
        if len(shapes[0]) == 1:
            return np.concatenate(self.fetch(refs))
        total = sum(shape[0] for shape in shapes)
        return Refs(self, refs, (total, *shapes[0][1:]), self.spans)

    def _named(self, function: Function, rows: Sequence[Rows], name: str) -> Refs:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        kept = Blocks(folder, self.spans, self)
        begun: dict[int, Any] = {}
        for i, block, ref in self._made(function, rows, kept.missing):
            kept.write(i, block)
            begun[i] = ref
            if self.progress is not None:
                self.progress(name, self.spans[i].stop, self.nodes)
        kept = Blocks(folder, self.spans, self)
        refs = [
            begun[i] if i in begun else self.ray.put(kept.block(i)) for i in range(len(self.spans))
        ]
        found = Refs(self, refs, kept.shape, self.spans)
        found.name = name
        return found

    def _made(
        self, function: Function, rows: Sequence[Rows], which: Sequence[int]
    ) -> Iterator[tuple[int, Any, Any]]:
        """Yield number, block and reference of the blocks that are missing, in order."""
        if not which:
            return
        device = getattr(function, "actors", None)
        if device is not None:  # costly to build: one an actor, by Ray Data
            texts = [self._stored(rows[0])[i] for i in which]
            sizes = [self.spans[i].stop - self.spans[i].start for i in which]
            made = encoded(self.ray, function, texts, sizes, device)
            for i, block in zip(which, made, strict=True):
                yield i, block, self.ray.put(block)
            return
        shared = self.ray.put(function)
        begun = [self.submit(shared, rows, i)[1] for i in which]
        for i, ref in zip(which, begun, strict=True):
            yield i, self.fetch(ref), ref

    def _over(
        self,
        function: Function,
        rows: Sequence[Rows],
        where: NDArray[np.bool_] | None,
        blocks: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        which = range(len(self.spans)) if blocks is None else blocks
        masks = {i: None if where is None else where[self.spans[i]] for i in which}
        shared = self.ray.put(function)
        begun = [self.submit(shared, rows, i, masks[i])[1] for i in which]
        for ref in begun:
            yield self.fetch(ref)


def _work(function: Function, tree: list[Any], mask: Any, *leaves: Any) -> tuple[Any, Any]:
    """Do what a task is for: form its blocks, choose rows, call the function."""
    given = [_formed(each, leaves) for each in tree]
    if mask is not None:
        given = [chosen(each, mask) for each in given]
    found = function(*given)
    return getattr(found, "shape", None), found


def _formed(part: Any, leaves: tuple[Any, ...]) -> Any:
    if isinstance(part, int):
        leaf = leaves[part]
        return texts_of(leaf) if hasattr(leaf, "column_names") else leaf
    function: Callable[..., Any] = part[0]
    return function(*(_formed(each, leaves) for each in part[1]))


def balanced(ends: NDArray[np.int64], parts: int) -> list[slice]:
    """Return ranges of rows with about as many edges and nodes each, half of the weight on either.

    A row is never divided: one that has most of the edges is a range of its own.

    >>> balanced(np.array([0, 6, 7, 8, 9, 10, 11, 12]), 3)
    [slice(0, 1, None), slice(1, 4, None), slice(4, 7, None)]
    """
    n = len(ends) - 1
    weight = np.asarray(ends, dtype=np.float64) + int(ends[-1]) / max(n, 1) * np.arange(n + 1)
    if weight[-1] == 0:
        weight = np.arange(n + 1, dtype=np.float64)
    wanted = weight[-1] * np.arange(1, parts) / parts
    inner = np.searchsorted(weight, wanted)
    inner -= wanted - weight[inner - 1] < weight[inner] - wanted  # the nearer of two
    spans = np.unique(np.concatenate([[0], inner, [n]])).tolist()
    return [slice(at, end) for at, end in pairwise(spans)]


def _stacked(parts: list[Any], of: NDArray[np.int64], used: list[int]) -> Any:
    """Return sparse rows in the order in which they were asked for."""
    import scipy.sparse as sp

    order = np.concatenate([np.flatnonzero(of == i) for i in used])
    return sp.csr_array(sp.vstack(parts))[np.argsort(order)]
