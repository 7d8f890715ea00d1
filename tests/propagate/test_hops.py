"""The hops of a lazy walk sum to the walk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unseen.propagate.hops import Hops, decompose
from unseen.propagate.operators import Operator


def random_graph(seed: int, nodes: int, directed: bool) -> Operator:
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((nodes, nodes)) < 0.3, rng.random((nodes, nodes)), 0)
    np.fill_diagonal(A, 0)
    return Operator((A if directed else np.maximum(A, A.T)).astype(np.float32))


def block(seed: int, nodes: int, width: int = 3) -> NDArray[np.float32]:
    return np.random.default_rng(seed + 1).normal(size=(nodes, width)).astype(np.float32)


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
    P = operator.step(np.eye(nodes, dtype=np.float32)).astype(np.float64)
    walk = laziness * np.eye(nodes) + (1 - laziness) * P
    expected = np.linalg.matrix_power(walk, hops) @ X
    composed = decompose(X, operator, hops, laziness).composed()
    np.testing.assert_allclose(composed, expected, atol=2e-5)


def test_block_k_is_k_steps() -> None:
    operator, X = random_graph(0, 8, directed=True), block(0, 8)
    P = operator.step(np.eye(8, dtype=np.float32)).astype(np.float64)
    hops = decompose(X, operator, 4, 0.5)
    assert len(hops.blocks) == len(hops.weights) == 5
    for k, found in enumerate(hops.blocks):
        np.testing.assert_allclose(found, np.linalg.matrix_power(P, k) @ X, atol=1e-5)
        assert found.dtype == np.float32


def test_own_is_hop_zero_and_no_hops_are_the_block_itself() -> None:
    X = block(0, 5)
    hops = decompose(X, random_graph(0, 5, directed=False), 0, 0.5)
    assert (hops.own == X).all()
    assert (hops.composed() == X).all()


def test_composing_leaves_the_blocks_alone() -> None:
    hops = decompose(block(1, 6), random_graph(1, 6, directed=False), 3, 0.7)
    kept = [each.copy() for each in hops.blocks]
    first, second = hops.composed(), hops.composed()
    assert (first == second).all()
    assert all((a == b).all() for a, b in zip(kept, hops.blocks, strict=True))


def test_an_isolated_node_keeps_its_own_words_with_the_weight_of_hop_zero() -> None:
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
