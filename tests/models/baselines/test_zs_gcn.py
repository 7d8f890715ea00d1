"""ZSGCN: the class graph, the classifiers and the layers against other ways to get them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from unseen.core.arrays import unit
from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.baselines.zs_gcn import ZSGCN, class_graph, own_classifiers
from unseen.models.training import stalled

NODES, WIDTH, SEMANTIC, CLASSES = 80, 10, 6, 5
SMALL: dict[str, Any] = {"widths": (32, 16), "epochs": 30, "dropout": 0.0, "patience": None}


@pytest.fixture
def task() -> Task:
    """Nodes around a linear image of their class's CSD; three of five classes have labels."""
    rng = np.random.default_rng(3)
    csds = rng.normal(size=(CLASSES, SEMANTIC)).astype(np.float32)
    truth = np.arange(NODES) % CLASSES
    X = csds[truth] @ rng.normal(size=(SEMANTIC, WIDTH)) + 0.3 * rng.normal(size=(NODES, WIDTH))
    return Task(X, csds, np.where((truth < 3) & (np.arange(NODES) < 60), truth, -1))


def forward(model: ZSGCN, csds: NDArray[np.float32]) -> NDArray[np.float64]:
    """The classifiers, written out in numpy. [C, d]"""
    P, H = class_graph(csds, model.neighbours).astype(np.float64), unit(csds).astype(np.float64)
    for at, layer in enumerate(model.layers_):
        H = P @ (np.where(H > 0, H, 0.2 * H) if at else H) @ layer
    return np.asarray(H / np.linalg.norm(H, axis=1, keepdims=True))


def test_the_class_graph_of_four_directions_by_hand() -> None:
    """Directions of 0, 10, 30 and 90 degrees: each one's nearest make a path of four classes."""
    angles = np.radians([0, 10, 30, 90])
    csds = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    lengths = np.array([[3], [1], [0.1], [7]], np.float32)  # which cosines disregard
    a, b = 1 / np.sqrt(2 * 3), 1 / 3
    by_hand = [[1 / 2, a, 0, 0], [a, 1 / 3, b, 0], [0, b, 1 / 3, a], [0, 0, a, 1 / 2]]
    np.testing.assert_allclose(class_graph(lengths * csds, 1), by_hand, atol=1e-6)


@pytest.mark.parametrize("neighbours", [4, 5, 99])
def test_as_many_neighbours_as_there_are_classes_join_all(task: Task, neighbours: int) -> None:
    np.testing.assert_allclose(class_graph(task.S, neighbours), 1 / CLASSES, atol=1e-6)


def test_own_classifiers_are_those_of_softmax_regression(task: Task) -> None:
    X, y = task.X[task.labels >= 0].astype(np.float64), task.labels[task.labels >= 0]

    def loss(flat: NDArray[np.float64]) -> float:
        likelihood = log_softmax(X @ flat.reshape(3, WIDTH).T, axis=1)[np.arange(len(y)), y]
        return float(flat @ flat / 2 - likelihood.sum())

    solved = minimize(loss, np.zeros(3 * WIDTH), tol=1e-6).x.reshape(3, WIDTH)
    solved /= np.linalg.norm(solved, axis=1, keepdims=True)
    np.testing.assert_allclose(own_classifiers(task.X[task.labels >= 0], y), solved, atol=5e-4)


def test_two_classes_have_opposite_classifiers_in_the_order_of_their_numbers() -> None:
    X = np.array([[1, 0], [2, 0], [-1, 0], [-2, 0]], np.float32)
    W = own_classifiers(X, np.array([4, 4, 7, 7]))
    np.testing.assert_allclose(W, [[1, 0], [-1, 0]], atol=1e-5)


def test_scores_are_those_of_the_layers_written_out(task: Task) -> None:
    model = ZSGCN(**SMALL).fit(task)
    np.testing.assert_allclose(model.scores(task), task.X @ forward(model, task.S).T, atol=1e-4)


def test_the_first_loss_is_half_the_squared_error_of_seen_classes(task: Task) -> None:
    still = ZSGCN(**{**SMALL, "epochs": 1}, learning_rate=0).fit(task)
    own = own_classifiers(task.X[task.labels >= 0], task.labels[task.labels >= 0])
    by_hand = ((forward(still, task.S)[:3] - own) ** 2).sum() / 2
    assert still.losses_ == pytest.approx([by_hand], rel=1e-5)


def test_training_reproduces_the_classifiers_of_seen_classes(task: Task) -> None:
    model = ZSGCN(**{**SMALL, "epochs": 200}, learning_rate=0.01, decay=0).fit(task)
    assert model.losses_[-1] < 0.01 * model.losses_[0]
    own = own_classifiers(task.X[task.labels >= 0], task.labels[task.labels >= 0])
    np.testing.assert_allclose(model.scores(task)[:, :3], task.X @ own.T, atol=0.5)
    assert (model.predict(task)[task.labels >= 0] == task.labels[task.labels >= 0]).mean() > 0.9


def test_an_added_class_is_scored_in_a_graph_that_it_is_part_of(task: Task) -> None:
    model = ZSGCN(**SMALL, neighbours=1).fit(task)
    twin = np.concatenate([task.S, task.S[:1] * 2])  # the nearest neighbour of class 0
    more = Task(task.X, twin, task.labels)
    scores = model.add_classes(more).scores(more)
    np.testing.assert_allclose(scores, task.X @ forward(model, twin).T, atol=1e-4)
    np.testing.assert_allclose(scores[:, 0], scores[:, 5], rtol=0.5, atol=0.5)
    assert not np.allclose(scores[:, 0], model.scores(task)[:, 0], atol=1e-3)


def test_only_own_attributes_of_labelled_nodes_are_learned_from(task: Task) -> None:
    elsewhere = task.X.copy()
    elsewhere[task.labels < 0] = 9.0
    graph = Operator(np.random.default_rng(0).random((NODES, NODES)) < 0.1)
    other = Task(elsewhere, task.S, task.labels, graph)
    first, second = (ZSGCN(**SMALL).fit(each) for each in (task, other))
    for ours, theirs in zip(first.layers_, second.layers_, strict=True):
        assert (ours == theirs).all()


def test_renumbering_classes_renumbers_scores(task: Task) -> None:
    order = np.array([3, 0, 4, 2, 1])  # new position -> old position
    renumbered = np.where(task.labels >= 0, np.argsort(order)[task.labels], -1)
    first = ZSGCN(**SMALL).fit(task).scores(task)
    second = ZSGCN(**SMALL).fit(Task(task.X, task.S[order], renumbered)).scores(task)
    np.testing.assert_allclose(second, first[:, order], atol=1e-3)


def test_dropout_is_part_of_training_only(task: Task) -> None:
    without, with_it = (ZSGCN(**{**SMALL, "dropout": share}).fit(task) for share in (0.0, 0.5))
    assert (without.losses_ != with_it.losses_).any()
    assert (with_it.scores(task) == with_it.scores(task)).all()
    np.testing.assert_allclose(with_it.scores(task), task.X @ forward(with_it, task.S).T, atol=1e-4)


def test_decay_keeps_layers_small(task: Task) -> None:
    lengths = [
        sum(float((layer**2).sum()) for layer in fitted.layers_)
        for fitted in (ZSGCN(**SMALL, decay=d).fit(task) for d in (0.0, 1.0))
    ]
    assert lengths[1] < 0.95 * lengths[0]


def test_training_ends_when_the_loss_no_longer_falls(task: Task) -> None:
    long = {**SMALL, "epochs": 40, "learning_rate": 0}  # a loss that never falls
    assert ZSGCN(**long).fit(task).epochs_ == 40
    ended = ZSGCN(**{**long, "patience": 7}).fit(task)
    assert ended.epochs_ == len(ended.losses_) == 8
    falling = ZSGCN(**{**SMALL, "epochs": 12, "patience": 2, "decay": 0}).fit(task)
    assert falling.epochs_ == 12


def test_a_fall_counts_from_a_thousandth_within_the_window() -> None:
    slow = [0.9997**t for t in range(50)]  # three epochs lower it by less than a thousandth
    assert stalled(slow, 3)
    assert not stalled(slow, 4)
    assert not stalled(slow[:3], 3)
    assert not stalled([1.0] * 99, None)


def test_seeds(task: Task) -> None:
    before = torch.get_rng_state()
    settings = {**SMALL, "dropout": 0.5}
    first, second, other = (
        ZSGCN(**settings, seed=seed).fit(task).scores(task) for seed in (1, 1, 2)
    )
    assert (first == second).all()
    assert (first != other).any()
    assert torch.equal(torch.get_rng_state(), before)


def test_the_search_space_holds_settings_and_their_defaults() -> None:
    defaults = {name: each.default for name, each in inspect.signature(ZSGCN).parameters.items()}
    assert ZSGCN.search_space.keys() == {"learning_rate", "epochs", "decay", "dropout"}
    for name, values in ZSGCN.search_space.items():
        assert defaults[name] in values


def test_errors_say_what_to_do(task: Task) -> None:
    with pytest.raises(InputError, match=r"labels: ZSGCN .* 2 or more classes, found those of 0"):
        ZSGCN().fit(Task(task.X, task.S, np.full(NODES, -1)))
    with pytest.raises(InputError, match=r"found those of 1; label nodes of more classes"):
        ZSGCN().fit(Task(task.X, task.S, np.minimum(task.labels, 0)))
    with pytest.raises(InputError, match=r"dropout: expected at least 0 and below 1, found 1"):
        ZSGCN(dropout=1).fit(task)
    model = ZSGCN(**{**SMALL, "epochs": 1}).fit(task)
    with pytest.raises(InputError, match=r"nodes: expected vectors of 10 .* found 9"):
        model.scores(Task(task.X[:, :9], task.S))
    with pytest.raises(InputError, match=r"csds: expected 6 dimensions .* found 5"):
        model.scores(Task(task.X, task.S[:, :5]))


@pytest.mark.parametrize("module", ["zs_gcn", "wdvsc", "hyperbolic"])
def test_importing_the_module_is_cheap(module: str) -> None:
    code = f"import sys, unseen.models.baselines.{module}; heavy = {{'torch', 'ot', 'geoopt'}}"
    code += "; sys.exit(bool(heavy & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
