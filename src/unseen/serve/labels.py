"""Answers of people: who said what about which node, where they disagree, how often the model was
right.

The latest answer of each person counts. What most of them say is the label; where no class has
more votes than any other there is none, and the disagreement is shown.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from unseen.core.classes import NONE_OF_THESE
from unseen.serve.errors import ApiError
from unseen.serve.store import Store, now

if TYPE_CHECKING:
    from unseen.serve.served import Served

LATEST = """
SELECT * FROM answers WHERE undone IS NULL AND kind != 'skip' {where} AND answer_id IN (
  SELECT max(answer_id) FROM answers WHERE undone IS NULL AND kind != 'skip' {where}
  GROUP BY node, person)
ORDER BY answer_id
"""
APART = (
    "SELECT node FROM (" + LATEST.format(where="") + ") GROUP BY node "
    "HAVING count(DISTINCT coalesce(class, '')) > 1"
)
NOTE = (
    "answers as they were before each label was given, so nothing was learned from these labels; "
    "nodes of the queues are harder than others, so the accuracy on all nodes is likely higher"
)
HELD = (
    "before: the answers that stood when each label was given; after: the new model, asked for "
    "each label without having been shown it"
)
TOO_FEW = "ten or more labels that name a class are needed to say how right the new answers are"
MANY = 500  # nodes that are asked for in one query


def give(
    db: sqlite3.Connection,
    person: str,
    answers: list[dict[str, Any]],
    was: list[tuple[str | None, float | None]],
    version: int,
) -> list[dict[str, Any]]:
    """Store answers, with what the model said before; return them with their numbers."""
    found = []
    for answer, before in zip(answers, was, strict=True):
        at = put(db, person, answer, before, version)
        votes = _votes(
            db.execute(LATEST.format(where="AND node = ?"), (answer["id"],) * 2).fetchall()
        )
        found.append(
            {
                "answer_id": at,
                "id": answer["id"],
                "kind": answer["kind"],
                "class": answer["class"],
                "disagreement": len(set(votes.get(answer["id"], {}).values())) > 1,
            }
        )
    return found


def put(
    db: sqlite3.Connection,
    person: str,
    answer: dict[str, Any],
    was: tuple[str | None, float | None],
    version: int,
) -> int | None:
    """Store an answer, with what the model said before; return its number."""
    names = ("id", "kind", "class")
    values = (*(answer[name] for name in names), person, answer.get("queue"))
    return db.execute(
        "INSERT INTO answers (node, kind, class, person, queue, at, version, was, was_confidence) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*values, answer.get("at") or now(), version, *was),
    ).lastrowid


def undo(db: sqlite3.Connection, person: str, answer_id: int | None) -> dict[str, Any]:
    """Take back an answer of this person: this one, or the latest that stands."""
    query, values = "SELECT * FROM answers WHERE undone IS NULL AND person = ?", [person]
    if answer_id is not None:
        query, values = query + " AND answer_id = ?", [person, str(answer_id)]
    row = db.execute(query + " ORDER BY answer_id DESC LIMIT 1", values).fetchone()
    if row is None:
        which = "answer" if answer_id is None else f"answer {answer_id}"
        raise ApiError(404, f"{person!r} has no {which} left to undo", "answer_id")
    db.execute("UPDATE answers SET undone = ? WHERE answer_id = ?", (now(), row["answer_id"]))
    return {"undone": row["answer_id"], "id": row["node"]}


def _votes(rows: list[sqlite3.Row]) -> dict[str, dict[str, str]]:
    """Return the class that each person gave each node; "" is none of these."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        found[row["node"]][row["person"]] = row["class"] or ""
    return found


def votes(store: Store, nodes: list[str] | None = None) -> dict[str, dict[str, str]]:
    """Return the class that each person gave each of these nodes; all when left out."""
    if nodes is None:
        return _votes(store.all(LATEST.format(where="")))
    found: dict[str, dict[str, str]] = {}
    for lo in range(0, len(nodes), MANY):
        part = nodes[lo : lo + MANY]
        marks = ", ".join("?" * len(part))
        found |= _votes(store.all(LATEST.format(where=f"AND node IN ({marks})"), *part, *part))
    return found


def agreed(said: dict[str, str]) -> str | None:
    """Return what most people say, "" for none of these; None where they disagree."""
    counts = Counter(said.values()).most_common(2)
    if len(counts) == 2 and counts[0][1] == counts[1][1]:
        return None
    return counts[0][0]


def label_of(said: dict[str, str] | None, served: Served) -> dict[str, Any] | None:
    """Return the label of a node as a brief shows it."""
    if not said:
        return None
    found = agreed(said)
    if found is None:
        return {"disagreement": True}
    return {"class": served.position.get(found) if found else None, "name": found or NONE_OF_THESE}


def with_labels(store: Store, served: Served, positions: list[int]) -> list[dict[str, Any]]:
    """Return briefs of these nodes, with what people said about them."""
    said = votes(store, [served.ids[i] for i in positions])
    return [served.brief(i, label_of(said.get(served.ids[i]), served)) for i in positions]


def to_learn(store: Store) -> tuple[dict[str, str], list[str]]:
    """Return what people agree on by node id, "" for none of these, and where they do not agree."""
    settled = {node: agreed(said) for node, said in votes(store).items()}
    found = {node: name for node, name in settled.items() if name is not None}
    return found, [node for node in settled if node not in found]


def answers_of(store: Store, node: str, served: Served) -> list[dict[str, Any]]:
    """Return everything that was said about a node and stands, the latest first."""
    rows = store.all(
        "SELECT * FROM answers WHERE node = ? AND undone IS NULL ORDER BY answer_id DESC", node
    )
    return [
        {
            "answer_id": row["answer_id"],
            "person": row["person"],
            "kind": row["kind"],
            "class": served.position.get(row["class"]) if row["class"] else None,
            "name": row["class"],
            "at": row["at"],
        }
        for row in rows
    ]


def wilson(right: int, of: int) -> dict[str, Any]:
    """Return a share with its Wilson interval at 95 %.

    >>> {name: round(value, 3) for name, value in wilson(7, 10).items()}
    {'right': 7, 'of': 10, 'value': 0.7, 'low': 0.397, 'high': 0.892}
    """
    from scipy.stats import binomtest

    interval = binomtest(right, of).proportion_ci(0.95, "wilson")
    return {
        "right": right,
        "of": of,
        "value": right / of,
        "low": float(interval.low),
        "high": float(interval.high),
    }


def _answered(store: Store) -> list[tuple[str, str, str, str]]:
    """Return node, what was answered before people spoke, the label, and the queue of each node."""
    settled = {node: agreed(said) for node, said in votes(store).items()}
    rows = store.all(  # the first answer about a node met a model that knew nothing of it
        "SELECT node, was, queue FROM answers WHERE answer_id IN (SELECT min(answer_id) FROM "
        "answers WHERE was IS NOT NULL GROUP BY node)"
    )
    return [
        (row["node"], row["was"], label or NONE_OF_THESE, row["queue"] or "view")
        for row in rows
        if (label := settled.get(row["node"])) is not None
    ]


def accuracy(store: Store) -> dict[str, Any] | None:
    """Return how often the answer before a label was given agrees with the label."""
    by_queue: dict[str, list[bool]] = defaultdict(list)
    for _, was, label, queue in _answered(store):
        by_queue[queue].append(was == label)
    everything = [right for each in by_queue.values() for right in each]
    if not everything:
        return None
    return wilson(sum(everything), len(everything)) | {
        "method": "Wilson 95 %",
        "note": NOTE,
        "by_queue": [
            {"queue": queue} | wilson(sum(each), len(each))
            for queue, each in sorted(by_queue.items())
        ],
    }


def compared(store: Store, held_out: dict[str, str] | None) -> dict[str, Any]:
    """Return how often answers before and after learning are right, on the same nodes.

    Args:
        held_out: what the model that learned says of nodes whose label it was not shown; None
            where too few people spoke to hold some of it back.
    """
    answered = [(node, was, label) for node, was, label, _ in _answered(store)]
    both = [each for each in answered if held_out is not None and each[0] in held_out]
    if held_out is None or not both:
        return {"before": accuracy(store), "after": None, "note": TOO_FEW}
    before = sum(was == label for _, was, label in both)
    after = sum(held_out[node] == label for node, _, label in both)
    return {"before": wilson(before, len(both)), "after": wilson(after, len(both)), "note": HELD}


def counts(store: Store) -> dict[str, int]:
    """Return how much was said, by how many, and on how many nodes people disagree."""
    row = store.one(
        "SELECT count(*), count(DISTINCT person) FROM answers WHERE undone IS NULL "
        "AND kind != 'skip'"
    )
    apart = store.number(f"SELECT count(*) FROM ({APART})")
    return {"answers": row[0] if row else 0, "people": row[1] if row else 0, "disagreements": apart}
