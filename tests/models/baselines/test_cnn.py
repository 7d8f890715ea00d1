"""Baselines on AlexNet: the inner model on features, features once, weights that are named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from unseen.core.arrays import unit
from unseen.core.errors import InputError, SavedFileError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.baselines import cnn
from unseen.models.baselines.alexnet import Weights, WeightsMissing, alexnet, random_weights
from unseen.models.baselines.alexnet import features as alexnet_features
from unseen.models.baselines.cnn import INNER, OnAlexNet

Inner = Literal["dap", "zs-gcn"]
QUICK: dict[str, dict[str, Any]] = {"dap": {"epochs": 3}, "zs-gcn": {"epochs": 3, "widths": (4,)}}
both = pytest.mark.parametrize("inner", ["dap", "zs-gcn"])


@pytest.fixture
def task() -> Task:
    """Return 12 nodes in four classes, half of them labelled with two classes."""
    rng = np.random.default_rng(0)
    X, csds = rng.normal(size=(12, 7)), rng.normal(size=(4, 5))
    truth = np.arange(12) % 4
    return Task(X, csds, np.where(truth < 2, truth, -1), Operator(rng.random((12, 12)) < 0.3))


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.delenv("UNSEEN_ALEXNET", raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    cnn._kept.clear()
    yield
    cnn._kept.clear()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Put a quick map in AlexNet's place; return the numbers of nodes that it was asked for."""
    asked: list[int] = []

    def features(X: NDArray[np.float32], weights: Weights) -> NDArray[np.float32]:
        asked.append(len(X))
        first = float(weights["features.0.bias"][0])
        return np.asarray(np.cos(X @ np.outer(np.arange(X.shape[1]), [1, 2, 3]) + first))

    def draw(seed: int) -> Weights:
        return {"features.0.bias": torch.full((64,), float(seed))}

    monkeypatch.setattr(cnn, "features", features)
    monkeypatch.setattr(cnn, "random_weights", draw)
    return asked


def weights_file(path: Path, value: float) -> Path:
    """Write a small file of weights that are all the same number."""
    empty = alexnet().state_dict().items()
    torch.save({name: torch.full((), value).expand(each.shape) for name, each in empty}, path)
    return path


@pytest.fixture(scope="module")
def drawn() -> Weights:
    return random_weights(0)


@both
def test_it_is_the_inner_model_on_unit_features_of_own_attributes(
    inner: Inner, task: Task, drawn: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cnn, "random_weights", {0: drawn}.__getitem__)  # drawn once for both
    model = OnAlexNet(inner, weights="random", seed=5, settings=QUICK[inner])
    found = model.fit(task).scores(task)
    F = unit(alexnet_features(task.X, drawn))
    assert F.shape == (12, 4096)
    read = Task(F, task.S, task.labels)
    kind: Any = INNER[inner]
    same = kind(seed=5, **QUICK[inner]).fit(read)
    np.testing.assert_array_equal(found, same.scores(read))
    with pytest.raises(InputError, match="expected vectors of 4096"):
        model.inner_.scores(task)  # it never met the attributes themselves


@both
def test_the_graph_changes_nothing(inner: Inner, task: Task, calls: list[int]) -> None:
    alone = replace(task, operator=None)
    model = OnAlexNet(inner, weights="random", settings=QUICK[inner])
    first = model.fit(task).scores(task)
    np.testing.assert_array_equal(model.fit(alone).scores(alone), first)


def test_the_seed_is_that_of_the_inner_model_and_weights_stay(task: Task, calls: list[int]) -> None:
    models = [OnAlexNet(weights="random", seed=seed, settings={"epochs": 2}) for seed in range(10)]
    answers = {model.fit(task).scores(task).tobytes() for model in models}
    assert len(answers) == 10
    assert {model.backbone_ for model in models} == {"random weights, seed 0"}
    assert calls == [12]  # features of ten models, computed once


def test_other_attributes_are_read_anew_and_old_ones_forgotten(
    task: Task, calls: list[int]
) -> None:
    model = OnAlexNet(weights="random", settings={"epochs": 1}).fit(task)
    changed = task.X.copy()
    changed[3, 2] += 1
    first = model.scores(task)
    other = model.scores(Task(changed, task.S))
    assert calls == [12, 12]
    assert (first[3] != other[3]).any()
    np.testing.assert_array_equal(np.delete(first, 3, 0), np.delete(other, 3, 0))
    turned = Task(task.X.reshape(7, 12)[:, :7].copy(), task.S)
    model.scores(turned)
    assert calls == [12, 12, 7]
    assert len(cnn._kept) == cnn.KEPT == 2
    np.testing.assert_array_equal(model.scores(task), first)
    assert calls == [12, 12, 7, 12]  # the oldest went first


def test_same_numbers_in_another_shape_are_not_taken_for_the_same(
    task: Task, calls: list[int]
) -> None:
    numbers = np.arange(84, dtype=np.float32)
    for rows in (12, 6):
        known = np.resize(task.labels[np.argsort(-task.labels)][:6], rows)
        shaped = Task(numbers.reshape(rows, -1), task.S, known)
        OnAlexNet(weights="random", settings={"epochs": 1}).fit(shaped)
    assert calls == [12, 6]


def test_weights_of_a_file_are_read_and_named_by_content(
    task: Task, calls: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = weights_file(tmp_path / "own.pth", 0.5)
    settings = {"epochs": 1}
    model = OnAlexNet(path=str(path), settings=settings).fit(task)
    first = model.scores(task)
    assert model.backbone_.startswith("weights of SHA-256 ")
    monkeypatch.setenv("UNSEEN_ALEXNET", str(path))
    named = OnAlexNet(settings=settings).fit(task)
    np.testing.assert_array_equal(named.scores(task), first)
    assert calls == [12]

    weights_file(path, 0.25)  # other content under the same name
    with pytest.raises(SavedFileError, match=r"others than in training: expected weights of SHA-"):
        model.scores(task)
    again = OnAlexNet(path=str(path), settings=settings).fit(task)
    assert calls == [12, 12]
    assert (again.scores(task) != first).any()


def test_without_weights_it_says_so_rather_than_draw_some(task: Task, calls: list[int]) -> None:
    with pytest.raises(WeightsMissing, match="AlexNet: weights not available; looked for the file"):
        OnAlexNet().fit(task)
    assert calls == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inner": "eszsl"}, "inner: expected one of 'dap', 'zs-gcn', found 'eszsl'"),
        ({"weights": "imagenet"}, "weights: expected one of 'file', 'random', found 'imagenet'"),
        ({"settings": {"rate": 1}}, r"settings: 'rate' found; dap has 'epochs', 'learning_rate'"),
        ({"settings": {"seed": 1}}, r"settings: 'seed' found; .*seed is an argument of its own"),
    ],
)
def test_what_it_cannot_use_is_refused_before_the_costly_part(
    arguments: dict[str, Any], message: str, task: Task, calls: list[int]
) -> None:
    with pytest.raises(InputError, match=message):
        OnAlexNet(**{"weights": "random", **arguments}).fit(task)
    assert calls == []


def test_no_labels_and_other_widths_are_refused(task: Task, calls: list[int]) -> None:
    model = OnAlexNet(weights="random", settings={"epochs": 1})
    with pytest.raises(InputError, match=r"labels: dap learns .* found those of 0"):
        model.fit(Task(task.X, task.S, np.full_like(task.labels, -1)))
    assert calls == []
    model.fit(task)
    wider = Task(np.ones((12, 8)), task.S)
    with pytest.raises(
        InputError, match="expected vectors of 7 dimensions as in training, found 8"
    ):
        model.scores(wider)
