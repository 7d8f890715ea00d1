"""Columns of a `Table` become names, texts and numbers, or an error that names the cell."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unseen.core.adjacency import BOUNDS, usable
from unseen.core.errors import InputError
from unseen.io.lookup import comparable, find_rows, whole_numbers
from unseen.io.tables import NESTED, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOT_TEXT = (*NESTED, bytes, pl.Series)
LARGEST_WHOLE = 2**53  # from here on, neighbouring whole numbers are one and the same float


def names(table: Table, column: str) -> pl.Series:
    """Return ids or labels as strings, with composed accents and without spaces around; '' if none.

    Whole floats lose their ".0": a table with a gap in a column of integers saves it as floats.
    """
    given = table.frame[column]
    if given.dtype.is_float() or given.dtype.is_decimal():
        return _whole(table, column).cast(pl.String).fill_null("")
    return normalised(strings(table, column).str.strip_chars())


def strings(table: Table, column: str) -> pl.Series:
    """Return a column as text, '' where there is nothing."""
    given = table.frame[column]
    if given.dtype.is_nested() or given.dtype in (pl.Binary, pl.Object):
        row = next((i for i, value in enumerate(given) if isinstance(value, NOT_TEXT)), 0)
        plain = {pl.Binary: "bytes", pl.Struct: "structs"}.get(given.dtype.base_type(), "a list")
        kind = plain if given.dtype != pl.Object else f"a {type(given[row]).__name__}"
        raise InputError(
            f"{table.where(row)}: `{column}` holds {kind}; expected text; convert the column"
        )
    try:
        return given.cast(pl.String).fill_null("")
    except pl.exceptions.PolarsError as error:  # a duration, for one
        raise InputError(
            f"{table.name}: `{column}` holds values of type {given.dtype}; expected text; convert "
            "the column"
        ) from error


def normalised(given: pl.Series) -> pl.Series:
    """Compose accents (NFC), so that the two ways to write an 'é' are the same name."""
    if (given.str.len_bytes() == given.str.len_chars()).all():  # ASCII throughout
        return given
    return pl.Series(
        given.name, [unicodedata.normalize("NFC", name) for name in given], dtype=pl.String
    )


def node_ids(table: Table) -> pl.Series:
    """Return the ids of a nodes file as strings: one for each row, each once."""
    return node_keys(table, "id").cast(pl.String)


def node_keys(table: Table, column: str) -> pl.Series:
    """Return the ids of a nodes file, as integers where they are, which are found faster."""
    given = table.frame[column]
    ids = given if whole_numbers(given) else names(table, column)
    if ids.dtype == pl.String:
        _refuse_empty(table, column, ids, "every node needs an id; add it or drop the row")
    if ids.n_unique() < len(ids):
        ids = ids.cast(pl.String)
        first, again = first_repeat(ids)
        raise InputError(
            f"{table.where(again)}: id {ids[again]!r} is already on {table.place(first)}; "
            "every node needs an id of its own; drop or rename one of them"
        )
    return ids


def node_rows(table: Table, column: str, ids: pl.Series) -> NDArray[np.int32]:
    """Return the row of each node that a column names, -1 where there is no such node.

    An id is looked for as it stands. Only if one is not found are all of them made into names.
    """
    given = table.frame[column]
    if comparable(ids, given):
        rows = find_rows(ids, given)
        if whole_numbers(given) or not (rows < 0).any():
            return rows
    return find_rows(ids, names(table, column))


def class_names(table: Table) -> pl.Series:
    """Return the names of the classes as `Classes` will have them: each once, at least two."""
    found = one_spaced(names(table, "name"))
    _refuse_empty(table, "name", found, "every class needs a name; add it or drop the row")
    if found.is_duplicated().any():
        first, again = first_repeat(found)
        raise InputError(
            f"{table.where(again)}: class {found[again]!r} is already on {table.place(first)}; "
            "every class is listed once; merge or rename them"
        )
    if len(found) == 1:
        raise InputError(
            f"{table.name}: found one class only ({found[0]!r}); a choice needs at least two; "
            "add the names of the other classes"
        )
    return found


def one_spaced(given: pl.Series) -> pl.Series:
    """Make every run of spaces one space, as `Classes` does with its names."""
    return pl.Series(given.name, [" ".join(name.split()) for name in given], dtype=pl.String)


def texts(table: Table, columns: Sequence[str]) -> list[str]:
    """Return one text for each node: the columns that are not blank there, joined by ". "."""
    parts = [strings(table, column) for column in columns]
    if len(parts) > 1:
        filled = [part.str.strip_chars().replace("", None) for part in parts]
        both = pl.concat_str(filled, separator=". ", ignore_nulls=True)
        return pl.select(both.fill_null("")).to_series().to_list()
    found: list[str] = parts[0].to_list()
    return found


def features(table: Table, columns: Sequence[str]) -> NDArray[np.float32]:
    """Return these columns as a matrix of finite numbers. [n, d]"""
    X = np.empty((table.frame.height, len(columns)), dtype=np.float32)
    for j, column in enumerate(columns):
        X[:, j] = numbers(table, column)
    wrong = ~np.isfinite(X)
    if wrong.any():
        row, j = (int(k) for k in np.argwhere(wrong)[0])
        found = f"{table.where(row)}: column `{columns[j]}`"
        value = table.frame[columns[j]][row]
        if value is None or not str(value).strip():
            raise InputError(f"{found} is empty; every feature must be a number; fill it in")
        found += f" holds {table.shown(row, columns[j])}"
        if _is_number(value):
            raise InputError(f"{found}; features must be finite numbers; replace the value")
        raise InputError(
            f"{found}; most of this column are numbers, so it is a feature and must be numeric; "
            "correct the cell, remove the column, or name it if it is the text or the label"
        )
    return X


def weights(table: Table) -> NDArray[np.float32]:
    """Return the strength of each edge: a positive, finite number."""
    values = numbers(table, "weight")
    wrong = ~usable(values)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"{table.where(row)}: weight {table.shown(row, 'weight')}; a weight must be a "
            f"positive, finite number; correct it or drop the edge ({BOUNDS})"
        )
    return values


def numbers(table: Table, column: str) -> NDArray[np.float32]:
    """Return a column as it will be used, in 32 bits; NaN where there is no number."""
    given = table.frame[column]
    values = given if given.dtype == pl.Float32 else float64(given)
    with np.errstate(over="ignore"):  # too large for 32 bits: infinite, which the caller refuses
        return np.asarray(values.fill_null(float("nan")), dtype=np.float32)


def float64(given: pl.Series) -> pl.Series:
    """Return a column as numbers, null where there is none."""
    if given.dtype in (pl.Categorical, pl.Enum):
        given = given.cast(pl.String)
    if given.dtype == pl.String:
        values = given.cast(pl.Float64, strict=False)
        if values.null_count():
            values = given.str.strip_chars().cast(pl.Float64, strict=False)
        return values
    if given.dtype.is_numeric() or given.dtype in (pl.Boolean, pl.Null):
        return given.cast(pl.Float64)
    return pl.Series([None] * len(given), dtype=pl.Float64)


def first_repeat(given: pl.Series) -> tuple[int, int]:
    """Return the rows of the first name that comes again, and of its first coming again."""
    seen: dict[str, int] = {}
    for row, name in enumerate(given):
        if seen.setdefault(name, row) != row:
            return seen[name], row
    raise ValueError("no name comes twice")


def _refuse_empty(table: Table, column: str, given: pl.Series, remedy: str) -> None:
    empty = (given == "").arg_true()
    if len(empty):
        raise InputError(f"{table.where(empty[0])}: `{column}` is empty; {remedy}")


def _whole(table: Table, column: str) -> pl.Series:
    values = table.frame[column].cast(pl.Float64).fill_nan(None)
    wrong = ((values != values.floor()) | (values.abs() >= LARGEST_WHOLE)).fill_null(False)
    if wrong.any():
        row = wrong.arg_true()[0]
        raise InputError(
            f"{table.where(row)}: `{column}` holds the number {table.shown(row, column)}; "
            "expected text or whole numbers, which alone can be names; convert the column to text"
        )
    whole: pl.Series = values.cast(pl.Int64)
    return whole


def _is_number(value: object) -> bool:
    """Tell NaN, infinity and numbers that are too large from what is no number at all."""
    try:
        float(str(value))
    except ValueError:
        return False
    return True
