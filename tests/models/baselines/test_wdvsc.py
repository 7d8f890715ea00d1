"""WDVSc: the transport plan and its gradient, what is learned from whom, nearest centres."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from unseen.core.arrays import unit
from unseen.core.task import Task
from unseen.models.baselines import wdvsc
from unseen.models.baselines.wdvsc import WDVSc, plan

NODES, WIDTH, SEMANTIC, CLASSES = 100, 9, 6, 5
SMALL: dict[str, Any] = {"hidden": (24,), "epochs": 30, "patience": None, "learning_rate": 0.01}


@pytest.fixture
def task() -> Task:
    """Tight groups of nodes around an image of their CSD; three of five classes have labels."""
    rng = np.random.default_rng(4)
    csds = rng.normal(size=(CLASSES, SEMANTIC)).astype(np.float32)
    truth = np.arange(NODES) % CLASSES
    X = csds[truth] @ rng.normal(size=(SEMANTIC, WIDTH)) + 0.1 * rng.normal(size=(NODES, WIDTH))
    return Task(X, csds, np.where(truth < 3, truth, -1))


def blurred_cost(D: NDArray[np.float64], blur: float) -> float:
    """OT_eps by scaling rows and columns of exp(-D / eps) in turn."""
    T = np.exp(-D / blur)
    for _ in range(300):
        T /= len(T) * T.sum(axis=0)
        T /= len(T) * T.sum(axis=1, keepdims=True)
    return float((T * D).sum() + blur * (T * (np.log(T) - 1)).sum())


def forward(model: WDVSc, csds: NDArray[np.float32]) -> NDArray[np.float64]:
    """The class centres of a perceptron with one hidden layer, written out. [C, d]"""
    W, a, V, b = (each.astype(np.float64) for each in model.layers_)
    H = unit(csds) @ W + a
    out = np.where(H > 0, H, 0.2 * H) @ V + b
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True))


@pytest.mark.parametrize("cost", [0.005, 0.02, 0.3, 4.0])
def test_the_plan_between_two_pairs_by_hand(cost: float) -> None:
    """Staying costs nothing and crossing costs `cost`: odds of exp(cost / eps)."""
    T, _ = plan(np.array([[0, cost], [cost, 0]]), 0.01)
    crossing = 0.5 / (1 + np.exp(cost / 0.01))
    np.testing.assert_allclose(T, [[0.5 - crossing, crossing], [crossing, 0.5 - crossing]])


def test_the_plan_is_the_gradient_of_the_blurred_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Envelope theorem, against finite differences and against autograd through the steps."""
    monkeypatch.setattr(wdvsc, "EXACT", 1e-12)
    blur, U = 0.3, 4
    D = np.random.default_rng(0).random((U, U))
    T, _ = plan(D, blur)

    differences = np.empty((U, U))
    for at in np.ndindex(U, U):
        nudge = np.zeros((U, U))
        nudge[at] = 1e-5
        differences[at] = (blurred_cost(D + nudge, blur) - blurred_cost(D - nudge, blur)) / 2e-5
    np.testing.assert_allclose(T, differences, atol=1e-8)

    cost = torch.tensor(D, requires_grad=True)
    f = torch.zeros(U, dtype=torch.float64)
    for _ in range(300):  # unrolled, derivatives and all
        g = -blur * (torch.logsumexp((f[:, None] - cost) / blur, 0) - np.log(U))
        f = -blur * (torch.logsumexp((g[None, :] - cost) / blur, 1) - np.log(U))
    unrolled = torch.exp((f[:, None] + g - cost) / blur) / U**2
    value = (unrolled * cost).sum() + blur * (unrolled * (unrolled.log() - 1)).sum()
    torch.autograd.backward(value)
    assert cost.grad is not None
    np.testing.assert_allclose(T, cost.grad.numpy(), atol=1e-8)


def test_the_plan_does_not_depend_on_where_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wdvsc, "EXACT", 1e-12)
    rng = np.random.default_rng(1)
    first, potentials = plan(rng.random((3, 3)), 0.1)
    D = rng.random((3, 3))
    np.testing.assert_allclose(plan(D, 0.1, potentials)[0], plan(D, 0.1)[0], atol=1e-10)
    np.testing.assert_allclose(first.sum(axis=0), 1 / 3, atol=1e-10)
    np.testing.assert_allclose(first.sum(axis=1), 1 / 3, atol=1e-10)


def test_the_first_loss_by_hand(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wdvsc, "EXACT", 1e-9)
    still = {**SMALL, "epochs": 1, "learning_rate": 0}
    model = WDVSc(**still, weight=0.7, blur=0.5).fit(task)
    means = unit(np.stack([task.X[task.labels == c].mean(axis=0) for c in range(3)]))
    error = ((forward(model, task.S)[:3] - means) ** 2).sum() / 6
    D = cdist(forward(model, task.S)[3:], model.clusters_, "sqeuclidean")
    stay = (
        D[0, 0] + D[1, 1] - D[0, 1] - D[1, 0]
    )  # of a plan [[p, q], [q, p]], p / q = e^(-stay/2eps)
    q = 0.5 / (1 + np.exp(-stay / (2 * 0.5)))
    transport = (0.5 - q) * (D[0, 0] + D[1, 1]) + q * (D[0, 1] + D[1, 0])
    assert model.losses_ == pytest.approx([error + 0.7 * transport], rel=1e-5)


def test_clusters_are_the_unit_means_of_groups_nobody_labelled(task: Task) -> None:
    model = WDVSc(**{**SMALL, "epochs": 1}).fit(task)
    truth = np.arange(NODES) % CLASSES
    groups = unit(np.stack([task.X[truth == c].mean(axis=0) for c in (3, 4)]))
    found = model.clusters_[np.argsort(cdist(groups, model.clusters_).argmin(axis=1))]
    np.testing.assert_allclose(found, groups, atol=1e-5)


def test_centres_reach_the_means_and_the_clusters(task: Task) -> None:
    model = WDVSc(**{**SMALL, "epochs": 400}, weight=0.1, decay=0).fit(task)
    centres = model.centres()
    means = unit(np.stack([task.X[task.labels == c].mean(axis=0) for c in range(3)]))
    np.testing.assert_allclose(centres[:3], means, atol=0.02)
    assert sorted(cdist(centres[3:], model.clusters_).argmin(axis=1)) == [0, 1]
    assert cdist(centres[3:], model.clusters_).min(axis=1).max() < 0.05
    assert (model.predict(task)[task.labels >= 0] == task.labels[task.labels >= 0]).all()


def test_scores_are_minus_squared_distances_from_the_centres(task: Task) -> None:
    model = WDVSc(**SMALL).fit(task)
    np.testing.assert_allclose(model.centres(), forward(model, task.S), atol=1e-5)
    distances = cdist(task.X, forward(model, task.S), "sqeuclidean")
    np.testing.assert_allclose(model.scores(task), -distances, rtol=1e-4, atol=1e-4)
    more = Task(task.X, np.concatenate([task.S, -task.S[:1]]), task.labels)
    added = model.add_classes(more).scores(more)
    np.testing.assert_allclose(added[:, :5], model.scores(task), atol=1e-4)


def test_allowed_says_which_classes_are_looked_for(task: Task) -> None:
    allowed = np.array([False, True, True, False, True])  # class 3 is not; 1 and 2 have labels
    model = WDVSc(**SMALL).fit(Task(task.X, task.S, task.labels, allowed=allowed))
    assert model.clusters_.shape == (1, WIDTH)
    np.testing.assert_allclose(
        model.clusters_, unit(task.X[task.labels < 0].mean(axis=0, keepdims=True)), atol=1e-5
    )
    elsewhere = task.S.copy()
    elsewhere[3] *= -1
    again = WDVSc(**SMALL).fit(Task(task.X, elsewhere, task.labels, allowed=allowed))
    assert all((a == b).all() for a, b in zip(model.layers_, again.layers_, strict=True))


def test_unlabelled_nodes_matter_through_the_transport_cost_only(task: Task) -> None:
    elsewhere = task.X.copy()
    elsewhere[task.labels < 0] *= -1
    for weight, same in ((0.1, False), (0.0, True)):
        first, second = (
            WDVSc(**SMALL, weight=weight).fit(each).centres()
            for each in (task, Task(elsewhere, task.S, task.labels))
        )
        assert np.allclose(first, second, atol=1e-6) == same


def test_without_unseen_classes_it_is_a_regression_on_means(task: Task) -> None:
    model = WDVSc(**SMALL).fit(Task(task.X, task.S[:3], task.labels))
    assert model.clusters_.shape == (0, WIDTH)
    assert model.losses_[-1] < model.losses_[0]


def test_the_rate_falls_late(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:

    def last_step() -> NDArray[np.float32]:
        before, after = (
            WDVSc(**{**SMALL, "epochs": n}, decay=0).fit(task).layers_[0] for n in (3, 4)
        )
        return np.asarray(after - before)

    early = last_step()
    monkeypatch.setattr(wdvsc, "LATE", 3)
    np.testing.assert_allclose(last_step(), early / 10, atol=1e-6)
    assert np.abs(early).max() > 1e-3


def test_training_ends_when_the_loss_no_longer_falls(task: Task) -> None:
    ended = WDVSc(**{**SMALL, "learning_rate": 0, "patience": 5}).fit(task)
    assert ended.epochs_ == len(ended.losses_) == 6
    assert WDVSc(**SMALL).fit(task).epochs_ == SMALL["epochs"]


def test_seeds(task: Task) -> None:
    before = torch.get_rng_state()
    first, second, other = (WDVSc(**SMALL, seed=seed).fit(task).scores(task) for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != other).any()
    assert torch.equal(torch.get_rng_state(), before)


def test_the_search_space_holds_settings_and_their_defaults() -> None:
    defaults = {name: each.default for name, each in inspect.signature(WDVSc).parameters.items()}
    assert WDVSc.search_space.keys() == {"learning_rate", "epochs", "decay"}
    for name, values in WDVSc.search_space.items():
        assert defaults[name] in values
