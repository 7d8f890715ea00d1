r"""`DiskGraph`: a graph in row order on disk, to be read stretch by stretch.

A folder with these arrays, each a plain ``.npy`` file, and a manifest with their checksums:

============ ======= ========== ==================================================================
file         shape   kind       what
============ ======= ========== ==================================================================
indptr.npy   [n + 1] int64      where the edges of each row begin
indices.npy  [m]     int32      the other end of each edge (int64 from 2^31 nodes on)
weights.npy  [m]     float32    its weight; not there when all are equal
degrees.npy  [2, n]  float64    sums of weights by row and by column
============ ======= ========== ==================================================================

Edges in any order are brought into row order by buckets: written to a file for each range of rows
first, each of which is then sorted within `memory`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.errors import InputError
from unseen.io.atomic import check_folder, in_place, read_json, write_json
from unseen.propagate.npy import NpyFile, full_disk, raw

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1 << 22  # edges that are looked at together
SHIFT = np.uint64(32)  # an edge as one number: the row in the upper half, the column in the lower
LOWER = np.uint64(0xFFFFFFFF)
SORTING = {False: 32, True: 64}  # bytes for each edge of a bucket while it is sorted; by weights
FACTS = "facts.json"


@dataclass(frozen=True)
class DiskGraph:
    """A graph on disk: `indptr` and degrees in memory, edges mapped."""

    nodes: int
    entries: int  # non-zeros: one both ways counts twice
    indptr: NDArray[np.int64]  # [n + 1]
    indices: NDArray[Any]  # [m]
    weights: NDArray[np.float32] | None  # [m]
    degrees: NDArray[np.float64]  # [2, n]
    repeats: int  # edges that were listed before
    loops: int

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open a graph that was built; a file that changed since is refused."""
        folder = Path(folder)
        check_folder(folder)
        facts = read_json(folder / FACTS)

        def load(name: str, mapped: bool = True) -> Any:
            mode: Any = "r" if mapped else None
            return np.load(folder / f"{name}.npy", mmap_mode=mode, allow_pickle=False)

        indices = np.asarray(load("indices"))
        weights = np.asarray(load("weights")) if (folder / "weights.npy").exists() else None
        degrees = load("degrees", mapped=False)
        return cls(
            degrees.shape[1],
            len(indices),
            load("indptr", mapped=False),
            indices,
            weights,
            degrees,
            facts["repeats"],
            facts["loops"],
        )

    @classmethod
    def from_edges(
        cls,
        folder: Path | str,
        source: Any,
        target: Any,
        weight: Any = None,
        *,
        nodes: int,
        memory: int,
        directed: bool = False,
    ) -> Self:
        """Write a graph that is a list of edges to `folder`.

        An edge that is listed more than once is kept once, with its largest weight, and loops are
        left out, as in `Graph.from_edges`.

        Args:
            source, target, weight: arrays, read in slices: give `np.load(path, mmap_mode="r")`
                for edges that do not fit into memory. Three times [m]
            memory: bytes to stay below.
            directed: whether an edge counts from source to target only.
        """
        if nodes >= LOWER:
            raise InputError(f"nodes: expected fewer than 2^32, found {nodes:,}")
        edges = _Edges(source, target, weight, nodes, directed)
        weighted = weight is not None
        fixed = 48 * nodes + 100 * CHUNK  # counts and sums of rows and columns; chunks of edges
        most = (memory - fixed) // SORTING[weighted]
        if most < CHUNK:
            raise InputError(
                f"memory: {memory:,} bytes are too few to sort the edges of {nodes:,} nodes; "
                f"give at least {fixed + SORTING[weighted] * CHUNK:,}"
            )

        with full_disk(Path(folder)):
            in_place(Path(folder), lambda new: _sort_edges(new, edges, int(most)))
        return cls.open(folder)


class _Edges:
    """A list of edges that is looked at in chunks."""

    def __init__(self, source: Any, target: Any, weight: Any, nodes: int, directed: bool) -> None:
        self.source, self.target, self.weight = source, target, weight
        self.nodes, self.directed, self.loops = nodes, directed, 0
        lengths = {len(each) for each in (source, target, weight) if each is not None}
        if len(lengths) > 1:
            raise InputError(
                f"source, target, weight: expected equally many, found {sorted(lengths)}"
            )

    def pairs(self) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.float32] | None]]:
        """Yield edges as numbers, row and column in one, in both directions unless directed."""
        self.loops = 0
        for begin in range(0, len(self.source), CHUNK):
            at = slice(begin, begin + CHUNK)
            rows, columns = (np.asarray(ends[at]) for ends in (self.source, self.target))
            for ends in (rows, columns):
                if ends.dtype.kind not in "iu":
                    raise InputError(f"edges: expected node positions, found {ends.dtype}")
                if ends.min() < 0 or ends.max() >= self.nodes:
                    raise InputError(
                        f"edges: expected node positions from 0 to {self.nodes - 1:,}, found "
                        f"{ends.min():,} to {ends.max():,} among edges {begin:,} to "
                        f"{begin + len(ends) - 1:,}"
                    )
            apart = rows != columns
            self.loops += len(apart) - int(apart.sum())
            rows, columns = (ends[apart].astype(np.uint64) for ends in (rows, columns))
            values = None
            if self.weight is not None:
                values = np.asarray(self.weight[at], dtype=np.float32)
                if not (np.isfinite(values).all() and values.min() >= 0):
                    raise InputError(
                        "weight: expected finite weights of at least 0, found others among edges "
                        f"{begin:,} to {begin + len(values) - 1:,}"
                    )
                values = values[apart]
            yield rows << SHIFT | columns, values
            if not self.directed:
                yield columns << SHIFT | rows, values


def _sort_edges(folder: Path, edges: _Edges, most: int) -> None:
    """Write the arrays of a graph; at most `most` edges are in memory, or those of one row."""
    n, weighted = edges.nodes, edges.weight is not None
    counts = np.zeros(n, dtype=np.int64)
    for pairs, _ in edges.pairs():
        _count(pairs >> SHIFT, counts)
    bounds, listed = _bounds(counts, most), int(counts.sum())
    buckets = [folder / f"bucket-{i}" for i in range(len(bounds) - 1)]
    _fill(buckets, bounds, edges)

    counts[:] = 0
    degrees = np.zeros((2, n), dtype=np.float64)
    with ExitStack() as files:
        indices = files.enter_context(NpyFile.growing(folder / "indices.npy", _index_kind(n)))
        weights = (
            files.enter_context(NpyFile.growing(folder / "weights.npy", np.dtype(np.float32)))
            if weighted
            else None
        )
        for bucket in buckets:
            pairs, values = _merged(bucket, weighted)
            columns = (pairs & LOWER).astype(_index_kind(n))
            pairs >>= SHIFT  # the rows
            _count(pairs, counts)
            indices(columns)
            if weights is not None and values is not None:
                weights(values)
            _count(pairs, degrees[0], values)
            _count(columns, degrees[1], values)
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    _write(folder, indptr=indptr, degrees=degrees)
    ways = 1 if edges.directed else 2
    repeats = (listed - int(indptr[-1])) // ways
    write_json(folder / FACTS, {"repeats": repeats, "loops": edges.loops})


def _count(rows: NDArray[Any], sums: NDArray[Any], values: NDArray[Any] | None = None) -> None:
    """Add one, or a value, to the sum of each row, a piece at a time."""
    for at in range(0, len(rows), CHUNK):
        piece = rows[at : at + CHUNK].astype(np.int64)
        if len(piece) == 0:
            continue
        low, high = int(piece.min()), int(piece.max()) + 1
        some = None if values is None else values[at : at + CHUNK]
        sums[low:high] += np.bincount(piece - low, weights=some).astype(sums.dtype, copy=False)


def _merged(bucket: Path, weighted: bool) -> tuple[NDArray[np.uint64], NDArray[np.float32] | None]:
    """Return the edges of a bucket in order, each once, and their weights; remove its files."""
    pairs, values = np.fromfile(bucket, dtype=np.uint64), None
    if weighted:
        values = np.fromfile(_beside(bucket), dtype=np.float32)
        order = np.argsort(pairs)
        pairs, values = pairs[order], values[order]
    else:
        pairs.sort()
    new = np.ones(len(pairs), dtype=bool)
    np.not_equal(pairs[1:], pairs[:-1], out=new[1:])
    if not new.all():
        if values is not None:
            values = np.maximum.reduceat(values, np.flatnonzero(new))
        pairs = pairs[new]
    bucket.unlink()
    _beside(bucket).unlink(missing_ok=True)
    return pairs, values


def _bounds(counts: NDArray[np.int64], most: int) -> NDArray[np.uint64]:
    """Return the rows at which ranges of at most `most` edges (or one row) begin, and n."""
    ends, bounds, at = np.cumsum(counts), [0], 0
    while at < len(counts):
        before = int(ends[at - 1]) if at else 0
        at = max(int(np.searchsorted(ends, before + most, side="right")), at + 1)
        bounds.append(at)
    return np.array(bounds if len(bounds) > 1 else [0, 0], dtype=np.uint64)


def _fill(buckets: list[Path], bounds: NDArray[np.uint64], edges: _Edges) -> None:
    """Append each edge to the file of its range of rows."""
    for bucket in buckets:
        bucket.touch()
        if edges.weight is not None:
            _beside(bucket).touch()
    for pairs, values in edges.pairs():
        where = (np.searchsorted(bounds, pairs >> SHIFT, side="right") - 1).astype(np.uint16)
        order = np.argsort(where, kind="stable")
        ends = np.searchsorted(where[order], np.arange(len(buckets) + 1))
        for bucket, begin, end in zip(buckets, ends, ends[1:], strict=False):
            with bucket.open("ab") as stream:
                stream.write(raw(pairs[order[begin:end]]))
            if values is not None:
                with _beside(bucket).open("ab") as stream:
                    stream.write(raw(values[order[begin:end]]))


def _beside(bucket: Path) -> Path:
    return bucket.with_name(f"{bucket.name}-weights")


def _index_kind(nodes: int) -> np.dtype[Any]:
    return np.dtype(np.int32 if nodes < 2**31 else np.int64)


def _write(folder: Path, **arrays: NDArray[Any]) -> None:
    for name, array in arrays.items():
        NpyFile.create(folder / f"{name}.npy", array.shape, array.dtype).write(0, array)
