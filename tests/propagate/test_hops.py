"""The hops of a lazy random walk sum to the walk; a task forms them once."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.propagate.hops import Hops, decompose, hop_weights, hops_of
from unseen.propagate.sparse import SparseBlocks


def random_graph(seed: int, nodes: int, directed: bool) -> Operator:
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((nodes, nodes)) < 0.3, rng.random((nodes, nodes)), 0)
    np.fill_diagonal(A, 0)
    return Operator((A if directed else np.maximum(A, A.T)).astype(np.float32))


def block(seed: int, nodes: int, width: int = 3) -> NDArray[np.float32]:
    return np.random.default_rng(seed + 1).normal(size=(nodes, width)).astype(np.float32)


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
    assert hop_weights(3, 1.0).tolist() == [1, 0, 0, 0]  # no step is taken
    assert hop_weights(3, 0.0).tolist() == [0, 0, 0, 1]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(2, 9),
    hops=st.integers(0, 6),
    laziness=st.floats(0.0, 1.0),
    directed=st.booleans(),
)
def test_composed_hops_are_the_power_of_the_lazy_walk(
    seed: int, nodes: int, hops: int, laziness: float, directed: bool
) -> None:
    operator, X = random_graph(seed, nodes, directed), block(seed, nodes)
    P = operator.propagate(np.eye(nodes, dtype=np.float32)).astype(np.float64)
    walk = laziness * np.eye(nodes) + (1 - laziness) * P
    expected = np.linalg.matrix_power(walk, hops) @ X
    composed = decompose(X, operator, hops, laziness).composed()
    np.testing.assert_allclose(composed, expected, atol=2e-5)


def test_block_k_is_k_steps() -> None:
    operator, X = random_graph(0, 8, directed=True), block(0, 8)
    P = operator.propagate(np.eye(8, dtype=np.float32)).astype(np.float64)
    hops = decompose(X, operator, 4, 0.5)
    assert len(hops.blocks) == len(hops.weights) == 5
    for k, found in enumerate(hops.blocks):
        np.testing.assert_allclose(found, np.linalg.matrix_power(P, k) @ X, atol=1e-5)
        assert found.dtype == np.float32


def test_no_hops_are_the_block_itself() -> None:
    X = block(0, 5)
    hops = decompose(X, random_graph(0, 5, directed=False), 0, 0.5)
    assert len(hops.blocks) == 1
    assert (hops.composed() == X).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_without_a_graph_further_hops_are_zero(form: Any) -> None:
    X = block(0, 5)
    hops = decompose(form(X), None, 2, 0.7)
    np.testing.assert_allclose(hops.composed(), np.float32(0.49) * X, rtol=1e-6)
    assert not any(each.any() for each in hops.blocks[1:])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_task_forms_its_hops_once_and_weighs_them_as_asked(form: Any) -> None:
    X, operator = block(5, 8), random_graph(5, 8, directed=False)
    task = Task(form(X), np.eye(3), operator=operator)
    first, again, other = (hops_of(task, 3, beta) for beta in (0.5, 0.5, 0.9))
    assert first.blocks is again.blocks is other.blocks
    assert hops_of(task.known(np.zeros(8, int)), 3, 0.5).blocks is first.blocks  # labels alone
    np.testing.assert_allclose(
        other.composed(), decompose(X, operator, 3, 0.9).composed(), atol=1e-6
    )
    assert len(hops_of(task, 2, 0.5).blocks) == 3


def test_hops_of_sparse_rows_can_be_projected_before_they_are_formed() -> None:
    X, operator = block(6, 9, 5), random_graph(6, 9, directed=True)
    W = block(7, 5, 2)
    sparse, dense = decompose(sp.csr_array(X), operator, 3, 0.5), decompose(X, operator, 3, 0.5)
    assert sparse.shape == dense.shape == (9, 5)
    assert isinstance(sparse.blocks, SparseBlocks)
    for narrow, wide in zip(sparse.blocks.project(W), dense.blocks, strict=True):
        np.testing.assert_allclose(narrow, wide @ W, atol=1e-5)


def test_composing_leaves_the_blocks_alone() -> None:
    hops = decompose(block(1, 6), random_graph(1, 6, directed=False), 3, 0.7)
    kept = [each.copy() for each in hops.blocks]
    first, second = hops.composed(), hops.composed()
    assert (first == second).all()
    assert all((a == b).all() for a, b in zip(kept, hops.blocks, strict=True))


def test_an_isolated_node_keeps_its_own_vector_with_the_weight_of_hop_zero() -> None:
    A = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32)
    X = block(2, 3)
    hops = decompose(X, Operator(A), 2, 0.7)
    np.testing.assert_allclose(hops.composed()[2], 0.49 * X[2], rtol=1e-5)


def test_renumbering_nodes_renumbers_the_hops() -> None:
    rng = np.random.default_rng(3)
    A = np.triu(rng.random((10, 10)) < 0.3, 1)
    A = A | A.T
    X, order = block(3, 10), rng.permutation(10)
    plain = decompose(X, Operator(A), 3, 0.5).composed()
    mixed = decompose(X[order], Operator(A[np.ix_(order, order)]), 3, 0.5).composed()
    np.testing.assert_allclose(mixed, plain[order], atol=1e-6)


def test_weights_that_do_not_belong_to_the_blocks_are_noticed() -> None:
    X = block(4, 3)
    with pytest.raises(ValueError, match="zip"):
        Hops((X, X), np.ones(3, dtype=np.float32)).composed()


def test_a_task_made_from_another_has_hops_of_its_own() -> None:
    X, S = np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)
    task = Task(X, S, operator=Operator(np.ones((3, 3)) - np.eye(3)))
    first = hops_of(task, 1, 0.5)
    assert hops_of(task.known([0, -1, -1]), 1, 0.5).blocks is first.blocks  # formed once
    other = replace(task, X=2 * X)
    np.testing.assert_array_equal(hops_of(other, 1, 0.5).blocks[0], 2 * X)
    alone = replace(task, operator=None)
    assert not hops_of(alone, 1, 0.5).blocks[1].any()
