"""The one door through which files are written, and what libraries raise there put in words."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.core.errors import InputError, UnseenError, WriteError

if TYPE_CHECKING:
    import polars as pl

FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say of whatever goes wrong while `path` is written where it was, and what to do."""
    try:
        yield
    except UnseenError:
        raise
    except OSError as error:
        raise WriteError(f"{path}: {_reason(path, error)}") from error
    except MemoryError as error:
        raise WriteError(
            f"{path}: cannot be written, since there is not enough memory; "
            "end other programs or use a larger machine"
        ) from error


def _reason(path: Path, error: OSError) -> str:
    if error.errno in FULL:
        place = next(each for each in (path, *path.absolute().parents) if each.exists())
        free = shutil.disk_usage(place).free
        return (
            f"the disk is full ({free:,} bytes are free); make room there, or choose a folder "
            "elsewhere"
        )
    if error.errno == errno.EFBIG:
        return "a file became larger than the system allows (see `ulimit -f`); raise that limit"
    return f"cannot be written ({error.strerror or error}); choose a place that can"


def resolved(path: Path | str) -> Path:
    """Return where a path leads, which has to be somewhere."""
    try:
        found = Path(path).resolve()
        if not found.is_symlink():
            return found
    except (OSError, RuntimeError):  # as Python 3.12 and older say of links in a circle
        pass
    raise InputError(f"{path}: is a link that leads nowhere; choose another")


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a new file; it is on the disk when this returns."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
    try:
        rest = memoryview(content).cast("B")
        while rest:
            rest = rest[os.write(file, rest) :]
        os.fsync(file)
    finally:
        os.close(file)


def write_parquet(path: Path, table: pl.DataFrame) -> None:
    """Write a table as a new file; it is on the disk when this returns.

    It is made in memory: on a full disk Polars would not tell what happened.
    """
    out = io.BytesIO()
    table.write_parquet(out)
    write_bytes(path, out.getbuffer())


def scan_arrow(path: Path) -> pl.LazyFrame:
    """Return the columns of an Arrow file; brackets in its name are no pattern."""
    import polars as pl

    return pl.scan_ipc(path, glob=False)


def write_text(path: Path, text: str) -> None:
    """Write a new file as UTF-8; it is on the disk when this returns."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write plain values, numbers of NumPy included, as JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False, default=_plain)
    write_text(path, text + "\n")


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def sync(path: Path) -> None:
    """Return when a file, or the names in a folder, are on the disk."""
    if os.name == "nt" and path.is_dir():  # folders cannot be opened there
        return
    with suppress(PermissionError):
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
        except OSError as error:
            if error.errno != errno.EINVAL:  # some file systems do not do that for folders
                raise
        finally:
            os.close(file)
