"""Workers: made ready once, started, told to stop, and started again where one died."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from unseen.serve.metrics import SHARED
from unseen.serve.settings import Settings
from unseen.serve.tokens import Tokens
from unseen.serve.versions import Versions

if TYPE_CHECKING:
    from unseen.encode.base import Progress

GRACE = 20  # seconds that requests under way have when the server stops
KEEP_ALIVE = 15  # seconds that an idle connection stays open


def prepare(settings: Settings, progress: Progress | None = None) -> None:
    """Make everything that workers share, so that they start within a second."""
    Tokens.from_file(settings.token_file)
    versions = Versions(Path(settings.run))
    versions.tidy()
    versions.ensure(versions.current, progress)
    versions.store.close()


def serve_forever(settings: Settings) -> None:
    """Answer until told to stop; requests under way are finished."""
    settings.to_environment()
    shared = None
    if settings.workers > 1:
        shared = tempfile.mkdtemp(prefix="unseen-metrics-")
        os.environ[SHARED] = shared
        os.environ["PYTHONSAFEPATH"] = "1"  # workers import nothing from the current folder
    try:
        uvicorn.run(
            "unseen.serve.app:create",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers if settings.workers > 1 else None,
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=True,
            timeout_graceful_shutdown=GRACE,
            timeout_keep_alive=KEEP_ALIVE,
            h11_max_incomplete_event_size=64_000,
        )
    finally:
        if shared is not None:
            shutil.rmtree(shared, ignore_errors=True)
