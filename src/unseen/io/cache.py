"""Where `unseen` keeps what it can make or fetch again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder(kind: str) -> Path:
    """Return the folder for one kind of thing ("data", "vectors", ...); it need not exist yet.

    The variable UNSEEN_CACHE names the folder above it; otherwise it is "unseen" in the place that
    the platform keeps for caches.
    """
    named = os.environ.get("UNSEEN_CACHE")
    try:
        if named:
            return Path(named).expanduser() / kind
        place = user_cache_path("unseen", appauthor=False, opinion=False)
    except RuntimeError:  # no home folder to be found
        place = Path("unseen")
    return (place if place.is_absolute() else Path(tempfile.gettempdir(), "unseen")) / kind
