"""ESZSL: its closed form against other ways to the same minimum, and what may not matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.baselines.eszsl import ESZSL

CLASSES = 6
SHAPES = pytest.mark.parametrize(
    ("labelled", "width", "semantic"),
    [(20, 7, 3), (20, 7, 5), (5, 9, 3), (5, 9, 8)],
    ids=["m > d, C_s > d_s", "m > d, C_s < d_s", "m < d, C_s > d_s", "m < d, C_s < d_s"],
)
RIDGES = pytest.mark.parametrize(("gamma", "lam"), [(1.0, 1.0), (0.01, 10.0), (100.0, 0.1)])


def problem(labelled: int = 20, width: int = 7, semantic: int = 5) -> Task:
    """Return noise as nodes of a random graph, labels of classes 0, 2, 3 and 5 on some."""
    rng = np.random.default_rng(4)
    X, graph = rng.normal(size=(30, width)), rng.random((30, 30)) < 0.1
    labels = np.full(30, -1)
    labels[rng.permutation(30)[:labelled]] = np.array([3, 0, 5, 2])[np.arange(labelled) % 4]
    return Task(X, rng.normal(size=(CLASSES, semantic)), labels, Operator(graph))


def parts(task: Task) -> tuple[NDArray[np.float64], ...]:
    """Return X [m, d], Y [m, C_s] and S [C_s, d_s], built node by node."""
    seen = sorted(set(task.labels.tolist()) - {-1})
    X = np.array([x for x, y in zip(task.X, task.labels, strict=True) if y >= 0], np.float64)
    Y = np.array([[1.0 if y == c else -1.0 for c in seen] for y in task.labels if y >= 0])
    return X, Y, task.S[seen].astype(np.float64)


@SHAPES
@RIDGES
def test_w_solves_the_least_squares_written_out_for_each_entry(
    labelled: int, width: int, semantic: int, gamma: float, lam: float
) -> None:
    """vec(XWS') = (X kron S) vec(W) row by row, so all four terms are rows of one system."""
    task = problem(labelled, width, semantic)
    X, Y, S = parts(task)
    nodes, classes = np.eye(width), np.eye(semantic)
    system = np.vstack(
        [
            np.kron(X, S),
            np.sqrt(gamma) * np.kron(nodes, S),
            np.sqrt(lam) * np.kron(X, classes),
            np.sqrt(gamma * lam) * np.kron(nodes, classes),
        ]
    )
    target = np.concatenate([Y.ravel(), np.zeros(len(system) - Y.size)])
    expected = np.linalg.lstsq(system, target, rcond=None)[0].reshape(width, semantic)
    model = ESZSL(node_ridge=gamma, class_ridge=lam).fit(task)
    np.testing.assert_allclose(model.map_, expected, atol=1e-9)
    np.testing.assert_allclose(model.scores(task), task.X @ expected @ task.S.T, atol=1e-5)


@SHAPES
@RIDGES
def test_the_gradient_of_the_objective_is_zero(
    labelled: int, width: int, semantic: int, gamma: float, lam: float
) -> None:
    task = problem(labelled, width, semantic)
    X, Y, S = map(torch.as_tensor, parts(task))
    model = ESZSL(node_ridge=gamma, class_ridge=lam).fit(task)
    W = torch.tensor(model.map_, requires_grad=True)
    objective = (
        (X @ W @ S.T - Y).square().sum()
        + gamma * (W @ S.T).square().sum()
        + lam * (X @ W).square().sum()
        + gamma * lam * W.square().sum()
    )
    torch.autograd.backward(objective)
    assert W.grad is not None
    assert float(W.grad.abs().max()) < 1e-8 * objective.item()


def test_an_example_by_hand() -> None:
    """X'X + 1 = 6, X'Y = [-1, 1], X'YS = 2, S'S + 2 = 12, hence W = 2 / (6 * 12)."""
    task = Task([[1], [2], [9]], [[1], [3], [-6]], [0, 1, -1])
    model = ESZSL(node_ridge=1.0, class_ridge=2.0).fit(task)
    assert model.map_.item() == pytest.approx(1 / 36)
    np.testing.assert_allclose(model.scores(task)[2], [9 / 36, 27 / 36, -54 / 36], rtol=1e-6)


def test_turning_either_space_changes_no_score() -> None:
    task = problem()
    rng = np.random.default_rng(0)
    turn_x, turn_s = (np.linalg.qr(rng.normal(size=(k, k)))[0].astype(np.float32) for k in (7, 5))
    turned = Task(task.X @ turn_x, task.S @ turn_s, task.labels)
    plain = ESZSL().fit(task).scores(task)
    other = ESZSL().fit(turned).scores(turned)
    np.testing.assert_allclose(plain, other, atol=1e-5)


def test_renumbering_classes_and_nodes_renumbers_the_scores() -> None:
    task = problem()
    rng = np.random.default_rng(1)
    order, classes = rng.permutation(30), rng.permutation(CLASSES)
    at = np.argsort(classes)
    relabelled = np.where(task.labels < 0, -1, at[task.labels])[order]
    turned = Task(task.X[order], task.S[classes], relabelled)
    plain = ESZSL().fit(task).scores(task)
    other = ESZSL().fit(turned).scores(turned)
    np.testing.assert_allclose(plain[order][:, classes], other, atol=1e-5)


def test_unseen_classes_are_found_where_vectors_are_linear_in_csds() -> None:
    """Seen CSDs lie evenly around zero: without a bias, the -1 in Y would pull towards some."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    between = np.array([[1, 1, 0, 0], [0, -1, 1, 0], [0, 0, -1, -1]]) @ axes / np.sqrt(2)
    csds = np.vstack([axes, -axes, between]).astype(np.float32)  # eight seen, three unseen
    truth = np.arange(440) % 11
    X = csds[truth] @ rng.normal(size=(4, 20)) + 0.2 * rng.normal(size=(440, 20))
    unseen = np.arange(11) >= 8
    task = Task(X, csds, np.where(unseen[truth], -1, truth), allowed=unseen)
    answer = ESZSL().fit(task).predict(task)
    assert (answer == truth)[unseen[truth]].mean() > 0.9


def test_neither_unlabelled_nodes_nor_unseen_csds_are_read() -> None:
    task = problem()
    plain = ESZSL().fit(task)
    X, S = task.X.copy(), task.S.copy()
    X[task.labels < 0] = 9
    S[[1, 4]] = 9
    other = ESZSL().fit(Task(X, S, task.labels))
    assert (plain.map_ == other.map_).all()


def test_the_graph_is_not_read() -> None:
    task = problem()
    without = replace(task, operator=None)
    plain, other = (ESZSL().fit(each) for each in (task, without))
    assert (plain.scores(task) == other.scores(without)).all()


def test_what_cannot_be_used_is_refused() -> None:
    task = problem()
    with pytest.raises(InputError, match=r"labels: ESZSL learns .* found those of 0"):
        ESZSL().fit(Task(task.X, task.S, np.full(30, -1)))
    with pytest.raises(InputError, match=r"node_ridge: expected more than 0, found 0"):
        ESZSL(node_ridge=0).fit(task)
    with pytest.raises(InputError, match=r"class_ridge: expected more than 0, found -1"):
        ESZSL(class_ridge=-1).fit(task)
    model = ESZSL().fit(task)
    with pytest.raises(InputError, match=r"csds: expected 5 dimensions .*, found 3; encode"):
        model.scores(Task(task.X, task.S[:, :3]))
    with pytest.raises(InputError, match=r"nodes: expected vectors of 7 .*, found 5; encode"):
        model.scores(Task(task.X[:, :5], task.S))


def test_the_search_space_is_seven_powers_of_ten_on_both_sides() -> None:
    assert ESZSL.search_space.keys() == ESZSL().get_params().keys()
    for values in ESZSL.search_space.values():
        np.testing.assert_allclose(np.log10(values), np.arange(-3, 4), atol=1e-12)
