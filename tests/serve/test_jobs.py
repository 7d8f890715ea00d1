"""Jobs and versions by a store that says more than is true: nobody else is hurt."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from serve.conftest import Connect
from unseen.io.atomic import check_folder
from unseen.serve import jobs
from unseen.serve.versions import Versions


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with any run."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_number_that_somebody_else_has_now_is_no_job(
    one_run: Path, connect: Connect, stranger: subprocess.Popen[bytes]
) -> None:
    while not jobs._command(stranger.pid):
        time.sleep(0.01)
    versions = Versions(one_run)
    with versions.store.write() as db:
        for pid in (stranger.pid, 1, -1, 0):
            db.execute(
                "INSERT INTO jobs (kind, state, person, started, request, pid) VALUES "
                "('learn', 'running', 'Ada', '2026-01-01T00:00:00.000Z', '{}', ?)",
                (pid,),
            )
    assert not jobs.alive(stranger.pid, 1)
    with connect(one_run) as client:
        for name in ("j1", "j2", "j3", "j4"):
            client.post(f"/jobs/{name}/cancel", json={"person": "Ada"})
            assert client.get(f"/jobs/{name}").json()["state"] in ("cancelled", "failed")
        assert client.get("/run").json()["job"] is None
    assert stranger.poll() is None


def test_a_process_of_a_job_is_known_by_its_command(tmp_path: Path) -> None:
    wait = "import sys; input()"
    words = [sys.executable, "-c", wait, jobs.WORK, str(tmp_path / "a b"), "7"]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert jobs.alive(process.pid, 7)  # from its very start
        while not jobs._command(process.pid):
            time.sleep(0.01)
        assert jobs.alive(process.pid, 7)
        assert not jobs.alive(process.pid, 8)
        process.kill()
        process.wait()
        assert not jobs.alive(process.pid, 7)


def test_the_run_itself_is_never_discarded(one_run: Path) -> None:
    versions = Versions(one_run)
    (versions.home / "arrays" / "2 copy").mkdir()
    with versions.store.write() as db:
        db.execute("UPDATE versions SET state = 'discarded'")
    versions.tidy()
    check_folder(one_run)
    assert (versions.home / "arrays" / "2 copy").is_dir()
