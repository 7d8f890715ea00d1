"""Files to run commands on, and a run to read from."""

from __future__ import annotations

from pathlib import Path

import pytest

import unseen
from topic_graph import Sample, sample, write_files

from .helpers import CLASSES, EDGES, NODES


@pytest.fixture(scope="module", autouse=True)
def _quick(quick_map: None) -> None:
    """Every command here that saves a run does so quickly."""


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
    return prediction.save(folder / "run")
