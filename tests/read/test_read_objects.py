"""Graphs from and to other libraries."""

import sys
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from unseen.classes import Classes, Labels
from unseen.errors import InputError, MissingExtraError
from unseen.graph import Graph
from unseen.read.objects import from_frames, from_networkx, from_pyg, to_pyg

FRAMES = [pl.DataFrame, pd.DataFrame]
NODES: dict[str, list[object]] = {
    "id": ["a", "b", "c"],
    "text": ["t", "u", "v"],
    "x": [1.0, 0.5, 2.0],
}
EDGES: dict[str, list[object]] = {"source": ["a", "b"], "target": ["b", "c"], "weight": [2, 3]}


@pytest.mark.parametrize("frame", FRAMES)
def test_frames(frame: Any) -> None:
    nodes = frame({**NODES, "label": ["p", None, "q"]})
    g = from_frames(nodes, frame(EDGES), directed=True)
    assert (g.ids, g.texts) == (("a", "b", "c"), ("t", "u", "v"))
    assert g.features.tolist() == [[1], [0.5], [2]]
    assert g.adjacency.toarray().tolist() == [[0, 2, 0], [0, 0, 3], [0, 0, 0]]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ({"id": ["a", "b", "a"]}, {}, r"^nodes row 3: id 'a' is already on row 1"),
        ({"id": ["a", None, "c"]}, {}, r"^nodes row 2: `id` is empty"),
        ({"text": ["t", None, "v"]}, {}, r"^nodes row 2: text is empty; 1 of 3"),
        ({"x": [1.0, float("nan"), 2.0]}, {}, r"^nodes row 2: column `x` (is empty|holds 'nan')"),
        ({"x": [1.0, float("inf"), 2.0]}, {}, r"^nodes row 2: column `x` holds 'inf'"),
        ({"x": ["1", "b", "2"]}, {}, r"^nodes row 2: column `x` holds 'b'.*must be numeric"),
        (
            {},
            {"target": ["b", "z"]},
            r"^edges row 2: unknown node 'z' as target; both ends must be ids of nodes;",
        ),
        ({}, {"weight": [1, -2]}, r"^edges row 2: weight '-2'"),
    ],
)
def test_frames_that_cannot_be_used(
    frame: Any, nodes: dict[str, object], edges: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        from_frames(frame({**NODES, **nodes}), frame({**EDGES, **edges}))


def test_pandas_types() -> None:
    nodes = pd.DataFrame(
        {
            "id": pd.array([1, 2], dtype="Int64"),
            "text": pd.Categorical(["t", "u"]),
            3: np.array([0.5, 1], dtype=np.float16),
            "flag": [True, False],
        },
        index=[10, 20],
    )
    g = from_frames(nodes, pd.DataFrame({"source": [1.0], "target": ["2"]}))
    assert (g.ids, g.texts, g.edges) == (("1", "2"), ("t", "u"), 1)
    assert g.features.tolist() == [[0.5, 1], [1, 0]]


def test_what_is_no_data_frame() -> None:
    with pytest.raises(InputError, match=r"^edges: expected a pandas or Polars data frame, found"):
        from_frames(pl.DataFrame(NODES), EDGES)
    twice = pd.DataFrame([["a", "b"]], columns=["id", "id"])
    with pytest.raises(InputError, match=r"^nodes: a column name occurs twice"):
        from_frames(twice, pd.DataFrame(EDGES))


def test_networkx_keeps_direction_weights_and_numbers() -> None:
    g = nx.DiGraph()
    g.add_node(1, words="one", size=1.5, kind="p", id="ignored")
    g.add_node("b", words="two", size=2, kind="q")
    g.add_edge(1, "b", strength=4)
    g.add_edge("b", 1)
    graph = from_networkx(g, text="words", weight="strength", label="kind")
    assert (graph.ids, graph.texts, graph.directed) == (("1", "b"), ("one", "two"), True)
    assert graph.features.tolist() == [[1.5], [2]]
    assert graph.adjacency.toarray().tolist() == [[0, 4], [1, 0]]
    known = Labels.from_mapping(nx.get_node_attributes(g, "kind"), graph, Classes(["p", "q"]))
    assert known.of.tolist() == [0, 1]
    assert from_networkx(g, text="words", weight=None, label="kind").adjacency.max() == 1


def test_networkx_multigraph_counts_duplicates() -> None:
    g = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])
    nx.set_node_attributes(g, "t", "text")
    graph = from_networkx(g)
    assert (graph.edges, graph.repairs.duplicate_edges, graph.directed) == (2, 1, False)


@pytest.mark.parametrize(
    ("attributes", "options", "message"),
    [
        ({"a": {"text": "t"}}, {}, r"^NetworkX node 'b': text is empty; 1 of 2 nodes"),
        ({}, {}, r"^NetworkX: nodes have neither a text nor features"),
        ({"a": {"words": "t"}}, {"text": "word"}, r"^NetworkX: no node attribute 'word'; found"),
        ({"a": {"text": "t", "x": [1]}}, {}, r"^NetworkX node 'a': `x` holds a list"),
        ({"a": {"text": "t"}, "b": {"text": "t"}}, {}, r"^NetworkX edge 'a' - 'b': weight '-1'"),
    ],
)
def test_networkx_that_cannot_be_used(
    attributes: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    g = nx.Graph()
    g.add_edge("a", "b", weight=-1)
    nx.set_node_attributes(g, attributes)
    with pytest.raises(InputError, match=message):
        from_networkx(g, **options)


def test_networkx_names_that_clash_as_text() -> None:
    g = nx.Graph([(1, "1")])
    nx.set_node_attributes(g, "t", "text")
    with pytest.raises(InputError, match=r"^NetworkX node '1': id '1' is already on node '1'"):
        from_networkx(g)
    with pytest.raises(InputError, match=r"^NetworkX: expected a graph, found dict"):
        from_networkx({})


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_pyg_round_trip(directed: bool, sparse: bool) -> None:
    A = sp.random_array((20, 20), density=0.2, rng=np.random.default_rng(0))
    A = sp.triu(A, k=1) + sp.tril(A, k=-1)
    X = np.eye(20, 4, dtype=np.float32)
    graph = Graph(
        A,
        features=sp.csr_array(X) if sparse else X,
        texts=[f"text {i}" for i in range(20)],
        ids=[f"n{i}" for i in range(20)],
        directed=directed,
    )
    data = to_pyg(graph)
    data.validate()
    assert data.is_undirected() is not directed
    assert data.edge_index.shape == (2, graph.adjacency.nnz)
    again = from_pyg(data)
    assert (again.adjacency != graph.adjacency).nnz == 0
    assert (again.ids, again.texts, again.directed) == (graph.ids, graph.texts, directed)
    assert np.array_equal(again.features, X)
    assert again.repairs == graph.repairs, "the reverse of an edge is no duplicate"
    data.x[0, 0] = 5
    assert graph.features[0, 0] == 1, "the graph is frozen: PyG gets a copy"


def test_pyg_without_features_or_weights() -> None:
    import torch
    from torch_geometric.data import Data

    edges = torch.tensor([[0, 1, 1, 1, 2], [1, 0, 0, 2, 1]])
    graph = from_pyg(Data(edge_index=edges, num_nodes=4), texts=list("abcd"), ids=list("wxyz"))
    assert (graph.texts, graph.ids, graph.directed) == (tuple("abcd"), tuple("wxyz"), False)
    assert (graph.edges, graph.repairs.isolated_nodes) == (2, 1)
    assert graph.to_pyg().num_nodes == 4


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, r"^PyG: expected a Data object with `edge_index` of shape \[2, E\], found Data"),
        ({"edge_index": [[0, 9], [1, 0]]}, r"^PyG: `edge_index` holds 0 to 9; .* 2 nodes"),
        ({"edge_index": [[0, -1], [1, 0]]}, r"^PyG: `edge_index` holds -1 to 1"),
        ({"edge_index": [[0], [1]], "edge_weight": [1.0, 2.0]}, r"^PyG: `edge_weight` has 2"),
        ({"edge_index": [[0], [1]], "edge_weight": [0.0]}, r"^PyG: edge 0 has weight 0\.0"),
    ],
)
def test_pyg_that_cannot_be_used(fields: dict[str, Any], message: str) -> None:
    import torch
    from torch_geometric.data import Data

    data = Data(num_nodes=2, **{key: torch.tensor(value) for key, value in fields.items()})
    with pytest.raises(InputError, match=message):
        from_pyg(data, texts=["a", "b"])


def test_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"from_networkx needs.*unseen\[networkx\]"):
        from_networkx(object())
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(MissingExtraError, match=r"to_pyg needs.*unseen\[pyg\]"):
        to_pyg(Graph([[0, 1], [1, 0]], texts=["a", "b"]))
