"""Texts and ids in memory-mapped files: bytes end to end, and where each begins.

Workers share one copy, and no worker reads more of it than it is asked about. An id is found by a
64-bit hash among sorted hashes, then compared in full.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mapped(path: Path) -> NDArray[Any]:
    """Return an array that stays in its file; a plain one, whose slices are quickly made."""
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def write_strings(folder: Path, name: str, values: Iterable[str]) -> None:
    """Write `name.bytes.npy` and `name.ends.npy`."""
    parts = [value.encode("utf-8", "surrogatepass") for value in values]
    ends = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    np.save(folder / f"{name}.ends.npy", ends)
    np.save(folder / f"{name}.bytes.npy", np.frombuffer(b"".join(parts) or b" ", dtype=np.uint8))


class Strings:
    """A sequence of strings that lies in a file."""

    def __init__(self, folder: Path, name: str) -> None:
        self._bytes = mapped(folder / f"{name}.bytes.npy")
        self._ends = mapped(folder / f"{name}.ends.npy")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, i: int) -> str:
        return self.start(i, None)

    def start(self, i: int, most: int | None) -> str:
        """Return a string, or as much of it as lies in its first `most` bytes."""
        lo, hi = int(self._ends[i]), int(self._ends[i + 1])
        if most is None or hi - lo <= most:
            return bytes(self._bytes[lo:hi]).decode("utf-8", "replace")
        return bytes(self._bytes[lo : lo + most]).decode("utf-8", "ignore")


def write_index(folder: Path, ids: Iterable[str]) -> None:
    """Write the hashes of ids, sorted, and the position that each belongs to."""
    hashes = np.array([_hash(each) for each in ids], dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    np.save(folder / "id.hashes.npy", hashes[order])
    np.save(folder / "id.order.npy", order.astype(np.int64))


class Index:
    """The position of each id."""

    def __init__(self, folder: Path, ids: Strings) -> None:
        self._hashes = mapped(folder / "id.hashes.npy")
        self._order = mapped(folder / "id.order.npy")
        self._ids = ids

    def get(self, name: str) -> int | None:
        """Return the position of an id; None where there is no such node."""
        wanted = np.uint64(_hash(name))
        at = int(np.searchsorted(self._hashes, wanted))
        while at < len(self._hashes) and self._hashes[at] == wanted:
            position = int(self._order[at])
            if self._ids[position] == name:
                return position
            at += 1
        return None


def _hash(name: str) -> int:
    found = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "little")
