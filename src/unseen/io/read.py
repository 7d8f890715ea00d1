"""`read_graph`, `read_classes`, `read_labels`, `read_inputs`: checked objects from files."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.classes import Classes
from unseen.core.errors import InputError, quoted, shortlist
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.io import columns
from unseen.io.build import USUAL, build_graph, node_content
from unseen.io.features import read_features, read_vocabulary
from unseen.io.lookup import find_rows, number_hint
from unseen.io.roles import Roles, check_edges_named
from unseen.io.tables import Table, read_table

if TYPE_CHECKING:
    from numpy.typing import NDArray


def read_graph(
    nodes: Path | str,
    edges: Path | str | None = None,
    *,
    features: Path | str | None = None,
    vocabulary: Path | str | None = None,
    directed: bool = False,
    beside: Graph | None = None,
    id_column: str = "id",
    text_columns: str | Sequence[str] = ("text",),
    label_column: str = "label",
    source_column: str = "source",
    target_column: str = "target",
) -> Graph:
    """Read a graph from a nodes file and an edges file (.csv, .tsv, .parquet, .jsonl or .ndjson).

    Columns that are neither named here nor numbers are left out; `Graph.repairs` names them.

    Args:
        nodes: `id`, then `text` and/or numeric columns, each of which is a feature; a `label` is
            left to `read_labels`.
        edges: `source`, `target` and, perhaps, `weight`. A header alone, or no file, is a graph
            without edges.
        features: an .npz file (sparse, or one dense matrix) instead of numeric columns.
        vocabulary: the word of each feature column, .txt or .json.
        directed: keep edges one-way.
        beside: another graph, of which the new nodes become part; edges may name nodes of both.
        id_column, text_columns, label_column, source_column, target_column: what these columns are
            called. Several texts are joined by ". ", empty ones left out.
    """
    roles = Roles(id_column, text_columns, label_column, source_column, target_column)
    return _graph(read_table(nodes), edges, features, vocabulary, directed, beside, roles)


def read_inputs(
    nodes: Path | str,
    edges: Path | str | None,
    classes: Path | str | Classes,
    *,
    labels: Path | str | None = None,
    features: Path | str | None = None,
    vocabulary: Path | str | None = None,
    directed: bool = False,
    beside: Graph | None = None,
    id_column: str = "id",
    text_columns: str | Sequence[str] = ("text",),
    label_column: str = "label",
    source_column: str = "source",
    target_column: str = "target",
) -> tuple[Graph, Classes, Labels]:
    """Read all that a run needs, every file once; arguments as in `read_graph`.

    Labels are those of the nodes file, if it has a label column, and those of a file `labels` with
    the columns `id` and `label`.
    """
    roles = Roles(id_column, text_columns, label_column, source_column, target_column)
    table = read_table(nodes)
    graph = _graph(table, edges, features, vocabulary, directed, beside, roles)
    among = classes if isinstance(classes, Classes) else read_classes(classes)
    known = Labels.none(graph.nodes)
    if label_column in table.frame.columns:
        known = labels_of(table, graph, among, roles)
    if labels is not None:
        ids = columns.normalised(pl.Series(graph.ids or (), dtype=pl.String))
        known = with_table(known, read_table(labels), ids, among)
    return graph, among, known


def with_table(known: Labels, table: Table, ids: pl.Series, classes: Classes) -> Labels:
    """Return labels and those of a table beside them; where both have one, they have to agree.

    Columns: `id` and `label`, or `class` as in what the page of `unseen serve` exports.
    """
    found = table.frame.columns
    label = "class" if "class" in found and "label" not in found else "label"
    table.require("id", label)
    more = labels_among(ids, table, classes, Roles(label=label))
    both = known.known & more.known & (known.codes != more.codes)
    if both.any():
        row = int(np.flatnonzero(both)[0])
        one, other = (quoted(classes.names[each.codes[row]]) for each in (more, known))
        raise InputError(
            f"{table.name}: node {quoted(str(ids[row]))} is labelled {one}, but in the nodes file "
            f"{other}; a node has one label; correct one of the two"
        )
    return Labels(np.where(more.known, more.codes, known.codes))


def read_classes(path: Path | str) -> Classes:
    """Read the classes: `name` and, perhaps, `description`."""
    return classes_of(read_table(path))


def classes_of(table: Table) -> Classes:
    """Return the classes of a table; columns that are not used are named in `unused_columns`."""
    table.require("name")
    table.refuse_look_alike("description")
    table.require_rows("class")
    found, descriptions = table.frame.columns, None
    if "description" in found:
        descriptions = columns.strings(table, "description").to_list()
    unused = tuple(column for column in found if column not in ("name", "description"))
    return Classes(columns.class_names(table).to_list(), descriptions, unused_columns=unused)


def read_labels(
    path: Path | str,
    graph: Graph,
    classes: Classes,
    *,
    id_column: str = "id",
    label_column: str = "label",
) -> Labels:
    """Read what some nodes are: `id` and `label`, as in a nodes file or in a file of its own.

    A node that is not listed, or whose label is empty, has none.
    """
    return labels_of(read_table(path), graph, classes, Roles(id_column, (), label_column))


def labels_of(table: Table, graph: Graph, classes: Classes, roles: Roles = USUAL) -> Labels:
    """Return the labels of a table of nodes, each looked up by its id and its class name."""
    known = columns.normalised(pl.Series(graph.ids or (), dtype=pl.String))
    return labels_among(known, table, classes, roles)


def labels_among(known: pl.Series, table: Table, classes: Classes, roles: Roles = USUAL) -> Labels:
    """Return the labels of a table, given the ids of all nodes: as text, or as whole numbers."""
    table.require(roles.id, option="id_column")
    table.require(roles.label, option="label_column")
    table.require_rows("labelled node")
    ids = columns.names(table, roles.id)
    rows = columns.node_rows(table, roles.id, known)
    if (rows < 0).any():
        row = int(np.flatnonzero(rows < 0)[0])
        hint = number_hint(ids[row], known.cast(pl.String))
        found = f"unknown node {ids[row]!r}{hint}" if ids[row] else f"`{roles.id}` is empty"
        raise InputError(
            f"{table.where(row)}: {found}; every labelled id must be a node of the graph; "
            "correct the id or drop the row"
        )
    labels, which = label_codes(table, roles.label, pl.Series(classes.names, dtype=pl.String))
    listed = which >= 0
    _check_agreement(table, ids, labels, rows, which, listed)
    placed = Labels.none(len(known))
    placed.codes[rows[listed]] = which[listed]
    return placed


def label_codes(table: Table, column: str, names: pl.Series) -> tuple[pl.Series, NDArray[np.int64]]:
    """Return the labels of a table and the class of each, -1 where there is no label."""
    labels = columns.one_spaced(columns.names(table, column))
    which = find_rows(names, labels).astype(np.int64)
    unknown = np.flatnonzero((which < 0) & (labels != "").to_numpy())
    if len(unknown):
        label = labels[int(unknown[0])]
        folded = {name.casefold(): name for name in names}
        near = get_close_matches(label.casefold(), folded, n=1)
        raise InputError(
            f"{table.where(int(unknown[0]))}: label {quoted(label)} is not a class; the classes "
            f"are {shortlist(names)}; "
            + (f"did you mean {quoted(folded[near[0]])}? " if near else "")
            + "correct the label or add the class"
        )
    return labels, which


def _graph(
    table: Table,
    edges: Path | str | None,
    features: Path | str | None,
    vocabulary: Path | str | None,
    directed: bool,
    beside: Graph | None,
    roles: Roles,
) -> Graph:
    check_edges_named(edges, roles, directed)
    matrix = None
    if features is not None:
        table.require_rows("node")
        matrix = read_features(features, table.frame.height, table.name)
    words = None if vocabulary is None else read_vocabulary(vocabulary)
    content = node_content(table, roles, matrix, joins=beside is not None)
    if words is not None:
        found = content["features"]
        width = 0 if found is None else found.shape[1]
        if len(words) != width:
            raise InputError(
                f"{vocabulary}: has {len(words):,} words but the nodes have {width:,} feature "
                "columns; expected one word for each column; check that the two files belong"
            )
    if beside is not None:
        if words is not None and tuple(words) != beside.vocabulary:
            raise InputError(
                f"{vocabulary}: differs from the vocabulary of the run that the nodes join; "
                "give the same words in the same order"
            )
        words = None if beside.vocabulary is None else list(beside.vocabulary)
    listed = None if edges is None else read_table(edges)
    return build_graph(content, table, listed, directed, roles, beside, vocabulary=words)


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
