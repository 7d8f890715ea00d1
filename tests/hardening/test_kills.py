"""Fifty kills at random moments of each command that writes: the old or the new, whole.

A child that has imported what is needed runs the command as a shell would, and is killed. The next
command into the same place leaves nothing behind but what it was asked for.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import unseen
from topic_graph import Sample, sample, write_files
from unseen.io.atomic import check_folder, recover

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of forking beside threads
]
KILLS = 50
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)


def start(words: list[str]) -> int:
    """Run a command in a new Python; return its process id."""
    code = (
        "import numpy as np\n"
        "from unseen.report import layout, page\n"
        "layout.lay_out = lambda v, m, s, g: (np.arange(3), np.zeros((3, 2), np.float32))\n"
        "page.render = lambda *_: '<html>' * 10_000\n"  # neither is the point, and both take long
        "import unseen.cli\nunseen.cli.main()\n"
    )
    quiet = os.open(os.devnull, os.O_WRONLY)
    try:
        return os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", code, *words],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 1), (os.POSIX_SPAWN_DUP2, quiet, 2)],
        )
    finally:
        os.close(quiet)


def until_ended(process: int) -> float:
    began = time.monotonic()
    os.waitpid(process, 0)
    return time.monotonic() - began


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=6)


@pytest.fixture
def files(given: Sample, tmp_path: Path) -> dict[str, Path]:
    unseen.classify(given.graph, given.classes).save(tmp_path / "run")
    return write_files(tmp_path / "in", given, given.labels(0, 1))


def killed(words: list[str], check: Callable[[], None]) -> None:
    """Kill a command that takes so long at moments that are spread over its second half."""
    lasts = min(until_ended(start(words)) for _ in range(2))
    draw = random.Random(0)
    for turn in range(KILLS):
        check()
        process = start(words)
        time.sleep(lasts * draw.uniform(0.5, 1.05))
        os.kill(process, SIGNALS[turn % len(SIGNALS)])
        os.waitpid(process, 0)
    check()


@pytest.mark.parametrize("command", ["classify", "predict"])
def test_runs(command: str, files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [command, "--out", str(out), "--nodes", str(files["nodes"])]
    words += ["--edges", str(files["edges"]), "--classes", str(files["classes"])]
    words += ["--model", str(tmp_path / "run")] if command == "predict" else []

    def check() -> None:
        check_folder(out)
        unseen.load(out)

    killed(words, check)
    recover(out)
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "run"}


@pytest.mark.parametrize("command", ["suggest", "csd", "export"])
def test_files(command: str, files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    words = {
        "suggest": ["suggest", "--run", str(tmp_path / "run"), "--out", str(out / "x.csv")],
        "csd": ["csd", "--classes", str(files["classes"]), "--out", str(out / "x.safetensors")],
        "export": ["datasets", "export", "stdlib", str(out)],
    }[command]
    os.waitpid(start(words), 0)
    whole = {path.name: path.read_bytes() for path in out.iterdir()}

    def check() -> None:
        for path in out.iterdir():
            if path.is_file():
                assert path.read_bytes() == whole[path.name], path.name
                path.unlink()

    killed(words, check)
    os.waitpid(start(words), 0)
    assert {path.name for path in out.iterdir()} == set(whole)
