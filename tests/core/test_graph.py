"""`Graph`: what is kept, what is put right and counted, and what is refused in which words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.core.errors import InputError
from unseen.core.graph import Graph, Repairs
from unseen.core.operator import Operator

Edges = list[tuple[int, int, float]]

PATH = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]], dtype=np.float32)  # 0 -1- 1 -2- 2
THREE = ["a cat", "a dog", "a cow"]
SPARSE_NAN = sp.csr_array([[1.0, 0.0], [0.0, 1.0], [0.0, np.nan]])

many = settings(max_examples=60, deadline=None)
edge_lists = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(
                st.integers(0, n - 1), st.integers(0, n - 1), st.floats(0.125, 8.0, width=32)
            ),
            max_size=20,
        ),
    )
)


def texts(nodes: int) -> list[str]:
    return [f"node {i}" for i in range(nodes)]


def built(nodes: int, edges: Edges, **how: Any) -> Graph:
    source, target, weight = ([edge[k] for edge in edges] for k in range(3))
    return Graph.from_edges(source, target, weight, nodes=nodes, texts=texts(nodes), **how)


def dense(graph: Graph) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.asarray(graph.adjacency.todense(), dtype=np.float32)


@many
@given(edge_lists, st.data())
def test_order_direction_and_repeats_of_undirected_edges_do_not_matter(
    drawn: tuple[int, Edges], data: st.DataObject
) -> None:
    nodes, edges = drawn
    again = data.draw(st.permutations(edges)) + (edges[:1] if edges else [])
    flips = data.draw(st.lists(st.booleans(), min_size=len(again), max_size=len(again)))
    other = [(b, a, w) if flip else (a, b, w) for (a, b, w), flip in zip(again, flips, strict=True)]
    assert (dense(built(nodes, edges)) == dense(built(nodes, other))).all()


@many
@given(edge_lists)
def test_an_undirected_edge_has_the_largest_weight_listed_in_either_order(
    drawn: tuple[int, Edges],
) -> None:
    nodes, edges = drawn
    expected = np.zeros((nodes, nodes), dtype=np.float32)
    for a, b, w in edges:
        if a != b:
            expected[a, b] = expected[b, a] = max(expected[a, b], w)
    graph = built(nodes, edges)
    assert (dense(graph) == expected).all()
    assert graph.edges == np.count_nonzero(expected) // 2


@many
@given(edge_lists)
def test_a_directed_edge_keeps_its_direction_and_its_largest_weight(
    drawn: tuple[int, Edges],
) -> None:
    nodes, edges = drawn
    expected = np.zeros((nodes, nodes), dtype=np.float32)
    for a, b, w in edges:
        if a != b:
            expected[a, b] = max(expected[a, b], w)
    graph = built(nodes, edges, directed=True)
    assert (dense(graph) == expected).all()
    assert graph.edges == np.count_nonzero(expected)


@many
@given(edge_lists, st.booleans())
def test_every_listed_edge_is_kept_or_counted_as_mended(
    drawn: tuple[int, Edges], directed: bool
) -> None:
    nodes, edges = drawn
    graph = built(nodes, edges, directed=directed)
    mended = graph.repairs
    assert graph.edges + mended.duplicate_edges + mended.self_loops == len(edges)
    ends = {end for a, b, _ in edges if a != b for end in (a, b)}
    assert mended.isolated_nodes == nodes - len(ends)


@many
@given(edge_lists, st.data())
def test_renumbering_nodes_renumbers_the_adjacency(
    drawn: tuple[int, Edges], data: st.DataObject
) -> None:
    nodes, edges = drawn
    new = data.draw(st.permutations(range(nodes)))
    moved = built(nodes, [(new[a], new[b], w) for a, b, w in edges])
    assert (dense(moved)[np.ix_(new, new)] == dense(built(nodes, edges))).all()


def test_repairs_of_a_list_of_edges_are_counted() -> None:
    graph = Graph.from_edges([0, 1, 0, 2], [1, 0, 1, 2], nodes=4, texts=texts(4))
    assert graph.repairs == Repairs(duplicate_edges=2, self_loops=1, isolated_nodes=2)
    assert graph.edges == 1


def test_repairs_of_a_matrix_are_counted() -> None:
    graph = Graph(np.diag([1.0, 0.0, 3.0]) + np.eye(3, k=1), texts=THREE)
    assert graph.repairs == Repairs(self_loops=2)
    assert (graph.adjacency.diagonal() == 0).all()


def test_the_target_of_a_directed_edge_is_not_isolated() -> None:
    graph = Graph.from_edges([0], [1], nodes=3, directed=True, texts=THREE)
    assert graph.repairs.isolated_nodes == 1


def test_no_edges_at_all_leave_every_node_isolated() -> None:
    graph = Graph.from_edges([], [], nodes=3, texts=THREE)
    assert graph.edges == 0
    assert graph.repairs.isolated_nodes == 3


def test_a_one_way_matrix_counts_both_ways_with_the_larger_weight() -> None:
    given_ = [[0, 3, 0], [1, 0, 0], [0, 2, 0]]
    assert dense(Graph(given_, texts=THREE)).tolist() == [[0, 3, 0], [3, 0, 2], [0, 2, 0]]
    assert (dense(Graph(given_, texts=THREE, directed=True)) == given_).all()


def test_explicit_zeros_are_no_edges() -> None:
    zero = sp.csr_array((np.array([0.0, 1.0]), ([0, 1], [1, 2])), shape=(3, 3))
    for directed in (False, True):
        graph = Graph(zero, texts=THREE, directed=directed)
        assert graph.edges == 1
        assert graph.repairs.isolated_nodes == 1


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_matrix, sp.csc_array, list])
def test_dense_and_sparse_matrices_give_the_same_graph(form: Callable[[Any], Any]) -> None:
    graph = Graph(form(PATH), texts=THREE)
    assert (dense(graph) == PATH).all()
    assert graph.adjacency.dtype == np.float32
    assert graph.nodes == 3
    assert graph.edges == 2


@pytest.mark.parametrize("directed", [False, True])
def test_the_matrix_that_was_given_is_left_as_it_was(directed: bool) -> None:
    matrix = sp.csr_array(
        (np.array([2, 0, 5], np.float32), np.array([2, 1, 2]), np.array([0, 2, 3, 3])), shape=(3, 3)
    )
    kept = [part.copy() for part in (matrix.data, matrix.indices, matrix.indptr)]
    Graph(matrix, texts=THREE, directed=directed)
    for before, after in zip(kept, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        assert before.tolist() == after.tolist()


def test_a_matrix_that_holds_a_edge_twice_has_it_once_in_the_graph() -> None:
    twice = sp.csr_array(
        (np.ones(2, np.float32), np.array([1, 1]), np.array([0, 2, 2, 2])), shape=(3, 3)
    )
    assert Graph(twice, texts=THREE, directed=True).edges == 1


def test_ids_are_positions_unless_given_and_always_strings() -> None:
    assert Graph(PATH, texts=THREE).ids == ("0", "1", "2")
    numbered: Any = [7, 8, 9]
    graph = Graph(PATH, texts=THREE, ids=numbered)
    assert graph.positions() == {"7": 0, "8": 1, "9": 2}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_array])
def test_features_are_float32_rows_dense_or_sparse(form: Callable[[Any], Any]) -> None:
    graph = Graph(PATH, features=form([[1, 0], [0, 2], [3, 0]]), vocabulary=["x", "y"])
    X = graph.features
    assert sp.issparse(X) == (form is not np.asarray)
    assert X.dtype == np.float32
    assert (X.todense() if sp.issparse(X) else X).tolist() == [[1, 0], [0, 2], [3, 0]]
    assert graph.vocabulary == ("x", "y")


def test_repr_says_how_much_of_what() -> None:
    assert repr(Graph(PATH, texts=THREE)) == "Graph(3 nodes, 2 edges, texts)"
    both = Graph(PATH, texts=THREE, features=np.ones((3, 1)))
    assert repr(both) == "Graph(3 nodes, 2 edges, texts and features)"


def test_a_graph_is_frozen() -> None:
    graph: Any = Graph(PATH, texts=THREE)
    with pytest.raises(FrozenInstanceError):
        graph.texts = None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"adjacency": np.ones((2, 3))}, r"adjacency: expected a square .* found shape \(2, 3\)"),
        ({"adjacency": np.ones(3)}, r"adjacency: expected a square .* found shape \(3,\)"),
        ({"adjacency": np.zeros((0, 0))}, "graph: there are no nodes; give at least two"),
        (
            {"adjacency": [[0, 1, 0], [0, 0, 0], [0, -2, 0]]},
            r"the edge from node 2 to node 1 has weight -2\.0; expected a positive, finite",
        ),
        ({"adjacency": PATH * np.float32(np.nan)}, "from node 0 to node 0 has weight nan"),
        ({"adjacency": [[0, np.inf], [0, 0]]}, "from node 0 to node 1 has weight inf"),
        ({"texts": THREE[:2]}, r"texts: expected 3 \(one for each node\), found 2"),
        (
            {"texts": ["", " \n", None]},
            "every text is empty and there are no features.*give `texts`",
        ),
        ({"texts": "abc"}, "texts: found one str; expected a list in order"),
        (
            {"texts": ["a", 7, "c"]},
            r"texts: node '1' \(row 2\) has type int; expected text, or None",
        ),
        ({"ids": ["a", "b"]}, r"ids: expected 3 \(one for each node\), found 2"),
        (
            {"ids": ["a", "b", "a"]},
            r"ids: 1 occur more than once \('a'\); every node needs an id of its own",
        ),
        ({"texts": None}, "nodes have neither texts nor features.*give `texts` or `features`"),
        ({"features": [1, 2, 3]}, r"features: expected one row .* found shape \(3,\)"),
        ({"features": np.ones((3, 0))}, r"features: expected one row .* found shape \(3, 0\)"),
        ({"features": np.ones((2, 2))}, r"features: expected 3 \(one for each node\), found 2"),
        ({"features": [["a"], ["b"], ["c"]]}, "features: expected numbers only"),
        (
            {"features": [[1], [np.inf], [2]], "ids": ["x", "y", "z"]},
            r"features: node 'y' \(row 2\) has a value that is NaN or infinite; replace",
        ),
        ({"features": np.full((3, 2), 1e-30)}, "largest value is 1e-30; expected one from 1e-18"),
        (
            {"features": np.diag([1, -1e30, 0])},
            r"largest value is 1e\+30.*scale all features alike",
        ),
        ({"features": SPARSE_NAN}, r"features: node '2' \(row 3\) has a value that is NaN"),
        ({"vocabulary": ["x"]}, "vocabulary: has 1 words but the graph has no features"),
        (
            {"vocabulary": ["x"], "features": np.ones((3, 2))},
            "vocabulary: has 1 words but the graph has 2 feature columns; give one word for each",
        ),
    ],
)
def test_an_error_says_what_is_wrong_where(content: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Graph(**{"adjacency": PATH, "texts": THREE, **content})


def test_an_error_names_few_of_many_offenders() -> None:
    ids = [str(i // 2) for i in range(1200)]
    with pytest.raises(InputError, match=r"600 occur .* \('0', '1', '2' and 597 more\)"):
        Graph(sp.csr_array((1200, 1200)), texts=texts(1200), ids=ids)


def test_a_node_may_lack_a_text() -> None:
    graph = Graph(PATH, texts=["a cat", None, "\t"])  # type: ignore[list-item]
    assert graph.texts == ("a cat", "", "")
    assert graph.repairs.nodes_without_text == 2


def test_texts_that_are_all_empty_are_none_beside_features() -> None:
    graph = Graph(PATH, texts=["", " ", float("nan")], features=np.eye(3))  # type: ignore[list-item]
    assert graph.texts is None
    assert graph.repairs.nodes_without_text == 0


def test_the_operator_is_made_once_and_is_that_of_the_adjacency() -> None:
    graph = Graph(PATH, texts=THREE)
    assert graph.operator is graph.operator
    assert np.allclose(graph.operator.matrix.todense(), Operator(PATH).matrix.todense())


def test_a_notebook_shows_few_rows_and_escapes_texts() -> None:
    many_nodes = Graph(sp.csr_array((30, 30)), texts=["<b>" + "x" * 500] * 30)
    shown = many_nodes._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;x" in shown
    assert shown.count("<tr>") == 21
    assert "and 10 more" in shown
    assert len(shown) < 10_000


def test_a_bad_weight_in_a_list_of_edges_is_not_hidden_by_a_repeat() -> None:
    with pytest.raises(InputError, match="from node 1 to node 0 has weight nan"):
        Graph.from_edges([0, 1, 0], [1, 0, 1], [1, np.nan, 2], nodes=2, texts=["a", "b"])


@pytest.mark.parametrize(
    ("source", "target"),
    [([0], [3]), ([-1], [1]), ([0, 1], [5, 2])],  # 0 * 3 + 5 = 1 * 3 + 2: no duplicate
)
def test_edges_to_nodes_that_do_not_exist_are_refused(source: list[int], target: list[int]) -> None:
    with pytest.raises(InputError, match="3 nodes"):
        Graph.from_edges(source, target, nodes=3, texts=THREE)
