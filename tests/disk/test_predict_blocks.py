"""Answers from hops on disk against the same in memory, and disturbed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

pytest.importorskip("numba")

from unseen.core.arrays import unit
from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.disk import predict
from unseen.disk.predict import ahead, predict_from_disk
from unseen.io.atomic import check_folder
from unseen.models.prototype import Prototype
from unseen.propagate import memory
from unseen.propagate.disk import DiskGraph, DiskHops, propagate_on_disk

NODES, WIDTH, HOPS, CLASSES = 400, 20, 2, 5
NAMES = [f"class {c}" for c in range(CLASSES)]


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def adjacency() -> NDArray[np.float32]:
    A = np.triu(np.random.default_rng(0).random((NODES, NODES)) < 0.02, 1).astype(np.float32)
    return A + A.T


@pytest.fixture(scope="module")
def hops(tmp_path_factory: pytest.TempPathFactory, adjacency: NDArray[np.float32]) -> DiskHops:
    """Hops in three blocks of columns: the last of them is filled up with zeros."""
    folder, rng = tmp_path_factory.mktemp("hops"), np.random.default_rng(3)
    np.save(folder / "X.npy", unit(rng.normal(size=(NODES, WIDTH)).astype(np.float32)))
    ends = np.nonzero(adjacency)
    graph = DiskGraph.from_edges(folder / "graph", *ends, nodes=NODES, memory=1 << 30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "WIDEST", 8)
        found = propagate_on_disk(graph, folder / "X.npy", folder / "hops", HOPS, memory=1 << 30)
    assert found.files[0].shape == (3, NODES, 7)
    return found


@pytest.fixture
def labels() -> NDArray[np.int64]:
    """A quarter of the nodes of three classes; two classes are unseen."""
    rng = np.random.default_rng(1)
    return np.where(rng.random(NODES) < 0.25, rng.integers(0, 3, NODES), -1)


S = unit(np.random.default_rng(2).normal(size=(CLASSES, WIDTH)).astype(np.float32))


def fitted(steps: int = HOPS, **settings: Any) -> Prototype:
    return Prototype(steps, **settings).fit(Task(np.zeros((0, WIDTH)), S))


def read(folder: Path) -> pl.DataFrame:
    return pl.scan_parquet(folder / "*.parquet").collect()


def test_rows_of_several_blocks_of_columns(hops: DiskHops) -> None:
    X = np.load(hops.folder.parent / "X.npy")
    nodes = np.random.default_rng(0).choice(NODES, 150, replace=False)
    assert (hops.rows(nodes)[0] == X[nodes]).all()
    assert (hops.stretch(slice(37, 291)) == hops.rows(np.arange(37, 291))).all()


def test_the_next_one_is_read_while_one_is_in_use() -> None:
    begun: list[int] = []
    for at, _ in enumerate(ahead(begun.append, range(5))):
        assert at + 1 <= len(begun) <= at + 2  # never further ahead: memory is bounded
    assert begun == [0, 1, 2, 3, 4]


def test_what_a_reader_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ahead(lambda key: 1 // key, [2, 1, 0]))


@pytest.mark.parametrize("allowed", [None, np.array([False, True, True, False, True])])
@pytest.mark.parametrize("steps", [0, HOPS])
def test_predictions_are_those_in_memory(
    hops: DiskHops,
    adjacency: NDArray[np.float32],
    labels: NDArray[np.int64],
    allowed: NDArray[np.bool_] | None,
    steps: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(predict, "PART", 128)
    predict_from_disk(fitted(steps), hops, tmp_path / "out", NAMES, S, allowed, labels, batch=48)
    found, asked = read(tmp_path / "out"), np.flatnonzero(labels < 0)
    X = np.load(hops.folder.parent / "X.npy")
    task = Task(X, S, labels, Operator(adjacency), allowed)
    p = Prototype(steps).fit(task).posterior(task)[asked]
    order = np.argsort(-p, axis=1)
    assert found["id"].to_list() == asked.tolist()
    assert found["label"].to_list() == [NAMES[c] for c in order[:, 0]]
    assert found["runner_up"].to_list() == [NAMES[c] for c in order[:, 1]]
    assert np.allclose(found["confidence"], p.max(axis=1), atol=1e-5)
    assert len(list((tmp_path / "out").glob("part-*.parquet"))) == 4
    check_folder(tmp_path / "out")


def test_one_class_has_no_runner_up(hops: DiskHops, tmp_path: Path) -> None:
    only = np.arange(CLASSES) == 3
    found = read(predict_from_disk(fitted(), hops, tmp_path / "out", NAMES, S, only))
    assert set(found["label"]) == {"class 3"}
    assert set(found["runner_up"]) == {""}
    assert (found["confidence"] == 1).all()


def test_a_killed_run_keeps_its_parts_and_does_the_rest(
    hops: DiskHops, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict, "PART", 100)
    model, out = fitted(), tmp_path / "out"

    def kill(what: str, done: int, total: int) -> None:
        if done > 250:
            raise KilledError

    with pytest.raises(KilledError):
        predict_from_disk(model, hops, out, NAMES, S, batch=30, progress=kill)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("part-*.parquet")}
    assert [path.name for path in sorted(kept)] == ["part-00000.parquet", "part-00001.parquet"]
    assert not (out / "manifest.json").exists()

    seen: list[int] = []

    def note(what: str, done: int, total: int) -> None:
        seen.append(done)

    predict_from_disk(model, hops, out, NAMES, S, batch=30, progress=note)
    assert seen[0] == 230  # nothing is done twice
    assert all(path.stat().st_mtime_ns == changed for path, changed in kept.items())
    whole = predict_from_disk(model, hops, tmp_path / "whole", NAMES, S, batch=30)
    assert read(out).equals(read(whole))

    seen.clear()
    predict_from_disk(model, hops, out, NAMES, S, progress=note)
    assert not seen


def test_other_questions_are_refused_by_name(
    hops: DiskHops, labels: NDArray[np.int64], tmp_path: Path
) -> None:
    model = fitted()
    out = predict_from_disk(model, hops, tmp_path / "out", NAMES, S)
    changes: list[tuple[str, Prototype, list[str], dict[str, Any]]] = [
        ("model", fitted(1), NAMES, {}),
        ("model", fitted(laziness=0.6), NAMES, {}),
        ("classes", model, NAMES[::-1], {}),
        ("classes", model, NAMES, {"S": -S}),
        ("labels", model, NAMES, {"labels": labels}),
    ]
    for what, asked, names, options in changes:
        with pytest.raises(InputError, match=rf"what changed since: {what}\)"):
            predict_from_disk(asked, hops, out, names, **({"S": S} | options))


def test_other_hops_are_refused(hops: DiskHops, tmp_path: Path) -> None:
    out = predict_from_disk(fitted(), hops, tmp_path / "out", NAMES, S)
    chain = np.arange(NODES - 1)
    graph = DiskGraph.from_edges(tmp_path / "graph", chain, chain + 1, nodes=NODES, memory=1 << 30)
    features = hops.folder.parent / "X.npy"
    strange = propagate_on_disk(graph, features, tmp_path / "hops", HOPS, memory=1 << 30)
    with pytest.raises(InputError, match=r"what changed since: hops\)"):
        predict_from_disk(fitted(), strange, out, NAMES, S)


def test_folders_of_others_are_left_alone(hops: DiskHops, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(InputError, match="holds no predictions"):
        predict_from_disk(fitted(), hops, tmp_path, NAMES, S)


def test_what_cannot_be_predicted_is_said(
    hops: DiskHops, labels: NDArray[np.int64], tmp_path: Path
) -> None:
    model, out = fitted(), tmp_path / "out"
    with pytest.raises(InputError, match=r"class vectors have 9 dimensions but node .* have 20"):
        predict_from_disk(model, hops, out, NAMES, S[:, :9])
    with pytest.raises(InputError, match="expected 5 names"):
        predict_from_disk(model, hops, out, NAMES[:4], S)
    with pytest.raises(InputError, match="found 0 of 5"):
        predict_from_disk(model, hops, out, NAMES, S, np.zeros(CLASSES, dtype=bool))
    with pytest.raises(InputError, match="labels: expected 400"):
        predict_from_disk(model, hops, out, NAMES, S, None, labels[:3])
    with pytest.raises(InputError, match="batch: expected 1"):
        predict_from_disk(model, hops, out, NAMES, S, batch=0)
    assert not out.exists()
