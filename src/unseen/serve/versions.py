"""Versions of a run: the run as it came is the first, and no version is ever changed.

    run/serve/  store.sqlite  versions/0002/ (a whole run)  arrays/0001/ (made of version 1)

Which one is current stands in the store, so that all workers see the same.
"""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.io.atomic import MANIFEST, check_folder
from unseen.record import read_record
from unseen.serve.arrays import fresh, write_arrays
from unseen.serve.errors import ApiError
from unseen.serve.served import Served
from unseen.serve.store import Store, now

if TYPE_CHECKING:
    from unseen.answer import Case
    from unseen.encode.base import Progress

FIRST = 1
ARRAYS_KEPT = 3  # versions whose arrays stay; others are made again when they are asked for


class Versions:
    """The versions of a run, its store and its arrays."""

    def __init__(self, run: Path) -> None:
        self.run = run.resolve()  # where a link leads now; it may lead elsewhere later
        self.home = self.run / "serve"
        check_folder(self.run)
        record = read_record(self.run)
        self.store = Store(self.home / "store.sqlite")
        with self.store.write() as db:
            db.execute(
                "INSERT OR IGNORE INTO versions VALUES (?, NULL, 'run', 'kept', 'the run', NULL, "
                "?, ?, ?, 0)",
                (FIRST, now(), len(record["classes"]), record["graph"]["labelled"]),
            )
            db.execute("INSERT OR IGNORE INTO meta VALUES ('current', ?)", (str(FIRST),))

    def folder(self, number: int) -> Path:
        """Return the run folder of a version."""
        return self.run if number == FIRST else self.home / "versions" / f"{number:04d}"

    def arrays(self, number: int) -> Path:
        """Return where the arrays of a version are, or will be."""
        return self.home / "arrays" / f"{number:04d}"

    @property
    def current(self) -> int:
        """The version that is served."""
        return int(self.store.get("current") or FIRST)

    @property
    def candidate(self) -> int | None:
        """A version that waits to be kept or discarded."""
        found = self.store.one("SELECT number FROM versions WHERE state = 'candidate'")
        return None if found is None else int(found[0])

    def row(self, number: int) -> sqlite3.Row:
        """Return what is known about a version."""
        found = self.store.one("SELECT * FROM versions WHERE number = ?", number)
        if found is None:
            raise ApiError(404, f"there is no version {number}; GET /versions lists them", "number")
        return found

    def list(self) -> list[dict[str, Any]]:
        """Return all versions, the latest first."""
        return [shown(row) for row in self.store.all("SELECT * FROM versions ORDER BY number DESC")]

    def ensure(
        self,
        number: int,
        progress: Progress | None = None,
        in_hand: tuple[Any, Case, Path] | None = None,
    ) -> Path:
        """Return the arrays of a version; one process makes them where they are not there.

        `in_hand`: its classifier and case, and arrays of a version of the same nodes.
        """
        run, arrays = self.folder(number), self.arrays(number)
        if not fresh(arrays, run):
            with self._alone():
                if not fresh(arrays, run):
                    check_folder(run)
                    parent = FIRST if number != FIRST else None
                    if parent is not None and not (self.arrays(parent) / "places.npy").is_file():
                        parent = None
                    earlier = None if parent is None else self.arrays(parent)
                    shutil.rmtree(arrays, ignore_errors=True)
                    if in_hand is None:
                        write_arrays(run, arrays, earlier, progress)
                    else:
                        write_arrays(run, arrays, in_hand[2], progress, in_hand[:2])
        return arrays

    def load(self, number: int) -> Served:
        """Return a version, ready to be served."""
        return Served(number, self.folder(number), self.ensure(number))

    def next_number(self, db: sqlite3.Connection) -> int:
        """Return the number of a version to come."""
        return int(db.execute("SELECT max(number) FROM versions").fetchone()[0]) + 1

    def tidy(self) -> None:
        """Remove arrays that are not needed, and folders that no version speaks of."""
        keep = {FIRST, self.current, self.candidate}
        numbers = [row["number"] for row in self.store.all("SELECT number FROM versions")]
        keep |= set(sorted(numbers)[-ARRAYS_KEPT:])
        for folder in (self.home / "arrays").glob("[0-9]*"):
            if folder.name.isdecimal() and int(folder.name) not in keep:
                shutil.rmtree(folder, ignore_errors=True)
        gone = "SELECT number FROM versions WHERE state = 'discarded' AND number > ?"
        for row in self.store.all(gone, FIRST):  # the first is the run itself
            shutil.rmtree(self.folder(row["number"]), ignore_errors=True)
            shutil.rmtree(self.arrays(row["number"]), ignore_errors=True)

    def made(self, number: int) -> bool:
        """Tell whether the folder of a version is whole."""
        return (self.folder(number) / MANIFEST).is_file()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self.home.mkdir(exist_ok=True)
        with (self.home / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def shown(row: sqlite3.Row) -> dict[str, Any]:
    """Return a version as the API shows it."""
    names = ("number", "parent", "kind", "state", "note", "person", "at", "classes", "labels")
    return {name: row[name] for name in names}
