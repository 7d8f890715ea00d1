"""Fifty kills at random moments of each command that writes: the old or the new, whole.

UNSEEN_KILLS says how many instead.
The next command into the same place leaves nothing behind but what it was asked for.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import unseen
from forks import Forks
from topic_graph import Sample, sample, write_files
from unseen.io.atomic import check_folder, recover
from unseen.io.tables import read_table

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs fork and pidfd"),
]
KILLS = int(os.environ.get("UNSEEN_KILLS", "50"))
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM)


@pytest.fixture(scope="module")
def run() -> Iterator[Forks]:
    with Forks() as forks:
        yield forks


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=6)


@pytest.fixture
def files(given: Sample, tmp_path: Path) -> dict[str, Path]:
    unseen.classify(given.graph, given.classes).save(tmp_path / "run")
    return write_files(tmp_path / "in", given, given.labels(0, 1))


def under_fire(run: Forks, words: list[str], check: Callable[[], None]) -> None:
    """Kill a command at moments that are spread over all of its time; then let it end."""
    assert run(words)[1] == 0  # what it imports is there from now on
    check()
    lasts, code = run(words)
    assert code == 0
    draw, ended = random.Random(0), 0
    shares = [1.05 * (turn + draw.random()) / KILLS for turn in range(KILLS)]
    draw.shuffle(shares)
    for turn, share in enumerate(shares):
        check()
        lasted, code = run(words, lasts * share, SIGNALS[turn % len(SIGNALS)])
        if code == 0:
            lasts, ended = (lasts + lasted) / 2, ended + 1  # the machine has more time than before
    assert ended < max(KILLS / 2, 4), "these are not the moments of its work"
    check()
    assert run(words)[1] == 0


def graph_options(files: dict[str, Path]) -> list[str]:
    return [word for name in files for word in (f"--{name}", str(files[name]))]


@pytest.mark.parametrize("command", ["classify", "predict"])
def test_runs(command: str, run: Forks, files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [command, "--out", str(out), *graph_options(files)]
    words += ["--model", str(tmp_path / "run")] if command == "predict" else []

    def check() -> None:
        check_folder(out)
        unseen.load(out)

    under_fire(run, words, check)
    recover(out)
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "run"}


def test_runs_on_disk(run: Forks, files: dict[str, Path], tmp_path: Path) -> None:
    """What was under way is gone on with, or made again; the answers are the same."""
    out, whole = tmp_path / "out", tmp_path / "whole"
    words = ["classify", "--engine", "disk", *graph_options(files), "--out"]
    assert run([*words, str(whole)])[1] == 0

    def answers(folder: Path) -> pl.DataFrame:
        return read_table(folder / "predictions").frame

    def check() -> None:
        if out.is_dir():
            check_folder(out)
            assert answers(out).equals(answers(whole))

    under_fire(run, [*words, str(out)], check)
    check()
    recover(out)
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "run", "whole"}


@pytest.mark.parametrize("command", ["suggest", "csd", "export", "describe", "encode", "evaluate"])
def test_files(command: str, run: Forks, files: dict[str, Path], tmp_path: Path) -> None:
    """Each file is whole or not there."""
    out = tmp_path / "out"
    out.mkdir()
    truth = tmp_path / "in" / "truth.csv"
    labelled = read_table(files["nodes"]).frame.select("id", "label")
    labelled.with_columns(label=pl.lit("Music")).write_csv(truth)
    predictions = str(tmp_path / "run" / "predictions.csv")
    words = {
        "suggest": ["suggest", "--run", str(tmp_path / "run"), "--out", str(out / "x.csv")],
        "csd": ["csd", "--classes", str(files["classes"]), "--out", str(out / "x.safetensors")],
        "export": ["datasets", "export", "stdlib", str(out)],
        "describe": ["describe", "--classes", str(files["classes"]), "--out", str(out / "x.csv")],
        "encode": ["encode", "--nodes", str(files["nodes"]), "--out", str(out)],
        "evaluate": ["evaluate", "--predictions", predictions, "--truth", str(truth), "--report"],
    }[command]
    words += [str(out / "x.html")] if command == "evaluate" else []
    assert run(words)[1] == 0
    whole = {path.name: path.read_bytes() for path in out.iterdir()}
    kept = {"asked.json", "parts.json"} & set(whole)  # by which `encode` goes on
    assert set(whole) > kept

    def check() -> None:
        for path in out.iterdir():
            if path.is_file():
                assert path.read_bytes() == whole[path.name], path.name
                if path.name not in kept:
                    path.unlink()

    check()
    under_fire(run, words, check)
    check()
    assert {path.name for path in out.iterdir()} == kept
