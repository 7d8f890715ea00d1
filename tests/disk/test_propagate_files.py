"""From files to hops: the same as in memory, going on after a stop, and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("numba")

from unseen.core.arrays import unit
from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.operator import Operator
from unseen.disk import propagate
from unseen.disk.folder import Propagated
from unseen.disk.propagate import propagate_files
from unseen.propagate.hops import decompose

NODES, WIDTH, HOPS, PLENTY = 200, 12, 2, 1 << 30


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Edges with weights as Parquet, without as .npy, and features; all read in small pieces."""
    monkeypatch.setattr(propagate, "CHUNK", 64)
    monkeypatch.setattr(propagate, "PORTION", 30 * WIDTH * 8)
    rng = np.random.default_rng(0)
    ends = rng.integers(0, NODES, (500, 2))
    weight = rng.random(500).astype(np.float32) + np.float32(0.1)
    paths = {name: tmp_path / name for name in ("edges.parquet", "edges.npy", "X.npy", "hops")}
    table = pl.DataFrame({"source": ends[:, 0], "target": ends[:, 1], "weight": weight})
    table.write_parquet(paths["edges.parquet"], row_group_size=100)
    np.save(paths["edges.npy"], ends)
    np.save(paths["X.npy"], rng.normal(size=(NODES, WIDTH)) + 1)  # float64, and off centre
    return paths


@pytest.mark.parametrize("edges", ["edges.parquet", "edges.npy"])
@pytest.mark.parametrize("directed", [False, True])
def test_the_hops_are_those_in_memory(files: dict[str, Path], edges: str, directed: bool) -> None:
    found = propagate_files(
        files[edges], files["X.npy"], files["hops"], HOPS, memory=PLENTY, directed=directed
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
    opened = Propagated.open(files["hops"])
    assert np.allclose(opened.centre, centre, atol=1e-6)
    assert np.allclose(opened.total, X.sum(axis=0), atol=1e-4)
    assert opened.count == NODES
    assert np.allclose(found.rows(np.arange(NODES)), np.stack(hops.blocks), atol=1e-5)
    assert opened.hops.shape == (HOPS + 1, NODES, WIDTH)
    assert not (files["hops"] / "edges").exists()  # the copy of the columns


@pytest.mark.parametrize(
    "step", ["find the centre", "centre the features", "order edges", "propagate"]
)
def test_a_killed_run_goes_on(files: dict[str, Path], step: str) -> None:
    whole = propagate_files(
        files["edges.parquet"],
        files["X.npy"],
        files["hops"].with_name("whole"),
        HOPS,
        memory=PLENTY,
    )

    def kill(what: str, done: int, total: int) -> None:
        if what == step:
            raise KilledError

    def go(progress: Callable[[str, int, int], None] | None) -> Any:
        return propagate_files(
            files["edges.parquet"],
            files["X.npy"],
            files["hops"],
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
    before = steps[: steps.index("propagate")]
    assert ("find the centre" in before) == (step in ("find the centre", "centre the features"))
    assert not list(files["hops"].glob(".*.part"))


@pytest.mark.parametrize("changed", ["edges", "features", "directed"])
def test_other_inputs_are_refused_by_name(files: dict[str, Path], changed: str) -> None:
    edges, features = files["edges.npy"], files["X.npy"]
    propagate_files(edges, features, files["hops"], HOPS, memory=PLENTY)
    if changed == "edges":
        np.save(edges, np.load(edges)[1:])
    elif changed == "features":
        np.save(features, np.load(features)[:, :-1])
    with pytest.raises(InputError, match=rf"what changed since: {changed}\)"):
        propagate_files(
            edges, features, files["hops"], HOPS, memory=PLENTY, directed=changed == "directed"
        )


def test_what_holds_no_hops_is_left_alone(files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no hops; give the name of a new folder"):
        propagate_files(files["edges.npy"], files["X.npy"], tmp_path, HOPS, memory=PLENTY)
    with pytest.raises(InputError, match="holds no hops; expected a folder of `unseen walk`"):
        Propagated.open(tmp_path)


def test_a_folder_of_an_earlier_version_is_told(files: dict[str, Path]) -> None:
    propagate_files(files["edges.npy"], files["X.npy"], files["hops"], HOPS, memory=PLENTY)
    (files["hops"] / "sum.npy").unlink()
    with pytest.raises(InputError, match=r"was made by a version before 0\.9"):
        Propagated.open(files["hops"])


def test_classes_and_encoder_belong_together(files: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="expected both or neither"):
        propagate_files(
            files["edges.npy"],
            files["X.npy"],
            files["hops"],
            memory=PLENTY,
            classes=Classes(["cats", "dogs"]),
        )
    assert not files["hops"].exists()


def test_a_row_of_zeros_stays_and_does_not_count(files: dict[str, Path]) -> None:
    X = np.load(files["X.npy"])
    X[5] = 0
    np.save(files["X.npy"], X)
    found = propagate_files(files["edges.npy"], files["X.npy"], files["hops"], 0, memory=PLENTY)
    opened = Propagated.open(files["hops"])
    assert opened.count == NODES - 1
    assert np.allclose(opened.centre, opened.total / opened.count, atol=1e-6)
    assert not found.rows([5]).any()
    assert found.rows([6]).any()


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
        propagate_files(path, files["X.npy"], files["hops"], HOPS, memory=PLENTY)


def test_features_that_cannot_be_read(files: dict[str, Path]) -> None:
    X = np.load(files["X.npy"])
    X[77, 3] = np.nan
    np.save(files["X.npy"], X)
    with pytest.raises(InputError, match="row 77 holds NaN"):
        propagate_files(files["edges.npy"], files["X.npy"], files["hops"], HOPS, memory=PLENTY)
    np.save(files["X.npy"], X[0])
    with pytest.raises(InputError, match=r"found shape \(12,\)"):
        propagate_files(files["edges.npy"], files["X.npy"], files["hops"], HOPS, memory=PLENTY)
