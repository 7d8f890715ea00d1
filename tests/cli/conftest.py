"""A command as a shell would run it, files to run it on, and a run to read from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen.cli
from topic_graph import Sample, one_thread, sample, write_files
from unseen.report import layout

from .helpers import CLASSES, EDGES, NODES, Call


@pytest.fixture(scope="module", autouse=True)
def _quick_map() -> Iterator[None]:
    def lay_out(vectors: Any, most: int, seed: int, groups: Any) -> tuple[Any, Any]:
        chosen = np.arange(min(most, len(vectors)))
        return chosen, np.zeros((len(chosen), 2), np.float32)

    with pytest.MonkeyPatch.context() as patch, one_thread():
        patch.setattr(layout, "lay_out", lay_out)
        yield


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command as a shell would; return exit code, standard output, standard error."""

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["unseen", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            unseen.cli.main()
        code = ended.value.code
        out, err = capsys.readouterr()
        return (code if isinstance(code, int) else int(code is not None)), out, err

    return run


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=8, topical=3)


@pytest.fixture
def paths(given: Sample, tmp_path: Path) -> dict[str, Path]:
    return write_files(tmp_path / "in", given, given.labels(0, 1))


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    for name, text in (("n.csv", NODES), ("e.csv", EDGES), ("c.csv", CLASSES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / f"{name[0]}.csv" for name in ("nodes", "edges", "classes")}


@pytest.fixture(scope="module")
def run(given: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run to read from."""
    folder = tmp_path_factory.mktemp("made")
    write_files(folder / "in", given, given.labels(0, 1))
    prediction = unseen.classify(given.graph, given.classes, given.labels(0, 1))
    saved: Path = prediction.save(folder / "run")
    return saved
