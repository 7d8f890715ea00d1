"""A lookup finds what a dictionary finds, whatever the ids are."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.io.lookup import find_rows

close = st.integers(-20, 20)
far = st.integers(-(2**63), 2**63 - 1)
words = st.text(max_size=20)


def expected(ids: list[Any], names: list[Any]) -> list[int]:
    rows = {name: row for row, name in reversed(list(enumerate(ids)))}
    return [rows.get(name, -1) for name in names]


@settings(max_examples=200, deadline=None)
@given(data=st.data(), kind=st.sampled_from([close, far, words]))
def test_the_first_row_of_each_name(data: st.DataObject, kind: st.SearchStrategy[Any]) -> None:
    ids = data.draw(st.lists(kind, min_size=1, max_size=30))
    names = data.draw(st.lists(kind | st.sampled_from(ids), max_size=30))
    dtype = pl.String if kind is words else pl.Int64
    found = find_rows(pl.Series(ids, dtype=dtype), pl.Series(names, dtype=dtype))
    assert found.dtype == np.int32
    assert found.tolist() == expected(ids, names)


@pytest.mark.parametrize("span", [1, 2**40 + 1])
@pytest.mark.parametrize("strings", [False, True])
def test_many_ids(strings: bool, span: int) -> None:
    rng = np.random.default_rng(0)
    ids = pl.Series(rng.permutation(4000)[:2000] * span)
    names = pl.Series(rng.integers(-10, 4010, 1050) * span)
    if strings:
        ids, names = ids.cast(pl.String), names.cast(pl.String)
    assert find_rows(ids, names).tolist() == expected(ids.to_list(), names.to_list())


def test_columns_in_several_chunks() -> None:
    ids = pl.concat([pl.Series(["a", "b"]), pl.Series(["c"])], rechunk=False)
    names = pl.concat([pl.Series(["c"]), pl.Series(["x", "a"])], rechunk=False)
    assert find_rows(ids, names).tolist() == [2, -1, 0]


@pytest.mark.parametrize(
    ("ids", "names", "rows"),
    [
        (pl.Series([7, 8]), pl.Series([8, 7], dtype=pl.UInt8), [1, 0]),
        (pl.Series([7, 8]), pl.Series(["8", "07"]), [1, -1]),
        (pl.Series(["7", "08"]), pl.Series([8, 7]), [-1, 0]),
        (pl.Series([7, 8]), pl.Series([None, 8]), [-1, 1]),
        (pl.Series(["a", "b"]), pl.Series([None, "b"]), [-1, 1]),
        (pl.Series([-1, 8]), pl.Series([2**64 - 1, 8], dtype=pl.UInt64), [-1, 1]),
        (pl.Series([2**64 - 1, 0], dtype=pl.UInt64), pl.Series([-1, 0]), [-1, 1]),
        (pl.Series([2**64 - 1], dtype=pl.UInt64), pl.Series([2**64 - 1], dtype=pl.UInt64), [0]),
        (pl.Series([], dtype=pl.String), pl.Series(["a"]), [-1]),
        (pl.Series([], dtype=pl.Int64), pl.Series([1]), [-1]),
        (pl.Series(["a"]), pl.Series([], dtype=pl.String), []),
    ],
)
def test_types_that_differ_meet_as_text(ids: pl.Series, names: pl.Series, rows: list[int]) -> None:
    assert find_rows(ids, names).tolist() == rows
