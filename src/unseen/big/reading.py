"""Rows of a walk on disk, read by threads while those before are in use."""

from __future__ import annotations

import hashlib
import json
import mmap
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unseen.errors import InputError
from unseen.files import read_json
from unseen.propagate.disk_hops import WALK, DiskHops

if TYPE_CHECKING:
    from numpy.typing import NDArray

READERS = 8  # threads that wait for the disk
TOGETHER = 64  # rows that one of them takes

Key = TypeVar("Key")
Done = TypeVar("Done")


def ahead(work: Callable[[Key], Done], keys: Iterable[Key], threads: int = 1) -> Iterator[Done]:
    """Yield work(key) for each key, in order; while one is in use, threads do the next ones.

    >>> list(ahead(str.upper, "abc"))
    ['A', 'B', 'C']
    """
    coming: deque[Future[Done]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for key in keys:
            coming.append(pool.submit(work, key))
            if len(coming) > threads:  # no more than that are held
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def stretch(hops: DiskHops, rows: slice) -> NDArray[np.float32]:
    """Return all hops of nodes that lie together, read in order and without mapping. [K+1, b, d]

    The same as `hops.rows(range(rows.start, rows.stop))`, but faster.
    """
    count, d = rows.stop - rows.start, hops.width
    out = np.empty((len(hops.files), count, d), dtype=np.float32)
    for whole, file in zip(out, hops.files, strict=True):
        blocks, n, c = file.shape
        for b in range(blocks):
            straight = c == d and file.dtype == out.dtype  # one block, which needs no copy
            block = whole if straight else np.empty((count, c), dtype=file.dtype)
            file.read((b * n + rows.start) * c, block)
            if not straight:
                columns = slice(b * c, min((b + 1) * c, d))
                whole[:, columns] = block[:, : columns.stop - columns.start]
    return out


def scattered(hops: DiskHops) -> Callable[[NDArray[Any]], NDArray[np.float32]]:
    """Return what gives all hops of nodes that lie apart, best in order. [b] -> [K+1, b, d]

    The same as `hops.rows`, but some threads wait for the disk at once, and the system is told not
    to read what surrounds each row, which is many times as much.
    """
    mapped = [np.memmap(file.path, file.dtype, "r", file.offset, file.shape) for file in hops.files]
    for each in mapped:
        pages: Any = getattr(each, "_mmap", None)
        if pages is not None and hasattr(mmap, "MADV_RANDOM"):
            pages.madvise(mmap.MADV_RANDOM)

    def read(nodes: NDArray[Any]) -> NDArray[np.float32]:
        out = np.empty((len(mapped), len(nodes), hops.width), dtype=np.float32)

        def take(begin: int) -> None:
            some = slice(begin, begin + TOGETHER)
            for whole, file in zip(out, mapped, strict=True):
                for b, block in enumerate(file):
                    at = b * file.shape[2]
                    width = min(file.shape[2], hops.width - at)
                    whole[some, at : at + width] = np.take(block, nodes[some], axis=0)[:, :width]

        with ThreadPoolExecutor(READERS) as pool:
            list(pool.map(take, range(0, len(nodes), TOGETHER)))
        return out

    return read


def walk_fingerprint(hops: DiskHops) -> str:
    """Return what changes with the graph, the features or the number of hops of a walk."""
    notes = read_json(hops.folder / WALK)
    return fingerprint({name: notes[name] for name in ("graph", "features", "storage", "hops")})


def fingerprint(settings: Any, *arrays: NDArray[Any]) -> str:
    """Return the sha256 of settings that JSON can hold and of the bytes of arrays."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def check_same(
    folder: Path, found: Mapping[str, Any], asked: Mapping[str, Any], holds: str, again: str
) -> None:
    """Refuse to go on with what was asked for otherwise, in the words of `holds` and `again`."""
    changed = [name for name, value in asked.items() if found.get(name) != value]
    if changed:
        raise InputError(
            f"{folder}: holds {holds} (what changed since: {', '.join(changed)}), which cannot be "
            f"gone on with; choose another folder, or remove this one to {again}"
        )
