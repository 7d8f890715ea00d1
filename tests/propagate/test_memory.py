"""Compiled propagation against plain products."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.propagate import memory
from unseen.propagate.memory import columns, parts_of, propagate, stretches


def random_graph(seed: int, nodes: int, directed: bool, weighted: bool, density: float) -> Any:
    """A graph in which some nodes have no edges."""
    rng = np.random.default_rng(seed)
    A = rng.random((nodes, nodes)) < density
    A[nodes // 2] = A[:, nodes // 2] = False
    values = np.where(A, rng.random(A.shape) + 0.1 if weighted else 1.0, 0)
    return sp.csr_array((values if directed else np.maximum(values, values.T)).astype(np.float32))


def normal(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(1, 40),
    width=st.sampled_from([1, 7, 8, 20]),
    hops=st.integers(0, 4),
    directed=st.booleans(),
    weighted=st.booleans(),
)
def test_hops_are_products(
    seed: int, nodes: int, width: int, hops: int, directed: bool, weighted: bool
) -> None:
    A, X = random_graph(seed, nodes, directed, weighted, 0.2), normal(seed, nodes, width)
    operator, expected = Operator(A), X
    found = propagate(A, X, hops)
    assert len(found) == hops + 1
    for hop in found:
        np.testing.assert_allclose(hop, expected, rtol=1e-5, atol=1e-5)
        expected = operator.propagate(expected)


@pytest.mark.parametrize("width", [128, 136, 300])
def test_columns_that_do_not_fill_their_blocks(width: int) -> None:
    A, X = random_graph(1, 60, True, True, 0.1), normal(1, 60, width)
    operator = Operator(A)
    _, one, two = propagate(A, X, 2)
    np.testing.assert_allclose(one, operator.propagate(X), atol=1e-5)
    np.testing.assert_allclose(two, operator.propagate(operator.propagate(X)), atol=1e-5)


def test_many_stretches_and_any_number_of_threads_give_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    A, X = random_graph(2, 90, False, True, 0.2), normal(2, 90, 12)
    whole = propagate(A, X, 3, threads=1)
    monkeypatch.setattr(memory, "ROOM", 7 * 16 * 4)
    monkeypatch.setattr(memory, "EDGES", 50)
    assert len(list(stretches(A.indptr, 16, memory.ROOM))) > 12
    cut = propagate(A, X, 3, threads=3)
    assert all((a == b).all() for a, b in zip(whole, cut, strict=True))


def test_stretches_cover_all_rows_once_and_share_out_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "EDGES", 10)
    degrees = np.array([0, 3, 50, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 9])
    indptr = np.r_[0, np.cumsum(degrees)]
    found = list(stretches(indptr, 8, 4 * 8 * 4))
    assert [i for part in found for i in range(part.start, part.stop)] == list(range(15))
    for part in found:
        size = part.stop - part.start
        assert size <= 4
        assert size == 1 or degrees[part].sum() <= 10
    assert list(stretches(np.zeros(1, dtype=np.int32), 8, 1)) == []


def test_indices_of_both_sizes_give_the_same_bits() -> None:
    A, X = random_graph(3, 50, True, False, 0.2), normal(3, 50, 5)
    wide = A.copy()
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    assert parts_of(wide).indices.dtype == np.int64
    assert (propagate(A, X, 2)[2] == propagate(wide, X, 2)[2]).all()


def test_weights_are_left_out_where_they_say_nothing() -> None:
    A, X = random_graph(4, 30, False, False, 0.2), normal(4, 30, 5)
    assert parts_of(A).weights is None
    assert parts_of(A * np.float32(7)).weights is None
    assert parts_of(A.astype(bool)).weights is None
    assert (propagate(A, X, 2)[2] == propagate(A * np.float32(7), X, 2)[2]).all()
    A.data[0] = 2
    assert parts_of(A).weights is not None


def test_an_edge_that_is_there_twice_counts_twice() -> None:
    twice = sp.csr_array((np.ones(3, np.float32), [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    once = sp.csr_array((np.array([2, 1], np.float32), [1, 0], [0, 1, 2]), shape=(2, 2))
    X = normal(5, 2, 3)
    np.testing.assert_allclose(propagate(twice, X, 2)[2], propagate(once, X, 2)[2], rtol=1e-6)


@pytest.mark.parametrize("nodes", [0, 3])
def test_a_graph_without_edges_steps_to_zero(nodes: int) -> None:
    _, hop = propagate(sp.csr_array((nodes, nodes), dtype=np.float32), normal(6, nodes, 4), 1)
    assert hop.shape == (nodes, 4)
    assert not hop.any()


def test_hops_are_written_where_they_are_wanted(tmp_path: Path) -> None:
    A, X = random_graph(7, 20, False, False, 0.3), normal(7, 20, 9)
    expected = propagate(A, X, 2)
    mapped = np.lib.format.open_memmap(
        tmp_path / "hops.npy", mode="w+", dtype=np.float32, shape=(2, 20, 9)
    )
    found = propagate(A, X, 2, out=mapped)
    mapped.flush()
    assert found[0] is X
    assert (np.load(tmp_path / "hops.npy") == np.stack(expected[1:])).all()
    wide = np.full((20, 18), 5, dtype=np.float32)  # every other column of something else
    propagate(A, X, 1, out=[wide[:, ::2]])
    assert (wide[:, ::2] == expected[1]).all()
    assert (wide[:, 1::2] == 5).all()


def test_half_precision_is_off_by_a_rounding_for_each_hop() -> None:
    A, X = random_graph(8, 200, False, True, 0.1), np.abs(normal(8, 200, 16)) + 1
    full, half = propagate(A, X, 3), propagate(A, X, 3, out=np.empty((3, 200, 16), np.float16))
    for k in (1, 2, 3):
        assert half[k].dtype == np.float16
        assert half[k].nbytes == full[k].nbytes // 2
        error = np.abs(half[k] - full[k]) / np.maximum(full[k], 1e-9)  # all terms are positive
        assert error.max() <= 1.01 * k * 2.0**-11
        assert error.max() > 0


def test_numbers_that_half_precision_cannot_hold_are_refused() -> None:
    X = np.full((2, 1), 1e6, dtype=np.float32)
    with pytest.raises(InputError, match="float16 holds numbers up to 65504, found one of 1e"):
        propagate([[0, 1], [1, 0]], X, 1, out=np.empty((1, 2, 1), np.float16))


@pytest.mark.parametrize("width", range(1, 400, 7))
def test_blocks_of_columns_cover_all_of_them(width: int) -> None:
    c, slices = columns(width)
    assert c % 8 == 0
    assert c <= 128
    assert [j for at in slices for j in range(at.start, at.stop)] == list(range(width))
    assert all(at.stop - at.start <= c for at in slices)


def test_wrong_input_is_told() -> None:
    A, X = np.eye(3), normal(9, 3, 2)
    with pytest.raises(InputError, match=r"one row for each of the 3 nodes, found \(2, 2\)"):
        propagate(A, X[:2], 1)
    with pytest.raises(InputError, match="expected 0 or more steps, found -1"):
        propagate(A, X, -1)
    with pytest.raises(InputError, match=r"square matrix \[n, n\], found shape \(2, 3\)"):
        propagate(A[:2], X, 1)
    with pytest.raises(InputError, match=r"out: expected 2 arrays of shape \(3, 2\), found"):
        propagate(A, X, 2, out=np.zeros((1, 3, 2), np.float32))
