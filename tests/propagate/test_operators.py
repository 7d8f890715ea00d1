"""One step over the graph against dense matrices written out by hand."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from unseen.propagate.operators import Operator, hop_weights

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


@pytest.mark.parametrize("laziness", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("hops", [0, 1, 2, 5, 10])
def test_hop_weights_are_binomial_and_sum_to_one(hops: int, laziness: float) -> None:
    omega = hop_weights(hops, laziness)
    assert omega.shape == (hops + 1,)
    assert omega.sum() == pytest.approx(1.0)
    expected = [comb(hops, k) * laziness ** (hops - k) * (1 - laziness) ** k for k in range(hops)]
    np.testing.assert_allclose(omega[:-1], expected, atol=1e-7)


def test_hop_weights_by_hand_and_at_both_ends() -> None:
    np.testing.assert_allclose(hop_weights(3, 0.7), [0.343, 0.441, 0.189, 0.027], atol=1e-6)
    assert hop_weights(3, 1.0).tolist() == [1, 0, 0, 0]  # who never walks stays at home
    assert hop_weights(3, 0.0).tolist() == [0, 0, 0, 1]


@settings(max_examples=50, deadline=None)
@given(squares)
def test_a_step_in_an_undirected_graph_is_scaled_by_both_degrees(A: Matrix) -> None:
    A = np.maximum(A, A.T)
    np.fill_diagonal(A, 0)
    P = Operator(A).step(np.eye(len(A), dtype=np.float32))
    np.testing.assert_allclose(P, scaled(A), atol=1e-6)
    np.testing.assert_allclose(P, P.T, atol=1e-6)


@settings(max_examples=50, deadline=None)
@given(squares)
def test_a_step_in_a_directed_graph_is_scaled_by_out_and_in_degrees(A: Matrix) -> None:
    P = Operator(A).step(np.eye(len(A), dtype=np.float32))
    np.testing.assert_allclose(P, scaled(A), atol=1e-6)


def test_a_directed_hop_looks_from_source_to_target_only() -> None:
    """Out-degrees 5, 1, 0; in-degrees 0, 1, 5."""
    P = Operator(DIRECTED).step(EYE)
    by_hand = [[0, 1 / np.sqrt(5), 4 / 5], [0, 0, 1 / np.sqrt(5)], [0, 0, 0]]
    np.testing.assert_allclose(P, by_hand, atol=1e-6)


def test_no_walk_grows() -> None:
    """The largest singular value of P is 1 wherever there is a tie."""
    A = np.random.default_rng(0).random((8, 8)).astype(np.float32)
    P = Operator(A).step(np.eye(8, dtype=np.float32))
    assert np.linalg.norm(P, 2) == pytest.approx(1.0, abs=1e-5)


def test_an_isolated_node_hears_nothing_and_disturbs_nobody() -> None:
    A = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32)
    X = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)
    operator = Operator(A)
    assert operator.step(X).tolist() == [[3, 4], [1, 2], [0, 0]]
    assert operator.gather(X).tolist() == [[3, 4], [1, 2], [0, 0]]
    assert len(operator.neighbours(2)[0]) == 0


def test_a_graph_without_ties_steps_to_zero() -> None:
    operator = Operator(sp.csr_array((3, 3)))
    assert not operator.step(EYE).any()
    assert not operator.gather(EYE).any()
    assert operator.ties(10, np.random.default_rng(0)).shape == (2, 0)


@settings(max_examples=50, deadline=None)
@given(squares)
def test_gather_sums_neighbours_by_strength_over_the_mean_strength(A: Matrix) -> None:
    strengths = A[A > 0]
    expected = A / strengths.mean() if len(strengths) else A
    np.testing.assert_allclose(
        Operator(A).gather(np.eye(len(A), dtype=np.float32)), expected, rtol=1e-5
    )


def test_gather_does_not_depend_on_the_unit_of_strength() -> None:
    ours, theirs = (Operator(DIRECTED * np.float32(unit)).gather(EYE) for unit in (1, 100))
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert ours[0].tolist() == [0, 0.5, 2]  # the mean tie has strength 2


def test_all_ties_are_returned_when_there_are_few() -> None:
    ties = Operator(DIRECTED).ties(3, np.random.default_rng(0))
    assert ties.tolist() == [[0, 0, 1], [1, 2, 2]]


def test_many_ties_are_sampled_without_repeats_and_exist() -> None:
    A = np.triu(np.ones((30, 30), dtype=np.float32), 1)
    operator = Operator(A)
    source, target = operator.ties(100, np.random.default_rng(0))
    assert len(set(zip(source.tolist(), target.tolist(), strict=True))) == 100
    assert (A[source, target] > 0).all()
    again, _ = operator.ties(100, np.random.default_rng(0))
    other, _ = operator.ties(100, np.random.default_rng(1))
    assert (again == source).all()
    assert (other != source).any()


def test_rows_without_ties_do_not_shift_the_sources_of_ties() -> None:
    A = np.zeros((5, 5), dtype=np.float32)
    A[1, 0] = A[4, 2] = 1
    assert Operator(A).ties(9, np.random.default_rng(0)).tolist() == [[1, 4], [0, 2]]


def test_neighbours_are_those_of_the_row_with_relative_strengths() -> None:
    around, strength = Operator(DIRECTED).neighbours(0)
    assert around.tolist() == [1, 2]
    assert strength.tolist() == [0.5, 2.0]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array, lambda A: A > 0])
def test_any_kind_of_matrix_will_do(form: Any) -> None:
    A = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float64)
    operator = Operator(form(A))
    np.testing.assert_allclose(operator.step(EYE), scaled(A.astype(np.float32)), atol=1e-6)
    assert operator.nodes == 3
    assert operator.step(EYE).dtype == np.float32


def test_wandering_reaches_every_neighbour_and_nobody_else() -> None:
    rng, everybody = np.random.default_rng(0), np.arange(3)
    ends = np.array([Operator(DIRECTED).wander(everybody, rng) for _ in range(50)])
    assert {tuple(set(column)) for column in ends.T} == {(1, 2), (2,)}
    assert set(ends[:, 2]) == {2}  # without a tie one stays


def test_who_is_tied() -> None:
    source, target = np.array([0, 0, 1, 1, 2]), np.array([1, 0, 2, 0, 2])
    found = Operator(DIRECTED).tied(source, target)
    assert found.tolist() == [True, False, True, False, False]
