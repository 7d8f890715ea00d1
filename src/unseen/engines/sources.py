"""Tables of any size, batch by batch: a file, a folder or a pattern of files of one format.

A file that is larger than a piece is read piece by piece, each of whole rows and each by the
readers of `io/`, so that a row is checked in the same way whatever the size of its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unseen.core.memory import check_room
from unseen.io.parquet import count_rows, read_rows
from unseen.io.tables import (
    JSON_LINES,
    KNOWN,
    PARQUET,
    SEPARATORS,
    Table,
    check_alike,
    files_of,
    parse_table,
    read_table,
)

SMALL = 64 << 20  # bytes of a file that is read as a whole
PIECE = 64 << 20  # bytes of a piece of a larger one, as long as a row is no longer
BATCH = 1 << 20  # rows of a batch
HEAD = 1 << 20  # bytes by which the rows of a text file are estimated


def batches(given: Path | str) -> Iterator[Table]:
    """Yield a table in pieces; each tells the place of its rows in its file."""
    first: Table | None = None
    for path in files_of(given):
        for at, table in enumerate(_batches(path)):
            first = first or Table(table.name, table.frame.clear(), table.place)
            if at == 0 and path.suffix.lower() not in JSON_LINES:  # whose pieces differ, too
                check_alike(str(given), first, table)
            yield table


def _batches(path: Path) -> Iterator[Table]:
    if not path.is_file() or path.stat().st_size <= SMALL or path.suffix.lower() not in KNOWN:
        yield read_table(path)  # or an error that says what is wrong
    elif path.suffix.lower() == PARQUET:
        for start in range(0, count_rows(path), BATCH):
            yield Table(str(path), read_rows(path, start, BATCH), placed(start))
    else:
        yield from _pieces(path)


def rows_of(given: Path | str) -> int:
    """Return the number of rows: exact for Parquet, estimated from its first lines for text."""
    total = 0
    for path in files_of(given):
        if not path.is_file():
            read_table(path)  # says what is wrong
        if path.suffix.lower() == PARQUET:
            total += count_rows(path)
            continue
        with path.open("rb") as stream:
            head = stream.read(HEAD)
        lines = len(head.splitlines())
        header = path.suffix.lower() in SEPARATORS
        total += max(round(path.stat().st_size / max(len(head), 1) * lines) - header, 0)
    return total


def bytes_of(given: Path | str) -> int:
    """Return the size of all files of a table."""
    return sum(path.stat().st_size for path in files_of(given) if path.is_file())


def _pieces(path: Path) -> Iterator[Table]:
    """Yield a text file in pieces of whole rows; the header stands before each of them."""
    delimited = path.suffix.lower() in SEPARATORS
    header, rest, lines = b"", b"", 0
    with path.open("rb") as stream:
        more = True
        while more:
            new = stream.read(PIECE)
            more, rest = bool(new), rest + new
            check_room(len(rest), str(path))  # a row may be as long as it likes
            end = _end_of_rows(rest, delimited) if more else len(rest)
            piece, rest = rest[:end], rest[end:]
            if piece.strip():
                yield parse_table(header + piece, str(path), lines - header.count(b"\n"))
            if delimited and not header:
                header = piece[: _end_of_first_row(piece)]
            lines += piece.count(b"\n")


def _end_of_rows(raw: bytes, delimited: bool) -> int:
    """Return where the last whole row ends: at a line's end outside of quotes; 0 if there is none.

    Quotes come in pairs in a row, so that their number up to such a place is even.
    """
    end, odd = raw.rfind(b"\n") + 1, False
    if not delimited or b'"' not in raw:
        return end
    odd = raw.count(b'"', 0, end) % 2 == 1
    while end and odd:
        before = raw.rfind(b"\n", 0, end - 1) + 1
        odd ^= raw.count(b'"', before, end) % 2 == 1
        end = before
    return end


def _end_of_first_row(raw: bytes) -> int:
    end = raw.find(b"\n") + 1
    while end and (raw.count(b'"', 0, end) % 2 or not raw[:end].strip()):
        end = raw.find(b"\n", end) + 1
    return end or len(raw)


def placed(before: int) -> Any:
    return lambda row: f"row {before + row + 1}"
