"""The command line: every command, JSON for machines, and one line for each mistake of a user."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file

import unseen.cli
from topic_graph import Sample, one_thread, sample, write_files
from unseen.datasets import registry
from unseen.files import FORMAT, check_folder, write_manifest
from unseen.report import layout

Call = Callable[..., tuple[int, str, str]]
COMMANDS = (
    *("classify", "predict", "check", "evaluate", "compare", "csd", "datasets", "demo"),
    *("reproduce", "walk", "classify-walk"),
)
HEAVY = ("numpy", "polars", "torch", "scipy", "sklearn", "plotly", "pandas", "wordllama")


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


@pytest.fixture(scope="module")
def run(given: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run to read from."""
    folder = tmp_path_factory.mktemp("made")
    write_files(folder / "in", given, given.labels(0, 1))
    prediction = unseen.classify(given.graph, given.classes, given.labels(0, 1))
    saved: Path = prediction.save(folder / "run")
    return saved


def options(paths: dict[str, Path]) -> list[object]:
    return [word for name, path in paths.items() for word in (f"--{name}", path)]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# The commands.


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


@pytest.mark.slow
def test_demo(call: Call, tmp_path: Path) -> None:
    code, told, complaint = call("demo", "--out", tmp_path / "demo", "--json")
    assert (code, complaint) == (0, "")
    rows = json.loads(told)["rows"]
    assert rows["full pipeline"]["accuracy"] > 70  # the README has the figure; the goal is 80
    floor, text = rows["majority class"]["accuracy"], rows["text only"]["accuracy"]
    assert floor < text < rows["full pipeline"]["accuracy"]
    check_folder(tmp_path / "demo")


# Mistakes.

NODES = "id,text,label\na,a star,Astronomy\nb,a comet,\nc,a soup,Cooking\nd,an oven,\n"
EDGES = "source,target,weight\na,b,1\nc,d,2\n"
CLASSES = "name,description\nAstronomy,Stars.\nCooking,Food.\nMusic,Songs.\n"


def one_line(result: tuple[int, str, str], message: str) -> None:
    """A user's mistake: exit code 2, and one line that says what it is."""
    code, told, complaint = result
    assert code == 2, complaint
    assert told == ""
    assert complaint.startswith("unseen: ")
    assert complaint.endswith("\n")
    assert complaint.count("\n") == 1
    assert "Traceback" not in complaint
    assert re.search(message, complaint), complaint


MISTAKES: dict[str, tuple[dict[str, str | bytes], str]] = {
    "unknown node": ({"e.csv": EDGES + "a,z,1\n"}, r"e\.csv line 4: unknown node 'z' as target"),
    "duplicate ids": (
        {"n.csv": NODES + "a,again,\n"},
        r"n\.csv line 6: id 'a' is already on line 2",
    ),
    "duplicate classes": (
        {"c.csv": CLASSES + "Music,More songs.\n"},
        r"c\.csv line 5: class 'Music' is already on line 4",
    ),
    "unknown label": (
        {"n.csv": NODES.replace("Cooking", "Coking")},
        r"n\.csv line 4: label 'Coking' is not a class; .*did you mean 'Cooking'",
    ),
    "empty text": ({"n.csv": NODES.replace("a comet", " ")}, r"n\.csv line 3: text is empty; 1 of"),
    "NaN": (
        {"n.csv": "id,x,label\na,1,Cooking\nb,nan,\nc,2,Music\n"},
        r"n\.csv line 3: column `x` holds 'nan'; features must be finite",
    ),
    "infinite": ({"n.csv": "id,x\na,1\nb,inf\nc,2\nd,1\n"}, r"n\.csv line 3: column `x` holds"),
    "negative weight": ({"e.csv": EDGES.replace(",2", ",-2")}, r"e\.csv line 3: weight '-2'; a"),
    "no weight": ({"e.csv": EDGES.replace(",2", ",two")}, r"e\.csv line 3: weight 'two'; a wei"),
    "not UTF-8": (
        {"n.csv": NODES.replace("a soup", "crème").encode("latin1")},
        r"n\.csv line 4: found byte 0xe8, which is not UTF-8",
    ),
    "ragged row": (
        {"n.csv": NODES + "e,a,song,Music\n"},
        r"n\.csv line 6: found 4 fields; expected 3",
    ),
    "short row": ({"e.csv": EDGES + "a\n"}, r"e\.csv line 4: found 1 fields; expected 3"),
    "empty file": ({"n.csv": ""}, r"n\.csv: is empty"),
    "no rows": ({"n.csv": "id,text\n"}, r"n\.csv: .* but no rows"),
    "missing column": (
        {"e.csv": "from,to\na,b\n"},
        r"e\.csv: no column `source`; found 'from', 'to'; rename or add",
    ),
    "missing name": ({"c.csv": "class\nMusic\n"}, r"c\.csv: no column `name`; found 'class'"),
    "one class": ({"c.csv": "name\nMusic\n"}, r"c\.csv: found one class only \('Music'\)"),
    "no texts and no labels": (
        {"n.csv": "id,x\na,1\nb,2\nc,3\nd,4\n"},
        r"features have no names and there are too few labels .*give texts, a vocabulary",
    ),
    "nothing but ids": ({"n.csv": "id\na\nb\nc\nd\n"}, r"n\.csv: nodes have neither a text nor"),
    "nothing left": (
        {"n.csv": NODES.replace(",\n", ",Music\n")},
        r"all 4 nodes have one, so nothing is left to label",
    ),
}


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    for name, text in (("n.csv", NODES), ("e.csv", EDGES), ("c.csv", CLASSES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / f"{name[0]}.csv" for name in ("nodes", "edges", "classes")}


def test_the_files_of_the_mistakes_are_sound_before(
    call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    assert call("classify", *options(inputs), "--out", tmp_path / "run")[0] == 0


@pytest.mark.parametrize(("files", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_and_writes_nothing(
    files: dict[str, str | bytes],
    message: str,
    call: Call,
    inputs: dict[str, Path],
    tmp_path: Path,
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    before = contents(tmp_path)
    one_line(call("classify", *options(inputs), "--out", tmp_path / "deep" / "run"), message)
    assert contents(tmp_path) == before
    assert not (tmp_path / "deep").exists()


def test_a_missing_file(call: Call, inputs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "n.csv").unlink()
    one_line(call("classify", *options(inputs), "--out", tmp_path / "r"), r"n\.csv: no such file")


def test_an_unknown_extension(call: Call, inputs: dict[str, Path], tmp_path: Path) -> None:
    inputs["nodes"] = inputs["nodes"].rename(tmp_path / "n.xlsx")
    found = call("classify", *options(inputs), "--out", tmp_path / "r")
    one_line(found, r"n\.xlsx: found extension '\.xlsx'; expected one of \.csv, \.tsv, \.parquet")


def test_every_class_is_seen(call: Call, inputs: dict[str, Path], tmp_path: Path) -> None:
    inputs["classes"].write_text(CLASSES.replace("Music,Songs.\n", ""), encoding="utf-8")
    words = ["classify", *options(inputs), "--out", tmp_path / "r", "--among", "unseen"]
    one_line(call(*words), "every class has a labelled node")


def test_an_out_folder_that_is_not_a_run(
    call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    before = contents(tmp_path)
    found = call("classify", *options(inputs), "--out", tmp_path)
    one_line(found, "exists and is not a run that unseen wrote .*so it is not replaced")
    assert contents(tmp_path) == before


def test_an_out_folder_is_refused_before_the_work(
    call: Call, inputs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody should wait a minute for a refusal that was certain from the start."""
    worked: list[object] = []

    def classify(*given: object, **_: object) -> None:
        worked.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr("unseen.pipeline.classify", classify)
    one_line(call("classify", *options(inputs), "--out", tmp_path), "is not a run")
    assert not worked


def test_an_encoder_and_a_device_that_are_not_there(
    call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    words = ["classify", *options(inputs), "--out", tmp_path / "r"]
    one_line(call(*words, "--encoder", "nonsense"), "encoder: 'nonsense' is unknown")
    one_line(call("csd", "--classes", inputs["classes"], "--encoder", "x"), "encoder: 'x' is unkn")


@pytest.fixture
def model(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run / "model", tmp_path / "model"))


def test_a_model_of_a_newer_format(
    call: Call, inputs: dict[str, Path], model: Path, tmp_path: Path
) -> None:
    settings = json.loads((model / "model.json").read_text("utf-8"))
    (model / "model.json").write_text(json.dumps({**settings, "format": FORMAT + 1}), "utf-8")
    write_manifest(model)
    words = ["predict", "--model", model, *options(inputs), "--out", tmp_path / "r"]
    one_line(call(*words), rf"has format {FORMAT + 1}, but this version")
    assert not (tmp_path / "r").exists()


def test_a_damaged_model(call: Call, inputs: dict[str, Path], model: Path, tmp_path: Path) -> None:
    content = bytearray((model / "arrays.safetensors").read_bytes())
    content[-5] ^= 4
    (model / "arrays.safetensors").write_bytes(content)
    words = ["predict", "--model", model, *options(inputs), "--out", tmp_path / "r"]
    one_line(call(*words), r"arrays\.safetensors: was changed after it was written")
    (tmp_path / "empty").mkdir()
    one_line(call(*words[:2], tmp_path / "empty", *words[3:]), r"has no manifest\.json")
    one_line(call(*words[:2], tmp_path / "x", *words[3:]), "no such folder")
    assert not (tmp_path / "r").exists()


def test_features_of_another_width(call: Call, inputs: dict[str, Path], tmp_path: Path) -> None:
    rows = "id,x,y,label\na,1,2,Astronomy\nb,2,2,\nc,3,1,Cooking\nd,3,2,\n"
    inputs["nodes"].write_text(rows, encoding="utf-8")
    assert call("classify", *options(inputs), "--out", tmp_path / "run")[0] == 0
    inputs["nodes"].write_text("id,x\na,1\nb,2\nc,3\nd,4\n", encoding="utf-8")
    words = ["predict", "--model", tmp_path / "run", *options(inputs), "--out", tmp_path / "r"]
    one_line(call(*words), "have vectors of 1 dimensions, but the model was made for 2")


def test_runs_that_cannot_be_compared(call: Call, run: Path, tmp_path: Path) -> None:
    one_line(call("compare", run, tmp_path), "is not a whole run folder")


def test_files_that_cannot_be_evaluated(call: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,label\nnobody,Music\n", encoding="utf-8")
    words = ["evaluate", "--predictions", run / "predictions.csv", "--truth", tmp_path / "t.csv"]
    one_line(call(*words), "no id is in both")


def test_a_folder_that_cannot_be_written(call: Call, inputs: dict[str, Path]) -> None:
    out = Path("/proc/unseen/run") if sys.platform == "linux" else Path("/dev/null/run")
    one_line(call("classify", *options(inputs), "--out", out), "unseen")


@pytest.mark.parametrize(
    "words", [["classify"], ["classify", "--among", "some"], ["predict"], ["nothing"], ["--wrong"]]
)
def test_a_wrong_command_is_no_traceback(words: list[str], call: Call) -> None:
    code, told, complaint = call(*words)
    assert (code, told) == (2, "")
    assert complaint
    assert "Traceback" not in complaint


# Help, and what it costs.


@pytest.mark.parametrize(
    "words",
    [[], *([name] for name in COMMANDS), *(["datasets", n] for n in ("list", "get", "export"))],
)
def test_help(words: list[str], call: Call) -> None:
    code, told, complaint = call(*words, "--help")
    assert (code, complaint) == (0, "")
    assert "Usage" in told
    if not words:
        assert all(name in told for name in COMMANDS)


def shell(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **environment},
    )


def test_the_command_line_imports_nothing_heavy() -> None:
    script = f"import sys, unseen.cli; print([m for m in {HEAVY} if m in sys.modules])"
    done = shell("-c", script)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_a_mistake_in_a_real_process(inputs: dict[str, Path], tmp_path: Path) -> None:
    inputs["edges"].write_text(EDGES + "a,z,1\n", encoding="utf-8")
    done = shell("-m", "unseen.cli", "classify", *options(inputs), "--out", tmp_path / "r")
    one_line((done.returncode, done.stdout, done.stderr), "unknown node 'z'")


def test_a_terminal_that_knows_no_arrows(inputs: dict[str, Path]) -> None:
    """Windows pipes are cp1252: neither arrows nor a class name may end in a traceback."""
    inputs["classes"].write_text(CLASSES + "Łódź,Ein Boot.\n", encoding="utf-8")
    labelled = NODES.replace("oven,", "oven,Music")
    inputs["nodes"].write_text(labelled + "e,ship,Łódź\nf,a song,\n", encoding="utf-8")
    done = shell("-m", "unseen.cli", "check", *options(inputs), PYTHONIOENCODING="cp1252")
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
