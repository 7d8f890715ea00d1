"""CSV and TSV: every cell as it stands in the file, or an error that names the line.

Polars reads plain CSV. It guesses silently where quotes are unbalanced, a row is short or a line is
blank, so any file that holds a quote, a stray carriage return or an empty last cell goes through
Python's stricter `csv` module instead, which also knows the line on which each row starts.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import islice

import polars as pl

from unseen.core.errors import InputError, shortlist

LONGEST_FIELD = 2**31 - 1  # Python's own limit, 128 kB, is less than a long text
OTHERS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars"}  # between fields
Place = Callable[[int], str]


def read_delimited(
    raw: bytes, name: str, separator: str, before: int = 0
) -> tuple[pl.DataFrame, Place]:
    """Return the columns of a file as text, and the line on which each row starts.

    Of a piece of a larger file, `before` lines of it are left out between the header and the rest.
    """
    start, first = next(_records(raw, name, separator), (1, [""]))
    header = [column.strip() for column in first]
    other = next((mark for mark in OTHERS if mark in header[0] and mark != separator), None)
    if len(header) == 1 and other:
        raise InputError(
            f"{name} line {start}: the header ({shortlist(header)}) is one field; expected fields "
            f"with {OTHERS[separator]} between, and these seem to have {OTHERS[other]}; save it "
            "with commas as .csv, or with tabs as .tsv"
        )
    for number, column in enumerate(header, start=1):
        if not column or column in header[: number - 1]:
            found = f"repeats the name {column!r}" if column else "has no name"
            raise InputError(
                f"{name} line {start}: column {number} {found}; "
                "every column needs a name of its own; rename or remove it"
            )

    def place(row: int) -> str:
        return f"line {next(islice(_records(raw, name, separator, before), row + 1, None))[0]}"

    frame = None
    if b'"' not in raw and not _stray_returns(raw):
        frame = _read_plain(raw, separator, header)
    if frame is None:
        frame = _read_exactly(raw, name, separator, header, before)
    return frame, place


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


def _read_exactly(
    raw: bytes, name: str, separator: str, header: list[str], before: int
) -> pl.DataFrame:
    rows = []
    for line, row in islice(_records(raw, name, separator, before), 1, None):
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


def _records(
    raw: bytes, name: str, separator: str, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
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
            start = reader.line_num + 1 + before * bool(width)
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
