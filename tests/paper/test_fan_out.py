"""Trials on a Ray cluster leave the ledger that processes of this machine leave."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from ray_nodes import several_nodes
from unseen.core.errors import InputError
from unseen.paper.ledger import Ledger
from unseen.paper.work import each_alone, work

pytest.importorskip("ray")
pytestmark = pytest.mark.cluster


@dataclass(frozen=True)
class Square:
    """A trial: a number, and a file that tells whether it was tried before."""

    number: int
    mark: str = ""

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def run(trial: Square) -> dict[str, Any]:
    if trial.mark and not Path(trial.mark).exists():
        Path(trial.mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if trial.number < 0:
        raise InputError("number: expected 0 or more")
    return {"square": trial.number**2}


def climbing() -> Generator[Square, dict[str, Any], None]:
    """Ask for what came out before."""
    found = 2
    for _ in range(3):
        found = (yield Square(found))["square"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with several_nodes() as made:
        yield made.address


def test_the_ledger_is_the_same(address: str, tmp_path: Path) -> None:
    mark = str(tmp_path / "killed")
    asked = [Square(n) for n in range(5)]
    here, there = Ledger(tmp_path / "here"), Ledger(tmp_path / "there")
    work([climbing(), *each_alone(asked)], here, lambda trial: None, jobs=2, run=run)
    work([climbing(), *each_alone(asked)], there, lambda trial: None, run=run, address=address)
    assert sorted(map(str, here.lines())) == sorted(map(str, there.lines()))
    assert sorted(map(str, Ledger(tmp_path / "there").lines())) == sorted(map(str, there.lines()))
    work(each_alone([Square(7, mark)]), there, lambda trial: None, run=run, address=address)
    assert Path(mark).exists()  # its worker was killed, and it was run again
    assert there[Square(7, mark)] == {"square": 49}
    with pytest.raises(InputError, match="number: expected 0 or more"):
        work(each_alone([Square(-1)]), there, lambda trial: None, run=run, address=address)
