"""Where each name of a column stands among the ids of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
ROOM = 8  # entries of a table for each id, at most


def whole_numbers(given: pl.Series) -> bool:
    """Tell whether a column holds integers of at most 64 bits, and no gaps."""
    return given.dtype in WHOLE and not given.null_count()


def comparable(ids: pl.Series, names: pl.Series) -> bool:
    """Tell whether names can be compared with the ids as they are: both integers or both text."""
    if whole_numbers(ids) and whole_numbers(names):
        return (ids.dtype == pl.UInt64) == (names.dtype == pl.UInt64)
    return ids.dtype == names.dtype == pl.String and not names.null_count()


def find_rows(ids: pl.Series, names: pl.Series) -> NDArray[np.int32]:
    """Return the row of each name among the ids, -1 for one that is not there. [m]

    Of ids that are the same, the first counts. Integers and text are compared as text.

    >>> find_rows(pl.Series(["a", "b"]), pl.Series(["b", "c", "a", "b"])).tolist()
    [1, -1, 0, 1]
    """
    if not comparable(ids, names):
        ids, names = ids.cast(pl.String), names.cast(pl.String).fill_null("")
    if not len(ids):
        return np.full(len(names), -1, np.int32)
    if ids.dtype != pl.String:
        lowest, highest = int(ids.min()), int(ids.max())  # type: ignore[arg-type]
        if highest - lowest < ROOM * len(ids):
            return _by_table(ids, names, lowest, highest)
        names = names.cast(ids.dtype if ids.dtype == pl.UInt64 else pl.Int64)
        ids = ids.cast(names.dtype)
    first = ids.is_first_distinct()
    rows = pl.Series(np.arange(len(ids), dtype=np.int32))
    return names.replace_strict(
        ids.filter(first), rows.filter(first), default=-1, return_dtype=pl.Int32
    ).to_numpy()


def number_hint(name: str, ids: pl.Series) -> str:
    """Return what is said where an id is known as 1 but given as 1.0, or the other way round.

    >>> number_hint("7.0", pl.Series(["7"]))
    " (there is '7': ids are compared as text; save the column as whole numbers in both files)"
    """
    whole, point, rest = name.partition(".")
    other = whole if point and not rest.strip("0") else f"{name}.0"
    if not whole.lstrip("-").isdecimal() or (point and rest.strip("0")) or not (ids == other).any():
        return ""
    return (
        f" (there is {other!r}: ids are compared as text; save the column as whole numbers in "
        "both files)"
    )


def _by_table(ids: pl.Series, names: pl.Series, lowest: int, highest: int) -> NDArray[np.int32]:
    """Look up integers that lie close together, about ten times as fast: table[name - lowest]."""
    table = np.full(highest - lowest + 2, -1, dtype=np.int32)  # the last entry: not among them
    offset = np.uint64(lowest % 2**64)  # modulo 2^64, where every difference fits
    rows = np.arange(len(ids), dtype=np.int32)
    table[(ids.to_numpy().astype(np.uint64) - offset)[::-1]] = rows[::-1]  # the first row wins
    at = names.to_numpy().astype(np.uint64)
    at -= offset  # what is lower comes round at the upper end
    np.minimum(at, np.uint64(len(table) - 1), out=at)
    return np.take(table, at)
