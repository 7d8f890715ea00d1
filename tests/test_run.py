"""Run folders: the same bits back, a changed byte found, whole after a kill, never a pickle."""

from __future__ import annotations

import json
import pickle
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from safetensors.numpy import load_file

import unseen
from topic_graph import Sample, sample
from unseen.classes import Classes
from unseen.encode import terms
from unseen.errors import InputError, SavedFileError
from unseen.files import FORMAT, MANIFEST, check_folder, write_manifest
from unseen.graph import Graph
from unseen.models.dgpn import DGPN
from unseen.models.refine import Refine
from unseen.prediction import Prediction
from unseen.run import _classifier, read_run_graph
from unseen.sureness import Sureness

DOCUMENTED = {
    "predictions.csv",
    "predictions.parquet",
    "report.html",
    "record.json",
    "map.parquet",
    "graph/nodes.parquet",
    "graph/edges.parquet",
    "model/arrays.safetensors",
    "model/model.json",
    "model/README.md",
    "model/manifest.json",
    "manifest.json",
}


@pytest.fixture(scope="module", autouse=True)
def _few_words(quick_map: None) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "LEAST", 10)  # so that what was learned about words is saved
        yield


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=6)


@pytest.fixture(scope="module")
def prediction(given: Sample) -> Prediction:
    made: Prediction = unseen.classify(given.graph, given.classes, given.labels(0, 1))
    return made


@pytest.fixture(scope="module")
def trained(given: Sample) -> Prediction:
    """The other kind of model: maps that were learned."""
    features = np.random.default_rng(0).normal(size=(given.graph.nodes, 5))
    graph = Graph(given.graph.adjacency, features=features)
    made: Prediction = unseen.classify(graph, given.classes, given.labels(0, 1, 2))
    return made


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


@pytest.mark.parametrize("which", ["prediction", "trained"])
def test_save_and_load_give_the_same_bits(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    made: Prediction = request.getfixturevalue(which)
    before = made.classifier
    after = unseen.load(unseen.save(before, tmp_path / "model"))
    for name in ("classes", "seen", "encoder", "identity", "kind", "hops", "laziness"):
        assert getattr(after, name) == getattr(before, name), name
    for name in ("node_centre", "class_centre"):
        assert getattr(after, name).tobytes() == getattr(before, name).tobytes()
        assert getattr(after, name).dtype == getattr(before, name).dtype
    assert (before.terms is None) == (which == "trained")
    if before.terms is not None:
        assert after.terms is not None
        for name, value in vars(before.terms).items():
            assert getattr(after.terms, name).tobytes() == value.tobytes(), name
            assert getattr(after.terms, name).dtype == value.dtype, name
    assert after.model.get_params() == before.model.get_params()
    if isinstance(before.model, DGPN):
        assert isinstance(after.model, DGPN)
        assert after.model.state().keys() == before.model.state().keys()
        for name, value in before.model.state().items():
            assert after.model.state()[name].tobytes() == value.tobytes(), name
    else:
        assert isinstance(before.model, Refine)
        for name, value in vars(before.model).items():
            found = getattr(after.model, name)
            same = found.tobytes() == value.tobytes() if hasattr(value, "tobytes") else None
            assert found == value if same is None else same, name
    again = unseen.predict(after, made.graph, labels=made.labels)
    assert again.label.tobytes() == made.label.tobytes()
    assert again.confidence.tobytes() == made.confidence.tobytes()
    assert again.reasons == made.reasons


def test_trained_maps_come_back(prediction: Prediction, given: Sample, tmp_path: Path) -> None:
    width = prediction.vectors.shape[1]
    rng = np.random.default_rng(0)
    state = {
        name: rng.normal(size=(width, width)).astype(np.float32)
        for name in ("to_latent_", "to_semantic_", "to_semantic_local_")
    }
    maps = DGPN(start="identity").restore({**state, "csds_": np.ones((5, width), np.float32)})
    before = replace(prediction.classifier, maps=maps)
    after = unseen.load(unseen.save(before, tmp_path / "model"))
    assert after.maps is not None
    for name, value in maps.state().items():
        assert after.maps.state()[name].tobytes() == value.tobytes()
    one, other = (unseen.predict(model, given.graph) for model in (before, after))
    assert one.confidence.tobytes() == other.confidence.tobytes()
    assert one.confidence.tobytes() != prediction.confidence.tobytes()


def test_what_confidences_are_corrected_by_is_kept(prediction: Prediction, tmp_path: Path) -> None:
    given = replace(prediction.classifier, sureness=Sureness(0.5, -0.25))
    folder = unseen.save(given, tmp_path / "model")
    assert unseen.load(folder).sureness == given.sureness
    settings = json.loads((folder / "model.json").read_text("utf-8"))
    del settings["sureness"]  # as versions before had it
    arrays = load_file(folder / "arrays.safetensors")
    assert _classifier(settings, arrays).sureness == Sureness()


def test_a_run_is_loaded_like_its_model(run: Path) -> None:
    one, other = unseen.load(run), unseen.load(str(run / "model"))
    assert one.node_centre.tobytes() == other.node_centre.tobytes()
    assert one.classes == other.classes


def test_nothing_is_unpickled(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("something was unpickled")

    for module, name in ((pickle, "load"), (pickle, "loads"), (torch, "load")):
        monkeypatch.setattr(module, name, refuse)
    monkeypatch.setattr(pickle, "Unpickler", refuse)
    unseen.load(run)
    read_run_graph(run)
    endings = {Path(name).suffix for name in files(run)}
    assert endings <= {".csv", ".parquet", ".html", ".json", ".safetensors", ".md", ".npz"}


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
    back = read_run_graph(made.save(tmp_path / "run"))
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
    np.testing.assert_array_equal(kept.of, labels.of)


def dense(features: Any) -> Any:
    return features.toarray() if sp.issparse(features) else features


def test_a_graph_without_ties_comes_back(given: Sample, tmp_path: Path) -> None:
    graph = Graph(np.zeros((3, 3)), texts=["a star", "a soup", "a song"])
    back = read_run_graph(unseen.classify(graph, given.classes).save(tmp_path / "run"))
    assert (back.nodes, back.edges) == (3, 0)


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
        SavedFileError, match=rf"has format {FORMAT + 1}.*reads up to {FORMAT}; update with pip"
    ):
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
    [{"classes": ...}, {"params": {"nonsense": 1}}, {"numbers": {}}, {"model": "DGPN"}],
    ids=["no classes", "strange parameter", "no numbers", "arrays of another model"],
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


def test_the_current_folder_can_be_named(
    prediction: Prediction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    try:
        prediction.save(".")
    except InputError:
        return  # a refusal in words would do as well
    check_folder(here)


def test_a_run_is_replaced_as_a_whole(
    run: Path, prediction: Prediction, trained: Prediction
) -> None:
    trained.save(run)
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
    monkeypatch.setattr("unseen.files.sys.platform", "darwin")
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
KILLS, AT_ONCE = 12, 4


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
            classes = set(unseen.load(folder).classes.names)
            assert classes in (OLD, NEW)
            record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
            assert {row["name"] for row in record["classes"]} == classes
