"""HyperbolicZSL: the layers and distances against formulas of the ball, training, leakage."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import geoopt
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from unseen.core.arrays import unit
from unseen.core.errors import InputError, MissingExtraError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.baselines import hyperbolic
from unseen.models.baselines.hyperbolic import HyperbolicZSL, hinge

NODES, WIDTH, SEMANTIC, CLASSES = 60, 7, 5, 5
SMALL: dict[str, Any] = {"hidden": 6, "epochs": 30, "patience": None}

Rows = NDArray[np.float64]


@pytest.fixture
def task() -> Task:
    """Nodes around a linear image of their class's CSD; three of five classes have labels."""
    rng = np.random.default_rng(6)
    csds = rng.normal(size=(CLASSES, SEMANTIC)).astype(np.float32)
    truth = np.arange(NODES) % CLASSES
    X = 0.2 * csds[truth] @ rng.normal(size=(SEMANTIC, WIDTH))
    X += 0.05 * rng.normal(size=(NODES, WIDTH))
    return Task(X, csds, np.where((truth < 3) & (np.arange(NODES) < 50), truth, -1))


def exp0(u: Rows) -> Rows:
    length = np.linalg.norm(u, axis=-1, keepdims=True)
    return np.asarray(np.tanh(length) * u / np.where(length > 0, length, 1))


def add(p: Rows, q: Rows) -> Rows:
    """Moebius addition at curvature -1."""
    pq, pp, qq = ((a * b).sum(axis=-1, keepdims=True) for a, b in ((p, q), (p, p), (q, q)))
    return np.asarray(((1 + 2 * pq + qq) * p + (1 - pp) * q) / (1 + 2 * pq + pp * qq))


def distance(p: Rows, q: Rows) -> Rows:
    """By the formula with arcosh, which needs no Moebius addition."""
    gap, rim = ((p - q) ** 2).sum(axis=-1), [1 - (each**2).sum(axis=-1) for each in (p, q)]
    return np.asarray(np.arccosh(1 + 2 * gap / (rim[0] * rim[1])))


def images(model: HyperbolicZSL, X: NDArray[np.float32]) -> Rows:
    """Both layers in 64 bits. [n, d_s]"""
    W, a, V, b = (each.astype(np.float64) for each in model.layers_)
    hidden = add(exp0(X @ W.T), a)
    length = np.linalg.norm(hidden, axis=1, keepdims=True)
    return add(exp0(np.arctanh(length) * hidden / length @ V.T), b)


def test_scores_are_distances_by_another_formula(task: Task) -> None:
    model = HyperbolicZSL(**SMALL).fit(task)
    labels_in_ball = exp0(unit(task.S).astype(np.float64))
    by_formula = distance(images(model, task.X)[:, None], labels_in_ball)
    np.testing.assert_allclose(model.scores(task), -by_formula, atol=1e-3)
    assert np.ptp(by_formula) > 0.5


def test_the_layers_are_moebius_matrix_products(task: Task) -> None:
    model = HyperbolicZSL(**SMALL).fit(task)
    ball = geoopt.PoincareBall()
    p = ball.expmap0(torch.as_tensor(task.X))
    for matrix, bias in zip(model.layers_[::2], model.layers_[1::2], strict=True):
        p = ball.mobius_add(ball.mobius_matvec(torch.as_tensor(matrix), p), torch.as_tensor(bias))
    np.testing.assert_allclose(p.numpy(), images(model, task.X), atol=1e-4)


def test_classes_lie_two_from_the_origin_whatever_the_length_of_their_csd(
    task: Task,
) -> None:
    lengths = np.array([[0.01], [1], [3], [40], [900]], np.float32)
    model = HyperbolicZSL(**SMALL).fit(Task(task.X, task.S * lengths, task.labels))
    model.layers_ = [np.zeros_like(each) for each in model.layers_]  # every node at the origin
    np.testing.assert_allclose(model.scores(task), -2, atol=1e-5)


def test_labels_of_cosine_095_are_109_apart() -> None:
    """The law of cosines of hyperbolic triangles, and what the docstring says of the margin."""
    pair = np.array([[1, 0], [0.95, np.sqrt(1 - 0.95**2)]])
    by_law = np.arccosh(np.cosh(2) ** 2 - np.sinh(2) ** 2 * 0.95)
    found = geoopt.PoincareBall().dist(*torch.as_tensor(exp0(pair)))
    assert found.item() == pytest.approx(by_law, rel=1e-6) == pytest.approx(1.09, abs=0.005)


def test_hinge_by_hand() -> None:
    distances = torch.tensor([[1.0, 2.5, 4.0], [3.0, 0.5, 0.5]])
    # node 0, own 0: 2 + 1 - 2.5 = 0.5 and 2 + 1 - 4 < 0; node 1, own 2: 2 + 0.5 - 3 < 0 and 2
    assert hinge(distances, torch.tensor([0, 2]), 2.0).item() == pytest.approx((0.5 + 2) / 4)
    assert hinge(distances, torch.tensor([0, 2]), 0.0).item() == 0


def test_training_is_that_of_riemannian_adam_alone(task: Task) -> None:
    """Full batches, geoopt's optimiser for all four, and its own Moebius products."""
    still = HyperbolicZSL(**{**SMALL, "epochs": 1}, learning_rate=0).fit(task)
    ball = geoopt.PoincareBall()
    W, a, V, b = (torch.tensor(each) for each in still.layers_)
    first, last = (geoopt.ManifoldParameter(each, manifold=ball) for each in (a, b))
    flat = [torch.nn.Parameter(W), torch.nn.Parameter(V)]
    adam = geoopt.optim.RiemannianAdam([flat[0], first, flat[1], last], lr=0.01, stabilize=10)
    p = ball.expmap0(torch.as_tensor(task.X[task.labels >= 0]))
    points = ball.expmap0(torch.as_tensor(unit(task.S[:3])))
    own, losses = torch.as_tensor(task.labels[task.labels >= 0]), []
    for _ in range(25):
        h = ball.mobius_add(ball.mobius_matvec(flat[0], p), first)
        y = ball.mobius_add(ball.mobius_matvec(flat[1], h), last)
        distances = ball.dist(y[:, None], points)
        mine = distances[torch.arange(len(own)), own][:, None]
        rival = torch.ones_like(distances, dtype=torch.bool)
        rival[torch.arange(len(own)), own] = False
        loss = (2 + mine - distances)[rival].clamp(min=0).mean()
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
        losses.append(loss.item())
    model = HyperbolicZSL(**{**SMALL, "epochs": 25}, batch=NODES).fit(task)
    np.testing.assert_allclose(model.losses_, losses, rtol=1e-3)
    for found, expected in zip(model.layers_, [flat[0], first, flat[1], last], strict=True):
        np.testing.assert_allclose(found, expected.detach().numpy(), atol=2e-3)
    assert np.abs(model.layers_[1]).max() > 0.01  # the biases did move


def test_training_finds_the_labels_of_seen_classes(task: Task) -> None:
    model = HyperbolicZSL(hidden=32, epochs=60, patience=None).fit(task)
    assert model.losses_[-1] < 0.5 * model.losses_[0]
    seen = np.arange(CLASSES) < 3
    answer = model.predict(task.known(task.labels, seen))
    assert (answer == task.labels)[task.labels >= 0].all()
    assert all(np.linalg.norm(bias) < 1 for bias in model.layers_[1::2])


def test_nothing_is_learned_from_unlabelled_nodes_unseen_classes_or_the_graph(
    task: Task,
) -> None:
    elsewhere, others = task.X.copy(), task.S.copy()
    elsewhere[task.labels < 0] = 9
    others[3:] *= -1
    graph = Operator(np.random.default_rng(0).random((NODES, NODES)) < 0.1)
    other = Task(elsewhere, others, task.labels, graph)
    first = HyperbolicZSL(**SMALL).fit(task)
    second = HyperbolicZSL(**SMALL).fit(other)
    assert all((a == b).all() for a, b in zip(first.layers_, second.layers_, strict=True))


def test_long_and_empty_attributes_stay_in_the_ball(task: Task) -> None:
    X = task.X.copy()
    X[:20] *= 1e4
    X[20:30] = 0
    model = HyperbolicZSL(**SMALL).fit(Task(X, task.S, task.labels))
    assert np.isfinite(model.scores(Task(X, task.S))).all()
    assert np.isfinite(model.losses_).all()
    farther = np.concatenate([X[:20] * 10, X[20:]])  # beyond the rim all lengths are one
    np.testing.assert_allclose(
        model.scores(Task(farther, task.S)), model.scores(Task(X, task.S)), atol=1e-4
    )


def test_batches_do_not_change_scores(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    model = HyperbolicZSL(**SMALL).fit(task)
    whole = model.scores(task)
    monkeypatch.setattr(hyperbolic, "ROWS", 7)
    np.testing.assert_allclose(model.scores(task), whole, atol=1e-5)


def test_training_ends_when_the_loss_no_longer_falls(task: Task) -> None:
    still: dict[str, Any] = {"hidden": 6, "epochs": 30, "learning_rate": 0}
    ended = HyperbolicZSL(**still, patience=5).fit(task)
    assert ended.epochs_ == len(ended.losses_) == 6
    assert HyperbolicZSL(**{**still, "epochs": 9}, patience=None).fit(task).epochs_ == 9


def test_seeds(task: Task) -> None:
    before = torch.get_rng_state()
    first, second, other = (
        HyperbolicZSL(**SMALL, seed=seed).fit(task).scores(task) for seed in (1, 1, 2)
    )
    assert (first == second).all()
    assert (first != other).any()
    assert torch.equal(torch.get_rng_state(), before)


def test_the_search_space_holds_settings_and_their_defaults() -> None:
    parameters = inspect.signature(HyperbolicZSL).parameters
    assert HyperbolicZSL.search_space.keys() == {"learning_rate", "epochs", "decay"}
    for name, values in HyperbolicZSL.search_space.items():
        assert parameters[name].default in values


def test_errors_say_what_to_do(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"labels: Hyperbolic.* 2 or more classes, .* of 0"):
        HyperbolicZSL().fit(Task(task.X, task.S, np.full(NODES, -1)))
    with pytest.raises(InputError, match=r"found those of 1; label nodes of more classes"):
        HyperbolicZSL().fit(Task(task.X, task.S, np.minimum(task.labels, 0)))
    model = HyperbolicZSL(**SMALL).fit(task)
    with pytest.raises(InputError, match=r"nodes: expected vectors of 7 .* found 6"):
        model.scores(Task(task.X[:, :6], task.S))
    with pytest.raises(InputError, match=r"csds: expected 5 dimensions .* found 4"):
        model.scores(Task(task.X, task.S[:, :4]))
    monkeypatch.setitem(sys.modules, "geoopt", None)
    wanted = r'HyperbolicZSL needs .*pip install "unseen\[paper\]"'
    with pytest.raises(MissingExtraError, match=wanted):
        HyperbolicZSL().fit(task)
