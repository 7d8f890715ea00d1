"""The loops of `lookup.py` and `ties.py`, compiled: one look at each name and at each tie.

All of them may run in several threads, on different stretches. A tie (i, j) is the integer
2^32 i + j.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True, error_model="numpy")
HALF = np.int64(32)


@compiled
def by_table(given, lowest, table, rows):  # type: ignore[no-untyped-def]
    """rows = table[given - lowest], -1 for what lies outside. [m]"""
    last = np.uint64(len(table))
    for e in range(len(given)):
        at = np.uint64(given[e]) - lowest  # what is lower comes round at the upper end
        rows[e] = table[at] if at < last else np.int32(-1)


@compiled
def by_key(keys, keys_sorted, begin, shift, rows_sorted, rows):  # type: ignore[no-untyped-def]
    """The row of each key, -1 for one that is not there. Keys are unique but for the last. [m]"""
    for e in range(len(keys)):
        key = keys[e]
        at = np.int64(begin[key >> shift])
        while keys_sorted[at] < key:
            at += 1
        rows[e] = rows_sorted[at] if keys_sorted[at] == key else np.int32(-1)


@compiled
def count_ties(rows, columns, low, high, directed):  # type: ignore[no-untyped-def]
    """How many ties start at rows from `low` to `high`, in either direction unless directed."""
    total = 0
    for e in range(len(rows)):
        i, j = rows[e], columns[e]
        if i != j:
            total += (i >= low) & (i < high)
            total += (not directed) & (j >= low) & (j < high)
    return total


@compiled
def gather_ties(rows, columns, values, low, high, directed, keys, kept):  # type: ignore[no-untyped-def]
    """Write these ties as integers, with their weights unless `values` is None.

    Each is written and then counted or not, as a branch would be guessed wrong half of the time;
    so there has to be room for one more.
    """
    at = 0
    for e in range(len(rows)):
        i, j = np.int64(rows[e]), np.int64(columns[e])
        keys[at] = (i << HALF) | j
        if values is not None:
            kept[at] = values[e]
        at += (i != j) & (i >= low) & (i < high)
        if not directed:
            keys[at] = (j << HALF) | i
            if values is not None:
                kept[at] = values[e]
            at += (i != j) & (j >= low) & (j < high)


@compiled
def to_rows(keys, order, values, low, counts, columns, kept):  # type: ignore[no-untyped-def]
    """From sorted ties to the number of ties of each row, their columns and largest weights.

    `order` says where in `values` the weight of each is; both are None where all weigh the same.
    Returns how many there are, each tie once. `columns` may lie where `keys` does, as no column is
    written before the key in its place was read.
    """
    at, before = np.int64(-1), np.int64(-1)
    for e in range(len(keys)):
        key = keys[e]
        new = key != before
        at += new
        before = key
        counts[np.uint64((key >> HALF) - low)] += new
        columns[np.uint64(at)] = np.int32(key & np.int64(0xFFFFFFFF))
        if values is not None:
            weight = values[order[e]]  # what is not a number stays, to be told
            if new | (weight > kept[at]) | (weight != weight):
                kept[at] = weight
    return at + 1


@compiled
def move(values, first, to, count):  # type: ignore[no-untyped-def]
    """Move values towards the beginning, as a copy of them would need fresh memory."""
    if first != to:
        for e in range(count):
            values[to + e] = values[first + e]
