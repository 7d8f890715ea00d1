"""One step over the graph against dense matrices written out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from unseen.core.operator import Operator

Matrix = NDArray[np.float32]
weights = st.sampled_from([0.0, 0.0, 0.0, 0.5, 1.0, 2.0])
squares = st.integers(2, 7).flatmap(lambda n: arrays(np.float32, (n, n), elements=weights))

EYE = np.eye(3, dtype=np.float32)
DIRECTED = np.array([[0, 1, 4], [0, 0, 1], [0, 0, 0]], dtype=np.float32)


def scaled(A: Matrix) -> NDArray[np.float64]:
    """D_out^-1/2 A D_in^-1/2 with 0 for isolated nodes, entry by entry."""
    P = np.zeros(A.shape)
    for i, j in zip(*np.nonzero(A), strict=True):
        P[i, j] = A[i, j] / np.sqrt(A[i].sum(dtype=float) * A[:, j].sum(dtype=float))
    return P


@settings(max_examples=50, deadline=None)
@given(squares)
def test_a_step_in_an_undirected_graph_is_scaled_by_both_degrees(A: Matrix) -> None:
    A = np.maximum(A, A.T)
    np.fill_diagonal(A, 0)
    P = Operator(A).propagate(np.eye(len(A), dtype=np.float32))
    np.testing.assert_allclose(P, scaled(A), atol=1e-6)
    np.testing.assert_allclose(P, P.T, atol=1e-6)


@settings(max_examples=50, deadline=None)
@given(squares)
def test_a_step_in_a_directed_graph_is_scaled_by_out_and_in_degrees(A: Matrix) -> None:
    P = Operator(A).propagate(np.eye(len(A), dtype=np.float32))
    np.testing.assert_allclose(P, scaled(A), atol=1e-6)


def test_a_directed_hop_looks_from_source_to_target_only() -> None:
    """Out-degrees 5, 1, 0; in-degrees 0, 1, 5."""
    P = Operator(DIRECTED).propagate(EYE)
    by_hand = [[0, 1 / np.sqrt(5), 4 / 5], [0, 0, 1 / np.sqrt(5)], [0, 0, 0]]
    np.testing.assert_allclose(P, by_hand, atol=1e-6)


def test_propagation_never_grows() -> None:
    """The largest singular value of P is 1 wherever there is an edge."""
    A = np.random.default_rng(0).random((8, 8)).astype(np.float32)
    P = Operator(A).propagate(np.eye(8, dtype=np.float32))
    assert np.linalg.norm(P, 2) == pytest.approx(1.0, abs=1e-5)


def test_an_isolated_node_receives_nothing_and_changes_nothing() -> None:
    A = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32)
    X = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)
    operator = Operator(A)
    assert operator.propagate(X).tolist() == [[3, 4], [1, 2], [0, 0]]
    assert operator.aggregate(X).tolist() == [[3, 4], [1, 2], [0, 0]]
    assert len(operator.neighbours(2)[0]) == 0


def test_a_graph_without_edges_propagates_to_zero() -> None:
    operator = Operator(sp.csr_array((3, 3)))
    assert not operator.propagate(EYE).any()
    assert not operator.aggregate(EYE).any()
    assert operator.sample_edges(10, np.random.default_rng(0)).shape == (2, 0)


@settings(max_examples=50, deadline=None)
@given(squares)
def test_aggregate_sums_neighbours_by_weight_over_the_mean_weight(A: Matrix) -> None:
    values = A[A > 0]
    expected = A / values.mean() if len(values) else A
    np.testing.assert_allclose(
        Operator(A).aggregate(np.eye(len(A), dtype=np.float32)), expected, rtol=1e-5
    )


def test_aggregate_does_not_depend_on_the_unit_of_weights() -> None:
    ours, theirs = (Operator(DIRECTED * np.float32(unit)).aggregate(EYE) for unit in (1, 100))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert ours[0].tolist() == [0, 0.5, 2]  # the mean edge has weight 2


def test_all_edges_are_returned_when_there_are_few() -> None:
    edges = Operator(DIRECTED).sample_edges(3, np.random.default_rng(0))
    assert edges.tolist() == [[0, 0, 1], [1, 2, 2]]


def test_many_edges_are_sampled_without_repeats_and_exist() -> None:
    A = np.triu(np.ones((30, 30), dtype=np.float32), 1)
    operator = Operator(A)
    source, target = operator.sample_edges(100, np.random.default_rng(0))
    assert len(set(zip(source.tolist(), target.tolist(), strict=True))) == 100
    assert (A[source, target] > 0).all()
    again, _ = operator.sample_edges(100, np.random.default_rng(0))
    other, _ = operator.sample_edges(100, np.random.default_rng(1))
    assert (again == source).all()
    assert (other != source).any()


def test_rows_without_edges_do_not_shift_the_sources_of_edges() -> None:
    A = np.zeros((5, 5), dtype=np.float32)
    A[1, 0] = A[4, 2] = 1
    assert Operator(A).sample_edges(9, np.random.default_rng(0)).tolist() == [[1, 4], [0, 2]]


def test_neighbours_are_those_of_the_row_with_relative_values() -> None:
    around, weight = Operator(DIRECTED).neighbours(0)
    assert around.tolist() == [1, 2]
    assert weight.tolist() == [0.5, 2.0]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array, lambda A: A > 0])
def test_any_kind_of_matrix_will_do(form: Any) -> None:
    A = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float64)
    operator = Operator(form(A))
    np.testing.assert_allclose(operator.propagate(EYE), scaled(A.astype(np.float32)), atol=1e-6)
    assert operator.nodes == 3
    assert operator.propagate(EYE).dtype == np.float32


def test_random_neighbours_are_all_neighbours_and_no_others() -> None:
    rng, every = np.random.default_rng(0), np.arange(3)
    ends = np.array([Operator(DIRECTED).random_neighbours(every, rng) for _ in range(50)])
    assert {tuple(set(column)) for column in ends.T} == {(1, 2), (2,)}
    assert set(ends[:, 2]) == {2}  # without an edge: the node itself


def test_has_edges() -> None:
    source, target = np.array([0, 0, 1, 1, 2]), np.array([1, 0, 2, 0, 2])
    found = Operator(DIRECTED).has_edges(source, target)
    assert found.tolist() == [True, False, True, False, False]
