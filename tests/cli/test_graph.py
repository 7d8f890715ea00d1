"""`unseen classify`, `predict` and `check`, from files to a run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unseen
from topic_graph import Call, Sample
from unseen.io.atomic import check_folder
from unseen.io.tables import Table, read_table

from .helpers import contents, one_line, options


def test_classify(call: Call, paths: dict[str, Path], given: Sample, tmp_path: Path) -> None:
    out = tmp_path / "run"
    code, told, _ = call("classify", *options(paths), "--out", out, "--seed", 3)
    assert code == 0
    check_folder(out)
    table = pl.read_csv(out / "predictions.csv", schema_overrides={"id": pl.String})
    assert table.columns == ["id", "label", "confidence", "runner_up", "reason", "flags"]
    assert len(table) == int((~given.labels(0, 1).known).sum())
    truth = [given.classes.names[given.truth[int(node)]] for node in table["id"]]
    assert np.mean(table["label"].to_numpy() == truth) > 0.9
    assert f"Predictions: {out / 'predictions.csv'}" in told
    assert f"Report: {out / 'report.html'}" in told
    assert "class texts: " in told
    assert json.loads((out / "record.json").read_text("utf-8"))["settings"]["seed"] == 3
    probabilities = pl.read_parquet(out / "probabilities.parquet")
    assert probabilities["id"].to_list() == table["id"].to_list()
    best = probabilities.select(given.classes.names).to_numpy().argmax(axis=1)
    assert [given.classes.names[c] for c in best] == table["label"].to_list()


def test_the_nodes_are_parsed_once(
    call: Call, paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def counted(path: Path | str) -> Table:
        parsed.append(Path(path).name)
        return read_table(path)

    for module in ("tables", "read", "join", "columns", "features", "build"):
        monkeypatch.setattr(f"unseen.io.{module}.read_table", counted, raising=False)
    assert call("classify", *options(paths), "--out", tmp_path / "run")[0] == 0
    assert sorted(parsed) == ["classes.csv", "edges.csv", "nodes.csv"]
    parsed.clear()
    assert call("check", *options(paths))[0] == 0
    assert sorted(parsed) == ["classes.csv", "edges.csv", "nodes.csv"]


def test_check_and_classify_find_the_same_homophily(
    call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    told = json.loads(call("check", *options(paths), "--json")[1])["homophily"]
    words = ["classify", *options(paths), "--out", tmp_path / "run", "--json"]
    found = json.loads(call(*words)[1])["homophily"]
    assert (told["level"], told["usable"]) == (found["level"], found["used"])


def test_top_adds_columns(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert call("classify", *options(paths), "--out", out, "--top", 2)[0] == 0
    table = pl.read_csv(out / "predictions.csv")
    assert table.columns[6:] == ["label_1", "probability_1", "label_2", "probability_2"]
    assert table["label_1"].to_list() == table["label"].to_list()
    assert table["probability_1"].to_list() == table["confidence"].to_list()
    assert (table["label_2"] != table["label"]).all()


def test_edges_may_be_left_out(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    del paths["edges"]
    code, told, _ = call("classify", *options(paths), "--out", tmp_path / "run")
    assert code == 0
    assert "There are no edges: texts alone answer." in " ".join(told.split())
    reasons = pl.read_csv(tmp_path / "run" / "predictions.csv")["reason"]
    assert all(reason.startswith("Decided by its own text alone") for reason in reasons)


def test_columns_may_have_other_names(
    call: Call, paths: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    nodes = pl.read_csv(paths["nodes"]).with_columns(year=pl.lit("1999 AD"))
    words = pl.col("text").str.splitn(" ", 2).struct
    nodes = nodes.with_columns(first=words.field("field_0"), rest=words.field("field_1"))
    nodes = nodes.drop("text").rename({"id": "key", "label": "kind"})
    nodes.write_csv(paths["nodes"])
    pl.read_csv(paths["edges"]).rename({"source": "a", "target": "b"}).write_csv(paths["edges"])
    code, told, _ = call(
        *("classify", *options(paths), "--out", tmp_path / "run"),
        *("--id-column", "key", "--text-columns", "first, rest", "--label-column", "kind"),
        *("--source-column", "a", "--target-column", "b"),
    )
    assert code == 0
    assert "Columns that were not used: year." in " ".join(told.split())
    before, after = (pl.read_csv(folder / "predictions.csv") for folder in (run, tmp_path / "run"))
    assert after["id"].to_list() == before["id"].to_list()
    assert np.mean(after["label"].to_numpy() == before["label"].to_numpy()) > 0.9


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
    before = json.loads((run / "record.json").read_text("utf-8"))["choices"]
    told_of = [(choice["what"], choice["chosen"]) for choice in json.loads(told)["choices"]]
    assert told_of == [(choice["what"], choice["chosen"]) for choice in before]
    check_folder(out)
    first, again = (pl.read_csv(folder / "predictions.csv") for folder in (run, out))
    assert again.equals(first)


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


@pytest.fixture
def joining(paths: dict[str, Path], given: Sample) -> dict[str, Path]:
    """Two new nodes, one with a label, one with edges to four old ones."""
    paths["nodes"].write_text(
        "id,text,label\nnew,a general report,\nsure,piano,Music\n", encoding="utf-8"
    )
    edges = [f"new,{old}" for old in np.flatnonzero(given.truth == 0)[:4]]
    paths["edges"].write_text("source,target\n" + "\n".join(edges), encoding="utf-8")
    return paths


def test_predict_answers_new_nodes_of_a_run_and_no_others(
    call: Call, joining: dict[str, Path], run: Path, given: Sample, tmp_path: Path
) -> None:
    out = tmp_path / "joined"
    words = ["predict", "--model", run, *options(joining), "--out", out]
    code, told, complaint = call(*words, "--with-run", run, "--json")
    assert (code, complaint) == (0, "")
    found = json.loads(told)["graph"]
    assert found["nodes"] == given.graph.nodes + 2
    assert found["edges"] == given.graph.edges + 4
    assert found["labelled"] == int(given.labels(0, 1).known.sum()) + 1
    assert found["unlabelled"] == 1
    (row,) = pl.read_csv(out / "predictions.csv").iter_rows(named=True)
    assert (row["id"], row["label"]) == ("new", "Astronomy")
    assert "All 4 neighbours have this class" in row["reason"]
    check_folder(out)


def test_predict_answers_all_nodes_when_asked(
    call: Call, joining: dict[str, Path], run: Path, given: Sample, tmp_path: Path
) -> None:
    out = tmp_path / "all"
    words = ["predict", "--model", run, *options(joining), "--out", out, "--with-run", run]
    assert call(*words, "--all")[0] == 0
    table = pl.read_csv(out / "predictions.csv", schema_overrides={"id": pl.String})
    before = pl.read_csv(run / "predictions.csv", schema_overrides={"id": pl.String})
    assert table["id"].to_list() == [*before["id"], "new"]
    assert np.mean(table["label"].to_numpy()[:-1] == before["label"].to_numpy()) > 0.9
    assert table["label"][-1] == "Astronomy"


def test_predict_goes_on_from_its_own_run(
    call: Call, joining: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    """What was added is there for the next that comes."""
    first = tmp_path / "first"
    words = ["predict", "--model", run, *options(joining)]
    assert call(*words, "--with-run", run, "--out", first)[0] == 0
    joining["nodes"].write_text("id,text\nlast,\n", encoding="utf-8")
    joining["edges"].write_text("source,target\nlast,sure\n", encoding="utf-8")
    assert call(*words, "--with-run", first, "--out", tmp_path / "second")[0] == 0
    (row,) = pl.read_csv(tmp_path / "second" / "predictions.csv").iter_rows(named=True)
    assert (row["id"], row["label"]) == ("last", "Music")


def test_the_run_that_is_joined_may_list_its_classes_in_another_order(
    call: Call, joining: dict[str, Path], run: Path, given: Sample, tmp_path: Path
) -> None:
    """Labels of the joined run go by name, not by position."""
    turned = given.classes.select([4, 3, 2, 1, 0])
    names = [*given.classes.names, ""]
    labels = [names[c] for c in given.labels(0, 1).codes]
    known = {str(i): name for i, name in enumerate(labels) if name}
    other = unseen.classify(given.graph, turned, known).save(tmp_path / "other")
    joining["nodes"].write_text("id,text\nnew,a general report\n", encoding="utf-8")
    words = ["predict", "--model", run, "--nodes", joining["nodes"], "--edges", joining["edges"]]
    out = tmp_path / "joined"
    code, told, _ = call(*words, "--with-run", other, "--out", out, "--json")
    assert code == 0
    counts = {row["name"]: row["labelled"] for row in json.loads(told)["classes"]}
    assert counts == {name: labels.count(name) for name in given.classes.names}
    (row,) = pl.read_csv(out / "predictions.csv").iter_rows(named=True)
    assert (row["id"], row["label"]) == ("new", "Astronomy")


def test_classes_of_a_model_need_no_file(
    call: Call, paths: dict[str, Path], run: Path, tmp_path: Path
) -> None:
    del paths["classes"]
    out = tmp_path / "again"
    assert call("predict", "--model", run, *options(paths), "--out", out)[0] == 0
    before, after = (pl.read_csv(folder / "predictions.csv") for folder in (run, out))
    assert after.equals(before)


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
    (row,) = pl.read_csv(tmp_path / "joined" / "predictions.csv").iter_rows(named=True)
    assert (row["id"], row["label"]) == ("new", "Music")
    shown = pl.read_parquet(tmp_path / "joined" / "map.parquet")
    assert shown["id"].to_list() == ["new"]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ("id,text\n0,piano\n", r"line 2: node '0' is in the run already"),
        ("id,x\nnew,1\n", r"but the run it joins"),
        ("id,text,label\nnew,piano,Music\n", r"all 1 new nodes have one, so nothing is left"),
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
