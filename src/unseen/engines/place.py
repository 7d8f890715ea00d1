"""A graph in memory, placed where an engine works on it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.engines.disk_graph import DiskGraph
from unseen.engines.make import make_engine
from unseen.engines.plan import plan
from unseen.engines.stored_graph import StoredGraph


def place(
    graph: Any,
    classes: int,
    engine: str = "auto",
    memory: str | int | None = None,
    address: str | None = None,
    progress: Any = None,
) -> Any:
    """Return a graph as the engine takes it: itself, or with its edges and vectors on disk.

    Files that this makes lie in the system's folder for such, and go with the graph.
    """
    if not isinstance(graph, Graph):  # lies somewhere already
        return graph
    chosen = plan(graph.nodes, graph.edges, classes, engine, memory)
    if address is not None and chosen.engine != "ray":
        raise InputError(
            f"address: is that of a Ray cluster, but the engine is {chosen.engine!r} "
            f"({chosen.why}); give engine='ray', or leave the address out"
        )
    if chosen.engine == "memory" or (engine == "auto" and graph.texts is None):
        return graph
    if graph.texts is None:
        raise InputError(
            f"engine: {chosen.engine!r} reads nodes by their texts, but they have features only; "
            "use 'memory'"
        )
    folder = Path(tempfile.mkdtemp(prefix="unseen-"))
    return store_in(
        folder, graph, chosen.memory, progress, own=True, engine=chosen.engine, address=address
    )


def store_in(
    folder: Path,
    graph: Graph,
    memory: int,
    progress: Any = None,
    own: bool = False,
    block: int | None = None,
    engine: str = "disk",
    address: str | None = None,
) -> StoredGraph:
    """Put the edges of a graph into a folder; texts and ids stay in memory."""
    edges = sp.coo_array(graph.adjacency if graph.directed else sp.triu(graph.adjacency))
    source, target = edges.coords
    equal = edges.nnz == 0 or bool((edges.data == edges.data[0]).all())
    if not (folder / "graph").is_dir():
        DiskGraph.from_edges(
            folder / "graph",
            source,
            target,
            None if equal else edges.data,
            nodes=graph.nodes,
            memory=max(memory, 1 << 30),  # they are in memory anyway
            directed=graph.directed,
        )
    made = make_engine(engine, folder, graph.nodes, memory, block, progress, address)
    if own:
        weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    return StoredGraph(made, folder, graph.directed, graph.ids, graph.texts, graph.repairs)
