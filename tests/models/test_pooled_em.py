"""PooledEM: never far below the simple answers, outsiders that move nothing, and an open world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planted import Planted, plant
from unseen.core.arrays import unit
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.engines.memory import Composed
from unseen.models.pooled_em import PooledEM
from unseen.models.prototype import Prototype
from unseen.models.typicality import TwoNormals, best_fit


def task_of(graph: Planted) -> Task:
    return graph.task()


@pytest.mark.parametrize("level", [0.9, 0.5, 0.0], ids=["homophilous", "mixed", "random"])
@pytest.mark.parametrize("noise", [1.0, 3.0])
def test_not_far_below_own_text_or_hops(level: float, noise: float) -> None:
    graph = plant(level, noise, nodes=800)
    task = task_of(graph)
    floors = [graph.accuracy(Prototype(K).fit(task).predict(task)) for K in (0, 3)]
    assert graph.accuracy(PooledEM().fit(task).predict(task)) > max(floors) - 0.04


def test_neighbours_help_where_they_agree() -> None:
    graph = plant(0.9, 3.0, nodes=800)
    task = task_of(graph)
    alone = Task(task.X, task.S)
    with_graph = graph.accuracy(PooledEM().fit(task).predict(task))
    assert with_graph > graph.accuracy(PooledEM().fit(alone).predict(alone)) + 0.1


def test_diffusion_counts_only_where_neighbours_agree() -> None:
    assert PooledEM().fit(task_of(plant(0.9, 1.0))).diffusion_weight_ == 1
    assert PooledEM().fit(task_of(plant(0.0, 1.0))).diffusion_weight_ < 0.2
    alone = task_of(plant(0.9, 1.0))
    assert PooledEM().fit(Task(alone.X, alone.S)).diffusion_weight_ == 0


def test_outsiders_are_told_and_move_no_centre() -> None:
    """Half of the nodes belong to classes that are not listed."""
    graph = plant(0.8, 1.0, nodes=1000, classes=8, width=32)
    whole = task_of(graph)
    inside = graph.truth < 4
    listed = Task(whole.X, whole.S[:4], operator=whole.operator)
    model = PooledEM().fit(listed)
    found = model.infer(listed)
    assert found.background is not None
    assert found.background[~inside].mean() > found.background[inside].mean() + 0.3
    best = found.posterior.argmax(axis=1)
    assert (best[inside] == graph.truth[inside]).mean() > 0.9
    near = (unit(model.means_) * unit(whole.S[:4])).sum(axis=1)
    assert near.min() > 0.7


def test_a_class_of_few_nodes_keeps_to_its_text() -> None:
    graph = plant(0.5, 2.0, nodes=300)
    task = task_of(graph)
    near = [
        (unit(PooledEM(pseudo_nodes=k).fit(task).means_) * unit(task.S)).sum(axis=1).mean()
        for k in (0.0, 30.0, 3000.0)
    ]
    assert near[0] < near[1] < near[2]
    assert near[2] > 0.99


def test_zero_rounds_learn_nothing() -> None:
    task = task_of(plant(0.5, 1.0))
    model = PooledEM(rounds=0).fit(task)
    np.testing.assert_array_equal(model.means_, unit(task.S))
    np.testing.assert_array_equal(model.centres_, unit(task.S))


def test_labels_are_learned_from() -> None:
    """Class texts that hardly fit, and labels of a quarter of the nodes."""
    graph = plant(0.3, 1.0, nodes=600)
    rng = np.random.default_rng(1)
    poor = graph.S + 0.5 * rng.normal(size=graph.S.shape).astype(np.float32)
    task = Task(graph.X, poor, operator=graph.operator)
    labels = np.where(np.arange(600) % 4 == 0, graph.truth, -1)
    free = labels < 0
    known = task.known(labels)
    told = PooledEM().fit(known).predict(known)
    plain = PooledEM().fit(task).predict(task)
    assert (told == graph.truth)[free].mean() > (plain == graph.truth)[free].mean() + 0.05
    assert (told[~free] == graph.truth[~free]).all()


def test_what_was_answered_stays_fixed() -> None:
    graph = plant(0.8, 1.0)
    task = task_of(graph)
    model = PooledEM().fit(task)
    q = model.posterior(task)
    fixed = Task(
        task.X,
        task.S,
        operator=task.operator,
        fixed_nodes=np.arange(100, task.nodes),
        fixed=q[100:],
    )
    again = model.posterior(fixed)
    np.testing.assert_allclose(again[100:], q[100:], atol=1e-6)
    assert (again[:100].argmax(axis=1) == q[:100].argmax(axis=1)).mean() > 0.97


def test_two_normals() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(0, 1, 700), rng.normal(6, 1, 300)]).astype(np.float32)
    found = TwoNormals.fit(values)
    assert (found.low, found.high) == pytest.approx((0, 6), abs=0.2)
    assert found.share == pytest.approx(0.3, abs=0.02)
    upper = found.upper(values)
    assert upper[:700].max() < 0.6
    assert upper[700:].mean() > 0.98
    flat = TwoNormals.fit(np.ones(50, np.float32)).upper(np.ones(50, np.float32))
    assert np.isfinite(flat).all()


def test_fit_is_spread_over_edges() -> None:
    X = unit(np.array([[1, 0], [0, 1], [0, 1]], np.float32))
    S = np.array([[1, 0]], np.float32)
    edges = Operator(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    fit = best_fit(X, Composed(X), S, Task(X, S, operator=edges))
    assert fit[0] > fit[1] > fit[2]  # a neighbour of what fits, and a node on its own


def test_what_is_said_of_the_graph_is_what_was_done() -> None:
    """No warning that the graph was left aside where diffusion had a say."""
    helped = PooledEM().fit(task_of(plant(0.9, 1.0)))
    assert helped.uses_graph
    assert helped.describe()["warnings"] == []
    helped.homophily_ = replace(helped.homophily_, level=0.0)  # diffusion alone
    assert helped.describe()["homophily"]["used"] is True
    assert helped.describe()["warnings"] == []
    helped.diffusion_weight_ = 0.0
    assert helped.describe()["homophily"]["used"] is False
    assert "left aside" in helped.describe()["warnings"][0]
    assert len(helped.infer(task_of(plant(0.9, 1.0))).by_hop) == 1
