"""`DiskHops`: the hops that a walk has left on disk, and rows of them for training.

A walk is a folder::

    hop-0.npy .. hop-K.npy   [blocks, n, c], the columns of P^k X block by block
    walk.json                what was walked, and which pieces are finished

Column j of node i is at [j // c, i, j % c] (the last block may hold zeros to fill it up).
`DiskHops.rows` gives rows of all hops for training in small batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from unseen.errors import InputError
from unseen.files import read_json
from unseen.propagate.npy import NpyFile

if TYPE_CHECKING:
    from numpy.typing import NDArray

WALK = "walk.json"


@dataclass(frozen=True)
class DiskHops:
    """The hops P^k X, k = 0..K, of a finished walk."""

    folder: Path
    files: tuple[NpyFile, ...]  # K+1 times [blocks, n, c]
    width: int  # d

    @classmethod
    def open(cls, folder: Path | str) -> Self:
        """Open a walk that has been finished."""
        folder = Path(folder)
        if not (folder / WALK).is_file():
            raise InputError(f"{folder}: has no {WALK}; expected a folder of `walk_on_disk`")
        notes = read_json(folder / WALK)
        if not notes["finished"]:
            raise InputError(
                f"{folder}: this walk is not finished; call `walk_on_disk` again to go on with it"
            )
        files = (NpyFile.open(hop_path(folder, k)) for k in range(notes["hops"] + 1))
        return cls(folder, tuple(files), notes["features"]["shape"][1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Hops, nodes and columns, (K+1, n, d)."""
        return len(self.files), self.files[0].shape[1], self.width

    def rows(self, nodes: Any) -> NDArray[np.float32]:
        """Return all hops of some nodes, in the order in which they are given. [K+1, b, d]

        A batch of nodes that lie together is read at the speed of the disk, one of scattered nodes
        a page of the disk for each node, hop and block. The files are mapped here.
        """
        at = np.asarray(nodes, dtype=np.int64).reshape(-1)
        hops, n, d = self.shape
        if len(at) and (at.min() < 0 or at.max() >= n):
            raise InputError(
                f"nodes: expected positions from 0 to {n - 1:,}, found {at.min():,} to {at.max():,}"
            )
        out = np.empty((hops, len(at), d), dtype=np.float32)
        order = np.argsort(at, kind="stable")  # once through the file
        for k, file in enumerate(self.files):
            blocks, _, c = file.shape
            mapped = np.memmap(file.path, file.dtype, "r", file.offset, file.shape)
            for b in range(blocks):
                columns = slice(b * c, min((b + 1) * c, d))
                out[k, order, columns] = mapped[b, at[order], : columns.stop - columns.start]
        return out


def hop_path(folder: Path, k: int) -> Path:
    """Return the file of hop k."""
    return folder / f"hop-{k}.npy"
