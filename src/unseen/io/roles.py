"""Which column of a table plays which role, and which columns are features or unused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np
import polars as pl

from unseen.core.errors import InputError
from unseen.io import columns
from unseen.io.tables import Table, looks_like

RESERVED = ("id", "text", "label")  # never features, whatever they hold


@dataclass(frozen=True)
class Roles:
    """The names that the columns of a user have; `weight` is always called so."""

    id: str = "id"
    texts: str | Sequence[str] = ("text",)
    label: str = "label"
    source: str = "source"
    target: str = "target"

    def __post_init__(self) -> None:
        texts = (self.texts,) if isinstance(self.texts, str) else tuple(self.texts)
        object.__setattr__(self, "texts", texts)
        twice = next((name for name in texts if texts.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"columns: `{twice}` is named as a text twice; name it once")
        if self.source == self.target:
            raise InputError(
                f"columns: `{self.source}` is named as source and as target, so that every node "
                "would be linked with itself only; name two columns"
            )
        if self.label in (self.id, *texts):
            raise InputError(
                f"columns: `{self.label}` is named as the label and as the id or a text, which "
                "would give every answer away; name another column"
            )


def check_edges_named(edges: object, roles: Roles, directed: bool) -> None:
    """Refuse what is said about edges where there are none, rather than ignore it."""
    said = {"directed": directed, "source_column": roles.source != "source"}
    said["target_column"] = roles.target != "target"
    found = next((name for name, given in said.items() if given), None)
    if edges is None and found:
        raise InputError(
            f"{found}: says how edges are read, but none are given; give edges, or leave it out"
        )


class NodeColumns(NamedTuple):
    """The columns of a nodes table, by use."""

    texts: list[str]
    features: list[str]
    unused: list[str]


def node_columns(table: Table, roles: Roles) -> NodeColumns:
    """Sort the columns of a nodes table into texts, features and those that are not used."""
    found, asked = table.frame.columns, Roles()
    table.require(roles.id, option="id_column")
    for wanted, usual, option in (
        (tuple(roles.texts), asked.texts, "text_columns"),
        ((roles.label,), (asked.label,), "label_column"),
    ):
        for column in wanted:
            if wanted == usual:
                table.refuse_look_alike(column, option)
            else:
                table.require(column, option=option)
    taken = {roles.id, roles.label, *roles.texts}
    others = [column for column in found if column not in taken]
    features = [column for column in others if _is_feature(table, column)]
    return NodeColumns(
        [column for column in roles.texts if column in found],
        features,
        [column for column in others if column not in features],
    )


def _is_feature(table: Table, column: str) -> bool:
    """Tell whether a column is numeric, or at least half of its non-empty cells are numbers."""
    if any(looks_like(column, name) for name in RESERVED):
        return False
    given = table.frame[column]
    _refuse_vectors(table, given)
    if given.dtype.is_numeric() or given.dtype == pl.Boolean:
        return True
    if given.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return False
    filled = (given.cast(pl.String).str.strip_chars() != "").sum()
    return bool(filled) and 2 * int(columns.float64(given).is_finite().sum()) >= filled


def _refuse_vectors(table: Table, given: pl.Series) -> None:
    """A column of vectors is meant as features: it must not go unused in silence."""
    if not given.dtype.is_nested() and given.dtype != pl.Object:
        return
    row, value = next(((i, v) for i, v in enumerate(given) if v is not None), (0, None))
    if isinstance(value, list | tuple | np.ndarray | pl.Series):
        cells = list(value)
        if cells and all(isinstance(cell, Real) for cell in cells):
            raise InputError(
                f"{table.where(row)}: `{given.name}` holds a list of numbers; expected one number; "
                "give vectors as one column for each number, or in a features file"
            )


def edge_columns(table: Table, roles: Roles) -> tuple[bool, list[str]]:
    """Tell whether edges have weights, and which of their columns are not used."""
    table.require(roles.source, option="source_column")
    table.require(roles.target, option="target_column")
    table.refuse_look_alike("weight")
    taken = {roles.source, roles.target, "weight"}
    unused = [f"edges.{column}" for column in table.frame.columns if column not in taken]
    return "weight" in table.frame.columns, unused
