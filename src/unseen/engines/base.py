r"""Four moves: all that is ever computed over nodes. Models are written against them, once.

=============== ================================================================================
`map`           f over blocks of rows: B_1 [b, c_1], B_2 [b, c_2], .. -> [b] or [b, c]
`reduce`        f over blocks of rows to something small, summed: [C, d], [d, d], histograms
`aggregate`     :math:`Y = A B`, a narrow block over edges; a method of the graph's operator
`take`          rows by their positions, drawn by a seed; edges are drawn by the operator
=============== ================================================================================

`Memory` is one block and NumPy; `Disk` is blocks on disk inside a limit. A model does not know
which. What it is given as node vectors, and what `map` returns, are *rows*: an array in memory,
something that stands for one elsewhere. Vectors [n] are always arrays: there is room for a few
numbers a node. A function must treat each row for itself in `map`, and give sums in `reduce`:
where blocks begin and end is nobody's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task

SAMPLE = 50_000  # nodes
PIECE = 4_096  # rows that are widened to float64 at a time
LABELLED = 5_000  # labelled nodes

Rows = Any  # [n, c]: an array, or what an engine keeps in its place
Function = Callable[..., Any]  # of blocks, in the order of the rows
T = TypeVar("T")


class Diffusion(Protocol):
    """Composed hops z of every node (Eq. 13), of unit length, for whoever compares with them."""

    def cosines(self, W: NDArray[np.float32]) -> Rows:
        """Return :math:`z_i \\cdot w_c` for the rows w of W [C, d]. [n, C]"""

    def sample(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return some nodes, ascending, all where there are few, and their z. [m], [m, d]"""

    def known(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return those of some nodes, ascending, whose z is at hand, and it. [m], [m, d]

        It is at hand of the sample, and of the `labelled_nodes` of the task.
        """


class Team(Protocol):
    """Workers that train one model, each on some of the labelled nodes."""

    rank: int  # of this one
    size: int

    def share(self, count: int) -> slice:
        """Return which of so many rows are this worker's."""

    def total(self, tensors: Iterable[Any]) -> None:
        """Replace each tensor by its sum over all workers."""


class Engine(Protocol):
    """What every engine can do."""

    name: str
    keeps: bool  # whether what has a name outlives the process

    def map(
        self,
        function: Function,
        *rows: Rows,
        where: NDArray[np.bool_] | None = None,
        keep: str = "",
    ) -> Rows:
        """Return what the function gives for each row.

        Args:
            function: takes a block of each of the rows and returns [b] or [b, c].
            rows: arrays, rows of this engine, or texts, one for each node.
            where: only these nodes; the result has as many rows as it has True. [n]
            keep: a name under which the result outlives the process, where there is a disk:
                blocks that an earlier process has finished are not computed again.
        """

    def view(self, function: Function, *rows: Rows) -> Rows:
        """Return the same, computed whenever it is read where that saves room."""

    def reduce(
        self, function: Function, *rows: Rows, where: NDArray[np.bool_] | None = None
    ) -> Any:
        """Return the sum over blocks of what the function gives: an array, or a tuple of them."""

    def take(self, rows: Rows, nodes: NDArray[np.int64]) -> Any:
        """Return some rows, in the order of `nodes`. [m, c]"""

    def array(self, rows: Rows) -> NDArray[Any]:
        """Return what `map` gave as an array, mapped from a file where it lies on disk. [n, c]"""

    def diffuse(self, task: Task, hops: int, laziness: float) -> Diffusion:
        """Return the composed hops of a task: K times `aggregate`, each engine in its own way."""

    def train(self, job: Callable[[Team], T]) -> T:
        """Return what the job gives: done by this process alone, or by workers at the same time.

        Each is given its place in the team; what the first of them returns is the result.
        """

    def once(self, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what `make` gives (arrays and plain values by name); made once, if kept on disk"""


class Alone:
    """A team of one."""

    rank, size = 0, 1

    def share(self, count: int) -> slice:
        """Return all rows."""
        return slice(0, count)

    def total(self, tensors: Iterable[Any]) -> None:
        """Leave every sum as it is."""


ALONE = Alone()


def sums(function: Function, rows: Sequence[Any]) -> Any:
    """Return the sums of what a function gives for blocks of rows, an array or a tuple of them.

    In float64 throughout: sums of many rows in float32 are off by 1e-6, differently where blocks
    end elsewhere, and rounds of a model magnify it.
    """
    return added(function(*given) for given in _pieces(rows))


def added(found: Iterable[Any]) -> Any:
    """Return sums in float64, of arrays or of tuples of them."""
    total: list[Any] = []
    single = False
    for each in found:
        single = not isinstance(each, tuple)
        parts = (each,) if single else each
        if not total:
            total = [np.zeros(np.shape(part), dtype=np.float64) for part in parts]
        for so_far, part in zip(total, parts, strict=True):
            so_far += part
    whole = [each if each.ndim else each[()] for each in total]
    return whole[0] if single else tuple(whole)


def _pieces(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield some rows at a time of blocks of equally many, wide; all where not all are arrays."""
    if not all(isinstance(each, np.ndarray) for each in rows):
        yield rows
        return
    for at in range(0, max(len(rows[0]), 1), PIECE):
        yield [_wide(each[at : at + PIECE]) for each in rows]


def _wide(rows: NDArray[Any]) -> NDArray[Any]:
    return rows.astype(np.float64) if rows.dtype == np.float32 else rows


def sampled_nodes(nodes: int) -> NDArray[np.int64]:
    """Return the nodes of which every engine knows z. [m]"""
    if nodes <= SAMPLE:
        return np.arange(nodes)
    return np.sort(np.random.default_rng(0).choice(nodes, SAMPLE, replace=False))


def labelled_nodes(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the labelled nodes of which every engine knows z, ascending; most often all. [m]"""
    nodes = np.flatnonzero(labels >= 0)
    if len(nodes) > LABELLED:
        rank = np.random.default_rng(0).permutation(len(labels))
        nodes = np.sort(nodes[np.argsort(rank[nodes])[:LABELLED]])
    return nodes


def picked(
    nodes: NDArray[np.int64], among: NDArray[np.int64], rows: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return those of some nodes that are among others, ascending both, and their rows."""
    found = np.intersect1d(nodes, among, assume_unique=True)
    return found, rows[np.searchsorted(among, found)]


def chosen(rows: Any, where: NDArray[np.bool_]) -> Any:
    """Return some rows of a block: of an array, or of a list of texts."""
    if hasattr(rows, "shape"):
        return rows[where]
    return [row for row, wanted in zip(rows, where.tolist(), strict=True) if wanted]


def engine_of(owner: Any) -> Engine:
    """Return the engine that the rows of a task, of a graph or of what was encoded belong to."""
    found: Engine | None = getattr(owner, "engine", None)
    if found is None:
        from unseen.engines.memory import MEMORY

        return MEMORY
    return found
