"""K convolutions, decomposed, against K convolutions done; and where the print is off."""

from __future__ import annotations

from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.datasets.registry import load
from unseen.paper.gcn_decomposition import (
    Case,
    binomials,
    decompose_as,
    exact_blocks,
    largest_eigenvalue,
    laziness_of,
    printed_blocks,
    printed_error,
    renormalised,
)
from unseen.propagate.hops import decompose

Matrix = NDArray[np.float64]

PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=float)
STAR = np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], dtype=float)
TRIANGLE = np.ones((3, 3)) - np.eye(3)
ALONE = np.zeros((3, 3))


def weighted_graph(seed: int, nodes: int, directed: bool = False) -> Matrix:
    """Edges of random strength; the last node has none."""
    rng = np.random.default_rng(seed)
    A = np.where(rng.random((nodes, nodes)) < 0.4, rng.random((nodes, nodes)) * 3, 0)
    np.fill_diagonal(A, 0)
    A[-1] = A[:, -1] = 0
    return A if directed else np.maximum(A, A.T)


def columns(seed: int, nodes: int) -> Matrix:
    return np.random.default_rng(seed + 1).normal(size=(nodes, 3))


def scaled(A: Matrix, loops: bool) -> Matrix:
    """D^-1/2 A D^-1/2, or with A + I and its degrees, written out entry by entry."""
    A = A + np.eye(len(A)) if loops else A
    P = np.zeros(A.shape)
    for i, j in zip(*np.nonzero(A), strict=True):
        P[i, j] = A[i, j] / sqrt(A[i].sum() * A[:, j].sum())
    return P


def one_step(A: Matrix, case: str, laziness: float) -> Matrix:
    """The matrix that a case applies K times."""
    eye = np.eye(len(A))
    return {
        "plain": (eye + scaled(A, loops=False)) / 2,
        "lazy": laziness * eye + (1 - laziness) * scaled(A, loops=False),
        "renormalised-exact": scaled(A, loops=True),
        "renormalised-lazy": laziness * eye + (1 - laziness) * scaled(A, loops=True),
    }[case]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    nodes=st.integers(2, 9),
    hops=st.integers(0, 5),
    laziness=st.floats(0.0, 1.0),
    directed=st.booleans(),
)
@pytest.mark.parametrize("case", ["plain", "lazy", "renormalised-exact", "renormalised-lazy"])
def test_the_subparts_sum_to_the_steps(
    case: Case, seed: int, nodes: int, hops: int, laziness: float, directed: bool
) -> None:
    A, X = weighted_graph(seed, nodes, directed), columns(seed, nodes)
    found = decompose_as(X, A, hops, case, laziness)
    assert len(found.blocks) == len(found.weights) == hops + 1
    walked = X
    for _ in range(hops):
        walked = one_step(A, case, laziness) @ walked
    np.testing.assert_allclose(found.composed(), walked, atol=2e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 8), hops=st.integers(0, 4))
def test_exact_subpart_k_is_the_sum_of_all_words_with_k_ties(
    seed: int, nodes: int, hops: int
) -> None:
    A, X = weighted_graph(seed, nodes), columns(seed, nodes)
    both = scaled(A, loops=True)
    parts = {"I": np.diag(np.diag(both)), "P": both - np.diag(np.diag(both))}
    sums = [np.zeros_like(X) for _ in range(hops + 1)]
    for word in product("IP", repeat=hops):
        block = X
        for factor in word:
            block = parts[factor] @ block
        sums[word.count("P")] += block
    found = decompose_as(X, A, hops, "renormalised-exact")
    assert found.weights.tolist() == [1] * (hops + 1)
    for subpart, expected in zip(found.blocks, sums, strict=True):
        np.testing.assert_allclose(subpart, expected, atol=2e-6)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), nodes=st.integers(2, 8), hops=st.integers(0, 4))
def test_printed_subpart_k_is_what_stands_in_the_equation(seed: int, nodes: int, hops: int) -> None:
    A, X = weighted_graph(seed, nodes), columns(seed, nodes)
    both = scaled(A, loops=True)
    own, ties = np.diag(np.diag(both)), both - np.diag(np.diag(both))
    found = decompose_as(X, A, hops, "renormalised")
    assert found.weights.tolist() == binomials(hops).tolist()
    for k, block in enumerate(found.blocks):
        power = np.linalg.matrix_power
        np.testing.assert_allclose(block, power(own, hops - k) @ power(ties, k) @ X, atol=2e-6)


def test_the_print_is_off_on_a_path_of_three_nodes_by_a_value_found_by_hand() -> None:
    """Degrees 2, 3, 2 with loops. |I~P~ - P~I~|^2 = 4 / 216 and |(I~ + P~)^2|^2 = 689 / 648."""
    assert printed_error(PATH, 2) == pytest.approx(sqrt(12 / 689), abs=1e-12)
    eye = np.eye(3)
    printed = decompose_as(eye, PATH, 2, "renormalised").composed()
    exact = decompose_as(eye, PATH, 2, "renormalised-exact").composed()
    assert printed[0, 1] - exact[0, 1] == pytest.approx(1 / (6 * sqrt(6)), abs=1e-6)
    assert printed[1, 0] - exact[1, 0] == pytest.approx(-1 / (6 * sqrt(6)), abs=1e-6)
    assert np.linalg.norm(printed - exact) / np.linalg.norm(exact) == pytest.approx(
        0.13197, abs=1e-5
    )
    np.testing.assert_allclose(np.diag(printed), [5 / 12, 4 / 9, 5 / 12], atol=1e-6)


def test_the_print_is_off_on_a_star() -> None:
    """Loops make degrees 4, 2, 2, 2: six entries (1/2 - 1/4) / sqrt(8), and |S^2| = 17/16."""
    assert printed_error(STAR, 2) == pytest.approx(sqrt(12) / 17, abs=1e-12)


@pytest.mark.parametrize("hops", [0, 1])
def test_without_products_of_two_kinds_the_print_is_exact(hops: int) -> None:
    assert printed_error(weighted_graph(0, 8), hops) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("hops", [2, 3, 5])
@pytest.mark.parametrize("nodes", [5, 12])
def test_on_a_regular_graph_the_print_is_exact(nodes: int, hops: int) -> None:
    ring = np.roll(np.eye(nodes), 1, axis=1)
    assert printed_error(ring + ring.T, hops) == pytest.approx(0, abs=1e-14)
    X = columns(nodes, nodes)
    printed, exact = (
        decompose_as(X, ring + ring.T, hops, case)
        for case in get_args(Case)
        if case in ("renormalised", "renormalised-exact")
    )
    np.testing.assert_allclose(printed.composed(), exact.composed(), atol=1e-6)
    for choose, a, b in zip(binomials(hops), printed.blocks, exact.blocks, strict=True):
        np.testing.assert_allclose(choose * a, b, atol=1e-6)  # word by word the same


@pytest.mark.parametrize(
    ("name", "hops", "error"),
    [
        ("cora", 2, 0.15782),
        ("cora", 3, 0.20907),
        ("citeseer", 2, 0.13425),
        ("citeseer", 3, 0.17500),
        ("pubmed", 2, 0.28103),
        ("pubmed", 3, 0.40030),
    ],
)
def test_the_print_is_off_on_the_papers_graphs(
    paper_data: Path, name: str, hops: int, error: float
) -> None:
    """Measured here; the figures belong to the graphs and must not move."""
    assert printed_error(load(name).graph.adjacency, hops) == pytest.approx(error, abs=1e-5)


def test_the_weights_of_equation_9_are_those_of_equation_10_times_a_power_of_two() -> None:
    plain = decompose_as(columns(0, 5), weighted_graph(0, 5), 4, "plain")
    assert (16 * plain.weights).tolist() == binomials(4).tolist() == [1, 4, 6, 4, 1]


def test_cases_one_are_the_lazy_walk_of_the_package() -> None:
    A, X = weighted_graph(1, 7), columns(1, 7).astype(np.float32)
    for case, laziness in (("plain", 0.5), ("lazy", 0.3)):
        ours = decompose_as(X, A, 3, case, 0.3)  # type: ignore[arg-type]
        theirs = decompose(X, Operator(A), 3, laziness)
        assert (ours.composed() == theirs.composed()).all()


def test_a_node_without_ties_keeps_all_of_itself_only_with_the_renormalisation() -> None:
    X = columns(2, 3)
    for case, share in (("plain", 1 / 4), ("lazy", 0.49), ("renormalised", 1)):
        composed = decompose_as(X, ALONE, 2, case, 0.7).composed()  # type: ignore[arg-type]
        np.testing.assert_allclose(composed, share * X, rtol=1e-5)
    for case in ("renormalised-exact", "renormalised-lazy"):
        composed = decompose_as(X, ALONE, 2, case, 0.7).composed()  # type: ignore[arg-type]
        np.testing.assert_allclose(composed, X, rtol=1e-5)


@pytest.mark.parametrize("case", get_args(Case))
def test_sparse_and_dense_attributes_give_the_same(case: Case) -> None:
    A, X = weighted_graph(3, 9), columns(3, 9).astype(np.float32)
    dense = decompose_as(X, A, 3, case).composed()
    thin = decompose_as(sp.csr_array(X), sp.csr_array(A), 3, case).composed()
    np.testing.assert_allclose(thin, dense, atol=1e-6)
    assert dense.dtype == np.float32


def test_sparse_matrices_stay_sparse_in_the_two_forms() -> None:
    own, ties = renormalised(sp.csr_array(STAR))
    for form in (printed_blocks, exact_blocks):
        blocks = form(sp.eye_array(4, format="csr"), own, ties, 3)
        assert len(blocks) == 4
        assert all(sp.issparse(block) for block in blocks)


def test_the_two_parts_of_a_renormalised_step() -> None:
    """Degrees 2, 3, 2 with loops, for the path of three nodes."""
    own, ties = renormalised(PATH)
    np.testing.assert_allclose(own.diagonal(), [1 / 2, 1 / 3, 1 / 2])
    np.testing.assert_allclose(ties.toarray(), PATH / sqrt(6))


@pytest.mark.parametrize(
    ("graph", "largest"),
    [(TRIANGLE, 1.5), (np.ones((9, 9)) - np.eye(9), 9 / 8), (PATH, 2), (STAR, 2), (ALONE, 1)],
)
def test_the_largest_eigenvalue_of_graphs_where_it_is_known(graph: Matrix, largest: float) -> None:
    """n / (n-1) where all know all, 2 where ties join two camps, 1 without ties (L = I)."""
    assert largest_eigenvalue(graph) == pytest.approx(largest, abs=1e-6)


@pytest.mark.parametrize("nodes", [65, 101])
def test_the_largest_eigenvalue_of_a_long_ring_of_odd_length(nodes: int) -> None:
    """1 - cos(pi (n-1) / n); long enough for the iteration."""
    ring = np.roll(np.eye(nodes), 1, axis=1)
    expected = 1 - np.cos(np.pi * (nodes - 1) / nodes)
    assert largest_eigenvalue(ring + ring.T) == pytest.approx(expected, abs=2e-6)


def test_many_pairs_have_the_largest_eigenvalue_of_all() -> None:
    assert largest_eigenvalue(sp.kron(sp.eye_array(100), [[0, 1], [1, 0]])) == 2


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), nodes=st.integers(3, 9))
def test_the_true_laziness_makes_zero_the_least_eigenvalue_of_a_step(seed: int, nodes: int) -> None:
    """Eq. 11 and 12: ((2 - 2/l) I + (2/l) P) / 2 = b I + (1-b) P, with eigenvalues from 0 to 1."""
    A, eye = weighted_graph(seed, nodes), np.eye(nodes)
    largest = largest_eigenvalue(A)
    beta = laziness_of(largest)
    assert 0 <= beta <= 0.5
    P = scaled(A, loops=False)
    step = beta * eye + (1 - beta) * P
    np.testing.assert_allclose(step, ((2 - 2 / largest) * eye + 2 / largest * P) / 2, atol=1e-12)
    values = np.linalg.eigvalsh(step)
    assert values[0] == pytest.approx(0, abs=1e-5)
    assert values[-1] <= 1 + 1e-9


def test_the_laziness_of_the_paper_stands_for_an_eigenvalue_that_no_graph_has() -> None:
    assert laziness_of(2) == 0.5
    assert laziness_of(10 / 3) == pytest.approx(0.7)
    assert laziness_of(1) == 0


@pytest.mark.parametrize("largest", [0.5, -1.0, float("nan")])
def test_an_eigenvalue_below_one_has_no_laziness(largest: float) -> None:
    with pytest.raises(InputError, match=r"at least 1, .* found .*largest_eigenvalue"):
        laziness_of(largest)


def test_a_directed_graph_has_no_largest_eigenvalue() -> None:
    with pytest.raises(InputError, match=r"both ways, found some that differ.*max\(A, A\.T\)"):
        largest_eigenvalue(np.triu(TRIANGLE))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"case": "eager"}, "case: expected one of plain, lazy, .* found 'eager'"),
        ({"hops": -1}, "hops: expected 0 or more steps, found -1"),
        ({"laziness": 1.5}, r"laziness: expected a share from 0 .* to 1 .* found 1\.5"),
        ({"laziness": float("nan")}, "laziness: .* found nan"),
        ({"X": np.ones((2, 1))}, "X: expected one row for each of the 3 nodes, found 2 rows"),
    ],
)
def test_what_cannot_be_decomposed_is_said(change: dict[str, Any], message: str) -> None:
    given_: dict[str, Any] = {"X": np.ones((3, 1)), "adjacency": PATH, "hops": 2, "case": "lazy"}
    with pytest.raises(InputError, match=message):
        decompose_as(**{**given_, **change})
