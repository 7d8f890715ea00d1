"""A lookup finds what a dictionary finds, whatever the ids are."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.read import lookup
from unseen.read.lookup import Lookup

close = st.integers(-20, 20)
far = st.integers(-(2**63), 2**63 - 1)
words = st.text(max_size=20)


@pytest.fixture(params=[0, 1 << 20], ids=["long", "short"], autouse=True, scope="module")
def both_routes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Short columns take another route than long ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lookup, "LONG", request.param)
        yield


def expected(ids: list[Any], names: list[Any]) -> list[int]:
    rows = {name: row for row, name in reversed(list(enumerate(ids)))}
    return [rows.get(name, -1) for name in names]


@settings(max_examples=200, deadline=None)
@given(data=st.data(), kind=st.sampled_from([close, far, words]))
def test_the_first_row_of_each_name(data: st.DataObject, kind: st.SearchStrategy[Any]) -> None:
    ids = data.draw(st.lists(kind, min_size=1, max_size=30))
    names = data.draw(st.lists(kind | st.sampled_from(ids), max_size=30))
    dtype = pl.String if kind is words else pl.Int64
    found = Lookup(pl.Series(ids, dtype=dtype)).rows(pl.Series(names, dtype=dtype))
    assert found.dtype == np.int32
    assert found.tolist() == expected(ids, names)


@pytest.mark.parametrize("span", [1, 2**40 + 1])
@pytest.mark.parametrize("strings", [False, True])
def test_many_ids_in_small_blocks(
    monkeypatch: pytest.MonkeyPatch, strings: bool, span: int
) -> None:
    monkeypatch.setattr(lookup, "BLOCK", 100)
    rng = np.random.default_rng(0)
    ids = pl.Series(rng.permutation(4000)[:2000] * span)
    names = pl.Series(rng.integers(-10, 4010, 1050) * span)
    if strings:
        ids, names = ids.cast(pl.String), names.cast(pl.String)
    assert Lookup(ids).rows(names).tolist() == expected(ids.to_list(), names.to_list())


def test_columns_in_several_chunks() -> None:
    ids = pl.concat([pl.Series(["a", "b"]), pl.Series(["c"])], rechunk=False)
    names = pl.concat([pl.Series(["c"]), pl.Series(["x", "a"])], rechunk=False)
    assert Lookup(ids).rows(names).tolist() == [2, -1, 0]


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
def test_types_that_differ_meet_as_strings(
    ids: pl.Series, names: pl.Series, rows: list[int]
) -> None:
    assert Lookup(ids).rows(names).tolist() == rows


def test_an_unknown_name_with_the_key_of_an_id_is_not_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        lookup, "_keys", lambda given: given.str.len_chars().to_numpy().astype(np.uint64)
    )
    found = Lookup(pl.Series(["a", "bb"])).rows(pl.Series(["bb", "c", "a", "dd", "eee"]))
    assert found.tolist() == [1, -1, 0, -1, -1]


def test_ids_that_share_a_key_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "_keys", lambda given: np.zeros(len(given), dtype=np.uint64))
    assert Lookup(pl.Series(["a", "b", "c"])).rows(pl.Series(["c", "x", "a"])).tolist() == [
        2,
        -1,
        0,
    ]


def test_many_keys_in_one_place_are_searched() -> None:
    keys = np.arange(100, dtype=np.uint64)  # their top bits are all the same
    undone = keys * np.uint64(pow(int(lookup.SPREAD), -1, 2**64))
    ids = pl.Series(undone)
    assert Lookup(ids).rows(ids.reverse()).tolist() == list(range(99, -1, -1))
