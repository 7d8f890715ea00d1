"""Parquet from files that anybody may have written, read where a damaged one can do no harm.

A few wrong bytes in a page can make Polars ask the system for more memory than there is, which ends
the process without a word (about one damaged file in a thousand). So files are read by a process of
their own, which hands the columns back as Arrow. It starts with the first file, in 0.2 seconds, and
ends with this one. As every Python that `unseen` starts, it imports nothing from the current folder
(`-P`), where a `json.py` may lie beside the data.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

import polars as pl

from unseen.core.errors import InputError

READER = """
import io, json, sys
sys.path[:] = json.loads(sys.argv[1])
import polars
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, OSError, ValueError):
    pass
while line := sys.stdin.buffer.readline():
    order, out = json.loads(line), io.BytesIO()
    raw = sys.stdin.buffer.read(order["bytes"])
    try:
        if "path" not in order:
            found = polars.read_parquet(io.BytesIO(raw))
        elif "rows" in order:
            found = polars.scan_parquet(order["path"], glob=False)
            found = found.slice(order["start"], order["rows"]).collect()
        else:
            found = polars.scan_parquet(order["path"], glob=False).select(polars.len()).collect()
        found.write_ipc(out)
    except BaseException:
        out = io.BytesIO()
    sys.stdout.buffer.write(out.tell().to_bytes(8, "little"))
    sys.stdout.buffer.write(out.getbuffer())
    sys.stdout.buffer.flush()
"""
MAGIC = b"PAR1"
LEAST = 12  # bytes: the magic number twice, and the length of what is between


class Reader:
    """A process that reads Parquet; another one takes its place when a file has ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner, self._lock = os.getpid(), threading.Lock()
        atexit.register(self.close)

    def __call__(self, raw: bytes = b"", **order: str | int) -> bytes | None:
        """Return the columns as Arrow; b"" where they cannot be read; None where nothing starts.

        Without `raw`, `path` names a file: `rows` of it after the first `start`, or its length.
        """
        with self._lock:
            process = self._running()
            if process is None or process.stdin is None or process.stdout is None:
                return None
            try:
                process.stdin.write(json.dumps({**order, "bytes": len(raw)}).encode() + b"\n")
                process.stdin.write(raw)
                process.stdin.flush()
                return _exactly(
                    process.stdout, int.from_bytes(_exactly(process.stdout, 8), "little")
                )
            except (OSError, EOFError):
                self.close()
                return b""

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self._owner != os.getpid():  # a fork does not share it
            self._process, self._owner = None, os.getpid()
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None and sys.executable:
            with suppress(OSError):
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-c", READER, json.dumps(sys.path)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C is for this process, which then ends that one
                )
        return self._process

    def close(self) -> None:
        """End the process, if it is one of this process."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        with suppress(OSError):
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()


def _exactly(stream: IO[bytes], count: int) -> bytes:
    found = stream.read(count)
    if len(found) < count:
        raise EOFError
    return found


reader = Reader()


def read_parquet(raw: bytes, name: str) -> pl.DataFrame:
    """Return the columns of a Parquet file, or say that it is damaged."""
    if len(raw) < LEAST or not raw.startswith(MAGIC) or not raw.endswith(MAGIC):
        raise InputError(_damaged(name))
    return _frame(reader(raw), name, lambda: pl.read_parquet(io.BytesIO(raw)))


def count_rows(path: Path) -> int:
    """Return the number of rows of a Parquet file."""
    found = _frame(
        reader(path=str(path)),
        str(path),
        lambda: pl.scan_parquet(path, glob=False).select(pl.len()).collect(),
    )
    return int(found.item())


def read_rows(path: Path, start: int, count: int) -> pl.DataFrame:
    """Return some rows of a Parquet file."""
    return _frame(
        reader(path=str(path), start=start, rows=count),
        str(path),
        lambda: pl.scan_parquet(path, glob=False).slice(start, count).collect(),
    )


def _frame(found: bytes | None, name: str, here: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """Return what the reader has found; where no process starts, it is read in this one."""
    try:
        if found is None:
            return here()
        if found:
            return pl.read_ipc(io.BytesIO(found))
    except (Exception, pl.exceptions.PanicException) as error:  # a panic is no Exception
        raise InputError(_damaged(name)) from error
    raise InputError(_damaged(name))


def _damaged(name: str) -> str:
    return (
        f"{name}: not a whole Parquet file; it may be cut off, damaged, or have two columns of one "
        "name; save it again"
    )
