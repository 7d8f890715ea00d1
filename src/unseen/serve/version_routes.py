"""Versions and jobs: what changed, keep it or not, go back."""

from __future__ import annotations

import sqlite3
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from unseen.serve import jobs, schemas, shapes
from unseen.serve.changes import changes, moved
from unseen.serve.errors import ApiError
from unseen.serve.labels import with_labels
from unseen.serve.paging import Cursor, Limit, offset_of, pages
from unseen.serve.read_routes import held_of
from unseen.serve.reply import reply
from unseen.serve.served import Served
from unseen.serve.state import Held, State
from unseen.serve.versions import shown
from unseen.serve.writing import Key, written

router = APIRouter()
Number = Annotated[int, Path(ge=1, le=2**31)]
STATES = {"keep": ("candidate",), "discard": ("candidate",), "activate": ("kept",)}


@router.get("/versions", response_model=shapes.VersionList)
def versions(request: Request) -> Response:
    """All versions of the run, the latest first."""
    held = held_of(request)
    return reply({"current": held.versions.current, "items": held.versions.list()})


@router.get("/versions/{number}/changes", response_model=shapes.Changes)
def compare(
    request: Request,
    number: Number,
    against: Annotated[int | None, Query(ge=1, le=2**31)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Nodes whose class is another than in an earlier version, the surest changes first."""
    held, offset = held_of(request), offset_of(cursor)
    row = held.versions.row(number)
    other = against or row["parent"] or number
    after, before = version_of(held, number), version_of(held, other)
    rows = changes(before, after)
    part = rows[offset : offset + limit].tolist()
    briefs = with_labels(held.store, after, part)
    items = [
        brief
        | {
            "before": before.position.get(before.name(int(before.label[i]))),
            "before_name": before.name(int(before.label[i])),
            "class_name": after.name(int(after.label[i])),
            "confidence_before": round(float(before.confidence[i]), 4),
        }
        for i, brief in zip(part, briefs, strict=True)
    ]
    found = pages(items, offset, limit, len(rows))
    compared = {"moved": moved(before, after, rows), "version": number, "against": other}
    return reply(found | compared | {"learned": jobs.learned(held.store, number)})


def version_of(held: Held, number: int) -> Served:
    """Return a version that is served, or any other that is there."""
    if number == held.served.number:
        return held.served
    if held.versions.row(number)["state"] == "discarded":
        raise ApiError(404, f"version {number} was discarded", "number")
    return held.versions.load(number)


@router.post("/versions/{number}/keep", response_model=shapes.Version)
def keep(request: Request, number: Number, body: schemas.Someone, key: Key = None) -> Response:
    """Keep what a job has made, and serve it."""
    return _decide(request, number, "keep", body, key)


@router.post("/versions/{number}/discard", response_model=shapes.Version)
def discard(request: Request, number: Number, body: schemas.Someone, key: Key = None) -> Response:
    """Throw away what a job has made."""
    return _decide(request, number, "discard", body, key)


@router.post("/versions/{number}/activate", response_model=shapes.Version)
def activate(request: Request, number: Number, body: schemas.Someone, key: Key = None) -> Response:
    """Serve a version that was kept: go back, or forward again."""
    return _decide(request, number, "activate", body, key)


def _decide(
    request: Request, number: int, what: str, body: schemas.Someone, key: str | None
) -> Response:
    held = held_of(request)
    state: State = request.app.state.unseen
    row = held.versions.row(number)
    if what == "activate" and row["state"] == "kept":
        held.versions.ensure(number)  # before it is current, so that no worker has to wait

    def work(db: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
        row = db.execute("SELECT * FROM versions WHERE number = ?", (number,)).fetchone()
        if row["state"] not in STATES[what]:
            raise ApiError(
                409,
                f"version {number} is {row['state']}; to {what} it, it has to be {STATES[what][0]}",
                "number",
            )
        if what != "activate":
            new = "kept" if what == "keep" else "discarded"
            db.execute("UPDATE versions SET state = ? WHERE number = ?", (new, number))
        if what != "discard":
            db.execute("UPDATE meta SET value = ? WHERE key = 'current'", (str(number),))
        row = db.execute("SELECT * FROM versions WHERE number = ?", (number,)).fetchone()
        return 200, shown(row)

    def after(_: dict[str, Any]) -> None:
        if what == "discard":
            held.versions.tidy()
        else:
            state.refresh()  # whoever kept it sees it with the next request

    return written(held.store, request, key, [body.model_dump(), number], work, after)


@router.get("/jobs", response_model=shapes.JobList)
def job_list(request: Request, limit: Limit = 20) -> Response:
    """Jobs, the latest first."""
    held = held_of(request)
    jobs.running(held.store)
    rows = held.store.all("SELECT * FROM jobs ORDER BY id DESC LIMIT ?", limit)
    return reply({"items": [jobs.shown(row) for row in rows]})


@router.get("/jobs/{id}", response_model=shapes.Job)
def job(request: Request, id: str) -> Response:
    """How far a job is, and what came out."""
    state: State = request.app.state.unseen
    held = held_of(request)
    found = jobs.get(held.store, id)
    if found["state"] == "done" and held.versions.current != held.served.number:
        state.refresh()  # a job that keeps classes made another version current
    return reply(found)


@router.post("/jobs/{id}/cancel", response_model=shapes.Job)
def cancel(request: Request, id: str, body: schemas.Someone) -> Response:
    """Stop a job."""
    return reply(jobs.cancel(held_of(request).store, id))
