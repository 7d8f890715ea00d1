"""DAP: against least squares in closed form, what may not matter, and classes nobody labelled."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.baselines import dap
from unseen.models.baselines.dap import DAP, _thinned

NODES, WIDTH, CLASSES, SEMANTIC = 60, 6, 5, 4


def problem() -> Task:
    """Return noise as nodes of a random graph, labels of classes 0 to 2 on half of them."""
    rng = np.random.default_rng(2)
    X, graph = rng.normal(size=(NODES, WIDTH)), rng.random((NODES, NODES)) < 0.1
    labels = np.where(np.arange(NODES) < NODES // 2, np.arange(NODES) % 3, -1)
    return Task(X, rng.normal(size=(CLASSES, SEMANTIC)), labels, Operator(graph))


def least_squares(task: Task, decay: float, noise: float = 0.0) -> NDArray[np.float64]:
    """Solve for W and b (last row); `noise` is what dropout adds to X'X on average. [d+1, d_s]"""
    rows = task.labels >= 0
    A = np.column_stack([task.X[rows], np.ones(rows.sum())]).astype(np.float64)
    extra = noise * np.diag([*(A[:, :-1] ** 2).sum(axis=0), 0.0])
    left = (A.T @ A + extra) * 2 / len(A) + decay * np.eye(WIDTH + 1)
    return np.asarray(np.linalg.solve(left, A.T @ task.S[task.labels[rows]] * 2 / len(A)))


def learned(model: DAP) -> NDArray[np.float32]:
    return np.vstack([model.map_, model.bias_])


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_the_map_is_that_of_least_squares(decay: float) -> None:
    model = DAP(epochs=1000, learning_rate=0.02, decay=decay, dropout=0.0).fit(problem())
    np.testing.assert_allclose(learned(model), least_squares(problem(), decay), atol=1e-3)


def test_dropout_pulls_the_map_to_where_its_mean_loss_is_least() -> None:
    """On average, dropping a share p of x adds p/(1-p) times the diagonal of X'X."""
    task = problem()
    many = Task(np.tile(task.X, (100, 1)), task.S, np.tile(task.labels, 100))
    rate, p = 0.005, 0.4
    model = DAP(epochs=1500, learning_rate=rate, dropout=p).fit(many)
    expected = least_squares(problem(), 0.0, noise=p / (1 - p))
    np.testing.assert_allclose(learned(model), expected, atol=0.03)
    assert np.abs(expected - least_squares(problem(), 0.0)).max() > 0.1  # else nothing was shown


@pytest.mark.parametrize("sparse", [False, True])
def test_thinned_rows_are_right_on_average_and_scaled_one_by_one(sparse: bool) -> None:
    X = torch.tensor([[0.0, 2.0, -1.0], [4.0, 0.0, 0.5]])
    rng = torch.Generator().manual_seed(0)
    x = X.to_sparse() if sparse else X
    thin = torch.stack([_thinned(x, 0.75, rng).to_dense() for _ in range(4000)])
    assert ((thin == 0) | (thin == 4 * X)).all()
    for share in (thin != 0).float().mean(dim=0)[X != 0]:
        assert float(share) == pytest.approx(0.25, abs=0.04)


def test_sparse_and_dense_rows_lead_to_the_same_map(monkeypatch: pytest.MonkeyPatch) -> None:
    task = problem()
    X = np.where(np.abs(task.X) > 1, task.X, 0).astype(np.float32)
    few = Task(X, task.S, task.labels)
    found = []
    for share in (0.0, 2.0):  # no rows count as sparse, then all
        monkeypatch.setattr(dap, "SPARSE", share)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.append(learned(DAP(epochs=50, dropout=0.0).fit(few)))
            DAP(epochs=2).fit(few)
    np.testing.assert_allclose(found[0], found[1], atol=1e-5)


def test_scores_are_squared_distances_one_by_one() -> None:
    task = problem()
    model = DAP(epochs=20).fit(task)
    scores = model.scores(task)
    for i, x in enumerate(task.X):
        predicted = x @ model.map_ + model.bias_
        for c, s in enumerate(task.S):
            assert scores[i, c] == pytest.approx(-((predicted - s) ** 2).sum(), rel=1e-4)


def test_the_loss_is_the_mean_squared_distance_and_falls() -> None:
    task = problem()
    start = DAP(epochs=0, dropout=0.0).fit(task)
    model = DAP(epochs=100, dropout=0.0).fit(task)
    rows = np.flatnonzero(task.labels >= 0)
    own = -start.scores(task)[rows, task.labels[rows]]
    assert model.losses_[0] == pytest.approx(own.mean(), rel=1e-5)
    assert (np.diff(model.losses_) < 0).all()


def test_unseen_classes_are_found_where_vectors_are_linear_in_csds() -> None:
    rng = np.random.default_rng(0)
    csds = rng.normal(size=(12, 4)).astype(np.float32)
    truth = np.arange(480) % 12
    X = csds[truth] @ rng.normal(size=(4, 20)) + 0.2 * rng.normal(size=(480, 20))
    unseen = np.arange(12) >= 9
    task = Task(X, csds, np.where(unseen[truth], -1, truth), allowed=unseen)
    answer = DAP(epochs=300, dropout=0.3).fit(task).predict(task)
    assert (answer == truth)[unseen[truth]].mean() > 0.9


def test_neither_unlabelled_nodes_nor_unseen_csds_are_read() -> None:
    task = problem()
    plain = DAP(epochs=20).fit(task)
    X, S = task.X.copy(), task.S.copy()
    X[task.labels < 0] = 9
    S[3:] = 9
    other = DAP(epochs=20).fit(Task(X, S, task.labels))
    assert (learned(plain) == learned(other)).all()


def test_the_graph_is_not_read() -> None:
    task = problem()
    without = replace(task, operator=None)
    plain, other = (DAP(epochs=20).fit(each) for each in (task, without))
    assert (plain.scores(task) == other.scores(without)).all()


def test_renumbering_nodes_renumbers_the_scores() -> None:
    task = problem()
    order = np.random.default_rng(1).permutation(NODES)
    turned = Task(task.X[order], task.S, task.labels[order])
    plain = DAP(epochs=50, dropout=0.0).fit(task).scores(task)
    other = DAP(epochs=50, dropout=0.0).fit(turned).scores(turned)
    np.testing.assert_allclose(plain[order], other, atol=1e-4)


def test_the_seed_decides_the_start_and_the_dropout() -> None:
    task = problem()

    def fit(**settings: float) -> NDArray[np.float32]:
        return learned(DAP(**settings).fit(task))  # type: ignore[arg-type]

    assert (fit(epochs=5, seed=1) == fit(epochs=5, seed=1)).all()
    assert not (fit(epochs=0, seed=1)[:-1] == fit(epochs=0, seed=2)[:-1]).any()
    assert not (fit(epochs=5, seed=1) == fit(epochs=5, seed=1, dropout=0.0)).all()


def test_threads_are_given_back_and_the_global_generator_is_left_alone() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    DAP(epochs=2).fit(problem())
    assert torch.get_num_threads() == threads
    assert (torch.get_rng_state() == state).all()


def test_what_cannot_be_used_is_refused() -> None:
    task = problem()
    with pytest.raises(InputError, match=r"labels: DAP learns .* found those of 0"):
        DAP().fit(Task(task.X, task.S, np.full(NODES, -1)))
    for dropout in (1.0, -0.1):
        with pytest.raises(InputError, match=rf"dropout: .*below 1, found {dropout}"):
            DAP(dropout=dropout).fit(task)
    model = DAP(epochs=1).fit(task)
    with pytest.raises(InputError, match=r"csds: expected 4 dimensions .*, found 3; encode"):
        model.scores(Task(task.X, task.S[:, :3]))
    narrow = Task(task.X[:, :5], task.S)
    with pytest.raises(InputError, match=r"nodes: expected vectors of 6 .*, found 5; encode"):
        model.scores(narrow)


def test_the_search_space_is_that_of_the_paper() -> None:
    assert {name: len(values) for name, values in DAP.search_space.items()} == {
        "learning_rate": 3,
        "epochs": 4,
        "decay": 4,
        "dropout": 3,
    }
    params = DAP().get_params()
    assert all(params[name] in values for name, values in DAP.search_space.items())
