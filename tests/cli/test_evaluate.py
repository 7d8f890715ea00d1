"""`unseen evaluate`, `compare` and `csd`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file

from topic_graph import Call, Sample, write_files

from .helpers import one_line, options


def test_evaluate(call: Call, run: Path, given: Sample, tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    pl.DataFrame(
        {"id": given.graph.ids, "label": [given.classes.names[c] for c in given.truth]}
    ).write_csv(truth)
    words = ["evaluate", "--predictions", run / "predictions.csv", "--truth", truth]
    code, told, _ = call(*words)
    assert code == 0
    assert "accuracy" in told
    code, told, complaint = call(*words, "--json")
    assert (code, complaint) == (0, "")
    scores = json.loads(told)
    assert scores["accuracy"] > 0.9
    assert np.sum(scores["confusion"]) == int((~given.labels(0, 1).known).sum())


def test_files_that_cannot_be_evaluated(call: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,label\nnobody,Music\n", encoding="utf-8")
    words = ["evaluate", "--predictions", run / "predictions.csv", "--truth", tmp_path / "t.csv"]
    one_line(call(*words), "no id is in both")


def test_compare(call: Call, run: Path, paths: dict[str, Path], tmp_path: Path) -> None:
    code, told, complaint = call("compare", run, run, "--json")
    assert (code, complaint) == (0, "")
    assert json.loads(told)["changed"] == 0
    paths["nodes"].write_text(
        paths["nodes"].read_text("utf-8").replace("Astronomy", ""), encoding="utf-8"
    )
    assert call("classify", *options(paths), "--out", tmp_path / "other", "--seed", 5)[0] == 0
    code, told, complaint = call("compare", run, tmp_path / "other", "--json")
    assert (code, complaint) == (0, "")
    assert json.loads(told)["settings"]["seed"] == [0, 5]
    code, told, complaint = call("compare", run, tmp_path / "other")
    assert (code, complaint) == (0, "")
    assert "seed" in told


def test_runs_that_cannot_be_compared(call: Call, run: Path, tmp_path: Path) -> None:
    one_line(call("compare", run, tmp_path), "has no manifest.json, so it is not a finished run")


def test_csd(call: Call, paths: dict[str, Path], given: Sample, tmp_path: Path) -> None:
    out = tmp_path / "vectors.safetensors"
    nodes = write_files(tmp_path / "more", given, given.labels(0, 1, 2))["nodes"]
    code, told, complaint = call("csd", "--classes", paths["classes"], "--json", "--out", out)
    assert (code, complaint) == (0, "")
    found = json.loads(told)
    assert found["nearest"].keys() == {"name", "description", "both"}
    assert [row[0] for row in found["nearest"]["name"]] == list(given.classes.names)
    assert {kind: S.shape for kind, S in load_file(out).items()} == dict.fromkeys(
        ("name", "description", "both"), (5, 256)
    )
    code, told, _ = call("csd", "--classes", paths["classes"], "--nodes", nodes)
    assert code == 0
    assert "Quality on labelled nodes of 3 classes" in told


@pytest.mark.parametrize("folder", ["in", "in/nowhere"])
def test_csd_that_fails_writes_nothing(
    folder: str, call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / folder / "vectors.safetensors"
    words = ["csd", "--classes", paths["classes"], "--nodes", paths["nodes"], "--out", out]
    one_line(call(*words), "at least three|nowhere")  # two classes have labels
    assert not out.exists()


def test_csd_into_a_folder_that_is_not_there(
    call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    out = tmp_path / "nowhere" / "vectors.safetensors"
    code, _, complaint = call("csd", "--classes", paths["classes"], "--out", out)
    assert (code, out.exists()) in ((0, True), (2, False))
    assert "Traceback" not in complaint
