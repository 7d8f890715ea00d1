"""A file becomes a `Table`: columns as they stand in it, and the place of each row for messages.

Polars reads plain CSV. It guesses silently where quotes are unbalanced, a row is short or a line is
blank, so any file that holds a quote, a stray carriage return or an empty last cell goes through
Python's stricter `csv` module instead, which also knows the line on which each row starts.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import polars as pl

from unseen.errors import InputError, shortlist

SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"
KNOWN = (*SEPARATORS, PARQUET, *JSON_LINES)
LONGEST_FIELD = 2**31 - 1  # Python's own limit, 128 kB, is less than a long text
LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Table:
    """Columns of a file or a data frame; `place(row)` is its line or row as a user counts them."""

    name: str
    frame: pl.DataFrame
    place: Callable[[int], str]

    def where(self, row: int) -> str:
        """Return how an error message begins."""
        return f"{self.name} {self.place(row)}"

    def shown(self, row: int, column: str) -> str:
        """Return a cell, quoted and cut to a length that fits a message."""
        value = self.frame[column][row]
        text = "" if value is None else str(value)
        return repr(text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "...")

    def require(self, *columns: str) -> None:
        """Raise unless all of these columns are there."""
        found = self.frame.columns
        for column in columns:
            if column not in found:
                hint = f"rename or add a column `{column}`"
                if len(found) == 1 and any(mark in found[0] for mark in ";\t,|"):
                    hint = "fields are separated by a comma in .csv and by a tab in .tsv"
                raise InputError(
                    f"{self.name}: no column `{column}`; found {shortlist(found, 10)}; {hint}"
                )

    def require_rows(self, what: str) -> None:
        """Raise when there is nothing but a header."""
        if self.frame.is_empty():
            raise InputError(
                f"{self.name}: has columns ({shortlist(self.frame.columns, 10)}) but no rows; "
                f"expected one row for each {what}; check that the file was saved in full"
            )


def read_table(path: Path | str) -> Table:
    """Read a file whose format is told by its extension."""
    name, suffix = str(path), Path(path).suffix.lower()
    if suffix not in KNOWN and not Path(path).is_dir():
        found = f"extension {suffix!r}" if suffix else "no extension"
        raise InputError(
            f"{name}: found {found}; expected one of {', '.join(KNOWN)}; "
            "save the table in one of these formats"
        )
    raw = read_bytes(path)
    if suffix == PARQUET:
        return _read_parquet(raw, name)
    text = decode(raw, name)
    if not re.search(r"\S", text):
        raise InputError(f"{name}: is blank; expected a table; check that it was saved in full")
    if suffix in JSON_LINES:
        return _read_json_lines(text, name)
    del text  # as large as the file, and not needed again
    return _read_delimited(raw, name, SEPARATORS[suffix])


def read_bytes(path: Path | str) -> bytes:
    """Return what is in a file, which has to be there and to hold something."""
    name = str(path)
    if Path(path).is_dir():
        raise InputError(f"{name}: is a directory; expected a file; give the file in it")
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


def decode(raw: bytes, name: str) -> str:
    """Return the text of a file, which has to be UTF-8 (with or without a byte order mark)."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        utf16 = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name} line {1 if utf16 else line}: found byte 0x{raw[error.start]:02x}, "
            "which is not UTF-8; expected UTF-8 text; save it as UTF-8, e.g. "
            f"`iconv -f {'utf-16' if utf16 else 'latin1'} -t utf-8 OLD > NEW`"
        ) from None
    at = text.find("\0")
    if at >= 0:
        raise InputError(
            f"{name} line {text.count(chr(10), 0, at) + 1}: found a NUL byte; expected UTF-8 text; "
            "the file is binary, damaged or UTF-16: save it again as UTF-8"
        )
    return text


def table_from_values(
    name: str, columns: Mapping[str, Sequence[object]], place: Callable[[int], str]
) -> Table:
    """Build a table from Python values: each column of one type, or else of strings."""
    series = []
    for column, values in columns.items():
        kinds = {type(value) for value in values} - {type(None)}
        for row, value in enumerate(values if kinds & {list, dict, tuple, set} else ()):
            if isinstance(value, list | dict | tuple | set):
                raise InputError(
                    f"{name} {place(row)}: `{column}` holds a {type(value).__name__}; "
                    "expected text or a number; give vectors as one number a column"
                )
        series.append(pl.Series(column, *_uniform(values, kinds)))
    return Table(name, pl.DataFrame(series), place)


def _uniform(values: Sequence[object], kinds: set[type]) -> tuple[Sequence[object], pl.DataType]:
    """Return the values and the one type that holds them all without loss."""
    if kinds == {bool}:
        return values, pl.Boolean()
    if kinds == {int} and all(abs(value) < 2**63 for value in values if isinstance(value, int)):
        return values, pl.Int64()
    if float in kinds and kinds <= {int, float}:
        return values, pl.Float64()
    return [None if value is None else str(value) for value in values], pl.String()


def _read_parquet(raw: bytes, name: str) -> Table:
    damaged = f"{name}: not a whole Parquet file; it may be cut off or damaged; save it again"
    if len(raw) < 12 or not raw.startswith(b"PAR1") or not raw.endswith(b"PAR1"):
        raise InputError(damaged)
    try:
        frame = pl.read_parquet(io.BytesIO(raw))
    except (Exception, pl.exceptions.PanicException) as error:  # a panic is no Exception
        raise InputError(damaged) from error
    return Table(name, frame, lambda row: f"row {row + 1}")


def _read_json_lines(text: str, name: str) -> Table:
    records: list[dict[str, object]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or error
            raise InputError(
                f"{name} line {number}: broken JSON ({reason}); "
                'expected one object a line, such as {"id": "a"}; correct the line'
            ) from None
        if not isinstance(record, dict):
            raise InputError(
                f"{name} line {number}: found a JSON {type(record).__name__}; "
                'expected one object a line, such as {"id": "a"}; correct the line'
            )
        if "\\u" in line:
            _check_escapes(record, f"{name} line {number}")
        records.append(record)
        lines.append(number)
    names = dict.fromkeys(key for record in records for key in record)
    columns = {key: [record.get(key) for record in records] for key in names}
    return table_from_values(name, columns, lambda row: f"line {lines[row]}")


def _check_escapes(record: dict[str, object], where: str) -> None:
    """Refuse what JSON can escape but no text can hold."""
    for text in (*record, *(value for value in record.values() if isinstance(value, str))):
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise InputError(
                f"{where}: found a NUL or half of a surrogate pair, written as \\u....; "
                "expected whole characters; remove it"
            )


def _read_delimited(raw: bytes, name: str, separator: str) -> Table:
    start, first = next(_records(raw, name, separator), (1, [""]))
    header = [column.strip() for column in first]
    for number, column in enumerate(header, start=1):
        if not column or column in header[: number - 1]:
            found = f"repeats the name {column!r}" if column else "has no name"
            raise InputError(
                f"{name} line {start}: column {number} {found}; "
                "every column needs a name of its own; rename or remove it"
            )

    def place(row: int) -> str:
        return f"line {next(islice(_records(raw, name, separator), row + 1, None))[0]}"

    frame = None
    if b'"' not in raw and not _stray_returns(raw):
        frame = _read_plain(raw, separator, header)
    if frame is None:
        frame = _read_exactly(raw, name, separator, header)
    return Table(name, frame, place)


def _read_plain(raw: bytes, separator: str, header: list[str]) -> pl.DataFrame | None:
    """Read with Polars, or return None where its reading may differ from an exact one."""
    whole = raw if raw.endswith(b"\n") else raw + b"\n"  # else it drops a last empty field
    try:
        frame = pl.read_csv(whole, separator=separator, infer_schema=False, quote_char=None)
    except pl.exceptions.PolarsError:
        return None
    if [column.strip() for column in frame.columns] != header:
        return None
    if frame[:, -1].null_count():  # perhaps a short row or a blank line
        return None
    frame.columns = header
    return frame.fill_null("")


def _read_exactly(raw: bytes, name: str, separator: str, header: list[str]) -> pl.DataFrame:
    rows = []
    for line, row in islice(_records(raw, name, separator), 1, None):
        if len(row) != len(header):
            raise InputError(
                f"{name} line {line}: found {len(row)} fields; expected {len(header)} as in the "
                f"header ({shortlist(header)}); put quotes around a field that holds a separator"
            )
        rows.append(row)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return pl.DataFrame(
        [pl.Series(key, column, pl.String) for key, column in zip(header, columns, strict=True)]
    )


def _stray_returns(raw: bytes) -> bool:
    return b"\r" in raw and raw.count(b"\r") > raw.count(b"\r\n")


def _records(raw: bytes, name: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row, header first and blank lines left out, with the line on which it starts."""
    stray = b"\n" in raw and _stray_returns(raw)
    if stray:  # part of a text, unless it ends every line; NUL stands in, as no text holds it
        raw = re.sub(rb"\r(?!\n|\Z)", b"\0", raw)
    text = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline="")  # bit by bit
    reader = csv.reader(text, delimiter=separator, strict=True)
    start, width, limit = 1, 0, csv.field_size_limit(LONGEST_FIELD)
    try:
        for row in reader:
            if row and (len(row) > 1 or width == 1 or row[0].strip()):
                width = width or len(row)
                yield start, [field.replace("\0", "\r") for field in row] if stray else row
            start = reader.line_num + 1
    except csv.Error as error:
        found = "a quote within a quoted field that is not doubled"
        if "end of data" in str(error):
            found = "a quoted field that is never closed"
        raise InputError(
            f'{name} line {start}: found {found}; expected "..." with "" for each quote inside; '
            "correct the quotes"
        ) from None
    finally:
        csv.field_size_limit(limit)
