r"""K hops on disk: features and hops that do not fit into memory, inside a bound that is chosen.

Rows that are summed lie anywhere, and a disk is slow at that. So the features are cut into blocks
of c columns, narrow enough that one block, Z [n, c], fits into memory. For each block and each hop,
Z is read from the hop before, the graph streams past it from disk, and the sums are written in
order. Every file is read and written from its beginning to its end.

It goes in pieces, each noted in ``walk.json`` once it is on disk: a run that was killed goes on
with the first piece that is missing. Pieces are computed by the loop of `memory.py`, so the hops
are the same to the last bit.

`memory` bounds what the process allocates: Z, the scales of the rows, and the pieces that are on
their way. Files are read, not mapped, so a limit on address space (``ulimit -v``) holds as well.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from unseen.core.errors import InputError
from unseen.io.atomic import read_json, replacing, write_json
from unseen.propagate import memory as loops
from unseen.propagate.disk_graph import DiskGraph
from unseen.propagate.disk_hops import NOTES, DiskHops, hop_path
from unseen.propagate.kernels import LANES
from unseen.propagate.npy import NpyFile, full_disk
from unseen.propagate.rooms import rooms

__all__ = ["DiskGraph", "DiskHops", "propagate_on_disk"]

FORMAT = 1
RUNTIME = 256 << 20  # bytes of Python with its libraries
LAYING = 1 << 23  # bytes of features that one thread holds; with `PIECE`, a part of the format
ROOM = 1 << 22  # bytes of the sums of a stretch of rows: a disk likes them large
PIECE = 128  # such portions of features are noted as finished together
AHEAD = 2  # threads for each core: some wait for the disk while others add

Progress = Callable[[int, int], None]  # pieces finished, pieces in all


def propagate_on_disk(
    graph: DiskGraph,
    features: Path | str,
    folder: Path | str,
    hops: int,
    *,
    memory: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> DiskHops:
    """Write X, P X, .., P^K X to `folder`, K = `hops`; go on where an earlier call was ended.

    More hops than an earlier call had are added to its hops.

    Args:
        features: X, a ``.npy`` file. [n, d]
        memory: bytes that the process may take, everything included.
        threads: all cores that this process may use, unless given.
        progress: called with the number of finished pieces and of all; what it raises ends
            the run, and finished pieces stay.
    """
    X, folder = NpyFile.open(Path(features)), Path(folder)
    _check(graph, X, hops)
    with full_disk(folder):
        return _Propagation(graph, X, folder, hops, memory, threads).run(progress)


class _Propagation:
    """What is under way."""

    def __init__(
        self,
        graph: DiskGraph,
        X: NpyFile,
        folder: Path,
        hops: int,
        memory: int,
        threads: int | None,
    ) -> None:
        self.graph, self.X, self.folder, self.hops = graph, X, folder, hops
        self.workers = AHEAD * (threads or loops.cores())
        self.indptr = graph.load("indptr")
        self.longest = int(np.diff(self.indptr).max(initial=0))  # edges of one row
        n, d = X.shape
        self.notes = self._notes()
        if self.notes["columns"] is None:
            self.notes["columns"] = self._widest(memory)
        self.c, self.blocks = loops.columns(d, self.notes["columns"])  # c of Z: a multiple of 8
        self.parts = list(loops.stretches(self.indptr, self.c, ROOM))
        self._check_memory(memory, self.c)
        width = self.blocks[0].stop if self.blocks else 0  # c of the files
        self.shape = (len(self.blocks), n, width)
        step = max(1, LAYING // max(1, d * X.dtype.itemsize))
        self.portions = [slice(at, min(at + step, n)) for at in range(0, n, step)]

    def run(self, progress: Progress | None) -> DiskHops:
        """Do the pieces that are missing."""
        self._make_room()
        pieces: list[tuple[str, Callable[[], None]]] = [
            (f"rows {self.portions[i].start}", lambda i=i: self._lay(i))  # type: ignore[misc]
            for i in range(0, len(self.portions), PIECE)
        ]
        pieces += [
            (f"block {b} hop {k}", lambda b=b, k=k: self._step(b, k))  # type: ignore[misc]
            for b in range(len(self.blocks))
            for k in range(1, self.hops + 1)
        ]
        self.left, self.right = self.graph.load("left"), self.graph.load("right")
        self.Z = np.zeros((0, self.c), dtype=np.float32)
        with ThreadPoolExecutor(self.workers) as self.pool:
            for done, (name, work) in enumerate(pieces, start=1):
                if name not in self.notes["done"]:
                    work()
                    self.notes["done"].append(name)
                    self._note()
                    if progress:
                        progress(done, len(pieces))
        self.notes["finished"] = True
        self._note()
        return DiskHops.open(self.folder)

    def _lay(self, first: int) -> None:
        """Copy some rows of X into the columns of hop 0."""
        hop = NpyFile.open(hop_path(self.folder, 0))
        _, n, width = self.shape

        def copy(rows: slice) -> None:
            X = rooms.get("X", (rows.stop - rows.start, self.X.shape[1]), self.X.dtype)
            self.X.read(rows.start * X.shape[1], X)
            if not np.isfinite(X).all():
                where = rows.start + int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
                raise InputError(
                    f"{self.X.path}: row {where:,} holds NaN or infinity; expected numbers"
                )
            for b, columns in enumerate(self.blocks):
                block = rooms.get("block", (len(X), width), hop.dtype)
                block[:, columns.stop - columns.start :] = 0
                loops.store(X[:, columns], block[:, : columns.stop - columns.start])
                hop.write((b * n + rows.start) * width, block)

        loops.every(self.pool, copy, self.portions[first : first + PIECE])
        hop.sync()

    def _step(self, b: int, k: int) -> None:
        """Propagate block b from hop k - 1 to hop k."""
        before, after = (NpyFile.open(hop_path(self.folder, i)) for i in (k - 1, k))
        _, n, width = self.shape
        graph, indptr = self.graph, self.indptr
        if not len(self.Z):
            self.Z = np.zeros((n, self.c), dtype=np.float32)

        def load(rows: slice) -> None:
            block = rooms.get("block", (rows.stop - rows.start, width), before.dtype)
            before.read((b * n + rows.start) * width, block)
            loops.scale(block, self.right[rows], self.Z[rows])

        def step(rows: slice) -> None:
            ends = indptr[rows.start : rows.stop + 1]
            first, count = int(ends[0]), int(ends[-1] - ends[0])
            indices = rooms.get("indices", (count,), graph.indices.dtype)
            graph.indices.read(first, indices)
            weights = None
            if graph.weights is not None:
                weights = rooms.get("weights", (count,), np.float32)
                graph.weights.read(first, weights)
            total = loops.sums(ends, indices, weights, self.Z, self.left[rows])
            block = rooms.get("block", (len(total), width), after.dtype)
            loops.store(total, block)
            after.write((b * n + rows.start) * width, block)

        loops.every(self.pool, load, self.parts)
        loops.every(self.pool, step, self.parts)
        after.sync()

    def _notes(self) -> dict[str, Any]:
        """Return the notes of an earlier call, or new ones."""
        status = self.X.path.stat()
        new = {
            "format": FORMAT,
            "graph": self.graph.fingerprint,
            "features": {
                "shape": list(self.X.shape),
                "kind": self.X.dtype.str,
                "changed": status.st_mtime_ns,
            },
            "columns": None,
            "hops": self.hops,
            "done": [],
            "finished": False,
        }
        if not (self.folder / NOTES).is_file():
            return new
        old = read_json(self.folder / NOTES)
        if not isinstance(old, dict) or not new.keys() <= old.keys():
            raise InputError(f"{self.folder / NOTES}: notes no propagation; choose another folder")
        for name in ("graph", "features"):
            if old.get(name) != new[name]:
                raise InputError(
                    f"{self.folder}: holds hops of another graph or other features (its {name} "
                    "changed since), which cannot be gone on with; choose another folder, or "
                    "remove this one to propagate anew"
                )
        if old["format"] != FORMAT:
            raise InputError(
                f"{self.folder}: holds hops of format {old['format']}, expected {FORMAT}; choose "
                "another folder, or remove this one to propagate anew"
            )
        return new | {"columns": old["columns"], "done": old["done"]}

    def _note(self) -> None:
        with replacing(self.folder / NOTES) as new:
            write_json(new, self.notes)

    def _make_room(self) -> None:
        """Make the files that are not there, if the disk has room for them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        needed, missing = 0, []
        for k in range(self.hops + 1):
            path = hop_path(self.folder, k)
            needed += int(np.prod(self.shape, dtype=np.int64)) * 4
            if path.exists():
                needed -= getattr(path.stat(), "st_blocks", 0) * 512  # what was written of it
            else:
                missing.append(k)
        free = shutil.disk_usage(self.folder).free
        if needed > free:
            raise InputError(
                f"{self.folder}: the hops take {needed:,} bytes, but the disk has {free:,} free; "
                "make room there, or choose a folder elsewhere"
            )
        lost = tuple(f" hop {k}" for k in missing)
        self.notes["done"] = [
            name
            for name in self.notes["done"]
            if not name.endswith(lost) and not (0 in missing and name.startswith("rows "))
        ]
        self._note()
        for k in missing:
            NpyFile.create(hop_path(self.folder, k), self.shape, np.float32)

    def _needed(self, c: int) -> int:
        """Return the bytes that it takes with Z [n, c]."""
        n = self.graph.nodes
        edge = self.graph.indices.dtype.itemsize + (4 if self.graph.weights else 0)
        stepping = 4 * n * c + self.workers * (max(loops.EDGES, self.longest) * edge + 3 * ROOM)
        laying = self.workers * 4 * LAYING  # X, whether it is finite, its columns, their pages
        return RUNTIME + 16 * n + max(stepping, laying)  # 16: indptr, left and right

    def _widest(self, memory: int) -> int:
        """Return the largest number of columns that can be propagated together."""
        fitting = (c for c in range(loops.WIDEST, LANES, -LANES) if self._needed(c) <= memory)
        return next(fitting, LANES)

    def _check_memory(self, memory: int, c: int) -> None:
        if self._needed(c) > memory:
            raise InputError(
                f"memory: {memory:,} bytes are too few for one block of {c} columns of "
                f"{self.graph.nodes:,} nodes; give at least {self._needed(c):,}"
            )


def _check(graph: DiskGraph, X: NpyFile, hops: int) -> None:
    if len(X.shape) != 2 or X.shape[0] != graph.nodes or X.dtype.kind != "f":
        raise InputError(
            f"{X.path}: expected one row of floating-point numbers for each of the "
            f"{graph.nodes:,} nodes, found shape {X.shape} of {X.dtype}"
        )
    if hops < 0:
        raise InputError(f"hops: expected 0 or more steps, found {hops}")
