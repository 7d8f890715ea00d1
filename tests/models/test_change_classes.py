"""Classes dropped, reordered and described anew after fitting; readings that add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.labels import Labels, allowed_classes
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.baselines.random_guess import RandomGuess
from unseen.models.belief_propagation import BeliefPropagation
from unseen.models.pooled_em import PooledEM
from unseen.models.prototype import Prototype

MODELS = [PooledEM(), BeliefPropagation(), Prototype()]


@pytest.fixture(scope="module")
def task() -> Task:
    """Three groups of nodes around three class vectors, linked within and across."""
    rng = np.random.default_rng(0)
    S = np.linalg.qr(rng.normal(size=(8, 3)))[0].T
    group = np.arange(90) % 3
    X = S[group] + 0.4 * rng.normal(size=(90, 8))
    A = (rng.random((90, 90)) < np.where(group[:, None] == group, 0.1, 0.02)).astype(float)
    return Task(X, S, operator=Operator(np.maximum(A, A.T) * (1 - np.eye(90))))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_another_order_of_classes_is_another_order_of_answers(model: Any, task: Task) -> None:
    order = np.array([2, 0, 1])
    turned = Task(task.X, task.S[order], operator=task.operator)
    fitted = model.fit(task)
    found = fitted.take_classes(order).posterior(turned)
    np.testing.assert_allclose(found, fitted.posterior(task)[:, order], atol=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_same_description_changes_nothing(model: Any, task: Task) -> None:
    fitted = model.fit(task)
    again = fitted.redescribe(np.array([1]), task.S[[1]])
    np.testing.assert_allclose(again.posterior(task), fitted.posterior(task), atol=1e-5)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_another_description_moves_its_class_and_leaves_the_model(model: Any, task: Task) -> None:
    fitted = model.fit(task)
    before = fitted.posterior(task)
    moved = fitted.redescribe(np.array([1]), -task.S[[1]])
    assert moved.posterior(task)[:, 1].sum() < before[:, 1].sum()
    np.testing.assert_array_equal(fitted.posterior(task), before)


@pytest.mark.parametrize("model", [PooledEM(), Prototype()], ids=repr)
def test_readings_are_what_the_posterior_is_pooled_of(model: Any, task: Task) -> None:
    fitted = model.fit(task)
    pooled = sum(reading.pool * reading.posterior for reading in fitted.readings(task))
    np.testing.assert_allclose(pooled, fitted.posterior(task), atol=1e-6)


def test_a_model_that_cannot_says_so(task: Task) -> None:
    with pytest.raises(InputError, match="cannot drop or edit"):
        RandomGuess().fit(task).take_classes(np.array([0]))


def test_classes_to_choose_from_may_be_named() -> None:
    classes = Classes(["a", "b", "c"])
    assert allowed_classes(["c", "a"], Labels.none(2), classes).tolist() == [True, False, True]
    with pytest.raises(InputError, match="'x'"):
        allowed_classes(["x"], Labels.none(2), classes)
