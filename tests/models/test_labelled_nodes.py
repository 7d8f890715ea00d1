"""What labels of possible answers teach: the formula, and what stays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from unseen.core.arrays import unit
from unseen.core.graph import Graph
from unseen.core.task import Task
from unseen.models import labelled_nodes as module
from unseen.models.labelled_nodes import LabelledNodes
from unseen.models.pooled_em import PooledEM
from unseen.models.typicality import hops_around, own_vectors


def task_of(labels: NDArray[Any], classes: int = 3, seed: int = 0) -> tuple[Task, NDArray[Any]]:
    """Return nodes around class vectors that describe them badly, and the true classes."""
    rng = np.random.default_rng(seed)
    truth = np.arange(len(labels)) % classes
    centres = rng.normal(size=(classes, 8))
    X = centres[truth] + 0.8 * rng.normal(size=(len(labels), 8))
    S = centres + 3.0 * rng.normal(size=centres.shape)
    ends = rng.integers(0, len(labels), (2, 4 * len(labels)))
    same = truth[ends[0]] == truth[ends[1]]
    graph = Graph.from_edges(*ends[:, same], nodes=len(labels), features=X)
    return Task(X.astype(np.float32), S, labels, graph.operator), truth


def some(count: int, nodes: int = 120, classes: int = 3) -> NDArray[Any]:
    labels = np.full(nodes, -1)
    labels[: count * classes] = np.arange(count * classes) % classes
    return labels


def test_it_is_as_the_formula_has_it() -> None:
    labels = np.where(some(5) == 2, -1, some(5))  # the last class has no label
    task, _ = task_of(labels)
    X, Z, S = own_vectors(task), hops_around(task), unit(task.S)
    p = np.random.default_rng(1).dirichlet(np.ones(3), task.nodes).astype(np.float32)
    found = LabelledNodes.fit(X, Z, S, task, 0)
    r = found.read(X, Z, p, task)
    known = labels >= 0
    y = np.zeros((task.nodes, 2))
    for rows in (X, Z.sample()[1]):
        model = LogisticRegression(C=10.0, max_iter=500, tol=1e-6)
        given = np.concatenate([rows[known], S[:2]])
        model.fit(given, [*labels[known], 0, 1], [*np.ones(known.sum()), 3.0, 3.0])
        y += model.predict_proba(rows) / 2
    expected = np.column_stack([y * p[:, :2].sum(axis=1, keepdims=True), p[:, 2]])
    expected[known] = p[known]
    np.testing.assert_allclose(r, expected, atol=1e-4)
    np.testing.assert_allclose(r.sum(axis=1), 1, atol=1e-5)


def test_labels_teach_what_class_texts_do_not_say() -> None:
    answers = {}
    for count in (0, 5):
        task, truth = task_of(some(count, nodes=600))
        free = np.arange(600) >= 15
        answers[count] = (PooledEM().fit(task).predict(task)[free] == truth[free]).mean()
    assert answers[5] > answers[0] + 0.05


def test_labels_of_one_class_teach_nothing_here() -> None:
    task, _ = task_of(np.where(some(5) > 0, -1, some(5)))
    found = LabelledNodes.fit(own_vectors(task), hops_around(task), unit(task.S), task, 0)
    assert not found
    p = np.full((task.nodes, 3), np.float32(1 / 3))
    assert found.read(own_vectors(task), hops_around(task), p, task) is p


def test_classes_that_are_not_allowed_take_no_part() -> None:
    task, _ = task_of(some(5))
    only = task.known(task.labels, np.array([False, True, True]))
    model = PooledEM().fit(only)
    assert not model.labelled_[0].any()
    assert (model.posterior(only)[15:, 0] == 0).all()


def test_a_class_that_came_later_keeps_what_it_had() -> None:
    task, _ = task_of(some(5))
    model = PooledEM().fit(task)
    more = Task(task.X, np.vstack([task.S, task.S.mean(axis=0)]), task.labels, task.operator)
    twin = model.add_classes(more)
    assert twin.labelled_.shape[0] == 4
    assert not twin.labelled_[3].any()
    assert np.allclose(twin.posterior(more).sum(axis=1), 1, atol=1e-5)


def test_large_classes_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def regress(rows: NDArray[Any], codes: NDArray[Any], weigh: NDArray[Any]) -> NDArray[Any]:
        sizes.append(np.bincount(codes).tolist())
        return np.ones((3, rows.shape[1] + 1))

    monkeypatch.setattr(module, "EXAMPLES", 12)
    monkeypatch.setattr(module, "_regression", regress)
    task, _ = task_of(some(20))
    LabelledNodes.fit(own_vectors(task), hops_around(task), unit(task.S), task, 0)
    assert sizes == [[5, 5, 5], [5, 5, 5]]  # four nodes, and the class vector


def test_readings_add_up_to_the_posterior() -> None:
    task, _ = task_of(some(5))
    model = PooledEM().fit(task)
    read = model.readings(task)
    assert read[-1].name == "labelled nodes"
    assert sum(each.pool or 0 for each in read) == pytest.approx(1)
    added = sum((each.pool or 0) * each.posterior for each in read)
    np.testing.assert_allclose(added, model.posterior(task), atol=1e-5)
