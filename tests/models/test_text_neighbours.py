from __future__ import annotations

import numpy as np
import pytest

from unseen.core.arrays import softmax, unit
from unseen.core.task import Task
from unseen.models import text_neighbours as module
from unseen.models.text_neighbours import LINKS, NEAREST, TextNeighbours


@pytest.fixture
def given() -> tuple[np.ndarray, np.ndarray, Task]:
    rng = np.random.default_rng(0)
    X = unit(rng.standard_normal((60, 8)).astype(np.float32))
    q = softmax(rng.standard_normal((60, 3)).astype(np.float32))
    return X, q, Task(X, np.eye(3, 8, dtype=np.float32))


def test_it_is_the_mean_of_the_nearest_others(
    given: tuple[np.ndarray, np.ndarray, Task],
) -> None:
    X, q, task = given
    made = TextNeighbours.fit(X, q, task, seed=0)
    found = made.read(X, np.full((60, 3), 1 / 3, np.float32), task)
    for i in range(60):
        near = X @ X[i]
        near[i] = -1
        best = np.argsort(-near)[:NEAREST]
        weight = np.maximum(near[best], 0) ** 3
        np.testing.assert_allclose(found[i], weight @ q[best] / weight.sum(), atol=1e-5)


def test_kept_links_give_the_same_and_other_anchors_do_not_use_them(
    given: tuple[np.ndarray, np.ndarray, Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, q, task = given
    made = TextNeighbours.fit(X, q, task, seed=0)
    t = np.full((60, 3), 1 / 3, np.float32)
    wanted = made.read(X, t, task)
    other = TextNeighbours(made.vectors[::-1], made.posteriors)
    theirs = other.read(X, t, task)
    task.memo[LINKS] = made.links(X)
    np.testing.assert_array_equal(other.read(X, t, task), theirs)
    monkeypatch.setattr(TextNeighbours, "_weighed", None)  # nothing is compared again
    np.testing.assert_array_equal(made.read(X, t, task), wanted)
    assert TextNeighbours(made.vectors[:NEAREST], made.posteriors).links(X) is None


def test_labelled_nodes_are_anchors_first_and_keep_their_answers(
    given: tuple[np.ndarray, np.ndarray, Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, q, task = given
    monkeypatch.setattr(module, "ANCHORS", 20)
    labels = np.full(60, -1)
    labels[40:55] = 1
    known = task.known(labels)
    made = TextNeighbours.fit(X, q, known, seed=0)
    assert made.vectors.shape == (20, 8)
    assert all((made.vectors == row).all(axis=1).any() for row in X[40:55])
    found = made.read(X, q, known)
    np.testing.assert_array_equal(found[40:55], q[40:55])
    assert (found[:40] != q[:40]).any(axis=1).all()


def test_of_anchors_that_are_equally_near_the_first_are_taken() -> None:
    """However the rows that are compared at a time are divided, which shows in their last bits."""
    rng = np.random.default_rng(0)
    kinds = unit(rng.standard_normal((3, 300)).astype(np.float32))
    V = kinds[np.arange(60) % 3]  # twenty of each
    q = softmax(rng.standard_normal((60, 4)).astype(np.float32))
    X = unit(kinds[0] + 0.2 * rng.standard_normal((37, 300)).astype(np.float32))
    t, everything = np.full((37, 4), 0.25, np.float32), np.ones(4, dtype=bool)
    made = TextNeighbours(V, np.ascontiguousarray(q.T))
    found = made._read(X, t, everything)
    np.testing.assert_allclose(found, np.tile(q[:30:3].mean(axis=0), (37, 1)), atol=1e-6)
    noise = np.float32(1e-7) * rng.standard_normal((37, 60)).astype(np.float32)
    near = X @ V.T
    best = np.sort(made._nearest(X, near.copy()), axis=1)
    np.testing.assert_array_equal(np.sort(made._nearest(X, near + noise), axis=1), best)
    np.testing.assert_array_equal(best[0], np.arange(0, 30, 3))


def test_a_class_that_is_not_allowed_gets_nothing(
    given: tuple[np.ndarray, np.ndarray, Task],
) -> None:
    X, q, task = given
    made = TextNeighbours.fit(X, q, task, seed=0)
    found = made.read(X, q, task.known(task.labels, [True, False, True]))
    assert not found[:, 1].any()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)


def test_nodes_without_text_keep_to_what_is_said_of_them(
    given: tuple[np.ndarray, np.ndarray, Task],
) -> None:
    X, q, task = given
    made = TextNeighbours.fit(X, q, task, seed=0)
    np.testing.assert_array_equal(made.read(np.zeros_like(X), q, task), q)
    few = TextNeighbours(X[:3], q[:3].T)
    assert few.read(X, q, task) is q


def test_it_counts_as_far_as_it_finds_the_classes_of_anchors() -> None:
    rng = np.random.default_rng(0)
    classes = np.arange(360) % 3
    X = unit((np.eye(3, 8)[classes] * 4 + rng.standard_normal((360, 8))).astype(np.float32))
    apart, mixed = (
        np.eye(3, dtype=np.float32)[classes],
        np.eye(3, dtype=np.float32)[(classes + np.arange(360) // 9) % 3],
    )
    sure, unsure = (TextNeighbours(X, q.T.copy()).weight() for q in (apart, mixed))
    assert sure > 0.9
    assert unsure < 0.2
    few = TextNeighbours(X[:30], apart[:30].T.copy()).weight()
    assert few == pytest.approx(0.1, rel=0.05)
    assert TextNeighbours(X[:3], apart[:3].T.copy()).weight() == 0


def test_a_class_that_no_anchor_knows_has_what_the_own_text_gives_it(
    given: tuple[np.ndarray, np.ndarray, Task],
) -> None:
    X, q, task = given
    made = TextNeighbours.fit(X, q, task, seed=0)
    before = made.read(X, q, task)
    later = TextNeighbours(made.vectors, np.vstack([made.posteriors, np.zeros((1, 60))]))
    t = np.hstack([0.7 * q, np.full((60, 1), 0.3)]).astype(np.float32)
    found = later.read(X, t, Task(X, np.eye(4, 8, dtype=np.float32)))
    np.testing.assert_allclose(found[:, 3], 0.3, atol=1e-6)
    np.testing.assert_allclose(found[:, :3], 0.7 * before, atol=1e-5)
