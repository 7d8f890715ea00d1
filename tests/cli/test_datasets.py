"""`unseen datasets list` and `export`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import unseen
from topic_graph import Call
from unseen.datasets import registry

from .helpers import one_line


def test_datasets(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.datasets.registry.load", cache(registry.load))
    code, told, complaint = call("datasets", "list", "--json")
    assert (code, complaint) == (0, "")
    assert "stdlib" in json.loads(told)
    assert "stdlib" in call("datasets", "list")[1]
    code, told, complaint = call("datasets", "export", "stdlib", tmp_path, "--split", "demo")
    assert (code, complaint) == (0, "")
    written = {"nodes.csv", "edges.csv", "classes.csv", "truth.csv"}
    assert {Path(line).name for line in told.split()} == written
    assert {path.name for path in tmp_path.iterdir()} == written
    graph = unseen.read_graph(tmp_path / "nodes.csv", tmp_path / "edges.csv")
    classes = unseen.read_classes(tmp_path / "classes.csv")
    assert len(unseen.read_labels(tmp_path / "nodes.csv", graph, classes).unseen(classes)) == 8
    one_line(call("datasets", "export", "nothing", tmp_path / "n"), "no data set 'nothing'")
    one_line(call("datasets", "export", "stdlib", tmp_path / "n", "--split", "x"), "no split 'x'")
    assert not (tmp_path / "n").exists()
