"""Run folders: the same bits back, a changed byte found, whole after a kill, never a pickle."""

from __future__ import annotations

import contextlib
import json
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import unseen
from topic_graph import Sample, sample
from unseen.core.classes import Classes
from unseen.core.errors import InputError, SavedFileError
from unseen.core.graph import Graph
from unseen.estimator import ZeroShotNodeClassifier
from unseen.io.atomic import FORMAT, MANIFEST, check_folder, write_manifest
from unseen.prediction import Prediction
from unseen.prepare import lsa
from unseen.select.calibration import Calibration

DOCUMENTED = {
    "predictions.csv",
    "predictions.parquet",
    "probabilities.parquet",
    "report.html",
    "record.json",
    "map.parquet",
    "graph/nodes.parquet",
    "graph/edges.parquet",
    "graph/posterior.npy",
    "model/arrays.safetensors",
    "model/model.json",
    "model/README.md",
    "model/manifest.json",
    "manifest.json",
}


@pytest.fixture(scope="module", autouse=True)
def _few_words(quick_map: None) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lsa, "LEAST", 10)  # so that what was learned about words is saved
        yield


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=6)


@pytest.fixture(scope="module")
def prediction(given: Sample) -> Prediction:
    return unseen.classify(given.graph, given.classes, given.labels(0, 1))


def of_features(given: Sample, model: Any = None) -> Prediction:
    features = np.random.default_rng(0).normal(size=(given.graph.nodes, 5))
    graph = Graph(given.graph.adjacency, features=features)
    return unseen.classify(graph, given.classes, given.labels(0, 1, 2), model=model)


@pytest.fixture(scope="module")
def matched(given: Sample) -> Prediction:
    """Of another model: clusters matched to classes."""
    return of_features(given, unseen.ClusterMatching())


@pytest.fixture(scope="module")
def trained(given: Sample) -> Prediction:
    """Of the paper's model: maps that were trained."""
    pytest.importorskip("torch")
    return of_features(given, unseen.DGPN(start="xavier", epochs=3))


@pytest.fixture(scope="module")
def compared(given: Sample) -> Prediction:
    """Of a model that learns nothing."""
    return unseen.classify(given.graph, given.classes, given.labels(0, 1), model=unseen.Prototype())


@pytest.fixture
def run(prediction: Prediction, tmp_path: Path) -> Path:
    return prediction.save(tmp_path / "run")


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# What is written.


def test_the_documented_files_are_there(run: Path, prediction: Prediction) -> None:
    assert files(run).keys() == DOCUMENTED
    table = prediction.to_polars()
    assert pl.read_parquet(run / "predictions.parquet").equals(table)
    assert (run / "predictions.csv").read_text(encoding="utf-8") == table.write_csv()
    assert json.loads((run / "record.json").read_text(encoding="utf-8")) == prediction.record
    assert "<html" in (run / "report.html").read_text(encoding="utf-8")
    probabilities = pl.read_parquet(run / "probabilities.parquet")
    assert probabilities.columns == ["id", *prediction.classes.names]
    assert probabilities["id"].to_list() == table["id"].to_list()
    assert set(probabilities.dtypes[1:]) == {pl.Float32}
    np.testing.assert_array_equal(probabilities.drop("id").to_numpy(), prediction.proba)


def test_the_score_of_outsiders_is_shown_in_an_open_world_only(given: Sample) -> None:
    told = unseen.classify(given.graph, given.classes, open_world=True)
    found = told.probabilities()
    assert found.columns == ["id", *told.classes.names, "none of these"]
    assert told.background is not None
    np.testing.assert_array_equal(found["none of these"], told.background)
    np.testing.assert_allclose(found.drop("id", "none of these").sum_horizontal(), 1, atol=1e-5)


def test_columns_of_the_most_probable_classes_come_on_request(
    prediction: Prediction, tmp_path: Path
) -> None:
    run = prediction.save(tmp_path / "run", top=2)
    table = pl.read_parquet(run / "predictions.parquet")
    more = ["label_1", "probability_1", "label_2", "probability_2"]
    assert table.columns == [*prediction.to_polars().columns, *more]
    assert table["label_1"].to_list() == table["label"].to_list()
    assert table["probability_1"].to_list() == table["confidence"].to_list()
    assert pl.read_csv(run / "predictions.csv").columns == table.columns


def test_a_class_called_id(given: Sample, tmp_path: Path) -> None:
    found = unseen.classify(given.graph, ["id", "Cooking", "Music"])
    table = pl.read_parquet(found.save(tmp_path / "run") / "probabilities.parquet")
    assert table.columns[:4] == ["id", "id (class)", "Cooking", "Music"]
    assert table["id"].to_list() == list(given.graph.ids or ())


def test_the_manifest_lists_every_other_file(run: Path) -> None:
    manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["format"] == FORMAT
    assert set(manifest["files"]) == DOCUMENTED - {MANIFEST}
    model = json.loads((run / "model" / MANIFEST).read_text(encoding="utf-8"))
    assert set(model["files"]) == {"arrays.safetensors", "model.json", "README.md"}
    check_folder(run)
    check_folder(run / "model")


def test_the_model_card_names_the_classes(run: Path, prediction: Prediction) -> None:
    card = (run / "model" / "README.md").read_text(encoding="utf-8")
    for name, about in zip(
        prediction.classes.names, prediction.classes.descriptions or (), strict=True
    ):
        part = "labelled" if name in ("Astronomy", "Cooking") else "unseen"
        assert f"| {name} | {part} | {about} |" in card
    assert "static" in card


def test_a_class_name_cannot_break_the_table_of_the_card(given: Sample, tmp_path: Path) -> None:
    classes = Classes(["A|B", "C"], ["first line\nsecond | line", None])
    model = unseen.classify(given.graph, classes).classifier
    card = (unseen.save(model, tmp_path / "m") / "README.md").read_text(encoding="utf-8")
    rows = card[card.index("|---|") :].split("\n\n")[0].splitlines()[1:]
    assert len(rows) == 2
    assert all(row.replace(r"\|", "").count("|") == 4 for row in rows)


# Save and load.


def same(one: Any, other: Any) -> bool:
    """Tell whether two values of a state are equal to the bit."""
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and one.tobytes() == other.tobytes())
    return type(one) is type(other) and bool(one == other)  # np.float64 is no float: it widens


@pytest.mark.parametrize("which", ["prediction", "matched", "trained", "compared"])
def test_save_and_load_give_the_same_bits(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    made: Prediction = request.getfixturevalue(which)
    before = made.classifier
    after = unseen.load(before.save(tmp_path / "model"))
    assert after.class_texts_ == before.class_texts_
    assert after.classes_.tolist() == before.classes_.tolist()
    for name in ("seen_", "calibration_", "among", "abstain", "device", "seed", "encoder"):
        assert getattr(after, name) == getattr(before, name), name
    assert type(after.model_) is type(before.model_)
    assert after.model_.get_params() == before.model_.get_params()
    for part in ("model_", "preparer_"):
        one, other = (getattr(each, part).state() for each in (before, after))
        assert one.keys() == other.keys()
        for name, value in one.items():
            assert same(value, other[name]), f"{part}: {name}"
    assert (before.preparer_.lsa_ is None) == (made.graph.texts is None)
    again = after.explain(made.graph, labels=made.labels)
    assert again.label.tobytes() == made.label.tobytes()
    assert again.proba.tobytes() == made.proba.tobytes()
    assert again.reasons == made.reasons


def test_choices_and_calibration_are_kept(given: Sample, tmp_path: Path) -> None:
    fitted = ZeroShotNodeClassifier().fit(given.graph, given.classes, given.labels(0, 1))
    fitted.calibration_ = Calibration(0.5, -0.25)
    back = unseen.load(fitted.save(tmp_path / "model"))
    assert back.calibration_ == fitted.calibration_
    told = [(choice.what, choice.chosen, choice.rule) for choice in fitted.choices_]
    assert [(choice.what, choice.chosen, choice.rule) for choice in back.choices_] == told


@pytest.mark.parametrize("which", ["prediction", "matched", "trained"])
def test_a_run_is_its_model_with_graph_and_answers(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    made: Prediction = request.getfixturevalue(which)
    run = made.save(tmp_path / "run")
    whole, alone = unseen.load(run), unseen.load(str(run / "model"))
    assert whole.class_texts_ == alone.class_texts_
    assert whole.posterior_.tobytes() == made.classifier.posterior_.tobytes()
    np.testing.assert_array_equal(whole.labels_.codes, made.labels.codes)
    assert whole.predict_proba().tobytes() == made.classifier.predict_proba().tobytes()
    assert whole.explain().to_polars().equals(made.to_polars())
    assert not hasattr(alone, "graph_")
    with pytest.raises(InputError, match=r"^graph: the classifier was saved without one; give the"):
        alone.predict()


def test_a_run_of_another_graph_is_about_that_graph(prediction: Prediction, tmp_path: Path) -> None:
    other = Graph([[0, 1], [1, 0]], texts=["piano", "violin"])
    run = prediction.classifier.explain(other).save(tmp_path / "run")
    assert unseen.load(run).predict().tolist() == ["Music", "Music"]


def test_a_posterior_of_another_graph_is_refused(run: Path) -> None:
    np.save(run / "graph" / "posterior.npy", np.ones((3, 5), np.float32))
    write_manifest(run)
    with pytest.raises(SavedFileError, match="does not fit the graph of the run; classify again"):
        unseen.load(run)


def test_nothing_is_unpickled(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    with contextlib.suppress(ImportError):
        monkeypatch.setattr("torch.load", refuse)
    unseen.load(run)
    endings = {Path(name).suffix for name in files(run)}
    assert endings <= {".csv", ".parquet", ".html", ".json", ".safetensors", ".md", ".npz", ".npy"}


# The graph of a run.


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("content", ["texts", "features", "sparse", "words", "both"])
def test_the_graph_comes_back(directed: bool, content: str, given: Sample, tmp_path: Path) -> None:
    n = given.graph.nodes
    rng = np.random.default_rng(2)
    source, target = rng.integers(0, n, (2, 40))
    matrix = rng.poisson(0.7, (n, 3)).astype(np.float32)
    options: dict[str, dict[str, Any]] = {
        "texts": {"texts": ['comma, "quote"\nline', "  é décomposé  ", *["plain"] * (n - 2)]},
        "features": {"features": matrix + 0.1},
        "sparse": {"features": sp.csr_array(matrix)},
        "words": {"features": sp.csr_array(matrix), "vocabulary": ["star", "soup", "goal"]},
        "both": {"features": matrix, "texts": given.graph.texts},
    }
    graph = Graph.from_edges(
        source,
        target,
        rng.random(40) + 0.01,
        nodes=n,
        directed=directed,
        ids=[f"nœud {i}" for i in range(n)],
        **options[content],
    )
    labels = given.labels(0, 1)
    made = unseen.classify(graph, given.classes, labels)
    back = unseen.load(made.save(tmp_path / "run")).graph_
    assert (back.ids, back.texts) == (graph.ids, graph.texts)
    assert (back.vocabulary, back.directed) == (graph.vocabulary, directed)
    assert (back.adjacency != graph.adjacency).nnz == 0
    assert back.adjacency.dtype == graph.adjacency.dtype
    if graph.features is None:
        assert back.features is None
    else:
        np.testing.assert_array_equal(sp.csr_array(back.features).toarray(), dense(graph.features))
    assert back.repairs.duplicate_edges == back.repairs.self_loops == 0
    assert back.repairs.isolated_nodes == graph.repairs.isolated_nodes
    kept = unseen.read_labels(tmp_path / "run" / "graph" / "nodes.parquet", back, given.classes)
    np.testing.assert_array_equal(kept.codes, labels.codes)


def dense(features: Any) -> Any:
    return features.toarray() if sp.issparse(features) else features


def test_a_graph_without_edges_comes_back(given: Sample, tmp_path: Path) -> None:
    graph = Graph(np.zeros((3, 3)), texts=["a star", "a soup", "a song"])
    back = unseen.load(unseen.classify(graph, given.classes).save(tmp_path / "run")).graph_
    assert (back.nodes, back.edges) == (3, 0)


def test_nodes_without_a_text_come_back(given: Sample, tmp_path: Path) -> None:
    graph = Graph([[0, 1], [1, 0]], texts=["a star", ""])
    made = unseen.classify(graph, given.classes)
    back = unseen.load(made.save(tmp_path / "run"))
    assert back.graph_.texts == ("a star", "")
    assert back.predict_proba().tobytes() == made.proba.tobytes()


# Damage.


@pytest.mark.parametrize("name", sorted(DOCUMENTED - {MANIFEST}))
def test_one_changed_byte_is_found(name: str, run: Path) -> None:
    path = run / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(
        SavedFileError, match=rf"{Path(name).name}: was changed after it was written"
    ):
        check_folder(run)
    if name.startswith("model/") and not name.endswith(MANIFEST):
        with pytest.raises(SavedFileError, match="was changed"):
            unseen.load(run)


@pytest.mark.parametrize("old", ['"files"', '"format"', '"record.json"', "}", "{"])
def test_a_changed_manifest_is_found(old: str, run: Path) -> None:
    path = run / MANIFEST
    text = path.read_text(encoding="utf-8")
    at = text.index(old) + len(old) // 2
    path.write_text(text[:at] + "x" + text[at + 1 :], encoding="utf-8")
    with pytest.raises(SavedFileError):
        check_folder(run)


@pytest.mark.parametrize("text", ["[]", "{}", "3", '{"format": 1, "files": []}', "", "\xff"])
def test_a_manifest_that_is_none_is_found(text: str, run: Path) -> None:
    (run / "model" / MANIFEST).write_bytes(text.encode("latin1"))
    with pytest.raises(SavedFileError):
        unseen.load(run)


@pytest.mark.parametrize("name", sorted(DOCUMENTED - {MANIFEST}))
def test_a_missing_file_is_found(name: str, run: Path) -> None:
    (run / name).unlink()
    with pytest.raises(SavedFileError, match=r"is missing; restore it or make the folder again"):
        check_folder(run)


def test_a_folder_without_a_manifest_is_not_finished(run: Path) -> None:
    (run / MANIFEST).unlink()
    with pytest.raises(SavedFileError, match=r"has no manifest.json, so it is not a finished run"):
        check_folder(run)
    (run / "model" / MANIFEST).unlink()
    with pytest.raises(SavedFileError, match=r"has no manifest.json"):
        unseen.load(run)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(SavedFileError, match=r"nothing: no such folder"):
        unseen.load(tmp_path / "nothing")


def rewrite(folder: Path, changes: dict[str, Any]) -> None:
    """Change settings of a saved model as a later version would, checksums included."""
    settings = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    settings.update(changes)
    for key in [key for key, value in settings.items() if value is ...]:
        del settings[key]
    (folder / "model.json").write_text(json.dumps(settings), encoding="utf-8")
    write_manifest(folder)


def test_a_newer_format_is_refused(run: Path) -> None:
    rewrite(run / "model", {"format": FORMAT + 1})
    with pytest.raises(
        SavedFileError, match=rf"has format {FORMAT + 1}.*reads {FORMAT}; update with pip"
    ):
        unseen.load(run)


def test_an_older_format_is_refused(run: Path) -> None:
    rewrite(run / "model", {"format": FORMAT - 1})
    with pytest.raises(SavedFileError, match=rf"has format {FORMAT - 1}.*; classify again"):
        unseen.load(run)


def test_a_newer_format_of_the_manifest_is_refused(run: Path) -> None:
    for folder in (run, run / "model"):
        path = folder / MANIFEST
        manifest = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**manifest, "format": FORMAT + 1}), encoding="utf-8")
    with pytest.raises(SavedFileError, match=rf"format {FORMAT + 1}"):
        unseen.load(run)
    with pytest.raises(SavedFileError, match=rf"format {FORMAT + 1}"):
        check_folder(run)


@pytest.mark.parametrize(
    "changes",
    [
        {"classes": ...},
        {"params": {"nonsense": 1}},
        {"state": {}},
        {"model": "os.system"},
        {"calibration": {"slope": 1.0, "bend": 2.0}},
    ],
    ids=["no classes", "strange parameter", "no values", "unknown model", "strange calibration"],
)
def test_an_incomplete_model_is_refused(changes: dict[str, Any], run: Path) -> None:
    rewrite(run / "model", changes)
    with pytest.raises(SavedFileError):
        unseen.load(run)


# Replacing.


def test_a_folder_that_is_not_a_run_is_not_touched(prediction: Prediction, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match=r"mine: exists and is not a run that unseen wrote"):
        prediction.save(folder)
    assert files(tmp_path) == {"mine/thesis.txt": b"years of work"}


@pytest.mark.parametrize("manifest", ['{"name": "my web app", "icons": []}', "[]", "not JSON"])
def test_the_manifest_of_something_else_is_no_run(
    manifest: str, prediction: Prediction, tmp_path: Path
) -> None:
    folder = tmp_path / "webapp"
    folder.mkdir()
    (folder / "manifest.json").write_text(manifest, encoding="utf-8")
    (folder / "app.js").write_text("years of work", encoding="utf-8")
    before = files(tmp_path)
    with pytest.raises(InputError, match="is not a run that unseen wrote"):
        prediction.save(folder)
    assert files(tmp_path) == before


def test_a_file_is_not_replaced_by_a_folder(prediction: Prediction, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"out: is a file; give the name of a folder"):
        prediction.save(tmp_path / "out")
    assert files(tmp_path) == {"out": b"x"}


def test_an_empty_or_missing_folder_is_filled(prediction: Prediction, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "a" / "b" / "c"):
        assert prediction.save(folder) == folder
        check_folder(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "a"}


@pytest.mark.parametrize("name", [".", "../here"])
def test_the_current_folder_is_refused_and_left_alone(
    name: str, prediction: Prediction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To replace it would leave the shell in a folder that is no longer there."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(InputError, match=r"is the current folder; give the name of a folder in it"):
        prediction.save(name)
    assert files(tmp_path) == {}
    assert here.is_dir()
    prediction.save("run")
    check_folder(here / "run")


def test_a_run_is_replaced_as_a_whole(
    run: Path, prediction: Prediction, matched: Prediction
) -> None:
    matched.save(run)
    check_folder(run)
    assert "graph/features.npz" in files(run)
    prediction.save(run)
    check_folder(run)
    assert files(run).keys() == DOCUMENTED
    assert [path.name for path in run.parent.iterdir()] == ["run"]


def test_a_failure_leaves_the_old_run_and_no_litter(
    run: Path, prediction: Prediction, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(run.parent)
    other = unseen.classify(prediction.graph, prediction.classes)

    def fail(*_: Any) -> NoReturn:
        raise OSError("the disk is full")

    monkeypatch.setattr("unseen.run._write_model", fail)
    for folder in (run, run.parent / "another"):
        with pytest.raises(OSError, match="the disk is full"):
            other.save(folder)
        assert files(run.parent) == before
        assert [path.name for path in run.parent.iterdir()] == ["run"]
    check_folder(run)


def test_where_folders_cannot_be_swapped_in_one_step(
    run: Path, prediction: Prediction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.io.workspace.sys.platform", "darwin")
    other = unseen.classify(prediction.graph, prediction.classes)
    other.save(run)
    check_folder(run)
    assert pl.read_parquet(run / "predictions.parquet").equals(other.to_polars())
    assert [path.name for path in run.parent.iterdir()] == ["run"]


# Killed at any moment.

WRITER = """
import sys, types
import numpy as np
layout = types.ModuleType("unseen.report.layout")
layout.MAP_NODES = 10
layout.surroundings = lambda v, operator: v
layout.lay_out = lambda v, most, seed, g: (np.arange(3), np.zeros((3, 2), np.float32))
sys.modules["unseen.report.layout"] = layout  # spares the import of scikit-learn
page = types.ModuleType("unseen.report.page")
page.render = lambda *_: "<html>" * 10_000
sys.modules["unseen.report.page"] = page
import unseen
graph = unseen.Graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]], texts=["a star", "a soup", "a song"])
made = [unseen.classify(graph, names) for names in (["Old", "New"], ["Before", "After", "Then"])]
print("ready", flush=True)
while True:
    for prediction in made:
        prediction.save(sys.argv[1])
"""
OLD, NEW = {"Old", "New"}, {"Before", "After", "Then"}
KILLS, AT_ONCE = 8, 4


def test_a_kill_at_any_moment_leaves_a_whole_run(tmp_path: Path) -> None:
    draw = random.Random(0)
    for _ in range(KILLS // AT_ONCE):
        folders = [tmp_path / str(i) / "run" for i in range(AT_ONCE)]
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(folder)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            for folder in folders
        ]
        for folder, writer in zip(folders, writers, strict=True):
            try:
                assert writer.stdout is not None
                assert writer.stdout.readline() == b"ready\n"
                until = time.monotonic() + 20
                while not folder.is_dir() and time.monotonic() < until:
                    time.sleep(0.001)
                time.sleep(draw.uniform(0, 0.15))
                assert writer.poll() is None
            finally:
                writer.send_signal(signal.SIGKILL)
                writer.communicate()
            check_folder(folder)
            classes = set(unseen.load(folder).classes_)
            assert classes in (OLD, NEW)
            record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
            assert {row["name"] for row in record["classes"]} == classes
