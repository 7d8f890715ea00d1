"""Writing a file so that a kill leaves the old one or the new one, whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`, whose file takes its place once it is complete."""
    new = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
