"""Graphs that live in other libraries: data frames, NetworkX, PyTorch Geometric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.adjacency import BOUNDS, usable
from unseen.core.errors import InputError, MissingExtraError
from unseen.core.graph import Graph
from unseen.io.build import build_graph, node_content
from unseen.io.roles import Roles, check_edges_named
from unseen.io.tables import Table, looks_like, table_from_values

if TYPE_CHECKING:
    from numpy.typing import NDArray


def from_frames(
    nodes: Any,
    edges: Any = None,
    *,
    directed: bool = False,
    id_column: str = "id",
    text_columns: str | Sequence[str] = ("text",),
    label_column: str = "label",
    source_column: str = "source",
    target_column: str = "target",
) -> Graph:
    """Build a graph from two pandas or Polars data frames with the columns that files have.

    Without `edges` it is a graph without edges. Rows in messages are counted from 1.

    >>> import polars as pl
    >>> nodes = pl.DataFrame({"id": ["a", "b"], "text": ["a cat", "a dog"]})
    >>> from_frames(nodes, pl.DataFrame({"source": ["a"], "target": ["b"]}))
    Graph(2 nodes, 1 edges, texts)
    """
    roles = Roles(id_column, text_columns, label_column, source_column, target_column)
    node_table = frame_table("nodes", nodes)
    edge_table = None if edges is None else frame_table("edges", edges)
    check_edges_named(edges, roles, directed)
    return build_graph(node_content(node_table, roles), node_table, edge_table, directed, roles)


def from_networkx(
    g: Any, *, text: str = "text", weight: str | None = "weight", label: str | None = None
) -> Graph:
    """Build a graph from a NetworkX graph, one-way if that is; node names become strings.

    Args:
        g: any NetworkX graph. As with files, a node attribute beside text and label is a feature if
            it is a number; others are left out, and `Graph.repairs` names them.
        text: name of the node attribute that holds the text.
        weight: name of the edge attribute that holds the weight; an edge without it weighs 1.
        label: name of the node attribute that holds the class ("label" if left out), which is no
            part of the graph; give `networkx.get_node_attributes(g, label)` as labels.
    """
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtraError("from_networkx", "networkx") from error
    if not isinstance(g, nx.Graph):
        raise InputError(f"NetworkX: expected a graph, found {type(g).__name__}")
    kinds = (g.nodes(data=True), g.edges(data=True))
    of_nodes, of_edges = (list(dict.fromkeys(k for *_, a in kind for k in a)) for kind in kinds)
    _check_attribute("node", "text", text, of_nodes, text != "text")
    _check_attribute("node", "label", label or "label", of_nodes, label is not None)
    if weight:
        _check_attribute("edge", "weight", weight, of_edges, weight != "weight")
    ids = [str(node) for node in g]
    columns = {  # an attribute "id" is what a file format called the node; its name is the id
        str(key): [found.get(key) for _, found in g.nodes(data=True)]
        for key in of_nodes
        if key != "id"
    }
    nodes = table_from_values("NetworkX", {"id": ids, **columns}, lambda i: f"node {ids[i]!r}")
    links = list(g.edges(data=weight, default=1.0) if weight else g.edges)
    ends: dict[str, list[object]] = {
        "source": [str(link[0]) for link in links],
        "target": [str(link[1]) for link in links],
    }
    if weight:
        ends["weight"] = [link[2] for link in links]
    edges = table_from_values(
        "NetworkX", ends, lambda i: f"edge {ends['source'][i]!r} - {ends['target'][i]!r}"
    )
    roles = Roles(texts=(text,), label=label or "label")
    content = node_content(nodes, roles)
    content["unused_columns"] += [key for key in of_nodes if key == "id"]
    content["unused_columns"] += [f"edges.{key}" for key in of_edges if key != weight]
    return build_graph(content, nodes, edges, bool(g.is_directed()), roles)


def _check_attribute(of: str, option: str, name: str, found: list[Any], asked: bool) -> None:
    """Raise when an attribute is missing that was asked for, or that another one may well be."""
    alike = [other for other in found if looks_like(str(other), name)]
    if name not in found and (asked or alike):
        hint = f"did you mean {alike[0]!r}? g" if alike else "g"
        raise InputError(
            f"NetworkX: no {of} attribute {name!r}; found {sorted(map(str, found))}; "
            f"{hint}ive {option}={alike[0] if alike else '...'!r}, the one that holds the {option}"
        )


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
    ends = array_of(edge_index)
    if ends.dtype.kind not in "iu":
        raise InputError(f"PyG: `edge_index` holds {ends.dtype}; expected whole numbers")
    source, target = ends = ends.astype(np.int64)
    if ends.size and (ends.min() < 0 or ends.max() >= nodes):
        raise InputError(
            f"PyG: `edge_index` holds {ends.min()} to {ends.max()}; "
            f"expected positions of the {nodes} nodes, from 0; check `num_nodes`"
        )
    weight = getattr(data, "edge_weight", None)
    weight = np.ones(len(source)) if weight is None else array_of(weight).reshape(-1)
    weight = weight.astype(np.float32)
    if len(weight) != len(source):
        raise InputError(
            f"PyG: `edge_weight` has {len(weight):,} values for {len(source):,} edges; "
            "expected one for each edge"
        )
    wrong = np.flatnonzero(~usable(weight))
    if len(wrong):
        raise InputError(
            f"PyG: edge {wrong[0]} has weight {weight[wrong[0]]}; "
            f"a weight must be a positive, finite number; correct it or drop the edge ({BOUNDS})"
        )
    x = getattr(data, "x", None)
    content: dict[str, Any] = {
        "features": None if x is None else array_of(x),
        "texts": texts,
        "ids": ids,
    }
    graph = Graph.from_edges(source, target, weight, nodes=nodes, directed=True, **content)
    if (graph.adjacency != graph.adjacency.T).nnz:
        return graph
    half = source <= target  # every edge is there in both directions: one of them is no duplicate
    return Graph.from_edges(source[half], target[half], weight[half], nodes=nodes, **content)


def pyg_labels(data: Any, mask: str | None = "train_mask") -> NDArray[np.int64]:
    """Return the class position of each node from `data.y`, -1 outside the mask. [n]

    With `mask=None` all of `y` is taken. The labels of classes that are to be predicted must not be
    among those: mask them out.
    """
    y, nodes = getattr(data, "y", None), int(data.num_nodes)
    if y is None:
        raise InputError("PyG: the Data object has no `y`; expected one class position a node")
    codes = array_of(y)
    if codes.shape not in ((nodes,), (nodes, 1)) or codes.dtype.kind == "b":
        raise InputError(
            f"PyG: `y` has shape {codes.shape} of {codes.dtype}; expected [{nodes}] whole numbers, "
            "one class position a node; with several labels a node, choose one"
        )
    codes = codes.reshape(-1)
    known = ~np.isnan(codes) if codes.dtype.kind == "f" else np.ones(nodes, bool)
    if mask is not None:
        inside = getattr(data, mask, None)
        if inside is None:
            raise InputError(
                f"PyG: the Data object has no `{mask}`; name the mask of the labelled nodes, or "
                "give mask=None to take all of `y`"
            )
        inside = array_of(inside)
        if inside.shape != (nodes,) or inside.dtype.kind != "b":
            raise InputError(
                f"PyG: `{mask}` has shape {inside.shape} of {inside.dtype}; expected [{nodes}] "
                f"booleans; with several splits, take one: data.{mask} = data.{mask}[:, 0]"
            )
        known &= inside
    whole = np.where(known, codes, -1).astype(np.int64)
    wrong = np.flatnonzero(known & ((whole != codes) | (whole < -1)))
    if len(wrong):
        raise InputError(
            f"PyG: `y` of node {wrong[0]} is {codes[wrong[0]]}; expected a class position, "
            "counted from 0, or -1 where there is none"
        )
    return whole


def array_of(tensor: Any) -> Any:
    """Return a tensor as NumPy, wherever it lives and however it is stored."""
    dense = tensor.detach().to_dense().cpu()
    return (dense.float() if str(dense.dtype) == "torch.bfloat16" else dense).numpy()


def frame_table(name: str, frame: Any) -> Table:
    """Return a pandas or Polars data frame as a table."""

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
