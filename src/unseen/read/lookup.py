"""`Lookup`: where each name of a column stands among the ids of the nodes.

A short column is joined to the ids. In a long one, integers that lie close together are looked up
in a table, one entry for each integer:

    table[name - lowest]  ->  row among the ids, or -1

Any other id gets a 64-bit key, and the keys are sorted. As keys are spread evenly, their top bits
tell where to begin; what is looked for lies there or a few places further on:

    begin[key >> shift]  ->  first sorted key that is not smaller  ->  its row among the ids

The key of an integer is its product with an odd number, which no two integers share. That of a
string is a hash, so what was found is compared with what was asked. All of this is a few times
faster than a join, once its loops are compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

Find = Callable[[pl.Series, "NDArray[np.int32]"], None]  # names, and where their rows are written

LONG = 1 << 20  # names or ids; fewer are joined while loops would be compiled
BLOCK = 1 << 18  # names looked up at a time, by one thread; few enough to stay in its cache
WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
CROWD = 64  # keys that begin alike; more of them are no longer found in a few steps
ROOM = 8  # entries of the table for each id, at most
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it can be undone


class Lookup:
    """The rows of ids, integers or strings. Of ids that are the same, the first counts.

    >>> Lookup(pl.Series(["a", "b"])).rows(pl.Series(["b", "c", "a", "b"])).tolist()
    [1, -1, 0, 1]
    """

    def __init__(self, ids: pl.Series) -> None:
        self._whole = whole_numbers(ids)
        kind = pl.String if not self._whole else ids.dtype if ids.dtype == pl.UInt64 else pl.Int64
        self._ids = ids.cast(kind).rechunk()  # to gather fast

    def takes(self, given: pl.Series) -> bool:
        """Tell whether names of this type can be compared with the ids as they are."""
        if not self._whole:
            return given.dtype == pl.String and not given.null_count()
        return whole_numbers(given) and (given.dtype == pl.UInt64) == (self._ids.dtype == pl.UInt64)

    def rows(self, given: pl.Series) -> NDArray[np.int32]:
        """Return the row of each name among the ids, -1 for a name that is not there. [m]"""
        if not self.takes(given):
            return Lookup(self._ids.cast(pl.String)).rows(given.cast(pl.String).fill_null(""))
        few = max(len(given), len(self._ids)) < LONG
        find = None if few or not len(self._ids) else self._find
        if find is None:
            return self._joined(given)
        out = np.empty(len(given), dtype=np.int32)

        def fill(start: int) -> None:
            block = given.slice(start, BLOCK)
            find(block, out[start : start + len(block)])

        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            for _ in pool.map(fill, range(0, len(given), BLOCK)):
                pass
        return out

    @cached_property
    def _find(self) -> Find | None:
        """What looks up a long column, or None where that takes a join."""
        if self._whole:
            lowest, highest = int(self._ids.min()), int(self._ids.max())  # type: ignore[arg-type]
            if highest - lowest < ROOM * len(self._ids):
                return _by_table(self._ids, np.uint64(lowest % 2**64), highest - lowest + 1)
        return _by_key(self._ids)

    def _joined(self, given: pl.Series) -> NDArray[np.int32]:
        """Do it by a join: few are asked for, two ids are the same or, rarely, share a key."""
        rows = pl.Series(np.arange(len(self._ids), dtype=np.int32))
        first = self._ids.is_first_distinct()
        given = given.cast(self._ids.dtype)
        return given.replace_strict(
            self._ids.filter(first), rows.filter(first), default=-1, return_dtype=pl.Int32
        ).to_numpy()


def whole_numbers(given: pl.Series) -> bool:
    """Tell whether a column holds integers of at most 64 bits, and no gaps."""
    return given.dtype in WHOLE and not given.null_count()


def _by_table(ids: pl.Series, lowest: np.uint64, length: int) -> Find:
    from unseen.read.loops import by_table

    table = np.full(length, -1, dtype=np.int32)
    rows = np.arange(len(ids), dtype=np.int32)
    table[(_unsigned(ids) - lowest)[::-1]] = rows[::-1]  # the first row wins
    return lambda given, found: by_table(given.to_numpy(), lowest, table, found)


def _by_key(ids: pl.Series) -> Find | None:
    from unseen.read.loops import by_key

    keys = _keys(ids)  # [n]
    order = np.argsort(keys)
    keys = keys[order]
    if (keys[1:] == keys[:-1]).any():
        return None
    rows = np.append(order, -1).astype(np.int32)  # [n + 1]
    bits = len(keys).bit_length() + 1  # two to four places for each id
    shift = np.uint64(64 - bits)
    places = np.arange(1 << bits, dtype=np.uint64) << shift
    begin = np.searchsorted(keys, places).astype(np.int32)  # [2^bits]
    if np.diff(begin, append=len(order)).max() > CROWD:
        return None
    keys = np.append(keys, np.uint64(2**64 - 1))  # the last one stops every search

    def find(given: pl.Series, found: NDArray[np.int32]) -> None:
        by_key(_keys(given), keys, begin, shift, rows, found)
        if ids.dtype == pl.String:
            found[(ids.gather(np.maximum(found, 0)) != given).to_numpy()] = -1

    return find


def _keys(given: pl.Series) -> NDArray[np.uint64]:
    return given.hash().to_numpy() if given.dtype == pl.String else _unsigned(given) * SPREAD


def _unsigned(given: pl.Series) -> NDArray[np.uint64]:
    """Return integers modulo 2^64, in which differences of all of them fit."""
    return given.to_numpy().astype(np.uint64)
