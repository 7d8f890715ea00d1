"""Whatever a user has in hand becomes a `Graph`, `Classes` and `Labels`, or is refused in words.

Objects of other libraries are known by the module of their type, so that none has to be installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.classes import Classes, missing
from unseen.core.errors import InputError, shortlist
from unseen.core.graph import Graph
from unseen.core.html import short
from unseen.core.labels import Labels, rows_of
from unseen.io.columns import names
from unseen.io.objects import array_of, frame_table, from_frames, from_networkx, from_pyg
from unseen.io.read import classes_of, labels_of, read_classes, read_labels
from unseen.io.tables import KNOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

A_GRAPH = (
    "expected a Graph, a PyG Data, a NetworkX graph or a pair of data frames (nodes, edges); "
    "for files use `read_graph`"
)
CLASS_FORMS = (
    "expected a list of names, {name: description}, a data frame with a column `name` or the path "
    f"of a file ({', '.join(KNOWN)})"
)
LABEL_FORMS = (
    "expected {id: class}, one class name or position for each node, a data frame with columns "
    f"`id` and `label` or the path of a file ({', '.join(KNOWN)})"
)


def as_graph(given: Any) -> Graph:
    """Return a graph from a `Graph`, a PyG `Data`, a NetworkX graph or a pair of data frames."""
    if isinstance(given, Graph):
        return given
    if _of("torch_geometric", given):
        return from_pyg(given)
    if _of("networkx", given):
        return from_networkx(given)
    if isinstance(given, tuple) and len(given) == 2 and _is_frame(given[0]):
        return from_frames(*given)
    raise InputError(f"graph: found {_kind(given)}; {A_GRAPH}")


def as_classes(given: Any) -> Classes:
    """Return classes from names, {name: description}, a data frame or a file."""
    if isinstance(given, Classes):
        return given
    if _is_path(given):
        return read_classes(given)
    if _is_frame(given):
        return classes_of(frame_table("classes", given))
    if isinstance(given, Mapping):
        for name, text in given.items():
            if not isinstance(text, str) and not missing(text):
                raise InputError(
                    f"classes: {name!r} is described by {_kind(text)}; expected "
                    "{name: description}, a text or None for each name"
                )
        texts = [None if missing(text) else text for text in given.values()]
        return Classes(_names(list(given)), texts)
    index = _index(given)
    if index is not None and any(isinstance(key, str) for key in index):
        raise InputError(
            "classes: found a Series with an index of text, so names and descriptions cannot be "
            "told apart; give `dict(series)` for {name: description}, `list(series)` for names"
        )
    return Classes(_names(_sequence("classes", given, CLASS_FORMS)))


def as_labels(given: Any, graph: Graph, classes: Classes) -> Labels:
    """Return labels from names or class positions, by node id or in the order of the nodes.

    None, NaN and "" are no label, and neither is the position -1.
    """
    if given is None:
        return Labels.none(graph.nodes)
    if isinstance(given, Labels):
        _check_length(given.codes, graph)
        return Labels(_checked_positions(given.codes, classes))
    if _is_path(given):
        return read_labels(given, graph, classes)
    if _is_frame(given):
        table = frame_table("labels", given)
        table.require("id", "label")
        if not table.frame["label"].dtype.is_numeric():
            return labels_of(table, graph, classes)
        return _by_id(names(table, "id").to_list(), table.frame["label"].to_list(), graph, classes)
    if isinstance(given, Mapping):
        return _by_id(list(given), list(given.values()), graph, classes)
    values, index = _sequence("labels", given, LABEL_FORMS), _index(given)
    return (
        _by_row(values, graph, classes)
        if index is None
        else _indexed(index, values, graph, classes)
    )


def _indexed(index: list[Any], values: Any, graph: Graph, classes: Classes) -> Labels:
    """Read a pandas Series by its index, if that holds node ids, else in the order of the nodes."""
    plain = index == list(range(len(index)))
    if not set(graph.ids or ()).issuperset(map(str, index)):
        if plain:
            return _by_row(values, graph, classes)
        raise InputError(
            f"labels: the index of the Series ({shortlist(index, 3)}) does not hold ids of the "
            "graph; give `list(series)` if it follows the order of the nodes"
        )
    by_id = _by_id(index, values, graph, classes)
    if not plain or len(index) != graph.nodes:
        return by_id
    if np.array_equal(by_id.codes, _by_row(values, graph, classes).codes):
        return by_id
    raise InputError(
        "labels: the index 0, 1, ... of the Series could be node ids or the order of the nodes, "
        "which differ; give `dict(series)` for ids, `list(series)` for the order"
    )


def _by_row(values: Any, graph: Graph, classes: Classes) -> Labels:
    _check_length(values, graph)
    return Labels(_codes(values, classes))


def _by_id(ids: list[Any], values: Any, graph: Graph, classes: Classes) -> Labels:
    """Put labels at the rows of these ids; a node may have one label only."""
    rows, codes = np.array(rows_of(ids, graph), np.int64), _codes(values, classes)
    rows, codes = rows[codes >= 0], codes[codes >= 0]
    placed = Labels.none(graph.nodes)
    placed.codes[rows] = codes
    twice = np.flatnonzero(placed.codes[rows] != codes)
    if len(twice):
        raise InputError(
            f"labels: node {(graph.ids or ())[rows[twice[0]]]!r} is listed with two labels; "
            "a node has one; drop the other"
        )
    return placed


def _codes(given: Any, classes: Classes) -> NDArray[np.int64]:
    """Return the class position of each name or number, -1 where there is no label. [m]"""
    if isinstance(given, np.ndarray) and given.dtype.kind in "iuf":  # few that differ
        different, inverse = np.unique(given, return_inverse=True)
        return _codes(different.tolist(), classes)[inverse]
    empty = [missing(value) or (isinstance(value, str) and not value.strip()) for value in given]
    values = [None if none else value for value, none in zip(given, empty, strict=True)]
    kinds = {_kind_of_label(value) for value in values if value is not None}
    if kinds <= {"name"}:
        return Labels.from_names(values, classes).codes
    if kinds != {"whole number"}:
        raise InputError(
            f"labels: found {' and '.join(f'{kind}s' for kind in sorted(kinds))}; expected class "
            "names, or class positions (whole numbers, -1 for none), throughout; convert them"
        )
    whole = [-1 if value is None else int(value) for value in values]
    index = {"-1": -1, **classes.index()}
    if not all(str(code) in index for code in whole):
        return _checked_positions(whole, classes)
    named = [index[str(code)] for code in whole]
    if max(whole) < len(classes) and min(whole) >= -1 and named != whole:
        code = next(code for code, name in zip(whole, named, strict=True) if code != name)
        raise InputError(
            f"labels: {code} is the name of one class and the position of another; "
            "give names as text, e.g. `[str(label) for label in labels]`"
        )
    return np.array(named, np.int64)


def _checked_positions(codes: Any, classes: Classes) -> NDArray[np.int64]:
    wrong = [
        code for code in dict.fromkeys(np.asarray(codes).tolist()) if not -1 <= code < len(classes)
    ]
    if wrong:
        raise InputError(
            f"labels: found class position {wrong[0]}, but there are {len(classes)} classes; "
            f"expected 0 to {len(classes) - 1}, or -1 for none; give names, or correct it"
        )
    return np.array(codes, np.int64)


def _check_length(values: Any, graph: Graph) -> None:
    if len(values) != graph.nodes:
        raise InputError(
            f"labels: found {len(values):,}, but the graph has {graph.nodes:,} nodes; expected one "
            "for each, None where there is none; give {id: class} to label some nodes only"
        )


def _kind_of_label(value: object) -> str:
    if isinstance(value, str):
        return "name"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | float | np.integer | np.floating):
        return "whole number" if float(value).is_integer() else "fraction"
    return type(value).__name__


def _names(given: Any) -> list[str]:
    for at, name in enumerate(given):
        if not isinstance(name, str):
            raise InputError(
                f"classes: class {at + 1} is {_kind(name)}; expected its name as text; "
                "descriptions go in {name: description}"
            )
    return list(given)


def _sequence(what: str, given: Any, forms: str) -> Any:
    """Return a list or an array of one dimension; anything else is refused."""
    if isinstance(given, list | tuple):
        return list(given)
    if _of("torch", given):
        given = array_of(given)
    if isinstance(given, np.ndarray) and given.ndim != 1:
        raise InputError(f"{what}: found an array of shape {given.shape}; {forms}")
    if isinstance(given, np.ndarray):
        return given
    if (_of("pandas", given) or _of("polars", given)) and hasattr(given, "to_list"):
        return given.to_list()
    order = ", which has no order" if isinstance(given, Set) else ""
    raise InputError(f"{what}: found {_kind(given)}{order}; {forms}")


def _index(given: Any) -> list[Any] | None:
    """Return the index of a pandas Series; None for anything else."""
    series = _of("pandas", given) and hasattr(given, "index")
    return list(given.index) if series else None


def _of(library: str, given: Any) -> bool:
    """Tell whether a type, or one that it is derived from, is of this library."""
    return any(kind.__module__.partition(".")[0] == library for kind in type(given).__mro__)


def _is_frame(given: Any) -> bool:
    return isinstance(given, pl.DataFrame) or (_of("pandas", given) and hasattr(given, "columns"))


def _is_path(given: Any) -> bool:
    return isinstance(given, Path) or (
        isinstance(given, str) and Path(given).suffix.lower() in KNOWN
    )


def _kind(given: object) -> str:
    """Return what was found, in words that fit a message."""
    if isinstance(given, str):
        return f"the string {short(repr(given), 40)}"
    name = type(given).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
