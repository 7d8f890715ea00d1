"""Servers as processes of their own, started and killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import httpx

from forks import Forks

PATIENCE = 300.0  # seconds that a server has to come up, on a busy machine


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def fetched(url: str) -> Any:
    """Return what is there, on a connection of its own."""
    with urllib.request.urlopen(url, timeout=30) as found:
        return json.load(found)


class Server:
    """`unseen serve` in a process group of its own."""

    def __init__(self, run: Path, *options: str, log: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/api/v1"
        self.log = log
        command = [sys.executable, "-m", "unseen.cli", "serve", str(run)]
        with log.open("ab") as stream:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), *options],
                stdout=stream,
                stderr=stream,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.wait()

    def wait(self) -> None:
        """Wait until it answers."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                fetched(f"{self.url}/ready")
                return
            except urllib.error.HTTPError as error:
                if error.code == 401:  # it is there, and asks for a token
                    return
            except OSError:
                pass
            assert self.lives(), self.log.read_text(errors="replace")[-2000:]
            time.sleep(0.05)
        raise AssertionError(self.log.read_text(errors="replace")[-2000:])

    def lives(self) -> bool:
        """Tell whether it has not ended."""
        return self.process.poll() is None

    def kill(self) -> None:
        """Kill it and its workers, as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Ask it to stop; return how it ended."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.lives():
            self.kill()


class ForkedServer(Server):
    """The same as a child of a process that has imported everything, which starts far sooner."""

    def __init__(self, forks: Forks, run: Path, log: Path) -> None:
        self.port, self.log, self.forks, self.ended = free_port(), log, forks, False
        self.url = f"http://127.0.0.1:{self.port}/api/v1"
        self.pid = forks.begin(["serve", str(run), "--port", str(self.port)], log=str(log))
        self.wait()

    def lives(self) -> bool:
        return not self.ended and Path(f"/proc/{self.pid}").exists()

    def kill(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        self.forks.end()
        self.ended = True

    def stop(self) -> int:
        os.kill(self.pid, signal.SIGTERM)
        self.ended = True
        return self.forks.end()[1]


def finished(client: httpx.Client, job: str) -> dict[str, Any]:
    """Wait for the end of a job and return it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found: dict[str, Any] = client.get(f"/jobs/{job}").json()
        if found["state"] not in ("queued", "running"):
            return found
        time.sleep(0.1)
    raise AssertionError(f"job {job} does not end")
