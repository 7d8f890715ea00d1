r"""`Disk`: rows in blocks on disk, worked on inside a limit of memory, block after block.

What is kept by name outlives the process: a run that was killed goes on with the blocks that are
missing. All else lies in files that are removed as soon as nobody needs them. Sums over blocks are
in float64, in the order of the blocks: the answers are those of memory, whatever the block size.

Composed hops z are not stored: they are as wide as the node vectors. With :math:`L = \beta I +
(1 - \beta) P`, cosines with the rows of W need only narrow blocks,

.. math:: \cos(z_i, w_c) = (L^K (X W^\top))_{ic} / |(L^K X)_i| ,

and the lengths below, once, some columns at a time.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.errors import InputError
from unseen.engines.base import ALONE, added, chosen, sums
from unseen.engines.state import read_state, write_state
from unseen.engines.store import Blocks, Flat, View, part, take_rows
from unseen.propagate.npy import full_disk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.encode.base import Progress
    from unseen.engines.base import Function, Rows, T, Team
    from unseen.engines.disk_graph import DiskGraph

BLOCK = 32_768  # nodes
RUNTIME = 700 << 20  # bytes of Python with its libraries and of blocks on their way
NODE = 160  # bytes of what is kept in memory for each node: its id, label, degree, hash, ...
LANES = 8  # columns that the loops over edges take together


class Disk:
    """Blocks of rows in a folder.

    Args:
        folder: for what is kept and for what is not; made if it is not there.
        nodes: how many rows there are.
        memory: bytes of anonymous memory to stay below.
        block: rows of a block; another number needs another folder.
        progress: called with what is done, how many nodes are done, and of how many.
    """

    name = "disk"
    keeps = True

    def __init__(
        self,
        folder: Path,
        nodes: int,
        memory: int,
        block: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.folder, self.nodes, self.memory = folder, nodes, memory
        step = block or BLOCK
        self.spans = [slice(at, min(at + step, nodes)) for at in range(0, nodes, step)]
        self.progress = progress
        self._scratch = folder / "scratch"
        shutil.rmtree(self._scratch, ignore_errors=True)  # of a process that was killed
        self._scratch.mkdir(parents=True)
        self._names = count()

    def map(
        self,
        function: Function,
        *rows: Rows,
        where: NDArray[np.bool_] | None = None,
        keep: str = "",
    ) -> Rows:
        """Return what the function gives for each row: [n] in memory, [n, c] on disk."""
        with full_disk(self.folder):
            if keep:
                return self._kept(function, rows, keep)
            found: Any = None
            at, total = 0, self.nodes if where is None else int(where.sum())
            for block in self._over(function, rows, where):
                if found is None:
                    found = self._room((total, *block.shape[1:]), block.dtype)
                target = found.array if isinstance(found, Flat) else found
                target[at : at + len(block)] = block
                at += len(block)
            return found

    def view(self, function: Function, *rows: Rows) -> Rows:
        """Return what the function gives for each row, whenever it is read."""
        return View(function, rows, self.spans)

    def reduce(
        self, function: Function, *rows: Rows, where: NDArray[np.bool_] | None = None
    ) -> Any:
        """Return the sums of what the function gives, in float64."""
        return added(self._over(lambda *given: sums(function, given), rows, where))

    def take(self, rows: Rows, nodes: NDArray[np.int64]) -> Any:
        """Return some rows."""
        return take_rows(rows, nodes)

    def array(self, rows: Rows) -> NDArray[Any]:
        """Return what `map` gave as an array, mapped."""
        return rows.array if isinstance(rows, Flat) else np.asarray(rows)

    def diffuse(self, task: Task, hops: int, laziness: float) -> Any:
        """Return composed hops of which only the lengths are known."""
        from unseen.engines.diffusion import NarrowDiffusion

        return NarrowDiffusion(self, task, hops, laziness)

    def operator(self, graph: DiskGraph) -> Any:
        """Return the graph as linear maps on rows of this engine."""
        from unseen.engines.disk_operator import DiskOperator

        return DiskOperator(graph, self)

    def scratch(self) -> Path:
        """Return the name of a file that does not outlive the process."""
        return self._scratch / f"{next(self._names)}"

    def train(self, job: Callable[[Team], T]) -> T:
        """Do the job here."""
        return job(ALONE)

    def once(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what `make` gave, in this process or in one before."""
        path = self.folder / name
        with full_disk(self.folder):
            if not path.is_dir():
                write_state(path, make())
        return read_state(path)

    def load(self, rows: Rows, which: slice, into: NDArray[np.float32], factor: Any = None) -> None:
        """Copy some columns of all rows into an array [n, c], times a factor a row."""

        def copy(i: int) -> None:
            span = self.spans[i]
            found = (
                rows.columns(i, which) if hasattr(rows, "columns") else rows[span, which]
            )  # [b, c']
            place = into[span, : found.shape[1]]
            place[:] = found
            if factor is not None:
                place *= factor[span, None]

        with ThreadPoolExecutor(cores()) as pool:
            deque(pool.map(copy, range(len(self.spans))), maxlen=0)

    def columns(self, width: int, arrays: int) -> list[slice]:
        """Return the columns that are worked on together where so many arrays [n, c] are needed."""
        room = self.memory - RUNTIME - NODE * self.nodes
        most = room // (4 * self.nodes * arrays) // LANES * LANES
        if most < LANES:
            least = RUNTIME + (NODE + 4 * LANES * arrays) * self.nodes
            raise InputError(
                f"memory: {self.memory:,} bytes are too few for {self.nodes:,} nodes; give at "
                f"least {least:,} (--memory {-(-least // (1 << 20))}MB)"
            )
        return [slice(at, min(at + most, width)) for at in range(0, width, int(most))]

    def room(self, width: int) -> Flat:
        """Return rows to be filled. [n, width]"""
        with full_disk(self.folder):
            found: Flat = self._room((self.nodes, width), np.float32)
            return found

    def _room(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if len(shape) == 1:
            return np.empty(shape, dtype=dtype)
        spans = self.spans if shape[0] == self.nodes else ()
        return Flat(self.scratch(), shape, dtype, spans)

    def _kept(self, function: Function, rows: Sequence[Rows], name: str) -> Blocks:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        found = Blocks(folder, self.spans, self)
        if found.missing:
            left = found.missing
            for i, block in zip(left, self._over(function, rows, None, left), strict=True):
                found.write(i, block)
                if self.progress is not None:
                    self.progress(name, self.spans[i].stop, self.nodes)
            found = Blocks(folder, self.spans, self)
        return found

    def _over(
        self,
        function: Function,
        rows: Sequence[Rows],
        where: NDArray[np.bool_] | None,
        blocks: Sequence[int] | None = None,
    ) -> Iterator[Any]:
        def work(i: int) -> Any:
            given = [part(each, i, self.spans) for each in rows]
            if where is not None:
                given = [chosen(each, where[self.spans[i]]) for each in given]
            return function(*given)

        yield from ahead(work, range(len(self.spans)) if blocks is None else blocks)


def ahead(work: Callable[[int], Any], keys: Sequence[int] | range) -> Iterator[Any]:
    """Yield work(key) for each key, in order; threads do the next ones meanwhile.

    >>> list(ahead(lambda i: i * i, range(4)))
    [0, 1, 4, 9]
    """
    coming: deque[Future[Any]] = deque()
    threads = cores()
    with ThreadPoolExecutor(threads) as pool:
        for key in keys:
            coming.append(pool.submit(work, key))
            if len(coming) > threads:  # no more than that are held
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
