"""Where `unseen` keeps what it can make or fetch again."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def cache_folder(kind: str) -> Path:
    """Return the folder for one kind of thing ("data", "vectors", ...); it need not exist yet.

    The variable UNSEEN_CACHE names the folder above it; otherwise it is "unseen" in the place that
    the platform keeps for caches.
    """
    named = os.environ.get("UNSEEN_CACHE")
    try:
        return (Path(named).expanduser() if named else _platform_folder() / "unseen") / kind
    except RuntimeError:  # no home folder to be found
        return Path(tempfile.gettempdir()) / "unseen" / kind


def _platform_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
