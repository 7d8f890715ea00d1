"""Tables of any size, batch by batch: a file, a folder or a pattern of files of one format.

Files that fit easily are read as `io/tables.py` reads them, with all its checks. Larger ones are
streamed by Polars, which says less about where a cell is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from unseen.core.errors import InputError
from unseen.io.tables import (
    JSON_LINES,
    KNOWN,
    PARQUET,
    SEPARATORS,
    Table,
    files_of,
    read_table,
)

SMALL = 64 << 20  # bytes of a file that is read as a whole
BATCH = 1 << 20  # rows of a batch
HEAD = 1 << 20  # bytes by which the rows of a text file are estimated


def batches(given: Path | str) -> Iterator[Table]:
    """Yield a table in pieces; each tells the place of its rows in its file."""
    for path in files_of(given):
        if not path.is_file() or path.stat().st_size <= SMALL or path.suffix.lower() not in KNOWN:
            yield read_table(path)  # or an error that says what is wrong
            continue
        before = 0
        try:
            for frame in _scan(path).collect_batches(chunk_size=BATCH):
                yield Table(str(path), frame, placed(before))
                before += frame.height
        except pl.exceptions.PolarsError as error:
            raise InputError(
                f"{path}: cannot be read after row {before:,} ({str(error).splitlines()[0]}); it "
                "may be cut off or damaged; save it again"
            ) from error


def rows_of(given: Path | str) -> int:
    """Return the number of rows: exact for Parquet, estimated from its first lines for text."""
    total = 0
    for path in files_of(given):
        if not path.is_file():
            read_table(path)  # says what is wrong
        if path.suffix.lower() == PARQUET:
            total += int(pl.scan_parquet(path).select(pl.len()).collect().item())
            continue
        with path.open("rb") as stream:
            head = stream.read(HEAD)
        lines = max(head.count(b"\n"), 1)
        total += round(path.stat().st_size / max(len(head), 1) * lines)
    return total


def bytes_of(given: Path | str) -> int:
    """Return the size of all files of a table."""
    return sum(path.stat().st_size for path in files_of(given) if path.is_file())


def _scan(path: Path) -> Any:
    suffix = path.suffix.lower()
    if suffix == PARQUET:
        return pl.scan_parquet(path)
    if suffix in JSON_LINES:
        return pl.scan_ndjson(path)
    return pl.scan_csv(path, separator=SEPARATORS[suffix], infer_schema=False)


def placed(before: int) -> Any:
    return lambda row: f"row {before + row + 1}"
