"""A run on disk that was killed goes on; a full disk and a damaged block are one clear line."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine_helpers import assert_same_run
from topic_graph import Call, sample, write_files
from unseen.core.errors import InputError, WriteError
from unseen.engines import disk, stored_graph
from unseen.engines.plan import plan, size
from unseen.engines.store import Blocks
from unseen.files import classify_files, plan_run, work_folder
from unseen.io.read import read_classes

JOB = Path(__file__).parents[1] / "kill_job.py"
STAGES = [
    *("nodes", "edges", "graph", "vectors", "preparer", "class-texts", "prepared", "lengths"),
    *("fit", "parts"),
]


def job(stage: str, paths: dict[str, Path], out: Path) -> int:
    words = [stage, *(str(paths[name]) for name in ("nodes", "edges", "classes")), str(out)]
    done = subprocess.run([sys.executable, str(JOB), *words], capture_output=True, check=False)
    if done.returncode not in (0, -signal.SIGKILL):
        raise AssertionError(done.stderr.decode())
    return done.returncode


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    given = sample(per_class=70, topical=2)
    return write_files(tmp_path_factory.mktemp("inputs"), given, given.labels(0, every=4))


@pytest.fixture(scope="module")
def whole(paths: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing has stopped."""
    out: Path = tmp_path_factory.mktemp("whole") / "run"
    assert job("-", paths, out) == 0
    assert len(list((out / "predictions").glob("*.parquet"))) == 3
    return out


def test_killed_at_every_stage_in_turn(paths: dict[str, Path], whole: Path, tmp_path: Path) -> None:
    """One run, killed ten times: each time it gets further, and it ends as if nothing had been."""
    out = tmp_path / "run"
    for stage in STAGES:
        assert job(stage, paths, out) == -signal.SIGKILL, stage
        assert work_folder(out).is_dir()
        assert not out.exists()
    left = {path.name.rpartition("-")[0] or path.name for path in work_folder(out).iterdir()}
    assert {"nodes", "graph", "vectors", "prepared", "preparer", "class", "fit"} <= left
    assert job("-", paths, out) == 0
    assert_same_run(whole, out)
    assert not work_folder(out).exists()


def run(paths: dict[str, Path], out: Path, **settings: Any) -> Any:
    classes = read_classes(paths["classes"])
    plan = plan_run(paths["nodes"], paths["edges"], classes, engine="disk", memory="2GB")
    return classify_files(
        paths["nodes"], paths["edges"], classes, out, plan=plan, settings=settings
    )


class StoppedError(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def begun(paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run that stopped before it fitted."""
    monkeypatch.setattr(disk, "BLOCK", 100)
    monkeypatch.setattr(stored_graph, "BLOCK", 100)
    with monkeypatch.context() as patch:
        patch.setattr("unseen.estimator.fit_prepared", lambda *_: _stop())
        with pytest.raises(StoppedError):
            run(paths, tmp_path / "run")
    return tmp_path / "run"


def _stop() -> None:
    raise StoppedError


def test_a_damaged_block_is_named_and_the_rest_kept(
    begun: Path, paths: dict[str, Path], whole: Path
) -> None:
    block = next(work_folder(begun).glob("prepared-*/00001-*.npy"))
    spoiled = bytearray(block.read_bytes())
    spoiled[200] ^= 255
    block.write_bytes(spoiled)
    with pytest.raises(Exception, match=f"{block.name}: is not as it was written"):
        run(paths, begun)
    block.unlink()  # what the message says
    run(paths, begun)
    assert_same_run(whole, begun)


def test_damaged_nodes_are_named(begun: Path, paths: dict[str, Path]) -> None:
    texts = work_folder(begun) / "nodes" / "00000.arrow"
    texts.write_bytes(texts.read_bytes()[:-3])
    with pytest.raises(Exception, match=r"00000.arrow: was changed after it was written"):
        run(paths, begun)


def test_a_full_disk_is_said_and_finished_blocks_stay(
    paths: dict[str, Path], tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "BLOCK", 100)
    monkeypatch.setattr(stored_graph, "BLOCK", 100)
    write, written = Blocks.write, []

    def full(self: Blocks, i: int, block: Any) -> None:
        if i == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(i)
        write(self, i, block)

    with monkeypatch.context() as patch:
        patch.setattr(Blocks, "write", full)
        with pytest.raises(WriteError, match=r"run.work: the disk is full .* make room there"):
            run(paths, tmp_path / "run")
    assert written == [0, 1]
    assert len(list((tmp_path / "run.work").glob("vectors-*/*.npy"))) == 2
    run(paths, tmp_path / "run")
    assert_same_run(whole, tmp_path / "run")


def test_room_for_arrays_is_taken_before_they_are_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    engine = disk.Disk(tmp_path / "work", 10, 1 << 30)
    with pytest.raises(WriteError, match="the disk is full"):
        engine.room(3)


def test_too_little_disk_is_said_before_anything_is_done(
    paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: real._replace(free=1000))
    with pytest.raises(InputError, match=r"the run needs about .* of disk .* 0 MB are free"):
        run(paths, tmp_path / "run")
    assert not work_folder(tmp_path / "run").exists()


def test_too_little_memory_is_said_before_anything_is_done(
    paths: dict[str, Path], call: Call, tmp_path: Path
) -> None:
    words = [w for name in ("nodes", "edges", "classes") for w in (f"--{name}", paths[name])]
    words += ["--out", tmp_path / "run", "--engine", "disk", "--memory", "100MB"]
    code, _, complaint = call("classify", *words)
    assert code == 2
    enough = re.search(
        r"memory: 100 MB are too few for .* give at least (\d+) MB", " ".join(complaint.split())
    )
    assert enough is not None
    assert size(f"{enough[1]}MB") >= plan(10, 10, 3, "disk").least  # rounded up, not down
    assert not work_folder(tmp_path / "run").exists()


def test_another_run_is_not_gone_on_with(begun: Path, paths: dict[str, Path]) -> None:
    with pytest.raises(InputError, match=r"begun otherwise \(what changed since: settings\)"):
        run(paths, begun, seed=3)
    other = begun.with_name("other")
    work_folder(other).mkdir()
    (work_folder(other) / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds no run that was begun"):
        run(paths, other)
