"""The list of data sets, the one that Python carries, and files that hold what the set holds."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.labels import Labels, Split
from unseen.datasets import Dataset, export, load, names, stdlib


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def tiny(features: object, *, directed: bool = False) -> Dataset:
    return Dataset(
        name="tiny",
        graph=Graph.from_edges(
            [0, 1, 2],
            [1, 2, 0],
            [1.0, 0.25, 3.0],
            nodes=3,
            directed=directed,
            ids=["n,1", 'n"2"', "n3"],
            texts=["a line\nand another", "plain, with a comma", "ünïcode"],
            features=features,
            vocabulary=["x", "y"],
        ),
        classes=Classes(["cat", "dog"], ["Purrs, mostly.", None]),
        truth=Labels(np.array([0, 1, 0])),
        splits={"only": Split(seen=(1,), validation=(), unseen=(0,))},
    )


def test_names_can_all_be_loaded_or_fetched() -> None:
    assert [name for name, _ in names()] == ["stdlib", "cora", "citeseer", "c-m10m", "pubmed"]
    assert all(about and "\n" not in about for _, about in names())


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        InputError, match="'coral'; those known: stdlib, cora, citeseer, c-m10m, pub"
    ):
        load("coral")


def test_a_set_without_a_standard_split_names_those_that_have_one() -> None:
    with pytest.raises(
        InputError, match=r"^tiny: no standard split .*; choose one of cora, citeseer, pubmed$"
    ):
        tiny(np.ones((3, 2))).standard_split()


def test_stdlib_is_what_was_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is collected from a real library is the matter of the tests of `stdlib`."""
    names = [name for name, _ in stdlib.sections()]
    found = stdlib.Collected(
        ids=["json", "json.dumps", "os"],
        texts=["JSON.", "Write JSON.", "The system."],
        sections=[names[3], names[3], names[1]],
        edges=[(0, 1), (1, 2)],
    )
    monkeypatch.setattr(stdlib, "collect", lambda: found)
    monkeypatch.setattr(stdlib, "HELD_OUT", (names[3], names[0]))
    data = load("stdlib")
    assert (data.graph.ids, data.graph.texts) == (tuple(found.ids), tuple(found.texts))
    assert data.graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    told = list(zip(data.classes.names, data.classes.descriptions or (), strict=True))
    assert told == [stdlib.sections()[1], stdlib.sections()[3]]  # those that have nodes here
    assert data.truth.codes.tolist() == [1, 1, 0]
    assert data.splits == {"demo": Split(seen=(0,), validation=(), unseen=(1,))}


def test_export_and_back_with_dense_features(tmp_path: Path) -> None:
    data = tiny(np.array([[0.5, 1], [0, 2], [3, 0]]))
    files = export(data, tmp_path / "new" / "folder", "only")
    assert sorted(path.name for path in files) == [
        "classes.csv",
        "edges.csv",
        "nodes.csv",
        "truth.csv",
    ]
    assert sorted(files) == sorted(
        (tmp_path / "new" / "folder").iterdir()
    )  # nothing temporary left
    nodes = rows(files[0])
    assert [row["id"] for row in nodes] == ["n,1", 'n"2"', "n3"]
    assert [row["text"] for row in nodes] == list(data.graph.texts or ())
    assert [row["label"] for row in nodes] == ["", "dog", ""]
    columns = [[float(row["feature_0"]), float(row["feature_1"])] for row in nodes]
    assert columns == [[0.5, 1], [0, 2], [3, 0]]
    edges = {(row["source"], row["target"]): float(row["weight"]) for row in rows(files[1])}
    assert edges == {("n,1", 'n"2"'): 1, ("n,1", "n3"): 3, ('n"2"', "n3"): 0.25}
    assert rows(files[2]) == [
        {"name": "cat", "description": "Purrs, mostly."},
        {"name": "dog", "description": ""},
    ]
    assert [row["label"] for row in rows(files[3])] == ["cat", "dog", "cat"]


def test_export_of_directed_ties_keeps_their_direction(tmp_path: Path) -> None:
    files = export(tiny(np.ones((3, 2)), directed=True), tmp_path)
    edges = {(row["source"], row["target"]) for row in rows(files[1])}
    assert edges == {("n,1", 'n"2"'), ('n"2"', "n3"), ("n3", "n,1")}


def test_export_without_a_split_shows_no_label(tmp_path: Path) -> None:
    files = export(tiny(np.ones((3, 2))), tmp_path, None)
    assert {row["label"] for row in rows(files[0])} == {""}


def test_export_with_sparse_features(tmp_path: Path) -> None:
    X = sp.csr_array([[0.5, 1], [0, 2], [3, 0]], dtype=np.float32)
    files = {path.name: path for path in export(tiny(X), tmp_path, "only")}
    assert set(rows(files["nodes.csv"])[0]) == {"id", "text", "label"}
    assert (sp.load_npz(files["features.npz"]) != X).nnz == 0
    assert files["vocabulary.txt"].read_text("utf-8") == "x\ny\n"


def test_export_refuses_an_unknown_split(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tiny: has no split 'II'; there is 'only'"):
        export(tiny(np.ones((3, 2))), tmp_path, "II")


def test_a_failed_export_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = sp.csr_array(np.eye(3, 2, dtype=np.float32))
    export(tiny(X), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(file: object, matrix: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("scipy.sparse.save_npz", fail)
    with pytest.raises(OSError, match="disk full"):
        export(tiny(X), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.usefixtures("paper_data")
def test_export_of_a_published_set(tmp_path: Path) -> None:
    data = load("c-m10m")
    files = {path.name: path for path in export(data, tmp_path, "I")}
    nodes, truth, edges = (rows(files[f"{name}.csv"]) for name in ("nodes", "truth", "edges"))
    assert tuple(row["text"] for row in nodes) == data.graph.texts
    seen = {data.classes.names[c] for c in data.splits["I"].seen}
    shown = [row["label"] if row["label"] in seen else "" for row in truth]
    assert [row["label"] for row in nodes] == shown
    assert sum(label != "" for label in shown) == 2277
    assert len(truth) == data.graph.nodes
    source, target = (np.array([int(row[end]) for row in edges]) for end in ("source", "target"))
    back = Graph.from_edges(source, target, nodes=len(nodes), texts=data.graph.texts)
    assert set(edges[0]) == {"source", "target"}
    assert (back.adjacency != data.graph.adjacency).nnz == 0
    assert (sp.load_npz(files["features.npz"]) != data.graph.features).nnz == 0
    words = files["vocabulary.txt"].read_text("utf-8").splitlines()
    assert tuple(words) == data.graph.vocabulary
