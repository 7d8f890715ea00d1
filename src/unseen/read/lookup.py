"""`Lookup`: where each name of a long column stands among the ids of the nodes.

Integers that lie close together are looked up in a table, one entry for each integer:

    table[name - lowest]  ->  row among the ids, or -1

Any other id gets a 64-bit key, and the keys are sorted. As keys are spread evenly, their top bits
tell where to begin; what is looked for lies there or a few places further on:

    begin[key >> shift]  ->  first sorted key that is not smaller  ->  its row among the ids

The key of an integer is its product with an odd number, which no two integers share. That of a
string is a hash, so what was found is compared with what was asked. All of this is a few times
faster than a join.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 18  # names looked up at a time, by one thread; few enough to stay in its cache
WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
ROOM = 8  # entries of the table for each id, at most
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, so that multiplying by it can be undone
STEPS = 8  # places tried one by one before a binary search


class Lookup:
    """The rows of ids, integers or strings.

    >>> Lookup(pl.Series(["a", "b"])).rows(pl.Series(["b", "c", "a", "b"])).tolist()
    [1, -1, 0, 1]
    """

    def __init__(self, ids: pl.Series) -> None:
        self._whole = whole_numbers(ids)
        self._ids = (ids if self._whole else ids.cast(pl.String)).rechunk()  # to gather fast
        self._table: NDArray[np.int32] | None = None
        if self._whole and len(ids):
            lowest, highest = int(ids.min()), int(ids.max())  # type: ignore[arg-type]
            if highest - lowest < ROOM * len(ids):
                self._fill_table(lowest, highest)
                return
        self._sort_keys()

    def takes(self, given: pl.Series) -> bool:
        """Tell whether names of this type can be compared with the ids as they are."""
        if not self._whole:
            return given.dtype == pl.String and not given.null_count()
        return whole_numbers(given) and (given.dtype == pl.UInt64) == (self._ids.dtype == pl.UInt64)

    def rows(self, given: pl.Series) -> NDArray[np.int32]:
        """Return the row of each name among the ids, -1 for a name that is not there. [m]"""
        if not self.takes(given):
            return Lookup(self._ids.cast(pl.String)).rows(given.cast(pl.String).fill_null(""))
        out = np.full(len(given), -1, dtype=np.int32)
        if not len(self._ids):
            return out
        if self._table is None and self._repeats:
            return self._joined(given)

        def fill(start: int) -> None:
            block = given.slice(start, BLOCK)
            find = self._by_key if self._table is None else self._by_table
            out[start : start + len(block)] = find(block)

        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            for _ in pool.map(fill, range(0, len(given), BLOCK)):
                pass
        return out

    def _fill_table(self, lowest: int, highest: int) -> None:
        self._lowest = np.uint64(lowest % 2**64)
        self._table = np.full(highest - lowest + 2, -1, dtype=np.int32)  # the last is for the rest
        rows = np.arange(len(self._ids), dtype=np.int32)
        self._table[(_unsigned(self._ids) - self._lowest)[::-1]] = rows[::-1]  # the first row wins

    def _by_table(self, given: pl.Series) -> NDArray[np.int32]:
        assert self._table is not None
        at = _unsigned(given) - self._lowest  # what is lower comes round at the upper end
        found: NDArray[np.int32] = self._table[np.minimum(at, np.uint64(len(self._table) - 1))]
        return found

    def _sort_keys(self) -> None:
        keys = _keys(self._ids)  # [n]
        order = np.argsort(keys)
        keys = keys[order]
        self._repeats = bool((keys[1:] == keys[:-1]).any())
        self._rows = np.append(order, -1).astype(np.int32)  # [n + 1]
        bits = len(keys).bit_length() + 1  # two to four places for each id
        self._shift = np.uint64(64 - bits)
        places = np.arange(1 << bits, dtype=np.uint64) << self._shift
        self._begin = np.searchsorted(keys, places).astype(np.int32)  # [2^bits]
        self._sorted = np.append(keys, np.uint64(2**64 - 1))  # the last one stops every search

    def _by_key(self, given: pl.Series) -> NDArray[np.int32]:
        keys = _keys(given)  # [b]
        at = self._begin[keys >> self._shift]
        behind = np.flatnonzero(self._sorted[at] < keys)
        for _ in range(STEPS):
            at[behind] += 1
            behind = behind[self._sorted[at[behind]] < keys[behind]]
        at[behind] = np.searchsorted(self._sorted, keys[behind])
        same = self._sorted[at] == keys
        rows: NDArray[np.int32] = self._rows[at]
        if not self._whole:
            same &= (self._ids.gather(np.maximum(rows, 0)) == given).to_numpy()
        rows[~same] = -1
        return rows

    def _joined(self, given: pl.Series) -> NDArray[np.int32]:
        """Do it by a join: two ids are the same or, once in a blue moon, share a key."""
        rows = pl.Series(np.arange(len(self._ids), dtype=np.int32))
        first = self._ids.is_first_distinct()
        return given.replace_strict(
            self._ids.filter(first), rows.filter(first), default=-1, return_dtype=pl.Int32
        ).to_numpy()


def whole_numbers(given: pl.Series) -> bool:
    """Tell whether a column holds integers of at most 64 bits, and no gaps."""
    return given.dtype in WHOLE and not given.null_count()


def _keys(given: pl.Series) -> NDArray[np.uint64]:
    return given.hash().to_numpy() if given.dtype == pl.String else _unsigned(given) * SPREAD


def _unsigned(given: pl.Series) -> NDArray[np.uint64]:
    """Return integers modulo 2^64, in which differences of all of them fit."""
    return given.to_numpy().astype(np.uint64)
