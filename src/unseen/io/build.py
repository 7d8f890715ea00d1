"""Tables of nodes and of edges become a `Graph`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from unseen.core.errors import InputError, quoted, shortlist
from unseen.core.graph import Graph
from unseen.io import columns
from unseen.io.lookup import find_rows, number_hint
from unseen.io.roles import Roles, edge_columns, node_columns
from unseen.io.tables import Table

USUAL = Roles()


def node_content(
    table: Table, roles: Roles = USUAL, matrix: Any = None, *, joins: bool = False
) -> dict[str, Any]:
    """Return ids, texts and features of the nodes, checked, and the names of unused columns.

    Nodes that join others may all lack a text: their neighbours answer for them.
    """
    used = node_columns(table, roles)
    table.require_rows("node")
    ids = columns.node_keys(table, roles.id)
    if matrix is not None and used.features:
        raise InputError(
            f"{table.name}: has numeric columns ({shortlist(used.features)}) beside a features "
            "file; give features in one place; remove these columns or the features file"
        )
    texts = columns.texts(table, used.texts) if used.texts else None
    silent = not any(map(str.strip, texts or ())) and (texts is None or not joins)
    if matrix is None and not used.features and silent:
        raise InputError(
            f"{table.name}: nodes have neither {'a text' if texts is None else 'any text'} nor "
            f"features; found {shortlist(table.frame.columns)}; add a `text` column, numeric "
            "columns or a features file, or name the text: text_columns=... (--text-columns)"
        )
    return {
        "ids": ids,
        "texts": texts,
        "features": columns.features(table, used.features) if used.features else matrix,
        "feature_names": used.features or None,
        "unused_columns": used.unused,
    }


def build_graph(
    content: dict[str, Any],
    nodes: Table,
    edges: Table | None,
    directed: bool,
    roles: Roles = USUAL,
    beside: Graph | None = None,
    **more: Any,
) -> Graph:
    """Link the nodes: both ends of every edge have to be among them.

    With `beside`, nodes and edges are added to those of another graph.
    """
    if beside is not None and directed and not beside.directed:
        raise InputError(
            f"{nodes.name}: edges are to be directed, but those of the run that it joins are not; "
            "leave `directed` (--directed) out, or classify anew with it"
        )
    if beside is not None:
        content = _joined(beside, content, nodes)
    content = dict(content)
    ids = content.pop("ids")
    unused = content.pop("unused_columns")
    ends: list[Any] = [np.zeros(0, np.int32)] * 2
    weight = None
    if edges is not None:
        weighted, unused_too = edge_columns(edges, roles)
        unused = [*unused, *unused_too]
        ends = _ends(edges, roles, ids, nodes.name)
        weight = columns.weights(edges) if weighted else None
    del edges  # room for what follows: it is as large as the graph
    if beside is not None:
        old = sp.coo_array(beside.adjacency if beside.directed else sp.triu(beside.adjacency))
        weight = np.ones(len(ends[0]), dtype=np.float32) if weight is None else weight
        weight = np.concatenate([weight, old.data])
        ends = [np.concatenate(pair) for pair in zip(ends, old.coords, strict=True)]
    source, target = ends
    return Graph.from_edges(
        source,
        target,
        weight,
        nodes=len(ids),
        directed=directed if beside is None else beside.directed,
        ids=ids.cast(pl.String).to_list(),
        unused_columns=unused,
        **content,
        **more,
    )


def _ends(edges: Table, roles: Roles, ids: pl.Series, nodes_name: str) -> list[Any]:
    """Return the rows of the sources and of the targets. [m], [m]"""
    names = (roles.source, roles.target)
    rows = [columns.node_rows(edges, name, ids) for name in names]
    unknown = (rows[0] < 0) | (rows[1] < 0)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        end = names[0] if rows[0][row] < 0 else names[1]
        name = columns.names(edges, end)[row]
        hint = number_hint(name, ids.cast(pl.String))
        found = f"unknown node {name!r}{hint} as {end}" if name else f"`{end}` is empty"
        count = int(unknown.sum())
        raise InputError(
            f"{edges.where(row)}: {found}{f' ({count:,} such edges)' if count > 1 else ''}; "
            f"both ends must be ids of {nodes_name}; add the node or drop the edge"
        )
    return rows


def _joined(old: Graph, new: dict[str, Any], table: Table) -> dict[str, Any]:
    """Return the nodes of a graph followed by new ones that are described in the same way."""
    ids, before = new["ids"].cast(pl.String), pl.Series(old.ids or (), dtype=pl.String)
    twice = np.flatnonzero(find_rows(before, ids) >= 0)
    if len(twice):
        row = int(twice[0])
        raise InputError(
            f"{table.where(row)}: node {ids[row]!r} is in the run already; "
            "expected new nodes only; leave it out or give it another id"
        )
    for what in ("texts", "features"):
        if (getattr(old, what) is None) != (new[what] is None):
            found, wanted = ("has", "has none") if new[what] is not None else ("lacks", "has them")
            raise InputError(
                f"{table.name}: {found} {what}, but the run it joins {wanted}; "
                "describe the new nodes as the old ones"
            )
    features = None
    if old.features is not None:
        new = new | aligned(new, old.feature_names, table.name, "the run")
        if old.features.shape[1] != new["features"].shape[1]:
            raise InputError(
                f"{table.name}: has {new['features'].shape[1]:,} features a node but the run has "
                f"{old.features.shape[1]:,}; give the same columns"
            )
        features = sp.vstack([sp.csr_array(old.features), sp.csr_array(new["features"])])
        features = features if sp.issparse(old.features) else features.toarray()
    return {
        **new,
        "ids": before.append(ids),
        "texts": None if old.texts is None else [*old.texts, *new["texts"]],
        "features": features,
        "feature_names": old.feature_names,
    }


def aligned(
    content: dict[str, Any], wanted: Sequence[str] | None, where: str, whose: str
) -> dict[str, Any]:
    """Return features with the columns that are wanted, found by name, in that order.

    Columns without names, here or there, are taken in the order in which they come.
    """
    found = content["feature_names"]
    if found is None or wanted is None or tuple(found) == tuple(wanted):
        return {"features": content["features"], "feature_names": found}
    lacking = [name for name in wanted if name not in found]
    beside = [name for name in found if name not in wanted]
    if lacking or beside:
        problems = [f"lacks {shortlist(lacking, 3)}"] * bool(lacking)
        problems += [f"has {shortlist(beside, 3)} besides"] * bool(beside)
        raise InputError(
            f"{where}: {' and '.join(problems)}, among its feature columns, but {whose} was made "
            f"with {shortlist(wanted, 3)}; give the same columns, in any order"
        )
    twice = next((name for at, name in enumerate(found) if name in found[:at]), None)
    if twice is not None:
        raise InputError(
            f"{where}: two of its feature columns are called {quoted(twice)}, so that they cannot "
            f"be found by name; give the columns in the order of {whose}"
        )
    at = [list(found).index(name) for name in wanted]
    return {"features": content["features"][:, at], "feature_names": tuple(wanted)}
