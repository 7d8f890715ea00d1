"""A list of ties becomes the matrix that a loop over them makes."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.errors import InputError
from unseen.graph import Graph
from unseen.read import ties as module
from unseen.read.ties import Ties, adjacency

position = st.integers(0, 5)
weights = st.sampled_from([0.0, 0.5, 1.0, 2.0])


@pytest.fixture(params=[0, 1 << 20], ids=["long", "short"], autouse=True, scope="module")
def both_routes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Short lists take another route than long ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LONG", request.param)
        yield


def slowly(ties: list[tuple[int, int, float]], directed: bool) -> tuple[Any, int, int]:
    """Entry by entry, with a dictionary."""
    largest: dict[tuple[int, int], float] = {}
    listed = [tie for tie in ties if tie[0] != tie[1]]
    for i, j, weight in listed:
        pair = (i, j) if directed else (min(i, j), max(i, j))
        largest[pair] = max(largest.get(pair, 0.0), weight)
    A = np.zeros((6, 6), dtype=np.float32)
    for (i, j), weight in largest.items():
        A[i, j] = weight
        if not directed:
            A[j, i] = weight
    return A, len(listed) - len(largest), len(ties) - len(listed)


@settings(max_examples=200, deadline=None)
@given(
    ties=st.lists(st.tuples(position, position, weights), max_size=30),
    directed=st.booleans(),
    weighted=st.booleans(),
    size=st.sampled_from([np.int32, np.int64]),
)
def test_the_same_as_a_loop(
    ties: list[tuple[int, int, float]], directed: bool, weighted: bool, size: type[np.integer[Any]]
) -> None:
    ties = ties if weighted else [(i, j, 1.0) for i, j, _ in ties]
    rows, columns = (np.array([tie[k] for tie in ties], dtype=size) for k in (0, 1))
    values = np.array([tie[2] for tie in ties], dtype=np.float32)
    before = rows.copy(), columns.copy(), values.copy()
    for given_values in [values] if weighted else [values, None]:
        A, repeats, loops = adjacency(Ties(rows, columns, given_values), 6, directed)
        expected = slowly(ties, directed)
        assert np.array_equal(A.toarray(), expected[0])
        assert (repeats, loops) == expected[1:]
        assert A.dtype == np.float32
        assert A.nnz == np.count_nonzero(expected[0])
        A.check_format(full_check=True)
        assert all((np.diff(A.indices[a:b]) > 0).all() for a, b in pairwise(A.indptr))
    assert all(np.array_equal(*pair) for pair in zip(before, (rows, columns, values), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_parts_and_threads_change_nothing(
    monkeypatch: pytest.MonkeyPatch, weighted: bool, directed: bool
) -> None:
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 50, (2, 1000), dtype=np.int32)
    values = rng.integers(0, 4, 1000).astype(np.float32) if weighted else None
    whole = adjacency(Ties(rows, columns, values), 50, directed)
    monkeypatch.setattr(module, "PART", 100)
    parts = adjacency(Ties(rows, columns, values), 50, directed)
    assert parts[1:] == whole[1:]
    for what in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(parts[0], what), getattr(whole[0], what))


def test_the_largest_positions_there_can_be() -> None:
    """The last of many nodes: 2^31 - 2 would do as well, but its row pointers fill the memory."""
    n = 2_000_000
    A, _, _ = adjacency(Ties(np.array([n - 1, 0]), np.array([0, n - 1]), None), n, False)
    assert A.shape == (n, n)
    assert (A[[0], [n - 1]], A[[n - 1], [0]], A.nnz) == (1, 1, 2)


@pytest.mark.parametrize("weights", [[np.nan, 1.0], [1.0, np.nan]])
def test_a_repeated_tie_does_not_hide_a_weight_that_is_none(weights: list[float]) -> None:
    values = np.array(weights, dtype=np.float32)
    with pytest.raises(InputError, match=r"the tie from node 0 to node 1 has weight nan"):
        adjacency(Ties(np.array([0, 0]), np.array([1, 1]), values), 2, True)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("directed", [False, True])
def test_a_weight_that_is_none_is_named(weight: float, directed: bool) -> None:
    values = np.array([1, weight, 2], dtype=np.float32)
    with pytest.raises(InputError, match=r"the tie from node 1 to node 2 has weight"):
        adjacency(Ties(np.array([0, 1, 2]), np.array([1, 2, 3]), values), 4, directed)


@pytest.mark.parametrize(
    ("target", "weight", "found"),
    [
        ([1, 2], [1.0], "2 sources, 2 targets and 1 weights"),
        ([1], None, "2 sources, 1 targets;"),
    ],
)
def test_columns_of_different_lengths_are_refused(
    target: list[int], weight: list[float] | None, found: str
) -> None:
    with pytest.raises(InputError, match=f"^edges: found {found}"):
        Graph.from_edges([0, 1], target, weight, nodes=3, texts=["a", "b", "c"])
