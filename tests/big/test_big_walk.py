"""From files to a walk: the same hops as the pipeline's, going on after a stop, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from unseen.big import labels, walk
from unseen.big.labels import read_positions
from unseen.big.walk import open_walk, walk_files
from unseen.classes import Classes
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.propagate.hops import decompose
from unseen.propagate.operators import Operator
from unseen.vectors import unit

NODES, WIDTH, HOPS, PLENTY = 200, 12, 2, 1 << 30
CLASSES = Classes(["cats", "dogs", "fish"])


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Edges with weights as Parquet, without as .npy, and features; all read in small pieces."""
    monkeypatch.setattr(walk, "CHUNK", 64)
    monkeypatch.setattr(walk, "PORTION", 30 * WIDTH * 8)
    rng = np.random.default_rng(0)
    ends = rng.integers(0, NODES, (500, 2))
    weight = rng.random(500).astype(np.float32) + np.float32(0.1)
    paths = {name: tmp_path / name for name in ("edges.parquet", "edges.npy", "X.npy", "walk")}
    table = pl.DataFrame({"source": ends[:, 0], "target": ends[:, 1], "weight": weight})
    table.write_parquet(paths["edges.parquet"], row_group_size=100)
    np.save(paths["edges.npy"], ends)
    np.save(paths["X.npy"], rng.normal(size=(NODES, WIDTH)) + 1)  # float64, and off centre
    return paths


@pytest.mark.parametrize("edges", ["edges.parquet", "edges.npy"])
@pytest.mark.parametrize("directed", [False, True])
def test_the_hops_are_those_of_the_pipeline(
    files: dict[str, Path], edges: str, directed: bool
) -> None:
    found = walk_files(
        files[edges], files["X.npy"], files["walk"], HOPS, memory=PLENTY, directed=directed
    )
    table = pl.read_parquet(files["edges.parquet"])
    weight = table["weight"].to_numpy() if edges == "edges.parquet" else None
    X = unit(np.load(files["X.npy"]).astype(np.float32))
    graph = Graph.from_edges(
        table["source"].to_numpy(),
        table["target"].to_numpy(),
        weight,
        nodes=NODES,
        directed=directed,
        features=X,
    )
    centre = X.mean(axis=0)
    hops = decompose(unit(X - centre), Operator(graph.adjacency), HOPS, 0.5)
    opened, kept = open_walk(files["walk"])
    assert np.allclose(kept, centre, atol=1e-6)
    assert np.allclose(found.rows(np.arange(NODES)), np.stack(hops.blocks), atol=1e-5)
    assert opened.shape == (HOPS + 1, NODES, WIDTH)
    assert not (files["walk"] / "edges").exists()  # the copy of the columns


@pytest.mark.parametrize("step", ["find the centre", "centre the features", "order edges", "walk"])
def test_a_killed_run_goes_on(files: dict[str, Path], step: str) -> None:
    whole = walk_files(
        files["edges.parquet"],
        files["X.npy"],
        files["walk"].with_name("whole"),
        HOPS,
        memory=PLENTY,
    )

    def kill(what: str, done: int, total: int) -> None:
        if what == step:
            raise KilledError

    def go(progress: Callable[[str, int, int], None] | None) -> Any:
        return walk_files(
            files["edges.parquet"],
            files["X.npy"],
            files["walk"],
            HOPS,
            memory=PLENTY,
            progress=progress,
        )

    with pytest.raises(KilledError):
        go(kill)
    told: list[str] = []
    found = go(lambda what, _done, _of: told.append(what))
    assert (found.rows(np.arange(NODES)) == whole.rows(np.arange(NODES))).all()
    steps = list(dict.fromkeys(told))
    before = steps[: steps.index("walk")]
    assert ("find the centre" in before) == (step in ("find the centre", "centre the features"))
    assert not list(files["walk"].glob(".*.part"))


@pytest.mark.parametrize("changed", ["edges", "features", "directed"])
def test_other_inputs_are_refused_by_name(files: dict[str, Path], changed: str) -> None:
    edges, features = files["edges.npy"], files["X.npy"]
    walk_files(edges, features, files["walk"], HOPS, memory=PLENTY)
    if changed == "edges":
        np.save(edges, np.load(edges)[1:])
    elif changed == "features":
        np.save(features, np.load(features)[:, :-1])
    with pytest.raises(InputError, match=rf"what changed since: {changed}\)"):
        walk_files(
            edges, features, files["walk"], HOPS, memory=PLENTY, directed=changed == "directed"
        )


def test_what_is_no_walk_is_left_alone(files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no walk; give the name of a new folder"):
        walk_files(files["edges.npy"], files["X.npy"], tmp_path, HOPS, memory=PLENTY)
    with pytest.raises(InputError, match="holds no walk; expected a folder of `unseen walk`"):
        open_walk(tmp_path)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (np.zeros((2, 50), np.int64), r"two columns, \[m, 2\], found shape \(2, 50\)"),
        (np.zeros((50, 2)), "found shape .* of float64"),
        (np.full((50, 2), NODES), "expected node positions from 0 to 199"),
        (pl.DataFrame({"source": [1], "to": [2]}), "no column `target`; found 'source', 'to'"),
        (pl.DataFrame({"source": ["a"], "target": ["b"]}), "column `source` holds String"),
        (pl.DataFrame({"source": [1, None], "target": [2, 3]}), "`source` has empty cells"),
    ],
)
def test_edges_that_cannot_be_read(files: dict[str, Path], edges: Any, message: str) -> None:
    path = files["edges.npy"]
    if isinstance(edges, pl.DataFrame):
        path = files["edges.parquet"]
        edges.write_parquet(path)
    else:
        np.save(path, edges)
    with pytest.raises(InputError, match=message):
        walk_files(path, files["X.npy"], files["walk"], HOPS, memory=PLENTY)


def test_features_that_cannot_be_read(files: dict[str, Path]) -> None:
    X = np.load(files["X.npy"])
    X[77, 3] = np.nan
    np.save(files["X.npy"], X)
    with pytest.raises(InputError, match="row 77 holds NaN"):
        walk_files(files["edges.npy"], files["X.npy"], files["walk"], HOPS, memory=PLENTY)
    np.save(files["X.npy"], X[0])
    with pytest.raises(InputError, match=r"found shape \(12,\)"):
        walk_files(files["edges.npy"], files["X.npy"], files["walk"], HOPS, memory=PLENTY)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_labels_by_position(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels, "CHUNK", 2)
    table = pl.DataFrame({"id": [5, 1, 3, 0, 1], "label": ["fish", "cats ", None, "", "cats"]})
    path = tmp_path / f"labels{suffix}"
    table.write_parquet(path) if suffix == ".parquet" else table.write_csv(path)
    found = read_positions(path, 6, CLASSES)
    assert found.dtype == np.int32
    assert found.tolist() == [-1, 0, -1, -1, -1, 2]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [0, 1], "label": ["cats", "birds"]}, "label 'birds' is not among the classes"),
        ({"id": [0, 6], "label": ["cats", "dogs"]}, "id 6 is no node; expected .* from 0 to 5"),
        ({"id": [0, -1], "label": ["cats", "dogs"]}, "id -1 is no node"),
        ({"id": [2, 2], "label": ["cats", "dogs"]}, "node 2 has two labels"),
        ({"id": ["a"], "label": ["cats"]}, "column `id` holds String"),
        ({"id": [None, 1], "label": ["cats", "dogs"]}, "`id` has empty cells"),
        ({"id": [1], "class": ["cats"]}, "no column `label`"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 100])
def test_labels_that_cannot_be_read(
    tmp_path: Path,
    columns: dict[str, Any],
    message: str,
    chunk: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(labels, "CHUNK", chunk)
    pl.DataFrame(columns).write_parquet(tmp_path / "labels.parquet")
    with pytest.raises(InputError, match=message):
        read_positions(tmp_path / "labels.parquet", 6, CLASSES)
