"""`Ids`: the names of all nodes as Arrow keeps them, and the row of each name.

Beside them there is one number of 64 bits for each node: the id itself where ids are whole numbers,
else its hash, in ascending order beside the row that it belongs to. Hashes may collide, so whoever
is found by a hash is compared with the name itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.errors import InputError
from unseen.io.files import scan_arrow
from unseen.io.lookup import whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEEDS = range(8)  # of the hash: with the next one two names that collided will not


class Ids(Sequence[str]):
    """Names of nodes, from an Arrow file.

    Args:
        path: with one column, `id`: text or whole numbers.
        source: the file of the nodes, for messages.
    """

    def __init__(self, path: Path, source: Path | str = "nodes") -> None:
        self._source = source
        self._column = scan_arrow(path).collect()["id"]
        self._numbers = self._column.dtype != pl.String
        self._sorted: tuple[NDArray[Any], NDArray[np.int32], int] | None = None

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return self._column[at].cast(pl.String).to_list()
        return str(self._column[int(at)])

    @property
    def column(self) -> pl.Series:
        """All names as a column: text, or whole numbers."""
        return self._column

    def names(self, rows: NDArray[np.int64]) -> list[str]:
        """Return the names of some nodes."""
        return self._column.gather(rows).cast(pl.String).to_list()

    def check_unique(self) -> None:
        """Refuse ids that are there twice."""
        self._index()

    def rows(self, names: pl.Series) -> NDArray[np.int32]:
        """Return the row of each name, -1 for one that is not there. [m]"""
        if self._numbers and (not whole_numbers(names) or names.dtype == pl.UInt64):
            texts = names.cast(pl.String).str.strip_chars()
            names = texts.cast(pl.Int64, strict=False)
            named = names.cast(pl.String) == texts  # "01" is not the name of node 1
            unknown = ~named.fill_null(False).to_numpy()
            found = self.rows(names.fill_null(0))
            found[unknown] = -1
            return found
        keys, rows, seed = self._index()
        if self._numbers:
            wanted = names.cast(pl.Int64).to_numpy()
        else:
            names = names.cast(pl.String).fill_null("")
            wanted = names.hash(seed).to_numpy()
        order = np.argsort(wanted)  # one way through the keys: near ones are in the cache
        at = np.minimum(np.searchsorted(keys, wanted[order]), len(keys) - 1)
        hit = keys[at] == wanted[order]
        found = np.full(len(wanted), -1, dtype=np.int32)
        found[order[hit]] = rows[at[hit]]
        if not self._numbers:
            known = np.flatnonzero(found >= 0)
            same = (self._column.gather(found[known]) == names.gather(known)).to_numpy()
            found[known[~same]] = -1
        return found

    def _index(self) -> tuple[NDArray[Any], NDArray[np.int32], int]:
        """Return keys in ascending order, the row of each, and the seed of the hash."""
        if self._sorted is None:
            for seed in SEEDS:
                column = self._column
                keys = (column.cast(pl.Int64) if self._numbers else column.hash(seed)).to_numpy()
                order = np.argsort(keys, kind="stable").astype(np.int32)
                keys = keys[order]
                twice = np.flatnonzero(keys[1:] == keys[:-1])
                for at in twice.tolist():
                    one, other = (str(column[int(order[i])]) for i in (at, at + 1))
                    if one == other:
                        first, again = (int(order[i]) + 1 for i in (at, at + 1))
                        raise InputError(
                            f"{self._source} row {again}: id {one!r} is already on row {first}; "
                            "every node needs an id of its own; drop or rename one of them"
                        )
                if not len(twice):
                    break
            self._sorted = keys, order, seed
        return self._sorted
