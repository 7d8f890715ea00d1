"""Nodes that came after the version was made: in the store, answered when they came.

They are answered as `add_nodes` answers them: neighbours speak through their posteriors, and what
was answered before stays. Those of one request are answered one after the other, so that an edge
between two of them speaks through the first. The next version has them in its graph.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.explain.strings import title
from unseen.serve import search as searching
from unseen.serve.answering import Later, answer_texts, vectors_of
from unseen.serve.errors import ApiError
from unseen.serve.labels import answers_of, label_of, votes
from unseen.serve.store import now

if TYPE_CHECKING:
    from unseen.serve.state import Held

NEAR = 50  # neighbours that a view shows


def folded(held: Held) -> int:
    """Return up to which node the graph of the served version has them."""
    return int(held.versions.row(held.served.number)["folded"])


def count(held: Held) -> int:
    """Return how many nodes are not in the graph of the served version."""
    return held.store.number("SELECT count(*) FROM nodes WHERE seq > ?", folded(held))


def add(
    db: sqlite3.Connection, held: Held, person: str, nodes: list[dict[str, Any]], edges: list[Any]
) -> list[dict[str, Any]]:
    """Store nodes and edges and answer the nodes, all in one transaction."""
    served = held.served
    new = [node["id"] for node in nodes]
    if len(set(new)) < len(new):
        raise ApiError(409, "nodes: an id is there twice; every node needs one of its own", "nodes")
    for node in new:
        if served.index.get(node) is not None or _row(db, node) is not None:
            raise ApiError(409, f"nodes: there is a node {node!r} already", "nodes")
    mine = set(new)
    for edge in edges:
        for end in (edge["source"], edge["target"]):
            if end not in mine and served.index.get(end) is None and _row(db, end) is None:
                raise ApiError(422, f"edges: there is no node {end!r}; add it first", "edges")
        if edge["source"] not in mine and edge["target"] not in mine:
            raise ApiError(
                422, "edges: at least one end of every edge has to be a new node", "edges"
            )
    batch = 1 + int(db.execute("SELECT coalesce(max(batch), 0) FROM nodes").fetchone()[0])
    at = now()
    db.executemany(
        "INSERT INTO nodes (batch, id, text, person, at) VALUES (?, ?, ?, ?, ?)",
        [(batch, node["id"], node["text"], person, at) for node in nodes],
    )
    db.executemany(
        "INSERT INTO edges VALUES (?, ?, ?, ?)",
        [(batch, edge["source"], edge["target"], edge["weight"]) for edge in edges],
    )
    rows = db.execute("SELECT * FROM nodes WHERE batch = ? ORDER BY seq", (batch,)).fetchall()
    return _answer(db, held, rows)


def _answer(db: sqlite3.Connection, held: Held, rows: list[sqlite3.Row]) -> list[dict[str, Any]]:
    """Answer nodes in their order, and keep the answers for this version."""
    served = held.served
    X = vectors_of(served, [row["text"] for row in rows])
    found = []
    for x, row in zip(X, rows, strict=True):
        near: list[tuple[int, float]] = []  # nodes of the graph
        later: list[Later] = []  # nodes that came after it
        for end, weight in _links(db, row["id"]):
            place = served.index.get(end)
            if place is not None:
                near.append((place, weight))
            elif (kept := _kept(db, held, end, weight)) is not None:
                later.append(kept)
        answers = answer_texts(served, x[None], [near], later=later)
        answer = answers.row(0, served) | {"neighbours": len(near) + len(later)}
        db.execute(
            "INSERT OR REPLACE INTO node_answers VALUES (?, ?, ?, ?)",
            (
                row["seq"],
                served.number,
                answers.posterior[0].astype("<f4").tobytes(),
                json.dumps(answer),
            ),
        )
        found.append(_brief(held, row, answer, None))
    return found


def _row(db: sqlite3.Connection, node: str) -> sqlite3.Row | None:
    found: sqlite3.Row | None = db.execute("SELECT * FROM nodes WHERE id = ?", (node,)).fetchone()
    return found


def _links(db: sqlite3.Connection, node: str) -> list[tuple[str, float]]:
    """Return the other ends of a node's edges; an edge that is there twice counts once."""
    rows = db.execute(
        "SELECT target, weight FROM edges WHERE source = ? UNION ALL "
        "SELECT source, weight FROM edges WHERE target = ?",
        (node, node),
    ).fetchall()
    found: dict[str, float] = {}
    for end, weight in rows:
        if end != node:
            found[end] = max(weight, found.get(end, 0.0))
    return list(found.items())


def _kept(db: sqlite3.Connection, held: Held, node: str, weight: float) -> Later | None:
    """Return an added node that was answered; one that comes later has no say yet."""
    row = db.execute(
        "SELECT posterior, text FROM node_answers JOIN nodes USING (seq) WHERE id = ? AND "
        "version = ?",
        (node, held.served.number),
    ).fetchone()
    if row is None:
        return None
    degree = sum(each for _, each in _links(db, node))
    vector = vectors_of(held.served, [row["text"]])[0]
    return Later(vector, np.frombuffer(row["posterior"], dtype="<f4"), weight, degree)


def _find(held: Held, name: str | None, position: int | None) -> sqlite3.Row | None:
    first = folded(held)
    if name is not None:
        return held.store.one("SELECT * FROM nodes WHERE id = ? AND seq > ?", name, first)
    at = (position or 0) - held.served.nodes
    return held.store.one(
        "SELECT * FROM nodes WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?", first, min(at, 2**31)
    )


def _said(held: Held, row: sqlite3.Row) -> dict[str, Any]:
    """Return the answer of the served version; worked out now if another one gave it."""
    query = "SELECT answer FROM node_answers WHERE seq = ? AND version = ?"
    found = held.store.one(query, row["seq"], held.served.number)
    if found is None:
        with held.store.write() as db:
            _answer(db, held, [row])
        found = held.store.one(query, row["seq"], held.served.number)
    answer: dict[str, Any] = json.loads(found[0]) if found is not None else {}
    return answer


def _brief(held: Held, row: sqlite3.Row, answer: dict[str, Any], label: Any) -> dict[str, Any]:
    before = held.store.number(
        "SELECT count(*) FROM nodes WHERE seq > ? AND seq < ?", folded(held), row["seq"]
    )
    return {
        "position": held.served.nodes + before,
        "id": row["id"],
        "title": title(row["text"]) or row["id"],
        "class": answer["class"],
        "confidence": answer["confidence"],
        "runner_up": answer["runner_up"],
        "known": False,
        "added": True,
        "label": label,
    }


def brief(held: Held, name: str | None = None, position: int | None = None) -> Any:
    """Return an added node in brief; None where there is none."""
    row = _find(held, name, position)
    if row is None:
        return None
    label = label_of(votes(held.store, [row["id"]]).get(row["id"]), held.served)
    return _brief(held, row, _said(held, row), label)


def view(held: Held, name: str | None = None, position: int | None = None) -> Any:
    """Return the view of an added node; None where there is none."""
    found, row, served = brief(held, name, position), _find(held, name, position), held.served
    if found is None or row is None:
        return None
    answer = _said(held, row)
    near = []
    for end, weight in sorted(_links(held.store.db, row["id"]), key=lambda each: -each[1])[:NEAR]:
        at = served.index.get(end)
        each = served.brief(at) if at is not None else brief(held, name=end)
        if each is not None:
            x, y = served.places[at].tolist() if at is not None else (0.0, 0.0)
            near.append(each | {"weight": weight, "x": x, "y": y})
    places = [(each["x"], each["y"]) for each in near if not each["added"]]
    x, y = np.mean(places, axis=0).tolist() if places else (0.0, 0.0)
    return found | {
        "text": row["text"],
        "background": None,
        "flags": [],
        "reason": f"added later; {answer['neighbours']} of its neighbours had a say",
        "probabilities": answer["probabilities"],
        "words": None,
        "hops": None,
        "readings": [],
        "score": None,
        "change": None,
        "neighbours": near,
        "degree": len(near),
        "neighbours_more": 0,
        "answers": answers_of(held.store, row["id"], served),
        "version": served.number,
        "x": x,
        "y": y,
    }


def search(held: Held, q: str, limit: int) -> list[dict[str, Any]]:
    """Return added nodes that have all words of a query."""
    words = searching.WORD.findall(q)
    if not words:
        return []
    where = " AND ".join("(id LIKE ? OR text LIKE ?)" for _ in words)
    values = [f"%{word}%" for word in words for _ in range(2)]
    rows = held.store.all(
        f"SELECT * FROM nodes WHERE seq > ? AND {where} ORDER BY seq DESC LIMIT ?",
        folded(held),
        *values,
        min(limit, 20),
    )
    return [
        brief(held, name=row["id"])
        | {
            "match": searching.matches(row["id"], q),
            "snippet": searching.snippet(row["text"], q),
        }
        for row in rows
    ]
