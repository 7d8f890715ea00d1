"""`NpyFile`: a ``.npy`` file that is read and written in pieces, without mapping it.

Large pieces are written past the cache of the system (``O_DIRECT``, where there is such a thing):
nobody waits for dirty pages to be cleaned, and none of them crowd out what is being read. Mapped
files count against a limit on address space (``ulimit -v``), and pages of them come and go
when the system likes. Plain reads at an offset into an array of one's own cost what they say.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy

from unseen.core.errors import InputError, WriteError
from unseen.propagate.rooms import rooms

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAGE = 4096
LONG = 1 << 18  # bytes from which on a piece is written past the cache


@dataclass(frozen=True)
class NpyFile:
    """Where the numbers of an array are in a file. Rows of C order, any thread at any time."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the header."""
        try:
            with path.open("rb") as stream:
                version = npy.read_magic(stream)
                read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, fortran, dtype = read(stream)
                offset = stream.tell()
        except Exception as error:  # a damaged header fails in many ways
            raise InputError(
                f"{path}: expected a .npy file, found none that can be read ({error})"
            ) from error
        if dtype.hasobject or (fortran and len(shape) > 1):
            raise InputError(
                f"{path}: expected numbers in C order, found {dtype} in "
                f"{'Fortran' if fortran else 'C'} order; save np.ascontiguousarray(array)"
            )
        expected = offset + math.prod(shape) * dtype.itemsize
        if path.stat().st_size < expected:
            raise InputError(
                f"{path}: is cut off: expected {expected:,} bytes, found {path.stat().st_size:,}"
            )
        return cls(path, shape, dtype, offset)

    @classmethod
    def create(cls, path: Path, shape: tuple[int, ...], dtype: Any) -> Self:
        """Make a file of its full length, which takes no room on disk until it is written."""
        kind = np.dtype(dtype)
        with path.open("wb") as stream:
            _header(stream, shape, kind)
            offset = stream.tell()
            stream.truncate(offset + int(np.prod(shape, dtype=np.int64)) * kind.itemsize)
        return cls(path, shape, kind, offset)

    @staticmethod
    @contextmanager
    def growing(path: Path, dtype: np.dtype[Any]) -> Iterator[Callable[[NDArray[Any]], None]]:
        """Give a function that appends to a new array [m], whose length is known at the end."""
        length = 0
        with path.open("w+b") as stream:
            _header(stream, (0,), dtype)
            offset = stream.tell()

            def write(array: NDArray[Any]) -> None:
                nonlocal length
                stream.write(raw(array.astype(dtype, copy=False)))
                length += len(array)

            yield write
            stream.seek(0)
            _header(stream, (length,), dtype)
            if stream.tell() != offset:
                raise RuntimeError("the header of a .npy file grew with its length")

    def read(self, at: int, into: NDArray[Any]) -> None:
        """Fill `into` from the numbers that begin at number `at`."""
        view = raw(into)
        with self.path.open("rb", buffering=0) as stream:
            stream.seek(self.offset + at * self.dtype.itemsize)
            while view:
                count = stream.readinto(view)
                if not count:
                    raise InputError(f"{self.path}: ended while it was read; it was changed")
                view = view[count:]

    def write(self, at: int, array: NDArray[Any]) -> None:
        """Write the numbers of `array` from number `at` on, past the system's cache if it can."""
        view, begin = raw(array), self.offset + at * self.dtype.itemsize
        first, last = -begin % PAGE, len(view) - (begin + len(view)) % PAGE  # whole pages
        if last - first >= LONG and _write_pages(self.path, begin + first, view[first:last]):
            rest = [(begin, view[:first]), (begin + last, view[last:])]
        else:
            rest = [(begin, view)]
        with self.path.open("r+b", buffering=0) as stream:
            for place, part in rest:
                stream.seek(place)
                while part:
                    part = part[stream.write(part) :]

    def sync(self) -> None:
        """Return when everything that was written is on the disk."""
        with self.path.open("r+b") as stream:
            os.fsync(stream.fileno())


def _write_pages(path: Path, place: int, pages: memoryview) -> bool:
    """Write whole pages straight to the disk; False where the system does not do that."""
    if not hasattr(os, "O_DIRECT"):
        return False
    room = rooms.get("pages", (len(pages) + PAGE,), np.uint8)  # pages in memory as on disk
    start = -room.ctypes.data % PAGE
    room = room[start : start + len(pages)]
    room[:] = pages
    try:
        file = os.open(path, os.O_WRONLY | os.O_DIRECT)
    except OSError:
        return False
    try:
        done = 0
        while done < len(room):
            written = os.pwrite(file, room[done:].data, place + done) // PAGE * PAGE
            if not written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            done += written
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return False
    finally:
        os.close(file)
    return True


def raw(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array in C order. (`ndarray.tofile` hides why it failed.)"""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Say in words that a disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        place = folder if folder.exists() else folder.resolve().parent
        raise WriteError(
            f"{folder}: the disk is full ({shutil.disk_usage(place).free:,} bytes are free); make "
            "room there, or choose a folder elsewhere"
        ) from error


def _header(stream: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(stream, header)
