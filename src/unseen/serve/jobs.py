"""Jobs: work that takes longer than a request, done by a process of its own.

The process writes its progress into the store, so every worker can tell, and finishes whether or
not the worker that started it lives on. One job runs at a time.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unseen.serve.errors import ApiError
from unseen.serve.store import Store, now

WORK = "unseen.serve.work"  # what does the work of a job
OPEN = ("queued", "running")
UNBORN = 60.0  # seconds after which a job that no process was started for is given up
STOPPED = "the job was stopped before it was done; start it again"


def shown(row: sqlite3.Row) -> dict[str, Any]:
    """Return a job as the API shows it."""
    names = ("kind", "state", "stage", "done", "total", "fraction", "person", "started", "ended")
    return {
        "id": f"j{row['id']}",
        **{name: row[name] for name in names},
        "version": row["version"],
        "error": row["error"],
        "result": None if row["result"] is None else json.loads(row["result"]),
    }


def running(store: Store) -> dict[str, Any] | None:
    """Return the job that is under way, if there is one."""
    row = store.one("SELECT * FROM jobs WHERE state IN ('queued', 'running') ORDER BY id DESC")
    if row is None:
        return None
    if _gone(row):
        settle(store, row["id"], "failed", STOPPED)
        return None
    return shown(row)


def _gone(row: sqlite3.Row) -> bool:
    """Tell whether nobody works on a job that has not ended."""
    if row["pid"] is not None:
        return not alive(row["pid"], row["id"])
    age = datetime.now(UTC) - datetime.fromisoformat(row["started"])
    return age.total_seconds() > UNBORN


def alive(pid: int, number: int) -> bool:
    """Tell whether the process of a job is at work.

    The store may be older than the machine's last start, or come from another machine: the process
    of that number may be somebody else's by now.
    """
    words = _command(pid)
    return words is not None and (not words or _works_on(words, number))


def _works_on(words: list[str], number: int) -> bool:
    """Tell whether a command is that of a job: [..., WORK, run, number]."""
    return words[-3:][::2] == [WORK, str(number)]


def _command(pid: int) -> list[str] | None:
    """Return the words a process was started with: none yet at its very start; None: it ended."""
    if pid <= 1:
        return None
    try:
        if Path("/proc/self/stat").is_file():
            state = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2]
            said = Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
            return None if state.split()[0] == "Z" else said.split("\0")[:-1]
        shown = ["ps", "-ww", "-o", "args=", "-p", str(pid)]  # macOS
        said = subprocess.run(shown, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    before, _, after = said.strip().partition(f" {WORK} ")
    return [before, WORK, *after.rsplit(" ", 1)] if after else [before]


def get(store: Store, name: str) -> dict[str, Any]:
    """Return a job by its id."""
    number = name.removeprefix("j")
    row = None
    if number.isascii() and number.isdecimal() and len(number) < 16:
        running(store)  # settles one whose process is gone
        row = store.one("SELECT * FROM jobs WHERE id = ?", int(number))
    if row is None:
        raise ApiError(404, f"there is no job {name!r}; GET /jobs lists them", "id")
    return shown(row)


def learned(store: Store, version: int) -> dict[str, Any] | None:
    """Return what a version has learned from, and how right it is; None where it has not."""
    row = store.one("SELECT result FROM jobs WHERE version = ? AND kind = 'learn'", version)
    if row is None or row["result"] is None:
        return None
    result = json.loads(row["result"])
    names = ("labels", "outsiders", "left_out", "accuracy")
    return {name: result[name] for name in names} if set(names) <= set(result) else None


def queue(
    db: sqlite3.Connection, kind: str, person: str, request: dict[str, Any]
) -> dict[str, Any]:
    """Put a job down, inside a transaction; `start` sets it to work afterwards."""
    busy = db.execute("SELECT * FROM jobs WHERE state IN ('queued', 'running')").fetchone()
    if busy is not None and not _gone(busy):
        raise ApiError(
            409, f"job j{busy['id']} is under way; wait for it or cancel it", None, "job_running"
        )
    at = db.execute(
        "INSERT INTO jobs (kind, state, stage, person, started, request) "
        "VALUES (?, 'queued', 'wait', ?, ?, ?)",
        (kind, person, now(), json.dumps(request)),
    ).lastrowid
    return shown(db.execute("SELECT * FROM jobs WHERE id = ?", (at,)).fetchone())


def start(store: Store, run: Path, name: str) -> None:
    """Set a job to work in a process of its own, below the priority of what answers requests."""
    number = int(name.removeprefix("j"))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", WORK, str(run), str(number)],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    with store.write() as db:
        db.execute("UPDATE jobs SET pid = ? WHERE id = ?", (process.pid, number))

    def wait() -> None:
        if process.wait() != 0:
            settle(store, number, "failed", STOPPED)

    threading.Thread(target=wait, name=f"job {number}", daemon=True).start()


def settle(store: Store, number: int, state: str, error: str | None) -> None:
    """End a job that did not end by itself."""
    with store.write() as db:
        db.execute(
            "UPDATE jobs SET state = ?, error = ?, ended = ? WHERE id = ? AND state IN "
            "('queued', 'running')",
            (state, error, now(), number),
        )


def cancel(store: Store, name: str) -> dict[str, Any]:
    """Stop a job; what it made so far is no version."""
    found = get(store, name)
    if found["state"] not in OPEN:
        raise ApiError(409, f"job {name!r} is {found['state']} already", "id")
    number = int(name.removeprefix("j"))
    row = store.one("SELECT pid FROM jobs WHERE id = ?", number)
    settle(store, number, "cancelled", None)
    if row is not None and row["pid"] and _works_on(_command(row["pid"]) or [], number):
        os.kill(row["pid"], signal.SIGTERM)
    return get(store, name)
