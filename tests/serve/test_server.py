"""Whole servers: versions kept and taken up by all workers, runs swapped, kills survived."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from forks import Forks
from serve.processes import PATIENCE, ForkedServer, Server, fetched, finished
from unseen.io.atomic import check_folder

KILLS = int(os.environ.get("UNSEEN_KILLS", "50"))
PEOPLE = 4  # that label and add nodes at the same time


@pytest.fixture
def server(one_run: Path, tmp_path: Path) -> Iterator[Server]:
    """A server with two workers."""
    with Server(one_run, "--workers", "2", log=tmp_path / "log") as found:
        yield found


def versions_seen(url: str, times: int = 20) -> set[int]:
    """Ask on connections of their own, so that every worker is met; return what they serve."""
    return {int(fetched(f"{url}/ready")["version"]) for _ in range(times)}


def settles(url: str, version: int) -> bool:
    """Wait until all workers serve a version."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if versions_seen(url) == {version}:
            return True
    return False


class Asking:
    """Somebody who asks all the time, and counts what was not answered."""

    def __init__(self, url: str) -> None:
        self.url, self.count, self.failed = url, 0, []  # type: ignore[var-annotated]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        with httpx.Client(base_url=self.url, timeout=60) as client:
            while not self._stop.is_set():
                try:
                    found = client.get(f"/nodes/n{1 + self.count % 4}")
                    if found.status_code != 200:
                        self.failed.append(found.text)
                except httpx.TransportError as error:
                    self.failed.append(repr(error))
                self.count += 1

    def __enter__(self) -> Asking:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()


def test_people_teach_learn_and_keep(server: Server, one_run: Path) -> None:
    before = {path: path.read_bytes() for path in one_run.glob("*.*") if path.is_file()}
    with httpx.Client(base_url=server.url, timeout=60) as client, Asking(server.url) as asking:
        assert versions_seen(server.url) == {1}
        names = [c["name"] for c in client.get("/classes").json()["items"]]
        items = client.get("/queue?kind=errors&limit=8").json()["items"]
        answers = [{"id": node["id"], "class": names[node["top"][1]["class"]]} for node in items]
        given = client.post("/labels", json={"person": "Ada", "answers": answers})
        assert given.status_code == 201
        nodes = [{"id": "late", "text": "a verdict of the court"}]
        edges = [{"source": "late", "target": "n8"}]
        body = {"person": "Bob", "nodes": nodes, "edges": edges}
        assert client.post("/nodes", json=body).status_code == 201
        job = client.post("/learn", json={"person": "Ada"})
        assert job.status_code == 202
        twice = client.post("/learn", json={"person": "Bob"})
        assert twice.status_code == 409
        done = finished(client, job.json()["id"])
        assert done["state"] == "done", done
        number = done["version"]
        assert done["result"]["labels"] == 8
        assert done["result"]["added_nodes"] == 1
        assert done["result"]["accuracy"]["before"]["of"] == 8
        assert (
            done["result"]["accuracy"]["before"]["right"] == 0
        )  # they said another class each time
        assert versions_seen(server.url) == {1}  # a candidate is not served
        assert client.post("/learn", json={"person": "Bob"}).status_code == 409
        changed = client.get(f"/versions/{number}/changes").json()
        assert changed["total"] == done["result"]["changed"] >= 8
        assert sum(each["nodes"] for each in changed["moved"]) == changed["total"]
        kept = client.post(f"/versions/{number}/keep", json={"person": "Ada"})
        assert kept.json()["state"] == "kept"
        assert settles(server.url, number)
        view = client.get("/nodes/late").json()
        assert (view["added"], view["position"]) == (False, 360)
        label = client.get(f"/nodes/{answers[0]['id'].replace('/', '%2F')}").json()
        assert (label["known"], names[label["class"]]) == (True, answers[0]["class"])
        back = client.post("/versions/1/activate", json={"person": "Ada"})
        assert back.status_code == 200
        assert settles(server.url, 1)
        assert client.get("/nodes/late").json()["added"] is True
    assert asking.failed == []
    assert asking.count > 20
    check_folder(one_run)
    check_folder(one_run / "serve" / "versions" / f"{number:04d}")
    assert {path: path.read_bytes() for path in before} == before  # the run is as it was
    assert server.stop() == 0


def test_classes_are_kept_and_a_candidate_is_discarded(server: Server, one_run: Path) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        change = {"changes": [{"name": "sauces", "description": "sauce, garlic, onion"}]}
        shown = client.post("/classes/preview", json=change).json()
        job = client.post("/classes", json=change | {"person": "Ada"}).json()
        done = finished(client, job["id"])
        assert done["state"] == "done", done
        assert settles(server.url, done["version"])
        sizes = {c["name"]: c["nodes"] for c in client.get("/classes").json()["items"]}
        for each in shown["classes"]:
            assert abs(each["after"] - sizes[each["name"]]) <= 1
        body = {"person": "Ada", "answers": [{"id": "n8", "class": "sauces"}]}
        client.post("/labels", json=body)
        done = finished(client, client.post("/learn", json={"person": "Ada"}).json()["id"])
        gone = client.post(f"/versions/{done['version']}/discard", json={"person": "Ada"})
        assert gone.json()["state"] == "discarded"
        assert not (one_run / "serve" / "versions" / "0003").exists()
        assert client.get("/versions").json()["current"] == 2
        again = client.post(f"/versions/{done['version']}/keep", json={"person": "Ada"})
        assert again.status_code == 409


def test_a_job_can_be_cancelled(server: Server) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        body = {"person": "Ada", "answers": [{"id": "n8", "class": "law"}]}
        client.post("/labels", json=body)
        job = client.post("/learn", json={"person": "Ada"}).json()["id"]
        found = client.post(f"/jobs/{job}/cancel", json={"person": "Ada"}).json()
        assert found["state"] == "cancelled"
        assert client.get("/versions").json()["items"][0]["number"] == 1
        assert client.get("/run").json()["job"] is None


def test_a_run_is_swapped_without_a_failed_request(
    runs: Path, one_run: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(runs / "belief", other)
    link = tmp_path / "current"
    link.symlink_to(one_run)
    with (
        Server(link, "--workers", "2", log=tmp_path / "log") as server,
        Asking(server.url) as asking,
    ):
        assert fetched(f"{server.url}/run")["model"] == "PooledEM"
        new = tmp_path / "new"
        new.symlink_to(other)
        new.replace(link)
        until = time.monotonic() + PATIENCE
        models: set[str] = set()
        while models != {"BeliefPropagation"} and time.monotonic() < until:
            models = {fetched(f"{server.url}/run")["model"] for _ in range(10)}
        assert models == {"BeliefPropagation"}
    assert asking.failed == []


def test_a_worker_that_dies_is_replaced(server: Server) -> None:
    lines = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    if not lines.is_file():
        pytest.skip("the workers of a process are listed on Linux only")
    children = [int(pid) for pid in lines.read_text().split()]
    workers = [pid for pid in children if b"spawn_main" in _command(pid)]
    assert len(workers) == 2
    os.kill(workers[0], 9)
    time.sleep(1)
    server.wait()
    assert fetched(f"{server.url}/run")["version"] == 1


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_kills(one_run: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    sent: dict[str, dict[str, Any]] = {}  # everything that was ever asked, by its key
    acknowledged: dict[str, dict[str, Any]] = {}

    clients = [httpx.Client(timeout=30) for _ in range(PEOPLE)]  # slow to make

    def person(who: int, url: str, round: int) -> None:
        client = clients[who]
        for k in range(10_000):
            key = f"{who}-{round}-{k}"
            if k % 3:
                path = "/labels"
                node = f"n{1 + (7 * k + who) % 4}"
                body = {"person": key, "answers": [{"id": node, "class": "law"}]}
            else:
                path, body = "/nodes", {"person": key, "nodes": [{"id": key, "text": "oven"}]}
            sent[key] = {"path": path, "body": body}
            try:
                found = client.post(url + path, json=body, headers={"Idempotency-Key": key})
            except httpx.TransportError:
                return
            assert found.status_code == 201, found.text
            acknowledged[key] = found.json()

    with Forks() as forks:
        ForkedServer(forks, one_run, tmp_path / "log").stop()  # it imports all it needs
        for round in range(KILLS):
            with ForkedServer(forks, one_run, tmp_path / "log") as server:
                threads = [
                    threading.Thread(target=person, args=(who, server.url, round))
                    for who in range(PEOPLE)
                ]
                for thread in threads:
                    thread.start()
                wanted = len(acknowledged) + int(rng.integers(1, 20))
                until = time.monotonic() + PATIENCE
                while len(acknowledged) < wanted and time.monotonic() < until:
                    time.sleep(0.001)
                time.sleep(float(rng.uniform(0, 0.02)))
                server.kill()
                for thread in threads:
                    thread.join()
    assert len(acknowledged) > KILLS
    with sqlite3.connect(one_run / "serve" / "store.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        labels = {row[0] for row in db.execute("SELECT person FROM answers")}
        nodes = {row[0] for row in db.execute("SELECT id FROM nodes")}
    for key in acknowledged:
        assert key in (labels if sent[key]["path"] == "/labels" else nodes)
    with (
        Server(one_run, log=tmp_path / "log") as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        for key, asked in list(sent.items())[:: max(len(sent) // 200, 1)]:
            header = {"Idempotency-Key": key}
            found = client.post(asked["path"], json=asked["body"], headers=header)
            assert found.status_code == 201
            if key in acknowledged:
                assert found.json() == acknowledged[key]
                assert found.headers["idempotent-replay"] == "true"
    with sqlite3.connect(one_run / "serve" / "store.sqlite") as db:
        twice = "SELECT count(*) FROM answers GROUP BY person HAVING count(*) > 1"
        assert db.execute(twice).fetchall() == []
    lines = (tmp_path / "log").read_text(errors="replace").splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
    assert not [each for each in events if each.get("status", 0) >= 500]
