"""Graphs that already live in other libraries: NetworkX, PyTorch Geometric, data frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from unseen.errors import InputError, MissingExtraError
from unseen.graph import Graph
from unseen.read.files import build_graph, node_content
from unseen.read.tables import Table, table_from_values


def from_frames(nodes: Any, edges: Any, *, directed: bool = False) -> Graph:
    """Build a graph from two pandas or Polars data frames with the columns that files have.

    Rows in messages are counted from 1.

    >>> import polars as pl
    >>> nodes = pl.DataFrame({"id": ["a", "b"], "text": ["a cat", "a dog"]})
    >>> from_frames(nodes, pl.DataFrame({"source": ["a"], "target": ["b"]}))
    Graph(2 nodes, 1 edges, texts)
    """
    node_table, edge_table = _frame_table("nodes", nodes), _frame_table("edges", edges)
    return build_graph(node_content(node_table), node_table, edge_table, directed)


def from_networkx(
    g: Any, *, text: str = "text", weight: str | None = "weight", label: str | None = None
) -> Graph:
    """Build a graph from a NetworkX graph, one-way if that is; node names become strings.

    Args:
        g: any NetworkX graph. As with files, every node attribute beside text and label is a
            feature and must be a number.
        text: name of the node attribute that holds the text.
        weight: name of the edge attribute that holds the weight; an edge without it weighs 1.
        label: name of the node attribute that holds the class, which is no part of the graph; give
            it to `Labels.from_mapping` with `networkx.get_node_attributes`.
    """
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtraError("from_networkx", "networkx") from error
    if not isinstance(g, nx.Graph):
        raise InputError(f"NetworkX: expected a graph, found {type(g).__name__}")
    ids = [str(node) for node in g]
    attributes = dict.fromkeys(key for _, found in g.nodes(data=True) for key in found)
    if text != "text" and text not in attributes:
        raise InputError(
            f"NetworkX: no node attribute {text!r}; found {sorted(map(str, attributes))}; "
            "name the one that holds the text"
        )
    renamed = {text: "text", label: "label"}
    columns = {
        renamed.get(key, str(key)): [found.get(key) for _, found in g.nodes(data=True)]
        for key in attributes
        if key != "id"  # what a file format called the node; its name in the graph is the id
    }
    nodes = table_from_values("NetworkX", {"id": ids, **columns}, lambda i: f"node {ids[i]!r}")
    ties = list(g.edges(data=weight, default=1.0) if weight else g.edges)
    ends: dict[str, list[object]] = {
        "source": [str(tie[0]) for tie in ties],
        "target": [str(tie[1]) for tie in ties],
    }
    if weight:
        ends["weight"] = [tie[2] for tie in ties]
    edges = table_from_values(
        "NetworkX", ends, lambda i: f"edge {ends['source'][i]!r} - {ends['target'][i]!r}"
    )
    return build_graph(node_content(nodes), nodes, edges, bool(g.is_directed()))


def from_pyg(
    data: Any, *, texts: Sequence[str] | None = None, ids: Sequence[str] | None = None
) -> Graph:
    """Build a graph from a `torch_geometric.data.Data`: `x`, `edge_index` and `edge_weight`.

    One-way where some edge has no reverse of the same weight. Texts and ids are taken from
    `data.text` and `data.node_ids`, where `to_pyg` puts them, unless they are given.
    """
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None or edge_index.ndim != 2 or edge_index.shape[0] != 2:
        raise InputError(
            f"PyG: expected a Data object with `edge_index` of shape [2, E], "
            f"found {type(data).__name__}; convert it, e.g. with `to_homogeneous`"
        )
    texts = getattr(data, "text", None) if texts is None else texts
    ids = getattr(data, "node_ids", None) if ids is None else ids
    nodes = int(data.num_nodes)
    source, target = ends = _array(edge_index).astype(np.int64)
    if ends.size and (ends.min() < 0 or ends.max() >= nodes):
        raise InputError(
            f"PyG: `edge_index` holds {ends.min()} to {ends.max()}; "
            f"expected positions of the {nodes} nodes, from 0; check `num_nodes`"
        )
    weight = getattr(data, "edge_weight", None)
    weight = np.ones(len(source)) if weight is None else _array(weight).reshape(-1)
    weight = weight.astype(np.float32)
    if len(weight) != len(source):
        raise InputError(
            f"PyG: `edge_weight` has {len(weight):,} values for {len(source):,} edges; "
            "expected one for each edge"
        )
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight > 0)))
    if len(wrong):
        raise InputError(
            f"PyG: edge {wrong[0]} has weight {weight[wrong[0]]}; "
            "a weight must be a positive, finite number; correct it or drop the edge"
        )
    x = getattr(data, "x", None)
    content: dict[str, Any] = {
        "features": None if x is None else _array(x),
        "texts": texts,
        "ids": ids,
    }
    graph = Graph.from_edges(source, target, weight, nodes=nodes, directed=True, **content)
    if (graph.adjacency != graph.adjacency.T).nnz:
        return graph
    half = source <= target  # every tie is there in both directions: one of them is no duplicate
    return Graph.from_edges(source[half], target[half], weight[half], nodes=nodes, **content)


def to_pyg(graph: Graph) -> Any:
    """Return a `torch_geometric.data.Data` with `x` (dense), `edge_index` and `edge_weight`.

    An undirected tie is there in both directions, as PyG has it. Texts and ids come along as lists,
    `text` and `node_ids`.
    """
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingExtraError("to_pyg", "pyg") from error
    A = graph.adjacency.tocoo()
    data = Data(
        edge_index=torch.from_numpy(np.stack([A.row, A.col]).astype(np.int64)),
        edge_weight=torch.from_numpy(A.data.copy()),
        num_nodes=graph.nodes,
        node_ids=list(graph.ids or ()),
    )
    if graph.features is not None:
        X = graph.features.toarray() if sp.issparse(graph.features) else graph.features.copy()
        data.x = torch.from_numpy(X)
    if graph.texts is not None:
        data.text = list(graph.texts)
    return data


def _array(tensor: Any) -> Any:
    """Return a tensor as NumPy, wherever it lives and however it is stored."""
    return tensor.detach().to_dense().cpu().numpy()


def _frame_table(name: str, frame: Any) -> Table:
    def place(row: int) -> str:
        return f"row {row + 1}"

    if isinstance(frame, pl.DataFrame):
        return Table(name, frame, place)
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        raise InputError(
            f"{name}: expected a pandas or Polars data frame, found {type(frame).__name__}"
        )
    if not frame.columns.is_unique:
        raise InputError(f"{name}: a column name occurs twice; rename or remove one of the two")
    columns = {}  # value by value: Polars would need pyarrow to take a pandas frame as a whole
    for column in frame.columns:
        given = frame[column].astype(object)
        columns[str(column)] = given.where(given.notna(), None).tolist()
    return table_from_values(name, columns, place)
