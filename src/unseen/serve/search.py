"""Search over all nodes by id and text: a full-text index of SQLite beside the arrays."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TABLE = "CREATE VIRTUAL TABLE found USING fts5(id, text, content='', tokenize='unicode61')"
WORD = re.compile(r"[^\W_]+")
SNIPPET = 160  # characters of a text that are shown
BEFORE = 40  # of them before the first word that was found


def write_search(path: Path, ids: Sequence[str], texts: Sequence[str]) -> None:
    """Write the index; row i + 1 is node i."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=OFF")
    db.execute("PRAGMA synchronous=OFF")  # the folder is whole or not there
    db.execute(TABLE)
    rows = (
        (i + 1, _clean(each), _clean(text))
        for i, (each, text) in enumerate(zip(ids, texts, strict=True))
    )
    db.executemany("INSERT INTO found (rowid, id, text) VALUES (?, ?, ?)", rows)
    db.commit()
    db.close()


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def query_of(q: str) -> str | None:
    """Return a query that asks for all words, each as a beginning; None where there is none."""
    words = WORD.findall(_clean(q))
    return " ".join(f'"{word}"*' for word in words) or None


def search(path: Path, q: str, limit: int, offset: int) -> list[int]:
    """Return positions of nodes that have all words, best first."""
    asked = query_of(q)
    if asked is None:
        return []
    db = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        found = db.execute(
            "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank, rowid LIMIT ? OFFSET ?",
            (asked, limit, offset),
        ).fetchall()
    finally:
        db.close()
    return [int(row[0]) - 1 for row in found]


def snippet(text: str, q: str) -> str:
    """Return the part of a text around the first word that was found, as plain text."""
    plain = " ".join(text.split())
    at = min(
        (place for word in WORD.findall(q) if (place := plain.lower().find(word.lower())) >= 0),
        default=0,
    )
    lo = max(at - BEFORE, 0)
    part = plain[lo : lo + SNIPPET]
    return f"{'…' if lo else ''}{part}{'…' if lo + SNIPPET < len(plain) else ''}"


def matches(node: str, q: str) -> str:
    """Tell whether it was the id that was found, or the text."""
    words: list[Any] = [word.lower() for word in WORD.findall(q)]
    return "id" if words and all(word in node.lower() for word in words) else "text"
