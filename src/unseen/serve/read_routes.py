"""What can be looked at: the run, the map, nodes, classes, search."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from unseen.serve import added, schemas, shapes
from unseen.serve.errors import ApiError
from unseen.serve.jobs import running
from unseen.serve.labels import counts, with_labels
from unseen.serve.node_view import node_view
from unseen.serve.paging import Cursor, Limit, offset_of, page, pages
from unseen.serve.reply import reply
from unseen.serve.search import matches, search, snippet
from unseen.serve.state import Held, State

router = APIRouter()
EXAMPLES = 10  # surest and least sure nodes of a class
Positions = Annotated[list[int] | None, Query(max_length=100, description="Positions of nodes.")]
Ids = Annotated[list[str] | None, Query(max_length=100, description="Ids of nodes.")]


def held_of(request: Request) -> Held:
    """Return what this request is answered with."""
    state: State = request.app.state.unseen
    return state.held


@router.get("/run", response_model=shapes.Run)
def run(request: Request) -> Response:
    """What is served: the run, its version, and what goes on."""
    state: State = request.app.state.unseen
    held = state.held
    meta, served, limits = held.served.meta, held.served, state.settings
    model = served.classifier.model_
    return reply(
        {
            "name": held.versions.run.name,
            "unseen": version("unseen"),
            "nodes": served.nodes,
            "added_nodes": added.count(held),
            "edges": meta["edges"],
            "directed": meta["directed"],
            "classes": len(served.names),
            "labels_fitted": meta["labelled"],
            "version": served.number,
            "model": type(model).__name__,
            "encoder": meta["encoder"],
            "can_add_classes": bool(getattr(model, "adds_classes", False)),
            "can_edit_classes": bool(getattr(model, "by_class", ())),
            "reads_texts": served.reads_texts,
            "words": how_words(served),
            "warnings": meta["warnings"],
            "choices": [
                {name: choice.get(name) for name in ("what", "chosen", "rule", "why")}
                for choice in meta["choices"]
            ],
            "job": running(held.store),
            "candidate": held.versions.candidate,
            "labels": counts(held.store),
            "limits": {
                "text": limits.text,
                "texts": limits.texts,
                "body": limits.body,
                "name": schemas.NAME,
                "description": schemas.DESCRIPTION,
            },
            "write": request.scope.get("may_write", True),
            "open_world": bool(served.classifier.open_world),
            "abstain": served.classifier.abstain,
        }
    )


def how_words(served: Any) -> str:
    """Return how shares of words are known."""
    if not served.reads_texts or not any(
        each["linear"] and each["hops"] is None for each in served.meta["readings"]
    ):
        return "none"
    return "exact" if served.meta["encoder"] == "static" else "lsa"


@router.get("/map", response_model=shapes.Map)
def the_map(request: Request) -> Response:
    """Where the map's arrays are, and how large."""
    held = held_of(request)
    places = held.served.places
    low, high = places.min(axis=0).tolist(), places.max(axis=0).tolist()
    return reply(
        {
            "version": held.served.number,
            "nodes": held.served.nodes,
            "bounds": [*low, *high],
            "url": f"/api/v1/map/arrays?version={held.served.number}",
            "layout": "t-SNE of a sample by texts around each node; others between their likes",
            "bytes": len(held.map),
        }
    )


@router.get(
    "/map/arrays",
    responses={200: {"content": {"application/octet-stream": {}}}, 304: {}},
    response_class=Response,
)
def arrays(
    request: Request, version: Annotated[int | None, Query(ge=1, le=2**31)] = None
) -> Response:
    """Places, classes, confidences and flags of all nodes, little endian, 12 bytes a node."""
    held = held_of(request)
    if version is not None and version != held.served.number:
        raise ApiError(
            404, f"version {version} is not served now; GET /map names the one that is", "version"
        )
    tag = f'"{held.served.number}-{held.served.meta["digest"]}"'
    headers = {"ETag": tag, "Cache-Control": "private, max-age=31536000, immutable"}
    if version is None:
        headers["Cache-Control"] = "no-cache"
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(held.map, media_type="application/octet-stream", headers=headers)


@router.get("/nodes", response_model=shapes.Briefs)
def nodes(
    request: Request,
    position: Positions = None,
    id: Ids = None,
    klass: Annotated[
        str | None, Query(alias="class", max_length=12, description="Index of a class, or none.")
    ] = None,
    order: Literal["surest", "least"] = "surest",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Nodes in brief: by position, by id, of a class, or all."""
    held = held_of(request)
    served = held.served

    def show(rows: Any) -> list[dict[str, Any]]:
        return with_labels(held.store, served, [int(i) for i in rows])

    if position is not None or id is not None:
        wanted: list[int] = [i for i in position or () if 0 <= i < served.nodes]
        later = [added.brief(held, position=i) for i in position or () if i >= served.nodes]
        for name in id or ():
            at = served.index.get(name)
            if at is not None:
                wanted.append(at)
            else:
                later.append(added.brief(held, name=name))
        items = show(wanted) + [each for each in later if each is not None]
        return reply({"items": items, "next": None, "total": len(items)})
    if klass is not None:
        c = class_index(klass, len(served.names))
        return reply(page(served.members(c, order), limit, cursor, show))
    return reply(page(range(served.nodes), limit, cursor, show))


def class_index(given: str, count: int) -> int:
    """Return the position of a class that a query names, -1 for none of these."""
    if given == "none":
        return -1
    if not given.isascii() or not given.isdecimal() or int(given) >= count:
        raise ApiError(404, f"class: expected 0 to {count - 1} or 'none', found {given!r}", "class")
    return int(given)


@router.get("/search", response_model=shapes.Found)
def find(
    request: Request,
    q: Annotated[str, Query(min_length=1, max_length=200)],
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Response:
    """Nodes whose id or text has all words, each as a beginning."""
    held, offset = held_of(request), offset_of(cursor)
    served = held.served
    path = served.arrays / "search.sqlite"
    rows = search(path, q, limit, min(offset, 2**31))
    exact = served.index.get(q) if not offset else None
    if exact is not None:
        rows = [exact, *(i for i in rows if i != exact)][:limit]
    later = added.search(held, q, limit) if not offset else []
    items = [
        brief | {"match": matches(brief["id"], q), "snippet": snippet(served.texts[i], q)}
        for i, brief in zip(rows, with_labels(held.store, served, rows), strict=True)
    ]
    return reply(pages(items, offset, limit, None) | {"items": (later + items)})


@router.get("/nodes/{node_id:path}", response_model=shapes.NodeView)
async def node(request: Request, node_id: str) -> Response:
    """Everything about a node, by its id."""
    return reply(view_of(held_of(request), node_id, None, change=False))


@router.get("/view", response_model=shapes.NodeView)
def view(
    request: Request,
    id: Annotated[str | None, Query(max_length=2000)] = None,
    position: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Response:
    """Everything about a node by id or position, and what would make the runner-up win."""
    return reply(view_of(held_of(request), id, position, change=True))


def view_of(held: Held, name: str | None, position: int | None, change: bool) -> dict[str, Any]:
    """Return the view of a node of the graph, or of one that was added."""
    served = held.served
    if name is None and position is None:
        raise ApiError(422, "id: give the id or the position of a node", "id")
    at = served.index.get(name) if name is not None else position
    if at is not None and at < served.nodes:
        return node_view(served, held.store, at, change)
    found: dict[str, Any] | None = added.view(held, name=name, position=position)
    if found is None:
        what = repr(name) if name is not None else f"at position {position}"
        raise ApiError(404, f"there is no node {what}; GET /search finds nodes by words", "id")
    return found


@router.get("/classes", response_model=shapes.ClassList)
def classes(request: Request) -> Response:
    """All classes with their sizes and warnings."""
    served = held_of(request).served
    return reply(
        {
            "version": served.number,
            "items": [class_item(served, c) for c in range(len(served.names))],
            "none": len(served.of_class(-1)),
            "open": bool(served.classifier.open_world),
        }
    )


def class_item(served: Any, c: int) -> dict[str, Any]:
    """Return a class as a list shows it."""
    names = ("nodes", "known", "expected", "confidence", "sink", "allowed")
    return {
        "index": c,
        "name": served.names[c],
        "description": served.meta["descriptions"][c],
        "warnings": served.warnings[c],
        "color": c,
    } | {name: served.stats[c][name] for name in names}


@router.get("/classes/{index}", response_model=shapes.ClassView)
def one_class(request: Request, index: int) -> Response:
    """A class: its nodes, what it is confused with, what people said about it."""
    held = held_of(request)
    served = held.served
    if not 0 <= index < len(served.names):
        raise ApiError(404, f"there is no class {index}; GET /classes lists them", "index")
    surest, least = (
        served.members(index, order)[:EXAMPLES].tolist() for order in ("surest", "least")
    )
    stats, name = served.stats[index], served.names[index]
    confused = [
        each | {"text": f"{each['nodes']:,} of its nodes have {served.names[each['class']]!r} next"}
        for each in stats["confused"]
    ]
    said = held.store.one(
        "SELECT sum(class = was), sum(class IS NOT was) FROM answers WHERE undone IS NULL AND "
        "was = ? AND kind != 'skip'",
        name,
    )
    return reply(
        class_item(served, index)
        | {
            "surest": with_labels(held.store, served, surest),
            "least": with_labels(held.store, served, least),
            "confused": confused,
            "histogram": stats["histogram"],
            "people": {
                "agree": int(said[0] or 0) if said else 0,
                "correct": int(said[1] or 0) if said else 0,
            },
        }
    )
