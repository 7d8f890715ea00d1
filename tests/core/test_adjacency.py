"""A list of edges becomes the matrix that a loop over them makes."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.core.adjacency import from_edges
from unseen.core.errors import InputError
from unseen.core.graph import Graph

position = st.integers(0, 5)
weights = st.sampled_from([0.0, 0.5, 1.0, 2.0])


def slowly(edges: list[tuple[int, int, float]], directed: bool) -> tuple[Any, int, int]:
    """Entry by entry, with a dictionary."""
    largest: dict[tuple[int, int], float] = {}
    listed = [edge for edge in edges if edge[0] != edge[1]]
    for i, j, weight in listed:
        pair = (i, j) if directed else (min(i, j), max(i, j))
        largest[pair] = max(largest.get(pair, 0.0), weight)
    A = np.zeros((6, 6), dtype=np.float32)
    for (i, j), weight in largest.items():
        A[i, j] = weight
        if not directed:
            A[j, i] = weight
    return A, len(listed) - len(largest), len(edges) - len(listed)


@settings(max_examples=200, deadline=None)
@given(
    edges=st.lists(st.tuples(position, position, weights), max_size=30),
    directed=st.booleans(),
    weighted=st.booleans(),
    size=st.sampled_from([np.int32, np.int64]),
)
def test_the_same_as_a_loop(
    edges: list[tuple[int, int, float]], directed: bool, weighted: bool, size: type[np.integer[Any]]
) -> None:
    edges = edges if weighted else [(i, j, 1.0) for i, j, _ in edges]
    rows, columns = (np.array([edge[k] for edge in edges], dtype=size) for k in (0, 1))
    values = np.array([edge[2] for edge in edges], dtype=np.float32)
    before = rows.copy(), columns.copy(), values.copy()
    for given_values in [values] if weighted else [values, None]:
        A, repeats, loops = from_edges(rows, columns, given_values, 6, directed)
        expected = slowly(edges, directed)
        assert np.array_equal(A.toarray(), expected[0])
        assert (repeats, loops) == expected[1:]
        assert A.dtype == np.float32
        assert A.nnz == np.count_nonzero(expected[0])
        A.check_format(full_check=True)
        assert all((np.diff(A.indices[a:b]) > 0).all() for a, b in pairwise(A.indptr))
    assert all(np.array_equal(*pair) for pair in zip(before, (rows, columns, values), strict=True))


def test_the_largest_positions_there_can_be() -> None:
    """The last of many nodes: 2^31 - 2 would do as well, but its row pointers fill the memory."""
    n = 2_000_000
    A, _, _ = from_edges([n - 1, 0], [0, n - 1], None, n, False)
    assert A.shape == (n, n)
    assert (A[[0], [n - 1]], A[[n - 1], [0]], A.nnz) == (1, 1, 2)


@pytest.mark.parametrize("weights", [[np.nan, 1.0], [1.0, np.nan], [-1.0, 1.0]])
def test_a_repeated_edge_does_not_hide_a_weight_that_is_none(weights: list[float]) -> None:
    values = np.array(weights, dtype=np.float32)
    with pytest.raises(InputError, match=r"the edge from node 0 to node 1 has weight (nan|-1)"):
        from_edges([0, 0], [1, 1], values, 2, True)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("directed", [False, True])
def test_a_weight_that_is_none_is_named(weight: float, directed: bool) -> None:
    values = np.array([1, weight, 2], dtype=np.float32)
    with pytest.raises(InputError, match=r"the edge from node 1 to node 2 has weight"):
        from_edges([0, 1, 2], [1, 2, 3], values, 4, directed)


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
