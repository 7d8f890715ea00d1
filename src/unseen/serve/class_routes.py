"""Classes: tried out, and kept."""

from __future__ import annotations

import sqlite3
import threading
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from unseen.serve import schemas, shapes
from unseen.serve.editing import edit_classes
from unseen.serve.errors import ApiError
from unseen.serve.jobs import queue, start
from unseen.serve.preview import preview
from unseen.serve.read_routes import held_of
from unseen.serve.reply import reply
from unseen.serve.writing import Key, written

router = APIRouter()
_one = threading.BoundedSemaphore(2)  # previews at a time: each takes memory of the whole graph
WAIT = 20.0  # seconds that a preview waits for its turn


@router.post("/classes/preview", response_model=shapes.Preview)
def try_classes(request: Request, body: schemas.ClassChanges) -> Response:
    """How many nodes new or edited classes would take, from which classes, and how surely."""
    held = held_of(request)
    if not _one.acquire(timeout=WAIT):
        raise ApiError(
            503, "other previews are being made; try again", headers={"Retry-After": "1"}
        )
    try:
        return reply(preview(held.served, _changes(body), body.remove))
    finally:
        _one.release()


@router.post("/classes", response_model=shapes.Job, status_code=202)
def keep_classes(request: Request, body: schemas.KeepClasses, key: Key = None) -> Response:
    """Keep classes: a job makes a version with them, which is then served."""
    held = held_of(request)
    served = held.served
    edit_classes(served.classes, _changes(body), body.remove, served.codes)
    if not getattr(served.classifier.model_, "adds_classes", False):
        raise ApiError(409, "this model cannot take up classes after it was fitted; fit again")
    asked = {"changes": _changes(body), "remove": body.remove, "version": served.number}

    def work(db: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
        return 202, queue(db, "classes", body.person, asked)

    return written(
        held.store,
        request,
        key,
        body.model_dump(),
        work,
        lambda job: start(held.store, held.versions.run, job["id"]),
    )


def _changes(body: schemas.ClassChanges) -> list[dict[str, Any]]:
    return [change.model_dump() for change in body.changes]
