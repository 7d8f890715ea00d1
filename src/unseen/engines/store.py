"""Rows that lie on disk: blocks that outlive the process, flat files that do not, and views.

Blocks are files of their own, whole or not there, named after their number and the CRC-32 of their
bytes: ``00017-5f1c09ab.npy``. They are checked when they are first read. Within a block columns
follow each other, so that some columns of all nodes are read without the others.
"""

from __future__ import annotations

import os
import weakref
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.errors import SavedFileError
from unseen.io.atomic import replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.engines.base import Function, Rows

Spans = Sequence[slice]  # the nodes of each block

HEADER = Lock()  # threads that parse headers at the same time break Python up to 3.11.7


def _mapped(path: Path) -> NDArray[Any]:
    """Return an array, mapped from its file."""
    with HEADER:
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return found


class Blocks:
    """Rows [n, c] in files, one for each block."""

    def __init__(self, folder: Path, spans: Spans, owner: Any = None) -> None:
        self.owner = owner  # whose folder it is, and goes with it
        self.folder, self.spans, self.name = folder, spans, folder.name
        self._checked: set[int] = set()
        self._paths = {int(path.name[:5]): path for path in folder.glob("[0-9]*.npy")}
        self.missing = [i for i in range(len(spans)) if i not in self._paths]
        if not self.missing:
            shape = _mapped(self._paths[0]).shape
            self.shape = (spans[-1].stop, *shape[1:])

    def write(self, i: int, block: NDArray[Any]) -> None:
        """Keep a block, as a whole."""
        block = np.asfortranarray(block)
        name = f"{i:05d}-{zlib.crc32(_raw(block)):08x}.npy"
        with replacing(self.folder / name) as new, new.open("wb") as stream:
            np.lib.format.write_array_header_1_0(
                stream,
                {
                    "descr": np.lib.format.dtype_to_descr(block.dtype),
                    "fortran_order": block.ndim > 1,
                    "shape": block.shape,
                },
            )
            stream.write(_raw(block))  # `ndarray.tofile` hides why it failed
            stream.flush()
            os.fsync(stream.fileno())

    def block(self, i: int) -> NDArray[Any]:
        """Return a block, read into memory. [b, c]"""
        path = self._paths[i]
        try:
            found: NDArray[Any] = np.array(_mapped(path), order="K")
        except (OSError, ValueError, EOFError) as error:
            raise SavedFileError(f"{_damaged(path)} ({error}); {_remedy(path)}") from error
        self._check(i, found)
        return found

    def columns(self, i: int, which: slice) -> NDArray[Any]:
        """Return some columns of a block, mapped. [b, c']"""
        if i not in self._checked:
            return self.block(i)[:, which]
        return _mapped(self._paths[i])[:, which]

    def take(self, nodes: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows. [m, c]"""
        return by_block(self.block, nodes, self.spans)

    __getitem__ = take

    def __len__(self) -> int:
        return int(self.spans[-1].stop)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.take(np.arange(len(self))), dtype=dtype)

    def _check(self, i: int, block: NDArray[Any]) -> None:
        if i in self._checked:
            return
        path = self._paths[i]
        span = self.spans[i]
        said = path.stem.partition("-")[2]
        if len(block) != span.stop - span.start or f"{zlib.crc32(_raw(block)):08x}" != said:
            raise SavedFileError(f"{_damaged(path)}; {_remedy(path)}")
        self._checked.add(i)


class Flat:
    """Rows [n, c] in one file, mapped; the file goes when nobody needs them any more."""

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: Any, spans: Spans) -> None:
        self.shape, self.spans = shape, spans
        size = max(1, int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
        with path.open("wb") as stream:  # room is taken now: a full disk later would be a crash
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(stream.fileno(), 0, size)
            else:
                stream.truncate(size)
        self.array: NDArray[Any] = np.memmap(path, dtype, "r+", shape=shape)
        weakref.finalize(self, _remove, path)

    def block(self, i: int) -> NDArray[Any]:
        """Return a block, mapped. [b, c]"""
        return np.asarray(self.array[self.spans[i]])

    def columns(self, i: int, which: slice) -> NDArray[Any]:
        """Return some columns of a block, mapped. [b, c']"""
        return np.asarray(self.array[self.spans[i], which])

    def take(self, nodes: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows. [m, c]"""
        return np.asarray(self.array[nodes])


class View:
    """What a function makes of other rows, made whenever it is read."""

    def __init__(self, function: Function, rows: Sequence[Rows], spans: Spans) -> None:
        self.function, self.rows, self.spans = function, rows, spans
        first = function(*(take_rows(each, np.zeros(1, np.int64)) for each in rows))
        self.shape = (spans[-1].stop, *first.shape[1:])

    def block(self, i: int) -> NDArray[Any]:
        """Return a block. [b, c]"""
        found: NDArray[Any] = self.function(*(part(each, i, self.spans) for each in self.rows))
        return found

    def columns(self, i: int, which: slice) -> NDArray[Any]:
        """Return some columns of a block. [b, c']"""
        return self.block(i)[:, which]

    def take(self, nodes: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows. [m, c]"""
        found: NDArray[Any] = self.function(*(take_rows(each, nodes) for each in self.rows))
        return found

    __getitem__ = take

    def __len__(self) -> int:
        return int(self.spans[-1].stop)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.take(np.arange(len(self))), dtype=dtype)


def part(rows: Rows, i: int, spans: Spans) -> Any:
    """Return the block i of rows of any kind."""
    return rows.block(i) if hasattr(rows, "block") else rows[spans[i]]


def take_rows(rows: Rows, nodes: NDArray[np.int64]) -> Any:
    """Return some rows, of any kind. [m, c]"""
    if hasattr(rows, "take") and hasattr(rows, "block"):
        return rows.take(nodes)
    return rows[nodes] if hasattr(rows, "shape") else [rows[i] for i in nodes.tolist()]


def by_block(
    block: Callable[[int], NDArray[Any]], nodes: NDArray[np.int64], spans: Spans
) -> NDArray[Any]:
    """Gather rows from blocks that are read once each. [m, ..]"""
    starts = np.array([span.start for span in spans], dtype=np.int64)
    of = np.searchsorted(starts, nodes, side="right") - 1
    found: NDArray[Any] | None = None
    for i in np.unique(of).tolist():
        at, rows = np.flatnonzero(of == i), block(i)
        if found is None:
            found = np.empty((len(nodes), *rows.shape[1:]), dtype=rows.dtype)
        found[at] = rows[nodes[at] - starts[i]]
    return block(0)[:0] if found is None else found


def _raw(block: NDArray[Any]) -> memoryview:
    """Return the bytes of a block, column by column."""
    return np.ascontiguousarray(block.T).reshape(-1).view(np.uint8).data


def _damaged(path: Path) -> str:
    return f"{path}: is not as it was written"


def _remedy(path: Path) -> str:
    return "remove this file and run the command again, which makes it anew and keeps the rest"


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
