"""The n-th write, rename, fsync or allocation of a command fails, for every n.

Every time it ends with one line, what was there before is as it was, and nothing else is there.
UNSEEN_FAULT_STEP=60: of a run on disk, every 60th call fails; of other commands, which call less,
every sixth.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from topic_graph import Call
from unseen.io import workspace
from unseen.io.atomic import check_folder
from unseen.io.tables import read_table

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_map")]
NODES = "id,text,label\na,a star,Astronomy\nb,a comet,\nc,a soup,Cooking\nd,an oven,\n"
EDGES = "source,target,weight\na,b,1\nc,d,2\n"
CLASSES = "name,description\nAstronomy,Stars.\nCooking,Food.\nMusic,Songs.\n"
STEP = int(os.environ.get("UNSEEN_FAULT_STEP", "1"))
SMALL_STEP = max(1, STEP // 10)
NO_ROOM = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
TOO_LARGE = OSError(errno.EFBIG, os.strerror(errno.EFBIG))
FAULTS: dict[str, tuple[Any, tuple[str, ...], BaseException]] = {
    "write": (os, ("write",), NO_ROOM),
    "write past a limit": (os, ("write",), TOO_LARGE),
    "fsync": (os, ("fsync",), OSError(errno.EIO, os.strerror(errno.EIO))),
    "open": (os, ("open",), OSError(errno.EMFILE, os.strerror(errno.EMFILE))),
    "folder": (os, ("mkdir",), NO_ROOM),
    "rename": (os, ("rename", "replace"), NO_ROOM),
    "allocation": (np, ("empty", "zeros", "concatenate", "stack"), MemoryError()),
}


class Counter:
    """Stands for functions of a module; the n-th call of any of them fails."""

    def __init__(self, patch: pytest.MonkeyPatch, fault: str, only: str) -> None:
        self.calls, self.fail_at, self.only = 0, 0, only
        module, names, self.error = FAULTS[fault]
        for name in names:
            patch.setattr(module, name, self._counted(getattr(module, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            inside = not self.only or any(self.only in str(each) for each in given) or not given
            if inside or isinstance(given[0], int):
                self.calls += 1
                if self.calls == self.fail_at:
                    raise self.error
            return function(*given, **named)

        return counted


COMMANDS = {
    "predict": "predict --model run --nodes n.csv --out out",
    "encode": "encode --nodes n.csv --out out",
    "suggest": "suggest --run run --out out.csv",
    "csd": "csd --classes c.csv --out out.safetensors",
    "describe": "describe --classes c.csv --out out.csv",
    "evaluate": "evaluate --truth t.csv --predictions run/predictions.csv --report out.html",
}


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    truth = "id,label\nb,Astronomy\nd,Cooking\n"
    for name, text in (("n", NODES), ("e", EDGES), ("c", CLASSES), ("t", truth)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return "classify --nodes n.csv --edges e.csv --classes c.csv --out run"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failing(
    call: Call, words: str, fault: str, folder: Path, clear: Callable[[], None], step: int
) -> Iterator[int]:
    """Run a command again and again, the n-th call of a kind failing; yield each exit code."""
    n = 1
    with pytest.MonkeyPatch.context() as patch:
        if fault == "rename":  # as where two folders cannot be exchanged in one step
            patch.setattr(workspace, "_exchanged", lambda new, old: False)
        counter = Counter(patch, fault, "" if fault == "allocation" else str(folder))
        while True:
            clear()
            counter.calls, counter.fail_at = 0, n
            code, _, told = call(*words.split())
            if counter.calls < n:
                assert n > 1 or fault in ("rename", "folder"), "nothing of the kind was called"
                return
            if code:
                assert code == 2, told
                assert told.startswith("unseen: ")
                assert told.count("\n") == 1
            counter.fail_at = 0  # whoever looks at what is left is not failed
            yield code
            n += step


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run(fault: str, call: Call, command: str, tmp_path: Path) -> None:
    assert call(*command.split())[0] == 0
    before, names = contents(tmp_path), {path.name for path in tmp_path.iterdir()}
    for code in failing(call, command, fault, tmp_path, lambda: None, SMALL_STEP):
        if code == 0:  # a cache that cannot be written is done without, a sync of a folder too
            check_folder(tmp_path / "run")
            assert set(contents(tmp_path)) == set(before)
            before = contents(tmp_path)
        assert contents(tmp_path) == before
        assert {path.name for path in tmp_path.iterdir()} == names


@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_on_disk(fault: str, call: Call, command: str, tmp_path: Path) -> None:
    """What is under way stays beside the run; the next one goes on with it, to the same answers."""
    words, run, work = f"{command} --engine disk", tmp_path / "run", tmp_path / "run.work"
    assert call(*words.split())[0] == 0
    before, whole = contents(run), answers(run)
    names = {path.name for path in tmp_path.iterdir()}

    def clear() -> None:
        shutil.rmtree(work, ignore_errors=True)

    for turn, code in enumerate(failing(call, words, fault, tmp_path, clear, STEP)):
        if code:
            assert contents(run) == before
        if turn % 8 == 0:
            assert call(*words.split())[0] == 0
        if turn % 8 == 0 or not code:
            check_folder(run)
            assert answers(run).equals(whole)
            before = contents(run)
        assert {path.name for path in tmp_path.iterdir()} - {work.name} == names


@pytest.mark.parametrize("fault", ["write", "fsync", "folder", "rename"])
@pytest.mark.parametrize("name", COMMANDS)
def test_other_commands(name: str, fault: str, call: Call, command: str, tmp_path: Path) -> None:
    assert call(*command.split())[0] == 0
    words, replaces = COMMANDS[name], name == "predict"
    out = tmp_path / words.split()[-1]

    def clear() -> None:
        if not replaces:
            shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)

    assert call(*words.split())[0] == 0
    whole = set(contents(tmp_path))
    clear()
    before = contents(tmp_path)
    for code in failing(call, words, fault, tmp_path, clear, SMALL_STEP):
        found = contents(tmp_path)
        if code == 0:
            assert set(found) == whole
        elif name != "encode":  # which goes on with its parts, each of them whole
            assert found == before
        assert {path: found[path] for path in before if out not in Path(path).parents} == {
            path: content for path, content in before.items() if out not in Path(path).parents
        }
        before = found if replaces and code == 0 else before
        if name == "encode":
            assert call(*words.split())[0] == 0
            assert set(contents(tmp_path)) == whole


def answers(run: Path) -> pl.DataFrame:
    return read_table(run / "predictions").frame
