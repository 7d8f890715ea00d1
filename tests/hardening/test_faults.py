"""The n-th write, rename, fsync or allocation of `classify` fails, for every n.

Every time the command ends with one line, the old run is there as it was, and nothing else is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topic_graph import Call
from unseen.io import workspace
from unseen.io.atomic import check_folder

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quick_map")]
NODES = "id,text,label\na,a star,Astronomy\nb,a comet,\nc,a soup,Cooking\nd,an oven,\n"
EDGES = "source,target,weight\na,b,1\nc,d,2\n"
CLASSES = "name,description\nAstronomy,Stars.\nCooking,Food.\nMusic,Songs.\n"
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


@pytest.fixture
def command(tmp_path: Path) -> list[object]:
    for name, text in (("n.csv", NODES), ("e.csv", EDGES), ("c.csv", CLASSES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [tmp_path / name for name in ("n.csv", "e.csv", "c.csv")]
    options = zip(("--nodes", "--edges", "--classes"), files, strict=True)
    return ["classify", *(word for pair in options for word in pair), "--out", tmp_path / "run"]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_leaves_the_old_run_and_one_line(
    fault: str, call: Call, command: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(*command)[0] == 0
    before, n = contents(tmp_path), 0
    only = "" if fault == "allocation" else str(tmp_path)
    with monkeypatch.context() as patch:
        if fault == "rename":  # as where two folders cannot be exchanged in one step
            patch.setattr(workspace, "_exchanged", lambda new, old: False)
        counter = Counter(patch, fault, only)
        while True:
            n += 1
            counter.calls, counter.fail_at = 0, n
            code, _, told = call(*command)
            if counter.calls < n:
                break
            if code == 0:  # a cache that cannot be written is done without, a sync of a folder too
                check_folder(tmp_path / "run")
                assert set(contents(tmp_path)) == set(before)
                before = contents(tmp_path)
                continue
            assert code == 2, told
            assert told.startswith("unseen: ")
            assert told.count("\n") == 1
            assert contents(tmp_path) == before, f"{fault} {n}"
            assert {path.name for path in tmp_path.iterdir()} == {"run", "n.csv", "e.csv", "c.csv"}
    assert n > 1
