"""New nodes in an old graph: the graph as a whole, and the part of it that they touch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.io.build import USUAL, build_graph, node_content
from unseen.io.objects import frame_table
from unseen.io.read import labels_of
from unseen.io.tables import Table, read_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes


MOST = 5_000  # nodes around new ones that are read again


def join_graph(old: Graph, classes: Classes, nodes: Any, edges: Any = None) -> tuple[Graph, Labels]:
    """Return the old graph followed by new nodes, and what these are known to be.

    Args:
        old: keeps its order.
        classes: that a `label` column of the new nodes may name.
        nodes, edges: frames or files with the usual columns; edges may name old and new nodes.
    """
    table = _table("nodes", nodes)
    listed = None if edges is None else _table("edges", edges)
    graph = build_graph(
        node_content(table, USUAL, joins=True),
        table,
        listed,
        old.directed,
        beside=old,
        vocabulary=old.vocabulary,
    )
    if USUAL.label in table.frame.columns:
        return graph, labels_of(table, graph, classes)
    return graph, Labels.none(graph.nodes)


def neighbourhood(graph: Graph, nodes: NDArray[np.int64]) -> tuple[Graph, NDArray[np.int64]]:
    """Return the graph of these nodes and those around them, in this order, and the latter.

    Two hops are taken, or one where that is more than `MOST` nodes.
    """
    near = np.setdiff1d(graph.adjacency[nodes].indices, nodes)
    far = np.setdiff1d(graph.adjacency[near].indices, nodes)
    halo = np.union1d(near, far) if len(far) <= MOST else near
    kept = np.concatenate([nodes, halo])
    if graph.texts is not None and not any(graph.texts[i] for i in kept):  # a graph needs a text
        halo = np.append(halo, next(i for i, text in enumerate(graph.texts) if text))
        kept = np.concatenate([nodes, halo])
    part = Graph(
        graph.adjacency[kept][:, kept],
        features=None if graph.features is None else graph.features[kept],
        texts=None if graph.texts is None else [graph.texts[i] for i in kept],
        ids=[(graph.ids or ())[i] for i in kept],
        vocabulary=graph.vocabulary,
        directed=graph.directed,
    )
    return part, halo


def _table(name: str, given: Any) -> Table:
    return read_table(given) if isinstance(given, str | Path) else frame_table(name, given)
