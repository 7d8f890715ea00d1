"""What people said and added, in SQLite beside the run: on disk before it is acknowledged.

Write-ahead log with `synchronous=FULL`: a commit returns after the log was synced, so whatever was
acknowledged survives a kill and a power cut. Every process and thread has a connection of its own.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS answers (
  answer_id INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT NOT NULL, kind TEXT NOT NULL, class TEXT,
  person TEXT NOT NULL, queue TEXT, at TEXT NOT NULL, version INTEGER, was TEXT,
  was_confidence REAL, undone TEXT);
CREATE INDEX IF NOT EXISTS answers_node ON answers (node);
CREATE INDEX IF NOT EXISTS answers_person ON answers (person, answer_id);
CREATE TABLE IF NOT EXISTS nodes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, batch INTEGER NOT NULL, id TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL, person TEXT NOT NULL, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS edges (
  batch INTEGER NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL, weight REAL NOT NULL);
CREATE INDEX IF NOT EXISTS edges_source ON edges (source);
CREATE INDEX IF NOT EXISTS edges_target ON edges (target);
CREATE TABLE IF NOT EXISTS node_answers (
  seq INTEGER NOT NULL, version INTEGER NOT NULL, posterior BLOB NOT NULL, answer TEXT NOT NULL,
  PRIMARY KEY (seq, version));
CREATE TABLE IF NOT EXISTS idempotency (
  key TEXT PRIMARY KEY, digest TEXT NOT NULL, status INTEGER NOT NULL, body TEXT NOT NULL,
  at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS versions (
  number INTEGER PRIMARY KEY, parent INTEGER, kind TEXT NOT NULL, state TEXT NOT NULL,
  note TEXT NOT NULL, person TEXT, at TEXT NOT NULL, classes INTEGER NOT NULL,
  labels INTEGER NOT NULL, folded INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, state TEXT NOT NULL, stage TEXT,
  done INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0, fraction REAL NOT NULL
  DEFAULT 0, person TEXT NOT NULL, started TEXT NOT NULL, ended TEXT, version INTEGER, error TEXT,
  result TEXT, request TEXT NOT NULL, pid INTEGER);
"""
PATIENCE = 15.0  # seconds that a writer waits for another one
KEPT_KEYS = 100_000  # idempotency keys that are remembered


def now() -> str:
    """Return the time as it is written everywhere."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class KeyReusedError(Exception):
    """An idempotency key came with another request than the first time."""


class Store:
    """The database of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self.write() as db:
                for statement in SCHEMA.split(";\n"):
                    if statement.strip():
                        db.execute(statement)
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"{path}: cannot be written ({error}), and labels are kept there; give a run in a "
                "folder that can be written, on a disk of this machine"
            ) from error

    @property
    def db(self) -> sqlite3.Connection:
        """The connection of this thread."""
        found: sqlite3.Connection | None = getattr(self._local, "db", None)
        if found is None:
            found = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            found.row_factory = sqlite3.Row
            found.execute("PRAGMA journal_mode=WAL")
            found.execute("PRAGMA synchronous=FULL")
            self._local.db = found
        return found

    def close(self) -> None:
        """Close the connection of this thread."""
        found = getattr(self._local, "db", None)
        if found is not None:
            found.close()
            self._local.db = None

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Give a connection inside a transaction; it is on disk when the block is left."""
        db = self.db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def all(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """Return the rows of a query."""
        return self.db.execute(query, values).fetchall()

    def one(self, query: str, *values: Any) -> sqlite3.Row | None:
        """Return the first row of a query."""
        found: sqlite3.Row | None = self.db.execute(query, values).fetchone()
        return found

    def number(self, query: str, *values: Any) -> int:
        """Return a count."""
        found = self.one(query, *values)
        return int(found[0] or 0) if found is not None else 0

    def get(self, key: str) -> str | None:
        """Return a value that was set."""
        found = self.one("SELECT value FROM meta WHERE key = ?", key)
        return None if found is None else str(found[0])

    def once(
        self,
        key: str | None,
        request: Any,
        work: Callable[[sqlite3.Connection], tuple[int, dict[str, Any]]],
    ) -> tuple[int, dict[str, Any], bool]:
        """Do a write and remember its answer in the same transaction; a repeat does nothing.

        Args:
            key: of idempotency; None does the work each time.
            request: what is asked, so that a key cannot stand for two things.
            work: is given the connection, and returns status and answer.

        Returns:
            Status, answer, and whether it is a repeat.
        """
        digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        with self.write() as db:
            if key is not None:
                found = db.execute("SELECT * FROM idempotency WHERE key = ?", (key,)).fetchone()
                if found is not None:
                    if found["digest"] != digest:
                        raise KeyReusedError(key)
                    return int(found["status"]), json.loads(found["body"]), True
            status, body = work(db)
            if key is not None:
                db.execute(
                    "INSERT INTO idempotency VALUES (?, ?, ?, ?, ?)",
                    (key, digest, status, json.dumps(body), now()),
                )
                db.execute(
                    "DELETE FROM idempotency WHERE rowid <= (SELECT max(rowid) FROM idempotency) "
                    "- ?",
                    (KEPT_KEYS,),
                )
        return status, body, False
