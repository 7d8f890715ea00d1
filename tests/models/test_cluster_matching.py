"""Classes are found by how they relate: planted geometries, doubt, what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models import cluster_matching
from unseen.models.cluster_matching import ClusterMatching
from unseen.models.matching import cosines

CLASSES, NODES, WIDTH = 7, 420, 24
UNSEEN = np.array([0, 2, 3, 6])
TRUTH = np.arange(NODES) % CLASSES
HIDDEN = np.isin(TRUTH, UNSEEN)
LABELS, ALLOWED = np.where(HIDDEN, -1, TRUTH), np.isin(np.arange(CLASSES), UNSEEN)


def planted(seed: int = 0, noise: float = 0.25) -> Task:
    """Return nodes whose class means relate as the CSDs do, in a space turned at random."""
    rng = np.random.default_rng(seed)
    csds = rng.normal(size=(CLASSES, 5)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0][:5]
    X = (csds @ turn)[TRUTH] + noise * rng.normal(size=(NODES, WIDTH))
    near = (TRUTH[:, None] == TRUTH) & (rng.random((NODES, NODES)) < 0.05)
    A = sp.csr_array(np.triu(near, 1), dtype=np.float32)
    return Task(X - X.mean(axis=0), csds, LABELS, Operator(A + A.T), ALLOWED, shared=False)


def test_clusters_get_the_names_of_classes_that_relate_alike() -> None:
    task = planted()
    model = ClusterMatching().fit(task)
    assert (model.predict(task)[HIDDEN] == TRUTH[HIDDEN]).mean() > 0.95
    assert model.certain
    assert model.expected > 0.6


@pytest.mark.parametrize("width", [5, WIDTH])
def test_vectors_of_unrelated_spaces_are_never_compared(width: int) -> None:
    """CSDs turned in their own space, of another width or of the same, change nothing."""
    task = planted()
    turn = np.linalg.qr(np.random.default_rng(9).normal(size=(WIDTH, WIDTH)))[0][:5, :width]
    if width == 5:
        turn = np.linalg.qr(turn)[0]
    other = replace(task, S=task.S @ turn, memo={})
    assert not other.shared
    plain, turned = (ClusterMatching().fit(each).posterior(each) for each in (task, other))
    assert plain.shape == (NODES, CLASSES)
    np.testing.assert_allclose(turned, plain, atol=1e-3)


def test_the_names_follow_the_class_texts() -> None:
    """Exchanging two class texts exchanges the two classes in the answers."""
    task = planted()
    turned = task.S.copy()
    turned[[0, 2]] = task.S[[2, 0]]
    other = replace(task, S=turned)
    expected = ClusterMatching().fit(task).predict(task)
    exchanged = np.where(expected == 0, 2, np.where(expected == 2, 0, expected))
    found = ClusterMatching().fit(other).predict(other)
    assert (found[HIDDEN] == exchanged[HIDDEN]).mean() > 0.99


def test_class_texts_without_relations_leave_only_a_guess() -> None:
    even = np.eye(CLASSES)  # every class is as far from every other
    model = ClusterMatching().fit(replace(planted(), S=even))
    assert model.chance == 0.25
    assert model.expected == pytest.approx(0.25, abs=0.02)
    assert not model.certain


def test_relations_of_class_texts_are_taken_where_they_are_given() -> None:
    """CSDs that relate in no way say nothing; relations beside them do."""
    task = planted()
    given = replace(task, S=np.eye(CLASSES), relations=cosines(task.S)[None].astype(np.float32))
    expected = ClusterMatching().fit(task).posterior(task)
    np.testing.assert_allclose(ClusterMatching().fit(given).posterior(given), expected, atol=1e-4)


def test_edges_are_counted_between_groups_either_way() -> None:
    A = np.array([[0, 2, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 3, 0]], dtype=np.float32)
    operator, groups = Operator(sp.csr_array(A)), np.eye(2, dtype=np.float32)[[0, 0, 1, 1]]
    found = cluster_matching._between(operator, groups)
    assert found is not None
    expected = np.array([[2, 1], [1, 3]]) / operator.mean_weight  # two edges of weight 1 between
    np.testing.assert_allclose(found, expected)
    assert cluster_matching._between(None, groups) is None


def test_edges_that_contradict_features_do_no_harm() -> None:
    """Classes whose texts and features are unlike are linked most."""
    task, rng = planted(), np.random.default_rng(4)
    alike = cosines(task.S)
    np.fill_diagonal(alike, -2.5)
    drawn = np.triu(rng.random((NODES, NODES)) < 0.01 * np.exp(-alike[TRUTH][:, TRUTH]), 1)
    A = sp.csr_array(drawn, dtype=np.float32)
    misleading = replace(task, operator=Operator(A + A.T), memo={})
    answer = ClusterMatching().fit(misleading).predict(misleading)
    assert (answer[HIDDEN] == TRUTH[HIDDEN]).mean() > 0.9


def test_doubt_about_names_lowers_the_confidence() -> None:
    task = planted()
    found = ClusterMatching().fit(task).infer(task)
    free, known = np.flatnonzero(LABELS < 0), np.flatnonzero(LABELS >= 0)
    best = found.posterior.argmax(axis=1)
    assert (found.confidence[free, best[free]] < found.posterior[free, best[free]]).all()
    np.testing.assert_allclose(found.confidence.sum(axis=1), 1, atol=1e-4)
    np.testing.assert_allclose(found.confidence[known, LABELS[known]], 1, atol=1e-5)


def test_seen_classes_may_be_answers_too() -> None:
    """A fifth of the seen nodes have no label: they must not fill the clusters."""
    rng = np.random.default_rng(1)
    held = ~HIDDEN & (rng.random(NODES) < 0.2)
    task = planted().known(np.where(held, -1, LABELS), np.ones(CLASSES))
    answer = ClusterMatching().fit(task).predict(task)
    assert (answer[held] == TRUTH[held]).mean() > 0.9
    assert (answer[HIDDEN] == TRUTH[HIDDEN]).mean() > 0.9


def test_without_a_graph() -> None:
    task = replace(planted(), operator=None)
    answer = ClusterMatching().fit(task).predict(task)
    assert (answer[HIDDEN] == TRUTH[HIDDEN]).mean() > 0.9


def test_one_unseen_class_needs_no_matching() -> None:
    task = planted().known(np.where(TRUTH == 3, -1, TRUTH), np.arange(CLASSES) == 3)
    model = ClusterMatching().fit(task)
    assert model.certain
    assert (model.predict(task)[TRUTH == 3] == 3).all()


def test_all_classes_seen() -> None:
    task = planted().known(np.where(np.arange(NODES) % 3 == 0, -1, TRUTH), np.ones(CLASSES))
    model = ClusterMatching().fit(task)
    assert (model.predict(task) == TRUTH).mean() > 0.95
    assert model.certain


def test_a_wide_space_is_projected() -> None:
    task, rng = planted(), np.random.default_rng(2)
    wide = task.X @ np.linalg.qr(rng.normal(size=(300, WIDTH)))[0].T
    model = ClusterMatching().fit(replace(task, X=wide, memo={}))
    width = cluster_matching.WIDTH
    assert model.projection_.shape == (300, width)
    np.testing.assert_allclose(model.projection_.T @ model.projection_, np.eye(width), atol=1e-4)


def test_a_wide_space_of_few_nodes_is_projected() -> None:
    X = np.random.default_rng(3).normal(size=(20, 500)).astype(np.float32)
    assert cluster_matching._main_directions(X, 0).shape == (500, 20)


def test_more_clusters_than_nodes_are_refused() -> None:
    labels = np.where(HIDDEN, 1, TRUTH)
    labels[:3] = -1
    with pytest.raises(InputError, match="an unlabelled node for each unseen class, found 3 for 4"):
        ClusterMatching().fit(planted().known(labels))


def test_a_new_class_is_refused() -> None:
    task = planted()
    with pytest.raises(InputError, match="without names"):
        ClusterMatching().fit(task).add_classes(task)
