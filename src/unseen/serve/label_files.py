"""Labels as files: a table (CSV), or tasks of Label Studio with predictions and their scores.

Label Studio: https://labelstud.io/guide/tasks (a list of tasks with `data`, `annotations` and
`predictions`, each with a `result` of `choices`).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.classes import NONE_OF_THESE, tidy
from unseen.core.escape import formula, without_apostrophe
from unseen.io.columns import strings
from unseen.io.tables import parse_table
from unseen.serve import added
from unseen.serve.errors import ApiError
from unseen.serve.schemas import plain

if TYPE_CHECKING:
    from unseen.serve.state import Held

COLUMNS = ("id", "class", "kind", "person", "at", "queue", "was", "was_confidence")
QUEUES = ("errors", "teach", "view")
KINDS = ("class", "none", "skip")
MOST = 100_000  # rows of a file
PROBLEMS = 20  # of a file that are told
Where = Callable[[], str]  # told of problems only: it may look through the whole file
Rows = list[tuple[Where, dict[str, Any]]]


def note(problems: list[str], where: Where, why: str) -> None:
    """Note what is wrong with a row; those beyond the first are only counted."""
    problems.append(f"{where()}: {why}" if len(problems) < PROBLEMS else "")


def write_csv(held: Held, spreadsheet: bool = False) -> str:
    """Return all answers that stand as a table; for a spreadsheet without formulas of users."""
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(COLUMNS)
    for row in _rows(held):
        cells = [row["node"], *(row[name] for name in COLUMNS[1:])]
        if spreadsheet:
            cells = [formula(cell) if isinstance(cell, str) else cell for cell in cells]
        table.writerow(cells)
    return out.getvalue()


def _rows(held: Held) -> list[Any]:
    return held.store.all("SELECT * FROM answers WHERE undone IS NULL ORDER BY answer_id")


def write_label_studio(held: Held) -> str:
    """Return one task a node that was answered, with what people said and what is predicted."""
    tasks: dict[str, dict[str, Any]] = {}
    for row in _rows(held):
        task = tasks.setdefault(row["node"], _task(held, row["node"]))
        if row["kind"] == "skip":
            continue
        task["annotations"].append(
            {
                "completed_by": {"email": row["person"]},
                "created_at": row["at"],
                "result": [_choice(row["class"] or NONE_OF_THESE)],
            }
        )
    return json.dumps(list(tasks.values()), ensure_ascii=False, indent=1)


def _task(held: Held, node: str) -> dict[str, Any]:
    served, at = held.served, held.served.index.get(node)
    if at is not None:
        text, c, score = served.texts[at], int(served.label[at]), float(served.confidence[at])
    else:
        found = added.view(held, name=node) or {"text": "", "class": None, "confidence": 0.0}
        c = -1 if found["class"] is None else found["class"]
        text, score = found["text"], found["confidence"]
    return {
        "data": {"id": node, "text": text},
        "annotations": [],
        "predictions": [
            {
                "model_version": f"unseen version {served.number}",
                "score": round(float(np.clip(score, 0, 1)), 4),
                "result": [_choice(served.name(c)) | {"score": round(score, 4)}],
            }
        ],
    }


def _choice(name: str) -> dict[str, Any]:
    return {
        "from_name": "class",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": [name]},
    }


def read_csv(raw: bytes, person: str) -> tuple[Rows, list[str]]:
    """Return answers of a table with the columns id and class, and what was wrong with others.

    A cell without a class is no answer; "none of these" is one, by that name or by its kind.
    """
    table = parse_table(raw, "body.csv")
    table.require("id", "class")
    for name in COLUMNS[2:]:
        table.refuse_look_alike(name)
    _check_length(table.frame.height)
    found: Rows = []
    problems: list[str] = []
    cells = {name: strings(table, name) for name in COLUMNS if name in table.frame.columns}
    for at in range(table.frame.height):
        row = {name: without_apostrophe(column[at]) for name, column in cells.items()}
        name = row["class"].strip()
        kind = row.get("kind") or ("none" if name == NONE_OF_THESE else "class")
        _take(found, problems, partial(table.place, at), row["id"], kind, name, row, person)
    return found, problems


def read_label_studio(raw: bytes, person: str) -> tuple[Rows, list[str]]:
    """Return the annotations of an export; predictions are no answers."""
    try:
        tasks = json.loads(raw)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ApiError(422, "body: is not JSON; give an export of Label Studio", "body") from error
    if not isinstance(tasks, list):
        raise ApiError(422, "body: expected a list of tasks", "body")
    _check_length(len(tasks))
    found: Rows = []
    problems: list[str] = []
    for number, task in enumerate(tasks, 1):
        where = partial("task {}".format, number)
        data = task.get("data") if isinstance(task, dict) else None
        node = data.get("id") if isinstance(data, dict) else None
        if not isinstance(node, str | int):
            note(problems, where, "has no data.id")
            continue
        given = task.get("annotations") or []
        for one in given if isinstance(given, list) else []:
            names = _chosen(one)
            if len(names) != 1 or one.get("was_cancelled"):
                why = "was cancelled" if names else "has no choice"
                why = f"has {len(names)} choices" if len(names) > 1 else why
                note(problems, where, f"an annotation {why}; a node is of one class")
                continue
            name = names[0]
            who = one.get("completed_by")
            who = who.get("email") if isinstance(who, dict) else who
            more = {"person": None if who is None else str(who), "at": one.get("created_at")}
            kind = "none" if name == NONE_OF_THESE else "class"
            _take(found, problems, where, str(node), kind, name, more, person)
    return found, problems


def _chosen(one: Any) -> list[str]:
    """Return the choices of the first result that has any."""
    results = one.get("result") if isinstance(one, dict) else None
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        choices = value.get("choices") if isinstance(value, dict) else None
        if isinstance(choices, list) and choices and all(isinstance(c, str) for c in choices):
            return choices
    return []


def _take(
    found: Rows,
    problems: list[str],
    where: Where,
    node: Any,
    kind: str,
    name: Any,
    row: dict[str, Any],
    person: str,
) -> None:
    """Take an answer up, or say what is wrong with it."""
    if not node or kind not in KINDS:
        note(problems, where, "has no id" if not node else f"kind {kind!r} is unknown")
        return
    if kind == "class" and not name:
        note(problems, where, "has no class, and is no answer")
        return
    who, at = row.get("person"), row.get("at")
    try:
        for given in (str(node), name, who, at):
            if isinstance(given, str) and given.strip():
                plain(given, "cell")
    except ApiError as error:
        note(problems, where, str(error.detail))
        return
    who = who if isinstance(who, str) and 0 < len(who.strip()) <= 64 else person
    queue = row.get("queue") if row.get("queue") in QUEUES else None
    answer = {
        "id": str(node),
        "kind": kind,
        "class": tidy(str(name)) if kind == "class" else None,
        "queue": queue,
        "person": who,
        "at": at if isinstance(at, str) and 0 < len(at) <= 40 else None,
    }
    found.append((where, answer))


def _check_length(count: int) -> None:
    if count > MOST:
        raise ApiError(413, f"body: has more than {MOST:,} rows; send it in parts", "body")
