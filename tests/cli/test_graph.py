"""`unseen classify`, `predict` and `check`, from files to a run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from topic_graph import Call, Sample
from unseen.files import check_folder

from .helpers import contents, one_line, options


def test_classify(call: Call, paths: dict[str, Path], given: Sample, tmp_path: Path) -> None:
    out = tmp_path / "run"
    code, told, _ = call("classify", *options(paths), "--out", out, "--seed", 3)
    assert code == 0
    check_folder(out)
    table = pl.read_csv(out / "predictions.csv", schema_overrides={"id": pl.String})
    assert table.columns == ["id", "label", "confidence", "runner_up", "reason"]
    assert len(table) == int((~given.labels(0, 1).known).sum())
    truth = [given.classes.names[given.truth[int(node)]] for node in table["id"]]
    assert np.mean(table["label"].to_numpy() == truth) > 0.9
    assert f"Predictions: {out / 'predictions.csv'}" in told
    assert f"Report: {out / 'report.html'}" in told
    assert "class texts: " in told
    assert json.loads((out / "record.json").read_text("utf-8"))["settings"]["seed"] == 3


def test_classify_for_machines(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    code, told, complaint = call(
        "classify", *options(paths), "--out", out, "--among", "unseen", "--json"
    )
    assert (code, complaint) == (0, "")
    found = json.loads(told)
    assert found["out"] == str(out)
    assert [row["predicted"] for row in found["classes"]][:2] == [0, 0]
    assert all(choice["rule"] for choice in found["choices"])


def test_classify_twice_replaces_the_run(
    call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    words = ["classify", *options(paths), "--out", tmp_path / "run"]
    assert call(*words)[0] == 0
    first = (tmp_path / "run" / "predictions.csv").read_bytes()
    assert call(*words)[0] == 0
    assert (tmp_path / "run" / "predictions.csv").read_bytes() == first
    assert {path.name for path in tmp_path.iterdir()} == {"in", "run"}


def test_classify_words_from_npz(call: Call, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id\na\nb\nc\nd\n", encoding="utf-8")
    (tmp_path / "e.csv").write_text("source,target\na,b\nc,d\n", encoding="utf-8")
    (tmp_path / "c.csv").write_text("name\nAstronomy\nCooking\n", encoding="utf-8")
    (tmp_path / "v.txt").write_text("star\ntelescope\nsoup\noven\n", encoding="utf-8")
    np.savez(tmp_path / "x.npz", np.array([[1, 1, 0, 0], [0, 2, 0, 0], [0, 0, 1, 1], [0, 0, 3, 0]]))
    inputs = {name: tmp_path / f"{name[0]}.csv" for name in ("nodes", "edges", "classes")}
    more = ["--features", tmp_path / "x.npz", "--vocabulary", tmp_path / "v.txt"]
    code, _, complaint = call("classify", *options(inputs), *more, "--out", tmp_path / "run")
    assert (code, complaint.strip()) == (0, "")
    labels = pl.read_csv(tmp_path / "run" / "predictions.csv")["label"].to_list()
    assert labels == ["Astronomy", "Astronomy", "Cooking", "Cooking"]


def test_directed_is_kept(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    code, told, _ = call(
        "classify", *options(paths), "--out", tmp_path / "run", "--directed", "--json"
    )
    assert code == 0
    assert json.loads(told)["graph"]["directed"] is True


def test_predict_on_the_same_files(
    call: Call, paths: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "again"
    code, told, complaint = call("predict", "--model", run, *options(paths), "--out", out, "--json")
    assert (code, complaint) == (0, "")
    assert json.loads(told)["choices"] == []
    check_folder(out)
    before, after = (pl.read_csv(folder / "predictions.csv") for folder in (run, out))
    assert after.equals(before)


def test_predict_with_an_added_class(
    call: Call, paths: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    more = paths["classes"].read_text("utf-8") + "Gardening,Plants and flowers in a garden.\n"
    paths["classes"].write_text(more, encoding="utf-8")
    nodes = "id,text\nx,plants and flowers in the garden\ny,piano and violin\nz,roses and tulips\n"
    paths["nodes"].write_text(nodes, encoding="utf-8")
    paths["edges"].write_text("source,target\nx,z\n", encoding="utf-8")
    code, _, complaint = call(
        "predict", "--model", run / "model", *options(paths), "--out", tmp_path / "more"
    )
    assert (code, complaint.strip()) == (0, "")
    found = pl.read_csv(tmp_path / "more" / "predictions.csv")
    assert found["label"].to_list() == ["Gardening", "Music", "Gardening"]


def test_predict_joins_new_nodes_to_a_run(
    call: Call, paths: dict[str, Path], run: Path, given: Sample, tmp_path: Path
) -> None:
    stars = [str(i) for i in np.flatnonzero(given.truth == 0)[:4]]
    paths["nodes"].write_text(
        "id,text,label\nnew,a general report,\nsure,piano,Music\n", encoding="utf-8"
    )
    ties = [f"new,{old}" for old in stars]
    paths["edges"].write_text("source,target\n" + "\n".join(ties), encoding="utf-8")
    words = ["predict", "--model", run, *options(paths), "--out", tmp_path / "joined"]
    code, told, complaint = call(*words, "--with-run", run, "--json")
    assert (code, complaint) == (0, "")
    found = json.loads(told)["graph"]
    assert found["nodes"] == given.graph.nodes + 2
    assert found["edges"] == given.graph.edges + 4
    assert found["labelled"] == int(given.labels(0, 1).known.sum()) + 1
    table = pl.read_csv(tmp_path / "joined" / "predictions.csv", schema_overrides={"id": pl.String})
    assert "sure" not in table["id"]
    row = table.row(by_predicate=pl.col("id") == "new", named=True)
    assert row["label"] == "Astronomy"
    assert "4 of 4 neighbours agree" in row["reason"]


def test_joining_repairs_nothing_that_was_whole(
    call: Call, paths: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    paths["nodes"].write_text("id,text\nnew,a report\n", encoding="utf-8")
    paths["edges"].write_text("source,target\nnew,0\n", encoding="utf-8")
    words = ["predict", "--model", run, *options(paths), "--out", tmp_path / "joined"]
    code, told, _ = call(*words, "--with-run", run, "--json")
    assert code == 0
    assert json.loads(told)["graph"]["duplicate_edges"] == 0


def test_predict_for_fewer_classes_beside_a_run(
    call: Call, paths: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    """The run has labels of Astronomy; to leave that class out is no mistake of the new file."""
    paths["nodes"].write_text("id,text\nnew,piano and violin\n", encoding="utf-8")
    paths["edges"].write_text("source,target\nnew,0\n", encoding="utf-8")
    paths["classes"].write_text("name\nCooking\nMusic\n", encoding="utf-8")
    words = ["predict", "--model", run, *options(paths), "--out", tmp_path / "joined"]
    code, _, complaint = call(*words, "--with-run", run)
    assert (code, complaint.strip()) == (0, "")


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("id,text\n0,piano\n", r"line 2: node '0' is in the run already"),
        ("id,x\nnew,1\n", r"but the run it joins"),
    ],
)
def test_what_cannot_join_a_run(
    nodes: str, message: str, call: Call, paths: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    paths["nodes"].write_text(nodes, encoding="utf-8")
    paths["edges"].write_text("source,target\n", encoding="utf-8")
    words = ["predict", "--model", run, *options(paths), "--out", tmp_path / "joined"]
    one_line(call(*words, "--with-run", run), message)


def test_words_of_another_vocabulary_cannot_join_a_run(call: Call, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,s,t\na,1,0\nb,0,2\n", encoding="utf-8")
    (tmp_path / "e.csv").write_text("source,target\na,b\n", encoding="utf-8")
    (tmp_path / "c.csv").write_text("name\nAstronomy\nCooking\n", encoding="utf-8")
    (tmp_path / "v.txt").write_text("star\nsoup\n", encoding="utf-8")
    inputs = {name: tmp_path / f"{name[0]}.csv" for name in ("nodes", "edges", "classes")}
    words = [*options(inputs), "--vocabulary", tmp_path / "v.txt"]
    assert call("classify", *words, "--out", tmp_path / "run")[0] == 0
    (tmp_path / "n.csv").write_text("id,s,t\nc,1,0\n", encoding="utf-8")
    (tmp_path / "e.csv").write_text("source,target\nc,b\n", encoding="utf-8")
    (tmp_path / "v.txt").write_text("soup\nstar\n", encoding="utf-8")
    words += ["--model", tmp_path / "run", "--with-run", tmp_path / "run"]
    one_line(call("predict", *words, "--out", tmp_path / "joined"), "vocabulary|words")


def test_check(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    before = contents(tmp_path)
    code, told, _ = call("check", *options(paths))
    assert code == 0
    for word in ("nodes", "40", "Astronomy", "duplicate edges", "problems"):
        assert word in told
    code, told, complaint = call("check", *options(paths), "--json")
    assert (code, complaint) == (0, "")
    assert json.loads(told)["graph"]["nodes"] == 40
    assert contents(tmp_path) == before
