"""Graphs from and to other libraries."""

import sys
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from unseen.core.classes import Classes
from unseen.core.errors import InputError, MissingExtraError
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.io.objects import from_frames, from_networkx, from_pyg, pyg_labels

nx = pytest.importorskip("networkx")
pd = pytest.importorskip("pandas")

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


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_with_names_of_their_own(frame: Any) -> None:
    nodes = frame(
        {
            "paper": [1, 2],
            "title": ["A title", ""],
            "abstract": ["An abstract", "Another"],
            "subject": ["p", None],
            "year": [1999, 2001],
        }
    )
    g = from_frames(
        nodes,
        frame({"citing": [1], "cited": [2], "when": ["today"]}),
        id_column="paper",
        text_columns=["title", "abstract"],
        label_column="subject",
        source_column="citing",
        target_column="cited",
    )
    assert (g.ids, g.edges) == (("1", "2"), 1)
    assert g.texts == ("A title. An abstract", "Another")
    assert g.features.tolist() == [[1999], [2001]]
    assert g.repairs.unused_columns == ("edges.when",)


@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_without_edges(frame: Any) -> None:
    g = from_frames(frame(NODES))
    assert (g.nodes, g.edges, g.repairs.isolated_nodes) == (3, 0, 3)


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
    assert known.codes.tolist() == [0, 1]
    assert from_networkx(g, text="words", weight=None, label="kind").adjacency.max() == 1


def test_networkx_multigraph_counts_duplicates() -> None:
    g = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])
    nx.set_node_attributes(g, "t", "text")
    graph = from_networkx(g)
    assert (graph.edges, graph.repairs.duplicate_edges, graph.directed) == (2, 1, False)


@pytest.mark.parametrize(
    ("attributes", "options", "message"),
    [
        ({}, {}, r"^NetworkX: nodes have neither a text nor features"),
        ({"a": {"words": "t"}}, {"text": "word"}, r"^NetworkX: no node attribute 'word'; found"),
        ({"a": {"Text": "t"}}, {}, r"^NetworkX: no node attribute 'text'.*did you mean 'Text'\? "),
        ({"a": {"text": "t"}}, {"label": "kind"}, r"^NetworkX: no node attribute 'kind'; found"),
        ({"a": {"text": "t"}}, {"weight": "Weights"}, r"no edge attribute 'Weights'.*'weight'\?"),
        ({"a": {"text": ["t"]}}, {}, r"^NetworkX node 'a': `text` holds a list; expected text"),
        ({"a": {"text": "t", "x": [1]}}, {}, r"^NetworkX node 'a': `x` holds a list of numbers"),
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


def test_networkx_attributes_that_are_not_used_are_named() -> None:
    g = nx.Graph()
    g.add_edge("a", "b", weight=2, colour="red")
    nx.set_node_attributes(g, {"a": {"text": "t", "tags": ["x", "y"], "size": 1, "id": 7}})
    nx.set_node_attributes(g, {"b": {"text": None, "tags": {"z": 1}, "size": 2}})
    graph = from_networkx(g)
    assert graph.repairs.unused_columns == ("tags", "id", "edges.colour")
    assert graph.repairs.nodes_without_text == 1
    assert graph.features.tolist() == [[1], [2]]


def test_networkx_texts_and_labels_are_those_named() -> None:
    g = nx.Graph([("a", "b")])
    nx.set_node_attributes(g, {"a": {"words": "t", "text": "no", "label": 1, "kind": "p"}})
    graph = from_networkx(g, text="words", label="kind")
    assert graph.texts == ("t", "")
    assert graph.features is None, "a label is no feature, whatever is named as the label"
    assert graph.repairs.unused_columns == ("text", "label")


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
    pytest.importorskip("torch_geometric")
    data = graph.to_pyg()
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
    torch = pytest.importorskip("torch")
    Data = pytest.importorskip("torch_geometric.data").Data
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
        ({"edge_index": [[0.5], [1.0]]}, r"^PyG: `edge_index` holds float32; expected whole"),
        ({"edge_index": [[0], [1]], "edge_weight": [1.0, 2.0]}, r"^PyG: `edge_weight` has 2"),
        ({"edge_index": [[0], [1]], "edge_weight": [0.0]}, r"^PyG: edge 0 has weight 0\.0"),
    ],
)
def test_pyg_that_cannot_be_used(fields: dict[str, Any], message: str) -> None:
    torch = pytest.importorskip("torch")
    Data = pytest.importorskip("torch_geometric.data").Data
    data = Data(num_nodes=2, **{key: torch.tensor(value) for key, value in fields.items()})
    with pytest.raises(InputError, match=message):
        from_pyg(data, texts=["a", "b"])


def test_pyg_of_halved_numbers() -> None:
    torch = pytest.importorskip("torch")
    Data = pytest.importorskip("torch_geometric.data").Data
    x = torch.tensor([[1.0, 0.5], [2.0, 0.25]], dtype=torch.bfloat16)
    found = from_pyg(Data(x=x, edge_index=torch.tensor([[0], [1]])))
    assert found.features.tolist() == [[1.0, 0.5], [2.0, 0.25]]


def pyg(**fields: Any) -> Any:
    torch = pytest.importorskip("torch")
    Data = pytest.importorskip("torch_geometric.data").Data
    return Data(num_nodes=3, **{key: torch.tensor(value) for key, value in fields.items()})


def test_pyg_labels() -> None:
    mask = [True, False, True]
    assert pyg_labels(pyg(y=[2, 1, 0], train_mask=mask)).tolist() == [2, -1, 0]
    assert pyg_labels(pyg(y=[[2], [1], [0]], known=mask), "known").tolist() == [2, -1, 0]
    assert pyg_labels(pyg(y=[2.0, float("nan"), -1.0]), None).tolist() == [2, -1, -1]
    assert pyg_labels(pyg(y=[2, 1, 0]), None).dtype == np.int64
    beyond = pyg_labels(pyg(y=[2.0, 0.5, 1.0], train_mask=mask))
    assert beyond.tolist() == [2, -1, 1], "what is outside the mask is not looked at"


@pytest.mark.parametrize(
    ("fields", "mask", "message"),
    [
        ({}, None, r"has no `y`; expected one class position a node"),
        ({"y": [0, 1]}, None, r"`y` has shape \(2,\) of int64; expected \[3\] whole numbers"),
        ({"y": [[0, 1]] * 3}, None, r"`y` has shape \(3, 2\).*several labels a node, choose one"),
        ({"y": [True] * 3}, None, r"`y` has shape \(3,\) of bool"),
        ({"y": [0, 0.5, 1]}, None, r"`y` of node 1 is 0\.5; expected a class position"),
        ({"y": [0, 1, -2]}, None, r"`y` of node 2 is -2"),
        ({"y": [0, 1, 2]}, "train_mask", r"has no `train_mask`; name the mask.*or give mask=None"),
        (
            {"y": [0, 1, 2], "m": [0, 1, 1]},
            "m",
            r"`m` has shape \(3,\) of int64; expected \[3\] bo",
        ),
        (
            {"y": [0, 1, 2], "m": [[True, False]] * 3},
            "m",
            r"`m` has shape \(3, 2\) of bool.*take one: data\.m = data\.m\[:, 0\]",
        ),
    ],
)
def test_pyg_labels_that_cannot_be_used(
    fields: dict[str, Any], mask: str | None, message: str
) -> None:
    with pytest.raises(InputError, match=f"^PyG: .*{message}"):
        pyg_labels(pyg(**fields), mask)


def test_missing_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"from_networkx needs.*unseen\[networkx\]"):
        from_networkx(object())
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(MissingExtraError, match=r"to_pyg needs.*unseen\[pyg\]"):
        Graph([[0, 1], [1, 0]], texts=["a", "b"]).to_pyg()
