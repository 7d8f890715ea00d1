"""Training and predicting from a walk on disk against the same in memory, and disturbed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from unseen.big import predict, train
from unseen.big.predict import predict_from_blocks
from unseen.big.reading import ahead, scattered, stretch
from unseen.big.train import train_from_blocks
from unseen.errors import InputError
from unseen.files import check_folder
from unseen.models.dgpn import DGPN
from unseen.propagate import memory
from unseen.propagate.disk import DiskGraph, DiskHops, walk_on_disk
from unseen.propagate.hops import Hops
from unseen.propagate.operators import hop_weights
from unseen.vectors import masked, softmax, unit

NODES, WIDTH, HOPS, CLASSES = 400, 20, 2, 5
NAMES = [f"class {c}" for c in range(CLASSES)]


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> DiskHops:
    """A walk in three blocks of columns: the last of them is filled up with zeros."""
    folder, rng = tmp_path_factory.mktemp("walk"), np.random.default_rng(0)
    A = np.triu(rng.random((NODES, NODES)) < 0.02, 1).astype(np.float32)
    np.save(folder / "X.npy", unit(rng.normal(size=(NODES, WIDTH)).astype(np.float32)))
    graph = DiskGraph.from_matrix(folder / "graph", A + A.T)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "WIDEST", 8)
        hops = walk_on_disk(graph, folder / "X.npy", folder / "hops", HOPS, memory=1 << 30)
    assert hops.files[0].shape == (3, NODES, 7)
    return hops


@pytest.fixture
def labels() -> NDArray[np.int32]:
    """A quarter of the nodes of three classes; two classes are unseen."""
    rng = np.random.default_rng(1)
    return np.where(rng.random(NODES) < 0.25, rng.integers(0, 3, NODES), -1).astype(np.int32)


def csds(width: int) -> NDArray[np.float32]:
    return unit(np.random.default_rng(2).normal(size=(CLASSES, width)).astype(np.float32))


def in_memory(hops: DiskHops, laziness: float = 0.5) -> Hops:
    return Hops(tuple(hops.rows(np.arange(NODES))), hop_weights(HOPS, laziness))


def read(folder: Path) -> pl.DataFrame:
    return pl.scan_parquet(folder / "*.parquet").collect()


def test_a_stretch_is_rows_read_in_order(walk: DiskHops) -> None:
    assert (stretch(walk, slice(37, 291)) == walk.rows(np.arange(37, 291))).all()


def test_scattered_rows_are_rows(walk: DiskHops) -> None:
    nodes = np.sort(np.random.default_rng(0).choice(NODES, 150, replace=False))
    assert (scattered(walk)(nodes) == walk.rows(nodes)).all()
    assert scattered(walk)(nodes[:0]).shape == (HOPS + 1, 0, WIDTH)


def test_the_next_one_is_read_while_one_is_in_use() -> None:
    begun: list[int] = []
    for at, _ in enumerate(ahead(begun.append, range(5))):
        assert at + 1 <= len(begun) <= at + 2  # never further ahead: memory is bounded
    assert begun == [0, 1, 2, 3, 4]


def test_what_a_reader_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ahead(lambda key: 1 // key, [2, 1, 0]))


@pytest.mark.parametrize(
    "settings",
    [
        {"start": "identity", "decay": 1.0},
        {"start": "xavier", "dropout": 0.0},
        {"start": "xavier", "dropout": 0.0, "negatives": "seen", "weigh": "input", "local": "sum"},
        {"start": "xavier", "dropout": 0.0, "similarity": "inner", "decay": 1e-3},
    ],
)
@pytest.mark.parametrize("held", [0, 1 << 20])
def test_one_batch_is_training_in_memory(
    walk: DiskHops, labels: NDArray[np.int32], settings: dict[str, Any], held: int
) -> None:
    S = csds(WIDTH if settings["start"] == "identity" else 7)
    expected = DGPN(epochs=12, **settings).fit(in_memory(walk, 0.7), labels.astype(np.int64), S)
    found = train_from_blocks(walk, labels, S, DGPN(epochs=12, **settings), laziness=0.7, held=held)
    assert np.abs(found.losses_ - expected.losses_).max() < 1e-5
    assert found.losses_[-1] < found.losses_[0]
    for name, value in expected.maps_.items():
        assert np.allclose(found.maps_[name], value, atol=1e-5)


def test_batches_visit_every_labelled_node_once_a_pass() -> None:
    drawn = train._draw(100, 30, seed=0)
    for _ in range(3):
        batches = [next(drawn) for _ in range(4)]
        assert all(len(batch) == 25 and (np.diff(batch) > 0).all() for batch in batches)
        assert (np.sort(np.concatenate(batches)) == np.arange(100)).all()


def test_small_batches_learn_too_and_do_not_depend_on_what_is_held(
    walk: DiskHops, labels: NDArray[np.int32]
) -> None:
    models = [
        train_from_blocks(
            walk, labels, csds(7), DGPN(epochs=60, dropout=0.2, seed=3), batch=16, held=held
        )
        for held in (0, 1 << 20)
    ]
    losses = models[0].losses_
    assert (losses == models[1].losses_).all()
    assert losses[-6:].mean() < 0.9 * losses[:6].mean()


def test_rows_without_a_label_are_never_read(
    walk: DiskHops, labels: NDArray[np.int32], monkeypatch: pytest.MonkeyPatch
) -> None:
    touched: list[NDArray[np.int64]] = []

    def spy(hops: DiskHops) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
        def read(nodes: NDArray[np.int64]) -> NDArray[np.float32]:
            touched.append(nodes)
            return hops.rows(nodes)

        return read

    monkeypatch.setattr(train, "scattered", spy)
    train_from_blocks(walk, labels, csds(7), DGPN(epochs=5), batch=20, held=0)
    assert len(touched) == 5
    assert (labels[np.concatenate(touched)] >= 0).all()


@pytest.mark.parametrize("among", [None, np.array([False, True, True, False, True])])
def test_predictions_are_those_in_memory(
    walk: DiskHops,
    labels: NDArray[np.int32],
    among: NDArray[np.bool_] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(predict, "PART", 128)
    model = train_from_blocks(walk, labels, csds(7), DGPN(epochs=5))
    predict_from_blocks(model, walk, tmp_path / "out", NAMES, among=among, labels=labels, batch=48)
    found, asked = read(tmp_path / "out"), np.flatnonzero(labels < 0)
    whole = in_memory(walk)
    p = softmax(masked(model.scores(whole), among) / np.float32(model.temperature))[asked]
    order = np.argsort(-p, axis=1)
    assert found["id"].to_list() == asked.tolist()
    assert found["label"].to_list() == [NAMES[c] for c in model.predict(whole, among)[asked]]
    assert found["runner_up"].to_list() == [NAMES[c] for c in order[:, 1]]
    assert np.allclose(found["confidence"], p.max(axis=1), atol=1e-5)
    assert len(list((tmp_path / "out").glob("part-*.parquet"))) == 4
    check_folder(tmp_path / "out")


def test_one_class_has_no_runner_up(walk: DiskHops, tmp_path: Path) -> None:
    model = DGPN(epochs=1).fit(in_memory(walk), np.arange(NODES) % 2, csds(7))
    only = np.arange(CLASSES) == 3
    found = read(predict_from_blocks(model, walk, tmp_path / "out", NAMES, among=only))
    assert set(found["label"]) == {"class 3"}
    assert set(found["runner_up"]) == {""}
    assert (found["confidence"] == 1).all()


def test_a_killed_run_keeps_its_parts_and_does_the_rest(
    walk: DiskHops,
    labels: NDArray[np.int32],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(predict, "PART", 100)
    model = train_from_blocks(walk, labels, csds(7), DGPN(epochs=3))

    def kill(what: str, done: int, total: int) -> None:
        if done > 250:
            raise KilledError

    out = tmp_path / "out"
    with pytest.raises(KilledError):
        predict_from_blocks(model, walk, out, NAMES, batch=30, progress=kill)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("part-*.parquet")}
    assert [path.name for path in sorted(kept)] == ["part-00000.parquet", "part-00001.parquet"]
    assert not (out / "manifest.json").exists()

    seen: list[int] = []
    predict_from_blocks(
        model, walk, out, NAMES, batch=30, progress=lambda _what, done, _of: seen.append(done)
    )
    assert seen[0] == 230  # nothing is done twice
    assert all(path.stat().st_mtime_ns == changed for path, changed in kept.items())
    whole = predict_from_blocks(model, walk, tmp_path / "whole", NAMES, batch=30)
    assert read(out).equals(read(whole))

    seen.clear()
    predict_from_blocks(model, walk, out, NAMES, progress=lambda *told: seen.append(told[1]))
    assert not seen


def test_other_questions_are_refused_by_name(
    walk: DiskHops, labels: NDArray[np.int32], tmp_path: Path
) -> None:
    model = train_from_blocks(walk, labels, csds(7), DGPN(epochs=3))
    out = predict_from_blocks(model, walk, tmp_path / "out", NAMES)
    other = train_from_blocks(walk, labels, csds(7), DGPN(epochs=4))
    changes: list[tuple[str, DGPN, list[str], dict[str, Any]]] = [
        ("model", other, NAMES, {}),
        ("model", model, NAMES, {"laziness": 0.6}),
        ("classes", model, NAMES[::-1], {}),
        ("labels", model, NAMES, {"labels": labels}),
    ]
    for what, asked, names, options in changes:
        with pytest.raises(InputError, match=rf"what changed since: {what}\)"):
            predict_from_blocks(asked, walk, out, names, **options)


def test_a_changed_walk_is_refused(
    walk: DiskHops, labels: NDArray[np.int32], tmp_path: Path
) -> None:
    model = train_from_blocks(walk, labels, csds(7), DGPN(epochs=3))
    out = predict_from_blocks(model, walk, tmp_path / "out", NAMES)
    graph = DiskGraph.from_matrix(tmp_path / "graph", np.eye(NODES, k=1) + np.eye(NODES, k=-1))
    features = walk.folder.parent / "X.npy"
    strange = walk_on_disk(graph, features, tmp_path / "hops", HOPS, memory=1 << 30)
    with pytest.raises(InputError, match=r"what changed since: walk\)"):
        predict_from_blocks(model, strange, out, NAMES)


def test_folders_of_others_are_left_alone(
    walk: DiskHops, labels: NDArray[np.int32], tmp_path: Path
) -> None:
    model = train_from_blocks(walk, labels, csds(7), DGPN(epochs=1))
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(InputError, match="holds no predictions"):
        predict_from_blocks(model, walk, tmp_path, NAMES)


def test_what_cannot_be_trained_is_said(walk: DiskHops, labels: NDArray[np.int32]) -> None:
    with pytest.raises(InputError, match="found none"):
        train_from_blocks(walk, np.full(NODES, -1), csds(7))
    with pytest.raises(InputError, match="expected 400"):
        train_from_blocks(walk, labels[:-1], csds(7))
    with pytest.raises(InputError, match="class position 2 found, but there are only 2"):
        train_from_blocks(walk, labels, csds(7)[:2])
    with pytest.raises(InputError, match="7 dimensions but node vectors have 20"):
        train_from_blocks(walk, labels, csds(7), DGPN(start="identity"))
    with pytest.raises(InputError, match="batch: expected 1"):
        train_from_blocks(walk, labels, csds(7), batch=0)


def test_what_cannot_be_predicted_is_said(
    walk: DiskHops, labels: NDArray[np.int32], tmp_path: Path
) -> None:
    model, out = train_from_blocks(walk, labels, csds(7), DGPN(epochs=1)), tmp_path / "out"
    with pytest.raises(InputError, match="expected 7 dimensions as in training, found 9"):
        predict_from_blocks(model, walk, out, NAMES, csds=csds(9))
    with pytest.raises(InputError, match="expected 5 names"):
        predict_from_blocks(model, walk, out, NAMES[:4])
    with pytest.raises(InputError, match="found 0 of 5"):
        predict_from_blocks(model, walk, out, NAMES, among=np.zeros(CLASSES, dtype=bool))
    with pytest.raises(InputError, match="labels: expected 400"):
        predict_from_blocks(model, walk, out, NAMES, labels=labels[:3])
    assert not out.exists()
