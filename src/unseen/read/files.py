"""`read_graph`, `read_classes`, `read_labels`: checked objects from tables in files."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from unseen.classes import Classes, Labels
from unseen.errors import InputError, shortlist
from unseen.graph import Graph
from unseen.read import columns
from unseen.read.features import read_features, read_vocabulary
from unseen.read.lookup import Lookup
from unseen.read.tables import Table, read_table

NOT_FEATURES = ("id", "text", "label")


def read_graph(
    nodes: Path | str,
    edges: Path | str,
    *,
    features: Path | str | None = None,
    vocabulary: Path | str | None = None,
    directed: bool = False,
    beside: Graph | None = None,
) -> Graph:
    """Read a graph from a nodes file and an edges file (.csv, .tsv, .parquet, .jsonl or .ndjson).

    Args:
        nodes: `id`, then `text` and/or numeric columns, each of which is a feature; a `label` is
            left to `read_labels`.
        edges: `source`, `target` and, perhaps, `weight`. A header alone is a graph without edges.
        features: an .npz file (sparse, or one dense matrix) instead of numeric columns.
        vocabulary: the word of each feature column, .txt or .json.
        directed: keep edges one-way.
        beside: another graph, of which the new nodes become part; edges may name nodes of both.
    """
    node_table = read_table(nodes)
    matrix = None
    if features is not None:
        node_table.require_rows("node")
        matrix = read_features(features, node_table.frame.height, node_table.name)
    words = None if vocabulary is None else read_vocabulary(vocabulary)
    content = node_content(node_table, matrix)
    if words is not None:
        found = content["features"]
        width = 0 if found is None else found.shape[1]
        if len(words) != width:
            raise InputError(
                f"{vocabulary}: has {len(words):,} words but the nodes have {width:,} feature "
                "columns; expected one word for each column; check that the two files belong"
            )
    if beside is None:
        return build_graph(content, node_table, read_table(edges), directed, vocabulary=words)
    if words is not None and tuple(words) != beside.vocabulary:
        raise InputError(
            f"{vocabulary}: differs from the vocabulary of the run that the nodes join; "
            "give the same words in the same order"
        )
    whole = _joined(beside, content, node_table)
    ties = sp.coo_array(beside.adjacency if beside.directed else sp.triu(beside.adjacency))
    return build_graph(
        whole,
        node_table,
        read_table(edges),
        beside.directed,
        (*ties.coords, ties.data),
        vocabulary=beside.vocabulary,
    )


def read_classes(path: Path | str) -> Classes:
    """Read the classes: `name` and, perhaps, `description`."""
    table = read_table(path)
    table.require("name")
    table.require_rows("class")
    descriptions = None
    if "description" in table.frame.columns:
        descriptions = columns.strings(table, "description").to_list()
    return Classes(columns.class_names(table).to_list(), descriptions)


def has_labels(path: Path | str) -> bool:
    """Tell whether a nodes file has a `label` column."""
    return "label" in read_table(path).frame.columns


def read_labels(path: Path | str, graph: Graph, classes: Classes) -> Labels:
    """Read what some nodes are: `id` and `label`, as in a nodes file or in a file of its own.

    A node that is not listed, or whose label is empty, has none.
    """
    table = read_table(path)
    table.require("id", "label")
    table.require_rows("labelled node")
    ids = columns.names(table, "id")
    known = columns.normalised(pl.Series(graph.ids or (), dtype=pl.String))
    rows = Lookup(known).rows(ids)
    if (rows < 0).any():
        row = int(np.flatnonzero(rows < 0)[0])
        found = f"unknown node {ids[row]!r}" if ids[row] else "`id` is empty"
        raise InputError(
            f"{table.where(row)}: {found}; every labelled id must be a node of the graph; "
            "correct the id or drop the row"
        )
    labels = columns.one_spaced(columns.names(table, "label"))
    names = columns.normalised(pl.Series(classes.names, dtype=pl.String))
    which = Lookup(names).rows(labels)
    listed = (labels != "").to_numpy()
    _check_known(table, labels, which, listed, names.to_list())
    _check_agreement(table, ids, labels, rows, which, listed)
    of = np.full(graph.nodes, -1, dtype=np.int64)
    of[rows[listed]] = which[listed]
    return Labels(of)


def node_content(table: Table, matrix: Any = None) -> dict[str, Any]:
    """Return ids, texts and features of the nodes, checked."""
    table.require("id")
    table.require_rows("node")
    ids = columns.node_keys(table)
    others = [name for name in table.frame.columns if name not in NOT_FEATURES]
    if matrix is not None and others:
        raise InputError(
            f"{table.name}: has other columns ({shortlist(others)}) beside a features file; "
            "give features in one place; remove these columns or the features file"
        )
    if matrix is None and not others and "text" not in table.frame.columns:
        raise InputError(
            f"{table.name}: nodes have neither a text nor features; "
            f"found {shortlist(table.frame.columns)}; "
            "add a `text` column, numeric columns or a features file"
        )
    return {
        "ids": ids,
        "texts": columns.texts(table) if "text" in table.frame.columns else None,
        "features": columns.features(table, others) if others else matrix,
    }


def build_graph(
    content: dict[str, Any],
    nodes: Table,
    edges: Table,
    directed: bool,
    ties: tuple[Any, Any, Any] | None = None,
    **more: Any,
) -> Graph:
    """Tie the nodes together: both ends of every edge have to be among them.

    `ties` are further edges (source, target, weight) by position, known to be sound.
    """
    edges.require("source", "target")
    ids = content["ids"]
    known = Lookup(ids)
    rows = [columns.node_rows(edges, end, known) for end in ("source", "target")]
    unknown = (rows[0] < 0) | (rows[1] < 0)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        end = "source" if rows[0][row] < 0 else "target"
        name = columns.names(edges, end)[row]
        found = f"unknown node {name!r} as {end}" if name else f"`{end}` is empty"
        count = int(unknown.sum())
        raise InputError(
            f"{edges.where(row)}: {found}{f' ({count:,} such edges)' if count > 1 else ''}; "
            f"both ends must be ids of {nodes.name}; add the node or drop the edge"
        )
    weight = columns.weights(edges) if "weight" in edges.frame.columns else None
    del edges, known, unknown  # room for what follows: these are as large as the graph
    if ties is not None:
        ones = np.ones(len(rows[0]), dtype=np.float32)
        rows = [np.concatenate(pair) for pair in zip(rows, ties[:2], strict=True)]
        weight = np.concatenate([ones if weight is None else weight, ties[2]])
    content = content | {"ids": ids.cast(pl.String).to_list()}
    source, target = rows
    return Graph.from_edges(
        source, target, weight, nodes=len(ids), directed=directed, **content, **more
    )


def _joined(old: Graph, new: dict[str, Any], table: Table) -> dict[str, Any]:
    """Return the nodes of a graph followed by new ones that are described in the same way."""
    ids = new["ids"].cast(pl.String)
    twice = (Lookup(pl.Series(old.ids or (), dtype=pl.String)).rows(ids) >= 0).nonzero()[0]
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
        if old.features.shape[1] != new["features"].shape[1]:
            raise InputError(
                f"{table.name}: has {new['features'].shape[1]:,} features a node but the run has "
                f"{old.features.shape[1]:,}; give the same columns"
            )
        features = sp.vstack([sp.csr_array(old.features), sp.csr_array(new["features"])])
        features = features if sp.issparse(old.features) else features.toarray()
    return {
        "ids": pl.Series(old.ids or (), dtype=pl.String).append(ids),
        "texts": None if old.texts is None else [*old.texts, *new["texts"]],
        "features": features,
    }


def _check_known(
    table: Table, labels: pl.Series, which: Any, listed: Any, classes: list[str]
) -> None:
    strange = np.flatnonzero(listed & (which < 0))
    if len(strange):
        label = labels[int(strange[0])]
        folded = {name.casefold(): name for name in classes}
        near = get_close_matches(label.casefold(), folded, n=1)
        raise InputError(
            f"{table.where(int(strange[0]))}: label {label!r} is not a class; the classes are "
            f"{shortlist(classes)}; "
            + (f"did you mean {folded[near[0]]!r}? " if near else "")
            + "correct the label or add the class"
        )


def _check_agreement(
    table: Table, ids: pl.Series, labels: pl.Series, rows: Any, which: Any, listed: Any
) -> None:
    """A node may be listed twice with the same label, not with two."""
    first: dict[int, int] = {}
    if len(np.unique(rows[listed])) == int(listed.sum()):
        return
    for row in map(int, np.flatnonzero(listed)):
        before = first.setdefault(int(rows[row]), row)
        if which[before] != which[row]:
            raise InputError(
                f"{table.where(row)}: node {ids[row]!r} is labelled {labels[row]!r} but on "
                f"{table.place(before)} it is {labels[before]!r}; a node has one label; drop one"
            )
