"""Prototype: the cosine between composed hops and CSDs, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.prototype import Prototype
from unseen.propagate.hops import hops_of

NODES, WIDTH, CLASSES = 20, 6, 4


@pytest.fixture
def task() -> Task:
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((NODES, NODES)) < 0.2, 1)
    X, S = rng.normal(size=(NODES, WIDTH)), rng.normal(size=(CLASSES, WIDTH))
    return Task(X, S, operator=Operator(A | A.T))


def test_scores_are_cosines_node_by_node(task: Task) -> None:
    scores = Prototype(hops=2, laziness=0.7).fit(task).scores(task)
    hops = hops_of(task, 2, 0.7)
    for i in range(NODES):
        z = sum(w * block[i] for w, block in zip(hops.weights, hops.blocks, strict=True))
        for c, s in enumerate(task.S):
            cosine = z @ s / (np.linalg.norm(z) * np.linalg.norm(s))
            assert scores[i, c] == pytest.approx(cosine, abs=1e-5)


def test_lengths_of_nodes_and_csds_do_not_matter(task: Task) -> None:
    longer = np.arange(1, CLASSES + 1)[:, None]
    times = Task(3 * task.X, longer * task.S, operator=task.operator)
    plain, scaled = (Prototype().fit(each).scores(each) for each in (task, times))
    np.testing.assert_allclose(plain, scaled, atol=1e-6)


def test_labels_are_not_read(task: Task) -> None:
    labelled = task.known(np.arange(NODES) % CLASSES)
    plain, other = (Prototype().fit(each).scores(task) for each in (task, labelled))
    assert (plain == other).all()


def test_an_added_class_leaves_the_others_alone(task: Task) -> None:
    first = replace(task, S=task.S[:3], allowed=None)
    model = Prototype().fit(first)
    more = model.add_classes(task)
    assert (more.scores(task)[:, :3] == model.scores(task)).all()
    assert (more.scores(task) == Prototype().fit(task).scores(task)).all()


def test_nodes_at_their_csd_get_their_class(task: Task) -> None:
    at = Task(task.S[[2, 0, 3]], task.S)
    model = Prototype(hops=0).fit(at)
    assert model.predict(at).tolist() == [2, 0, 3]
    some = replace(at, allowed=np.array([True, True, False, True]))
    assert model.predict(some).tolist()[1:] == [0, 3]
    assert model.predict(some)[0] != 2


def test_a_node_that_says_nothing_scores_zero_everywhere(task: Task) -> None:
    silent = Task(np.zeros((2, WIDTH)), task.S)
    assert not Prototype().fit(silent).scores(silent).any()


def test_two_spaces_are_refused(task: Task) -> None:
    with pytest.raises(InputError, match=r"two spaces here \(6 and 5 dimensions\); encode both"):
        Prototype().fit(Task(task.X, task.S[:, :5]))


def test_repr_is_the_call() -> None:
    assert repr(Prototype(hops=2)) == "Prototype(hops=2, laziness=0.5, temperature=0.1)"
