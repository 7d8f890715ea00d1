"""Files of any size become a graph on disk: the one that memory has, with the same complaints."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.engines import ids, sources
from unseen.engines.ids import Ids
from unseen.engines.stored_graph import StoredGraph, store_graph
from unseen.io.read import read_inputs

NODES = 90
CLASSES = Classes(["cats", "dogs"])


def tables(kind: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return nodes and edges; ids are words, whole numbers, or whole numbers far apart."""
    rng = np.random.default_rng(0)
    names: Any = [f"né {i}" for i in range(NODES)]
    if kind != "text":
        names = (rng.permutation(NODES) * (10**12 if kind == "far" else 1)).tolist()
    labels = ["cats" if i % 7 == 0 else "" for i in range(NODES)]
    texts = ["" if i % 11 == 0 else f"a text of {i}" for i in range(NODES)]
    nodes = pl.DataFrame({"id": names, "text": texts, "label": labels, "more": ["x"] * NODES})
    ends = [[names[i] for i in rng.integers(0, NODES - 4, 200)] for _ in range(2)]
    weight = rng.random(200).round(3) + 0.5
    return nodes, pl.DataFrame({"source": ends[0], "target": ends[1], "weight": weight})


def write(frame: pl.DataFrame, path: Path, parts: int) -> Path:
    """Write a table in one file, or in a folder of several."""
    writers: dict[str, Any] = {
        ".csv": pl.DataFrame.write_csv,
        ".parquet": pl.DataFrame.write_parquet,
        ".jsonl": pl.DataFrame.write_ndjson,
    }
    if parts == 1:
        writers[path.suffix](frame, path)
        return path
    folder = path.with_suffix("")
    folder.mkdir()
    for i, part in enumerate(frame.iter_slices(-(-frame.height // parts))):
        writers[path.suffix](part, folder / f"{i}{path.suffix}")
    return folder


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("kind", ["text", "near", "far"])
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("streamed", [False, True])
def test_files_of_all_formats(
    suffix: str,
    kind: str,
    parts: int,
    streamed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if streamed:
        monkeypatch.setattr(sources, "SMALL", 0)
        monkeypatch.setattr(sources, "BATCH", 17)
    nodes, edges = (
        write(frame, tmp_path / f"{name}{suffix}", parts)
        for name, frame in zip(("nodes", "edges"), tables(kind), strict=True)
    )
    directed = kind == "far"
    known, classes, labels = read_inputs(nodes, edges, CLASSES, directed=directed)
    for _ in range(2):  # the second time nothing is read again
        graph, codes = store_graph(
            tmp_path / "work", nodes, edges, classes, memory=1 << 30, directed=directed, block=20
        )
        assert isinstance(graph, StoredGraph)
        assert list(graph.ids) == list(known.ids or ())
        texts = [text for i in range(len(graph.engine.spans)) for text in graph.texts.block(i)]
        assert texts == list(known.texts or ())
        np.testing.assert_array_equal(codes.codes, labels.codes)
        assert (graph.nodes, graph.edges) == (known.nodes, known.edges)
        assert graph.repairs == known.repairs
        ends, columns, weights = graph.operator.edges_of(np.arange(known.nodes))
        np.testing.assert_array_equal(ends, known.operator.weights.indptr)
        np.testing.assert_array_equal(columns, known.operator.weights.indices)
        np.testing.assert_allclose(weights, known.operator.weights.data, rtol=1e-5)
        nodes_file = nodes if parts == 1 else next(nodes.iterdir())
        nodes_file.touch()


@pytest.mark.parametrize(
    ("nodes", "edges", "complaint"),
    [
        ({"id": ["a", "a"]}, {}, r"nodes.csv row 2: id 'a' is already on row 1; every node"),
        ({"id": ["a", ""]}, {}, r"`id` is empty; every node needs an id"),
        ({"label": ["cats", "cows"]}, {}, r"label 'cows' is not a class; the classes are 'cats'"),
        ({}, {"target": ["b", "z"]}, r"edges.csv line 3: unknown node 'z' as target; both ends"),
        ({}, {"weight": ["1", "-2"]}, r"weight '-2'; a weight must be a positive"),
        ({"text": ["", " "]}, {}, r"every text is empty"),
        ({"size": ["1", "2"]}, {}, r"reads nodes by their texts, found numeric columns 'size'"),
    ],
)
def test_what_is_wrong_is_said(
    nodes: dict[str, Any], edges: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    good = {"id": ["a", "b"], "text": ["one", "two"], "label": ["", ""]}
    pl.DataFrame(good | nodes).write_csv(tmp_path / "nodes.csv")
    ends = {"source": ["a", "b"], "target": ["b", "a"]}
    pl.DataFrame(ends | edges).write_csv(tmp_path / "edges.csv")
    with pytest.raises(InputError, match=complaint):
        store_graph(
            tmp_path / "work",
            tmp_path / "nodes.csv",
            tmp_path / "edges.csv",
            CLASSES,
            memory=1 << 30,
        )


@pytest.mark.parametrize("end", ["01", "+1", "-0", "1.0", "1_0", "9" * 19, "9" * 30, "one"])
def test_a_number_has_one_name(end: str, tmp_path: Path) -> None:
    """Ids that are numbers are found by what names them in memory, too, and by nothing else."""
    texts = ["one", "two", "three"]
    pl.DataFrame({"id": [0, 1, 10], "text": texts}).write_parquet(tmp_path / "nodes.parquet")
    given = tmp_path / "nodes.parquet", tmp_path / "edges.csv"
    for name, found in ((" 1 ", True), (end, False)):
        given[1].write_text(f"source,target\n{name},10\n", encoding="utf-8")
        for read in (
            lambda: read_inputs(*given, CLASSES)[0],
            lambda: store_graph(tmp_path / "work", *given, CLASSES, memory=1 << 30)[0],
        ):
            if found:
                assert read().edges == 1
            else:
                with pytest.raises(InputError, match="unknown node"):
                    read()
        shutil.rmtree(tmp_path / "work", ignore_errors=True)


def test_numbers_of_64_bits(tmp_path: Path) -> None:
    largest = 2**64 - 1
    nodes, edges = tmp_path / "nodes.parquet", tmp_path / "edges.parquet"
    keys = pl.Series([largest, 2, 3], dtype=pl.UInt64)
    pl.DataFrame({"id": keys, "text": ["one", "two", "three"]}).write_parquet(nodes)
    ends = pl.Series([largest], dtype=pl.UInt64)
    pl.DataFrame({"source": ends, "target": [2]}).write_parquet(edges)
    graph, _ = store_graph(tmp_path / "work", nodes, edges, CLASSES, memory=1 << 30)
    assert list(graph.ids) == [str(largest), "2", "3"]
    assert graph.edges == 1
    pl.DataFrame({"id": [1, 2], "text": ["one", "two"]}).write_parquet(nodes)
    with pytest.raises(InputError, match=f"unknown node '{largest}'"):
        store_graph(tmp_path / "other", nodes, edges, CLASSES, memory=1 << 30)


def test_hashes_that_collide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ids with one hash are told apart by another; a stranger with the hash of an id is none"""
    names = ["alpha", "beta", "gamma"]
    pl.DataFrame({"id": names}).write_ipc(tmp_path / "ids.arrow")
    codes = {"alpha": 5, "beta": 5, "gamma": 7, "stranger": 7}
    seeds: list[int] = []

    def hashed(self: pl.Series, seed: int) -> pl.Series:
        seeds.append(seed)
        values = [codes[name] if seed == 0 or name != "beta" else 6 for name in self]
        return pl.Series(values, dtype=pl.UInt64)

    monkeypatch.setattr(pl.Series, "hash", hashed)
    found = Ids(tmp_path / "ids.arrow")
    wanted = pl.Series(["stranger", "gamma", "beta", "alpha"])
    assert found.rows(wanted).tolist() == [-1, 2, 1, 0]
    assert seeds[:2] == [0, 1]
    assert ids.SEEDS[0] == 0


def test_a_folder_of_parts_is_read_in_memory_too(tmp_path: Path) -> None:
    nodes, edges = tables("text")
    folder = write(nodes, tmp_path / "nodes.csv", 3)
    file = write(edges, tmp_path / "edges.csv", 1)
    graph, _, _ = read_inputs(folder, file, CLASSES)
    assert graph.nodes == NODES
    again, _, _ = read_inputs(tmp_path / "nodes" / "*.csv", file, CLASSES)
    assert again.ids == graph.ids
    with pytest.raises(InputError, match="no file matches"):
        read_inputs(tmp_path / "nodes" / "*.parquet", file, CLASSES)
    (folder / "9.jsonl").write_text("{}")
    with pytest.raises(InputError, match="files of several formats"):
        read_inputs(folder, file, CLASSES)


def test_the_rows_of_files_are_estimated(tmp_path: Path) -> None:
    nodes, _ = tables("text")
    assert sources.rows_of(write(nodes, tmp_path / "a.parquet", 3)) == NODES
    assert sources.rows_of(write(nodes, tmp_path / "b.csv", 1)) == NODES  # no header
    (tmp_path / "c.jsonl").write_text('{"id": 1}\n{"id": 2}', encoding="utf-8")
    assert sources.rows_of(tmp_path / "c.jsonl") == 2
    (tmp_path / "d.csv").write_text("id", encoding="utf-8")
    assert sources.rows_of(tmp_path / "d.csv") == 0
