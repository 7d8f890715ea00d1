"""A file becomes a `Table`: columns as they stand in it, and the place of each row for messages."""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from unseen.core.classes import missing
from unseen.core.errors import InputError, quoted, shortlist
from unseen.io.delimited import Place, read_delimited
from unseen.io.json_lines import read_json_lines
from unseen.io.parquet import read_parquet

SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"
KNOWN = (*SEPARATORS, PARQUET, *JSON_LINES)
NESTED = (list, dict, tuple, set, np.ndarray)


@dataclass(frozen=True)
class Table:
    """Columns of a file or a data frame; `place(row)` is its line or row as a user counts them."""

    name: str
    frame: pl.DataFrame
    place: Place

    def where(self, row: int) -> str:
        """Return how an error message begins."""
        return f"{self.name} {self.place(row)}"

    def shown(self, row: int, column: str) -> str:
        """Return a cell, quoted and cut to a length that fits a message."""
        value = self.frame[column][row]
        value = value.to_list() if isinstance(value, pl.Series) else value
        return quoted("" if value is None else value)

    def require(self, *columns: str, option: str = "") -> None:
        """Raise unless all of these columns are there; `option` can name another in their place."""
        found = self.frame.columns
        for column in columns:
            self.refuse_look_alike(column, option)
            if column not in found:
                hint = f"rename or add a column `{column}`{_or_by(option, 'yours')}"
                raise InputError(
                    f"{self.name}: no column `{column}`; found {shortlist(found, 10)}; {hint}"
                )

    def refuse_look_alike(self, column: str, option: str = "") -> None:
        """Raise when a column is missing that another one, such as `Weights`, may well be."""
        found = self.frame.columns
        alike = [name for name in found if name != column and looks_like(name, column)]
        if column in found:
            self._refuse_instead(column, alike)
        elif alike:
            raise InputError(
                f"{self.name}: no column `{column}`; found {shortlist(found, 10)}; did you mean "
                f"`{alike[0]}`? rename it to `{column}`{_or_by(option, alike[0])}"
            )

    def _refuse_instead(self, column: str, alike: list[str]) -> None:
        """Raise where a row has another column filled in its place, as JSON lines may."""
        for other in alike:
            wrong = (self._filled(other) & ~self._filled(column)).arg_true()
            if len(wrong):
                raise InputError(
                    f"{self.where(int(wrong[0]))}: has `{other}` but no `{column}`; expected the "
                    "same columns in every row; rename it there, or remove one of the columns"
                )

    def _filled(self, column: str) -> pl.Series:
        given = self.frame[column]
        filled = given.is_not_null()
        return filled & (given.str.strip_chars() != "") if given.dtype == pl.String else filled

    def require_rows(self, what: str) -> None:
        """Raise when there is nothing but a header."""
        if self.frame.is_empty():
            raise InputError(
                f"{self.name}: has columns ({shortlist(self.frame.columns, 10)}) but no rows; "
                f"expected one row for each {what}; check that the file was saved in full"
            )


def looks_like(name: str, column: str) -> bool:
    """Tell whether two names are one but for capitals, separators, a plural s or a short form."""

    def folded(given: str) -> str:
        letters = re.sub(r"[\W_]", "", given).casefold().removesuffix("s")
        return "description" if letters in ("desc", "descr") else letters

    return folded(name) == folded(column)


def _or_by(option: str, name: str) -> str:
    """Return the remedy of naming a column, for the library and for the command line."""
    return f", or name it: {option}={name!r} (--{option.replace('_', '-')})" if option else ""


def files_of(given: Path | str) -> list[Path]:
    """Return the files of a table: itself, those of a folder, or those that match a pattern.

    A folder without any table is given back, for whoever reads it to complain.
    """
    path = Path(given)
    found = [path]
    if path.is_dir():
        inside = (each for each in path.iterdir() if not each.name.startswith("."))
        found = sorted(each for each in inside if each.suffix.lower() in KNOWN) or [path]
    elif glob.has_magic(str(given)) and not path.exists():
        found = sorted(map(Path, glob.glob(str(given))))  # noqa: PTH207 (may be absolute)
        if not found:
            raise InputError(f"{given}: no file matches this pattern; check the path")
    if len({each.suffix.lower() for each in found}) > 1:
        raise InputError(f"{given}: holds files of several formats; expected parts of one table")
    return found


def read_table(path: Path | str) -> Table:
    """Read a file whose format is told by its extension, or a folder or pattern of such."""
    files = files_of(path)
    if files != [Path(path)]:
        return joined(str(path), [read_table(file) for file in files])
    name, suffix = str(path), Path(path).suffix.lower()
    if suffix not in KNOWN and not Path(path).is_dir():
        found = f"extension {suffix!r}" if suffix else "no extension"
        raise InputError(
            f"{name}: found {found}; expected one of {', '.join(KNOWN)}; "
            "save the table in one of these formats"
        )
    return parse_table(read_bytes(path), name)


def parse_table(raw: bytes, name: str, before: int = 0) -> Table:
    """Return the table of a file that was read; its format is told by the extension of its name.

    `before` counts the lines that a piece of a larger file leaves out, after the header if any.
    """
    suffix = Path(name).suffix.lower()
    if suffix == PARQUET:
        return Table(name, read_parquet(raw, name), lambda row: f"row {row + 1}")
    text = decode(raw, name, before)
    if not re.search(r"\S", text):
        raise InputError(f"{name}: is blank; expected a table; check that it was saved in full")
    if suffix in JSON_LINES:
        columns, lines = read_json_lines(text, name, before)
        return table_from_values(name, columns, lambda row: f"line {lines[row]}")
    del text  # as large as the file, and not needed again
    return Table(name, *read_delimited(raw, name, SEPARATORS[suffix], before))


def read_bytes(path: Path | str) -> bytes:
    """Return what is in a file, which has to be there and to hold something."""
    name = str(path)
    if Path(path).is_dir():
        raise InputError(f"{name}: is a directory; expected a file; give the file in it")
    if Path(path).exists() and not Path(path).is_file():  # perhaps one without an end
        raise InputError(f"{name}: is a pipe or a device; expected a file; save it as one first")
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{name}: no such file; check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name}: cannot be read ({reason}); check its permissions") from error
    if not raw:
        raise InputError(f"{name}: is empty; expected data; check that it was saved in full")
    return raw


def decode(raw: bytes, name: str, before: int = 0) -> str:
    """Return the text of a file, which has to be UTF-8 (with or without a byte order mark)."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        utf16 = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
        line = raw.count(b"\n", 0, error.start) + 1 + before
        raise InputError(
            f"{name} line {1 if utf16 else line}: found byte 0x{raw[error.start]:02x}, "
            "which is not UTF-8; expected UTF-8 text; save it as UTF-8 (a spreadsheet has 'CSV "
            "UTF-8' or asks for the character set), or "
            f"`iconv -f {'utf-16' if utf16 else 'latin1'} -t utf-8 OLD > NEW`"
        ) from None
    at = text.find("\0")
    if at >= 0:
        raise InputError(
            f"{name} line {text.count(chr(10), 0, at) + 1 + before}: found a NUL byte; expected "
            "UTF-8 text; the file is binary, damaged or UTF-16: save it again as UTF-8"
        )
    return text


def check_alike(name: str, first: Table, other: Table) -> None:
    """Refuse parts that have other columns, or other kinds of values in them."""
    kinds, found = dict(first.frame.schema), dict(other.frame.schema)
    differ = [each for each in {**kinds, **found} if kinds.get(each) != found.get(each)]
    if differ:
        raise InputError(
            f"{name}: its parts {Path(first.name).name} and {Path(other.name).name} differ in the "
            f"columns {shortlist(differ)}, or in what these hold; expected parts of one table; "
            "save them alike"
        )


def joined(name: str, parts: list[Table]) -> Table:
    """Return the rows of several tables as one."""
    for part in parts[1:]:
        check_alike(name, parts[0], part)
    frame = pl.concat([part.frame.select(parts[0].frame.columns) for part in parts])
    starts = np.cumsum([0, *(part.frame.height for part in parts)])

    def place(row: int) -> str:
        at = int(np.searchsorted(starts, row, side="right")) - 1
        return f"({Path(parts[at].name).name}) {parts[at].place(row - int(starts[at]))}"

    return Table(name, frame, place)


def table_from_values(name: str, columns: Mapping[str, Sequence[object]], place: Place) -> Table:
    """Build a table from Python values: each column of one type, or else of strings."""
    try:
        return Table(name, pl.DataFrame([_series(*column) for column in columns.items()]), place)
    except UnicodeEncodeError:
        raise InputError(
            f"{name}: holds half of a surrogate pair; expected whole characters; remove it"
        ) from None


def _series(name: str, given: Sequence[object]) -> pl.Series:
    """Return a column of the one type that holds all its values without loss."""
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    kinds = {type(value) for value in values} - {type(None)}
    if any(issubclass(kind, NESTED) for kind in kinds):
        return pl.Series(name, values, pl.Object)
    if kinds == {bool}:
        return pl.Series(name, values, pl.Boolean)
    if kinds == {int} and all(abs(value) < 2**63 for value in values if isinstance(value, int)):
        return pl.Series(name, values, pl.Int64)
    if float in kinds and kinds <= {int, float}:
        return pl.Series(name, values, pl.Float64)
    return pl.Series(name, [None if missing(v) else str(v) for v in values], pl.String)
