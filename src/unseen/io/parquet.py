"""Parquet from files that anybody may have written, read where a damaged one can do no harm.

A few wrong bytes in a page can make Polars ask the system for more memory than there is, which ends
the process without a word (about one damaged file in a thousand). So a file is read by a process of
its own, which hands the columns back as Arrow. That takes about 0.2 seconds.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys

import polars as pl

from unseen.core.errors import InputError

READER = """
import io, json, sys
sys.path[:] = json.loads(sys.argv[1])
try:
    import polars
except ImportError:
    sys.exit(3)
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, OSError, ValueError):
    pass
found = polars.read_parquet(io.BytesIO(sys.stdin.buffer.read()))
out = io.BytesIO()
found.write_ipc(out)
sys.stdout.buffer.write(out.getbuffer())
"""
NO_READER = 3
MAGIC = b"PAR1"
LEAST = 12  # bytes: the magic number twice, and the length of what is between


def read_parquet(raw: bytes, name: str) -> pl.DataFrame:
    """Return the columns of a Parquet file, or say that it is damaged."""
    damaged = f"{name}: not a whole Parquet file; it may be cut off or damaged; save it again"
    if len(raw) < LEAST or not raw.startswith(MAGIC) or not raw.endswith(MAGIC):
        raise InputError(damaged)
    found = _elsewhere(raw)
    try:
        if found is None:
            return pl.read_parquet(io.BytesIO(raw))
        if found:
            return pl.read_ipc(io.BytesIO(found))
    except (Exception, pl.exceptions.PanicException) as error:  # a panic is no Exception
        raise InputError(damaged) from error
    raise InputError(damaged)


def _elsewhere(raw: bytes) -> bytes | None:
    """Return the columns as Arrow; b"" where they cannot be read, None where no process starts."""
    if not sys.executable:
        return None
    try:
        done = subprocess.run(
            [sys.executable, "-c", READER, json.dumps(sys.path)],
            input=raw,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return None
    if done.returncode == NO_READER:
        return None
    return b"" if done.returncode else done.stdout
