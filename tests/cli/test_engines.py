"""`--engine`, `--memory` and `--plan` of `unseen classify`, `unseen encode`, and what is gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from engine_helpers import assert_same_run
from topic_graph import Call, sample, write_files
from unseen.engines import plan as planning
from unseen.engines.plan import plan, size
from unseen.io.locks import Lock
from unseen.prepare import encode_files

from .helpers import one_line

SMALL = sample(per_class=65, topical=2)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_files(tmp_path_factory.mktemp("inputs"), SMALL, SMALL.labels(0, every=5))


def options(paths: dict[str, Path], out: Path) -> list[Any]:
    given = [word for name in ("nodes", "edges", "classes") for word in (f"--{name}", paths[name])]
    return [*given, "--out", out]


def test_both_engines_write_the_same_answers(
    call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    for engine in ("memory", "disk"):
        words = [*options(paths, tmp_path / engine), "--engine", engine, "--memory", "2GB"]
        code, said, complaint = call("classify", *words, "--top", 2)
        assert code == 0, complaint
    assert f"{tmp_path / 'disk' / 'predictions' / '*.parquet'}" in said.replace("\n", "")
    assert_same_run(tmp_path / "memory", tmp_path / "disk")
    record = json.loads((tmp_path / "disk" / "record.json").read_text())
    assert record["settings"]["engine"] == "disk"
    assert (tmp_path / "disk" / "report.html").stat().st_size > 100_000
    parts = pl.read_parquet(tmp_path / "disk" / "predictions" / "*.parquet")
    assert {"reason", "label_2", "probability_2"} <= set(parts.columns)
    more = ["--nodes", paths["nodes"], "--edges", paths["edges"], "--out", tmp_path / "more"]
    code, _, complaint = call("predict", "--model", tmp_path / "disk", *more)
    assert code == 0, complaint  # the model is whole, though the graph is not in the run


def test_labels_of_a_file_are_those_of_the_column(
    call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    """What `suggest` wrote and somebody corrected is read on both engines, beside the column."""
    nodes = pl.read_csv(paths["nodes"], schema_overrides={"id": pl.String})
    nodes.drop("label").write_csv(tmp_path / "bare.csv")
    known = nodes.select("id", "label").filter(pl.col("label") != "")
    known[5:].write_csv(tmp_path / "labels.csv")
    some = nodes.with_columns(
        pl.when(pl.col("id").is_in(known["id"][:9].implode())).then("label").alias("label")
    )
    some.write_csv(tmp_path / "some.csv")  # four of them stand in both files
    assert call("classify", *options(paths, tmp_path / "column"))[0] == 0
    both = paths | {"nodes": tmp_path / "some.csv"}
    for engine in ("memory", "disk"):
        words = [*options(both, tmp_path / engine), "--engine", engine, "--memory", "2GB"]
        code, _, complaint = call("classify", *words, "--labels", tmp_path / "labels.csv")
        assert code == 0, complaint
        assert_same_run(tmp_path / "column", tmp_path / engine)
    bare = options(paths | {"nodes": tmp_path / "bare.csv"}, tmp_path / "x")[:-2]
    code, said, _ = call("check", *bare, "--labels", tmp_path / "labels.csv", "--json")
    assert sum(json.loads(said)["classes"].values()) == len(known) - 5
    known[5:].rename({"label": "class"}).write_csv(tmp_path / "exported.csv")  # by the page
    code, said, _ = call("check", *bare, "--labels", tmp_path / "exported.csv", "--json")
    assert sum(json.loads(said)["classes"].values()) == len(known) - 5


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_labels_that_disagree_are_refused(
    call: Call, paths: dict[str, Path], tmp_path: Path, engine: str
) -> None:
    nodes = pl.read_csv(paths["nodes"], schema_overrides={"id": pl.String})
    known = nodes.filter(pl.col("label") != "")
    other = next(name for name in SMALL.classes.names if name != known["label"][0])
    (tmp_path / "l.csv").write_text(f"id,label\n{known['id'][0]},{other}\n", encoding="utf-8")
    words = [*options(paths, tmp_path / "run"), "--engine", engine, "--labels", tmp_path / "l.csv"]
    code, _, complaint = call("classify", *words)
    message = f"l.csv: node '{known['id'][0]}' is labelled '{other}', but"
    one_line((code, "", complaint), message)
    assert not list(tmp_path.glob("run*"))


def test_a_plan_runs_nothing(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    words = [*options(paths, tmp_path / "run"), "--plan"]
    code, said, _ = call("classify", *words, "--engine", "disk")
    assert code == 0
    for line in ("engine", "partitions", "room on disk", "over the network", "minutes"):
        assert line in said
    code, said, _ = call("classify", *words, "--json")
    assert json.loads(said)["engine"] == "memory"
    assert not (tmp_path / "run").exists()


def test_what_does_not_fit_goes_to_disk(
    call: Call, paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "RUNTIME", 0)
    words = [*options(paths, tmp_path / "run"), "--memory", "2MB", "--plan"]
    code, said, _ = call("classify", *words)
    assert code == 0
    assert "disk" in said
    assert plan(10_000_000, 100_000_000, 40, memory="8GB").engine == "disk"
    assert plan(1_000, 10_000, 5, memory="8GB").engine == "memory"


def test_sizes_that_are_none(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    assert size("1.5 TB") == 3 << 39
    for given in ("lots", "", "inf", "1e3", "-1GB", "9" * 400, "2000000TB"):
        words = options(paths, tmp_path / "run")
        code, _, complaint = call("classify", *words, "--memory", given)
        assert code == 2
        assert "memory: expected a size such as 4GB" in complaint


@pytest.mark.parametrize("command", ["walk", "classify-walk"])
def test_commands_that_are_gone_say_what_to_type(call: Call, command: str, tmp_path: Path) -> None:
    code, _, complaint = call(command, "--edges", "edges.npy", "--out", tmp_path)
    assert code == 2
    assert f"{command}: is gone" in complaint
    assert "unseen classify --engine disk" in complaint


def test_vectors_are_written_in_parts_and_gone_on_with(
    call: Call, paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode_files, "PART", 100)
    words = ["--nodes", paths["nodes"], "--out", tmp_path / "vectors"]
    assert call("encode", *words)[0] == 0
    parts = sorted((tmp_path / "vectors").glob("*.parquet"))
    assert len(parts) == 4
    first = pl.read_parquet(tmp_path / "vectors" / "*.parquet")
    assert first["id"].to_list() == list(SMALL.graph.ids or ())
    before = parts[0].stat().st_mtime_ns
    parts[2].unlink()
    code, said, _ = call("encode", *words, "--json")
    assert (code, json.loads(said)["texts"]) == (0, 325)
    assert parts[0].stat().st_mtime_ns == before
    again = pl.read_parquet(tmp_path / "vectors" / "*.parquet")
    np.testing.assert_array_equal(again["vector"].to_numpy(), first["vector"].to_numpy())
    code, _, complaint = call("encode", *words, "--text-columns", "text,id")
    assert code == 2
    assert "vectors that were made otherwise" in complaint
    other = Lock.take(tmp_path / "vectors" / encode_files.ASKED)
    assert other is not None
    with other:
        code, _, complaint = call("encode", *words)
    assert code == 2
    assert "another process is making this folder" in complaint
    assert call("encode", *words)[0] == 0
