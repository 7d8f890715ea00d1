"""Labels that people give: queues to give them from, the answers, and files of them."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from unseen.serve import added, labels, schemas, shapes
from unseen.serve.errors import ApiError
from unseen.serve.jobs import queue, start
from unseen.serve.label_files import (
    PROBLEMS,
    note,
    read_csv,
    read_label_studio,
    write_csv,
    write_label_studio,
)
from unseen.serve.paging import Cursor, Limit, offset_of, pages
from unseen.serve.queues import next_nodes
from unseen.serve.read_routes import held_of
from unseen.serve.reply import reply
from unseen.serve.state import Held
from unseen.serve.writing import Key, written

router = APIRouter()
DISAGREEMENTS = 100  # that a summary lists
Format = Literal["csv", "labelstudio"]
Name = Annotated[str | None, Query(max_length=64, description="Of a person.")]


@router.get("/queue", response_model=shapes.Queue)
def ask(
    request: Request,
    kind: Literal["errors", "teach"] = "errors",
    person: Name = None,
    limit: Limit = 20,
) -> Response:
    """Nodes to label next: those most likely wrong, or those that would teach most."""
    found = next_nodes(held_of(request), kind, person, limit)
    return reply(found, headers={"Retry-After": "2"} if found["note"] else None)


@router.post("/labels", response_model=shapes.Given, status_code=201)
def give(request: Request, body: schemas.GiveLabels, key: Key = None) -> Response:
    """Say what nodes are; on disk when this answers."""
    held = held_of(request)
    answers = [answer.model_dump(by_alias=True) for answer in body.answers]
    was = check_answers(held, answers)

    def work(db: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
        return 201, {"items": labels.give(db, body.person, answers, was, held.served.number)}

    def count(answer: dict[str, Any]) -> None:
        request.app.state.metrics.labels.inc(len(answer["items"]))

    return written(held.store, request, key, body.model_dump(), work, count)


def check_answers(
    held: Held, answers: list[dict[str, Any]]
) -> list[tuple[str | None, float | None]]:
    """Refuse nodes and classes that there are not; return what the model says of each node."""
    served = held.served
    found: list[tuple[str | None, float | None]] = []
    for i, answer in enumerate(answers):
        where = f"answers.{i}"
        if (answer["kind"] == "class") != (answer["class"] is not None):
            message = "a class goes with kind 'class', and with no other"
            raise ApiError(422, f"{where}.class: {message}", f"{where}.class")
        if answer["class"] is not None and answer["class"] not in served.position:
            raise ApiError(
                422,
                f"{where}.class: there is no class {answer['class']!r}; GET /classes lists them",
                f"{where}.class",
            )
        at = served.index.get(answer["id"])
        if at is not None:
            known = bool(served.known[at])
            name = served.name(int(served.label[at]))
            found.append((None, None) if known else (name, float(served.confidence[at])))
            continue
        node = added.brief(held, name=answer["id"])
        if node is None:
            raise ApiError(404, f"{where}.id: there is no node {answer['id']!r}", f"{where}.id")
        c = -1 if node["class"] is None else node["class"]
        found.append((served.name(c), node["confidence"]))
    return found


@router.post("/labels/undo", response_model=shapes.Undone)
def undo(request: Request, body: schemas.Undo, key: Key = None) -> Response:
    """Take back an answer of one's own: this one, or the latest."""
    held = held_of(request)

    def work(db: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
        return 200, labels.undo(db, body.person, body.answer_id)

    return written(held.store, request, key, body.model_dump(), work)


@router.get("/labels", response_model=shapes.LabelPage)
def given(
    request: Request,
    person: Name = None,
    id: Annotated[str | None, Query(max_length=schemas.ID)] = None,
    disagreement: bool = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Answers that stand, the latest first."""
    held, offset = held_of(request), offset_of(cursor)
    where = "undone IS NULL"
    values: list[str] = []
    for column, value in (("person", person), ("node", id)):
        if value is not None:
            where, values = f"{where} AND {column} = ?", [*values, value]
    if disagreement:
        where += f" AND node IN ({labels.APART})"
    total = held.store.number(f"SELECT count(*) FROM answers WHERE {where}", *values)
    rows = held.store.all(
        f"SELECT * FROM answers WHERE {where} ORDER BY answer_id DESC LIMIT ? OFFSET ?",
        *values,
        limit,
        min(offset, 2**53),
    )
    names = ("answer_id", "person", "kind", "class", "at", "queue", "was", "was_confidence")
    items = [
        {"id": row["node"], "title": title(held, row["node"]), "version": row["version"]}
        | {name: row[name] for name in names}
        for row in rows
    ]
    return reply(pages(items, offset, limit, total))


def title(held: Held, node: str) -> str:
    """Return what stands for a node in a list."""
    at = held.served.index.get(node)
    if at is not None:
        return held.served.title(at)
    found = added.brief(held, name=node)
    return node if found is None else str(found["title"])


@router.get("/labels/summary", response_model=shapes.LabelSummary)
def summary(request: Request) -> Response:
    """Who said how much, where people disagree, and how often the model was right."""
    held = held_of(request)
    said = labels.votes(held.store)
    apart = [node for node, each in said.items() if len(set(each.values())) > 1]
    people = held.store.all(
        "SELECT person, count(*) FROM answers WHERE undone IS NULL AND kind != 'skip' "
        "GROUP BY person ORDER BY 2 DESC, 1"
    )
    return reply(
        {
            "answers": labels.counts(held.store)["answers"],
            "nodes": len(said),
            "people": [{"person": row[0], "answers": row[1]} for row in people],
            "disagreements": [
                {
                    "id": node,
                    "position": held.served.index.get(node),
                    "title": title(held, node),
                    "answers": [
                        {"person": person, "class": name or None}
                        for person, name in said[node].items()
                    ],
                }
                for node in apart[:DISAGREEMENTS]
            ],
            "accuracy": labels.accuracy(held.store),
        }
    )


@router.get(
    "/labels/export",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}, "application/json": {}}}},
)
def export(request: Request, format: Format = "csv", spreadsheet: bool = False) -> Response:
    """All answers that stand, as a table or as tasks of Label Studio with predictions.

    With `spreadsheet`, cells of the table that a spreadsheet would compute get an apostrophe, which
    the import takes away again.
    """
    held = held_of(request)
    if format == "csv":
        text, kind, name = write_csv(held, spreadsheet), "text/csv; charset=utf-8", "labels.csv"
    else:
        text, kind, name = write_label_studio(held), "application/json", "labels.json"
    disposition = f'attachment; filename="{name}"'
    return Response(text, headers={"content-type": kind, "content-disposition": disposition})


_one = threading.BoundedSemaphore(1)  # files at a time: each takes memory
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
        },
    }
}


@router.post("/labels/import", response_model=shapes.Imported, openapi_extra=BODY)
async def bring(
    request: Request,
    format: Format = "csv",
    person: Annotated[str, Query(min_length=1, max_length=64)] = "imported",
    key: Key = None,
) -> Response:
    """Take answers from a table or from Label Studio; what cannot be used is listed."""
    from starlette.concurrency import run_in_threadpool

    if not _one.acquire(blocking=False):
        message = "another file is being read; try again when it is done"
        raise ApiError(503, message, headers={"Retry-After": "1"})
    try:
        raw = await request.body()
        return await run_in_threadpool(_bring, request, raw, format, person, key)
    finally:
        _one.release()


def _bring(request: Request, raw: bytes, format: Format, person: str, key: Any) -> Response:
    held = held_of(request)
    schemas.plain(person, "person")
    read = read_csv if format == "csv" else read_label_studio
    rows, problems = read(raw, person)
    good, was = [], []
    for where, row in rows:
        try:
            was += check_answers(held, [row])
            good.append(row)
        except ApiError as error:
            note(problems, where, error.detail.partition(": ")[2])

    def work(db: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
        for row, before in zip(good, was, strict=True):
            labels.put(db, row["person"], row, before, held.served.number)
        skipped = len(problems)
        return 200, {"imported": len(good), "skipped": skipped, "problems": problems[:PROBLEMS]}

    asked = [format, person, hashlib.sha256(raw).hexdigest()]
    return written(held.store, request, key, asked, work)


@router.post("/learn", response_model=shapes.Job, status_code=202)
def learn(request: Request, body: schemas.Someone, key: Key = None) -> Response:
    """Fit again with the labels given so far, in the background; a version waits to be kept."""
    held = held_of(request)
    found, _ = labels.to_learn(held.store)
    if not found:
        raise ApiError(409, "there is no label to learn from yet; label a few nodes first")
    if held.versions.candidate is not None:
        raise ApiError(
            409, f"version {held.versions.candidate} waits to be kept or discarded; decide first"
        )

    def work(db: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
        return 202, queue(db, "learn", body.person, {"version": held.served.number})

    return written(
        held.store,
        request,
        key,
        body.model_dump(),
        work,
        lambda job: start(held.store, held.versions.run, job["id"]),
    )
