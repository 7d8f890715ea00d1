"""Texts to answer, and nodes to add."""

from __future__ import annotations

import sqlite3
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from unseen.serve import added, schemas, shapes
from unseen.serve.answering import answer_texts, vectors_of
from unseen.serve.errors import ApiError
from unseen.serve.read_routes import held_of
from unseen.serve.reply import reply
from unseen.serve.state import Held
from unseen.serve.writing import Key, written

router = APIRouter()
FEW = 4  # texts that are answered without a thread


@router.post("/classify", response_model=shapes.Classified)
async def classify(request: Request, body: schemas.Classify) -> Response:
    """Answer texts; with `neighbours`, as nodes that are linked with nodes of the graph."""
    held, limits = held_of(request), request.app.state.unseen.settings
    check_texts(body.texts, limits.texts, limits.text)
    near = body.neighbours
    if near is not None and len(near) != len(body.texts):
        raise ApiError(
            422,
            f"neighbours: expected one list for each of {len(body.texts)} texts, found {len(near)}",
            "neighbours",
        )
    if len(body.texts) <= FEW and not near:
        return reply(_classify(held, body.texts, None))
    return reply(await run_in_threadpool(_classify, held, body.texts, near))


def check_texts(texts: list[str], most: int, longest: int) -> None:
    """Refuse more or longer texts than are answered at once."""
    if len(texts) > most:
        raise ApiError(413, f"texts: at most {most} at a time, found {len(texts)}", "texts")
    for i, text in enumerate(texts):
        if len(text) > longest:
            raise ApiError(
                413, f"texts.{i}: at most {longest:,} characters, found {len(text):,}", "texts"
            )


def _classify(held: Held, texts: list[str], near: list[list[str]] | None) -> dict[str, Any]:
    served = held.served
    known: list[list[tuple[int, float]]] = []
    unknown: list[list[str]] = []
    for names in near or [[] for _ in texts]:
        places = {name: served.index.get(name) for name in names}
        known.append([(at, 1.0) for at in dict.fromkeys(places.values()) if at is not None])
        unknown.append([name for name, at in places.items() if at is None])
    found = answer_texts(served, vectors_of(served, texts), known)
    return {
        "items": [
            found.row(i, served) | {"unknown_neighbours": unknown[i]} for i in range(len(texts))
        ],
        "classes": served.names,
        "version": served.number,
    }


@router.post("/nodes", response_model=shapes.Briefs, status_code=201)
def add_nodes(request: Request, body: schemas.NewNodes, key: Key = None) -> Response:
    """Add nodes and edges; they are answered at once, and on disk when this answers."""
    held, limits = held_of(request), request.app.state.unseen.settings
    check_texts([node.text for node in body.nodes], schemas.NODES, limits.text)

    def work(db: sqlite3.Connection) -> tuple[int, dict[str, Any]]:
        items = added.add(
            db,
            held,
            body.person,
            [node.model_dump() for node in body.nodes],
            [edge.model_dump() for edge in body.edges],
        )
        return 201, {"items": items, "next": None, "total": len(items)}

    def count(answer: dict[str, Any]) -> None:
        request.app.state.metrics.nodes.inc(len(answer["items"]))

    return written(held.store, request, key, body.model_dump(), work, count)
