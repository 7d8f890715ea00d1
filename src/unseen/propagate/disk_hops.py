"""`DiskHops`: the hops that a propagation has left on disk, and how rows of them are read.

A folder::

    hop-0.npy .. hop-K.npy   [blocks, n, c], the columns of P^k X block by block
    walk.json                what was propagated, and which pieces are finished

Column j of node i is at [j // c, i, j % c] (the last block may hold zeros to fill it up).
"""

from __future__ import annotations

import mmap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.core.errors import InputError
from unseen.io.atomic import read_json
from unseen.propagate.npy import NpyFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTES = "walk.json"  # the name that it had in earlier versions, whose folders are read as well
READERS = 8  # threads that wait for the disk
TOGETHER = 64  # rows that one of them takes


@dataclass(frozen=True)
class DiskHops:
    """The hops P^k X, k = 0..K, of a finished propagation."""

    folder: Path
    files: tuple[NpyFile, ...]  # K+1 times [blocks, n, c]
    width: int  # d

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open hops that are finished."""
        folder = Path(folder)
        if not (folder / NOTES).is_file():
            raise InputError(f"{folder}: has no {NOTES}; expected a folder of `propagate_on_disk`")
        notes = read_json(folder / NOTES)
        if not notes["finished"]:
            raise InputError(
                f"{folder}: its hops are not finished; call `propagate_on_disk` again to go on"
            )
        files = (NpyFile.open(hop_path(folder, k)) for k in range(notes["hops"] + 1))
        return cls(folder, tuple(files), notes["features"]["shape"][1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Hops, nodes and columns, (K+1, n, d)."""
        return len(self.files), self.files[0].shape[1], self.width

    def rows(self, nodes: Any) -> NDArray[np.float32]:
        """Return all hops of some nodes, in the order in which they are given. [K+1, b, d]

        Some threads wait for the disk at once, and the system is told not to read what surrounds
        each row, which is many times as much. The files are mapped here.
        """
        at = np.asarray(nodes, dtype=np.int64).reshape(-1)
        hops, n, d = self.shape
        if len(at) and (at.min() < 0 or at.max() >= n):
            raise InputError(
                f"nodes: expected positions from 0 to {n - 1:,}, found {at.min():,} to {at.max():,}"
            )
        out = np.empty((hops, len(at), d), dtype=np.float32)
        order = np.argsort(at, kind="stable")  # once through the file
        mapped = [_mapped(file) for file in self.files]

        def take(begin: int) -> None:
            some = order[begin : begin + TOGETHER]
            for whole, file in zip(out, mapped, strict=True):
                for columns, block in zip(self._columns(), file, strict=True):
                    whole[some, columns] = block[at[some], : columns.stop - columns.start]

        with ThreadPoolExecutor(READERS) as pool:
            list(pool.map(take, range(0, len(at), TOGETHER)))
        return out

    def stretch(self, nodes: slice) -> NDArray[np.float32]:
        """Return all hops of nodes that lie together, read in order, not mapped. [K+1, b, d]"""
        count, d = nodes.stop - nodes.start, self.width
        out = np.empty((len(self.files), count, d), dtype=np.float32)
        for whole, file in zip(out, self.files, strict=True):
            _, n, c = file.shape
            straight = c == d and file.dtype == out.dtype  # one block, which needs no copy
            for b, columns in enumerate(self._columns()):
                block = whole if straight else np.empty((count, c), dtype=file.dtype)
                file.read((b * n + nodes.start) * c, block)
                if not straight:
                    whole[:, columns] = block[:, : columns.stop - columns.start]
        return out

    def _columns(self) -> list[slice]:
        """Return which columns of a row each block holds."""
        blocks, _, c = self.files[0].shape
        return [slice(b * c, min((b + 1) * c, self.width)) for b in range(blocks)]


def hop_path(folder: Path, k: int) -> Path:
    """Return the file of hop k."""
    return folder / f"hop-{k}.npy"


def _mapped(file: NpyFile) -> NDArray[Any]:
    mapped = np.memmap(file.path, file.dtype, "r", file.offset, file.shape)
    pages: Any = getattr(mapped, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_RANDOM"):
        pages.madvise(mmap.MADV_RANDOM)
    return mapped
