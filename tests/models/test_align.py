"""Classes are found by how they relate: planted geometries, doubt, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from unseen.errors import InputError
from unseen.models import align
from unseen.models.align import Align
from unseen.propagate.hops import Hops
from unseen.propagate.operators import Operator

CLASSES, NODES, WIDTH = 7, 420, 24
UNSEEN = np.array([0, 2, 3, 6])


def planted(
    seed: int = 0, noise: float = 0.25
) -> tuple[Hops, NDArray[np.int64], NDArray[np.float32], Operator]:
    """Return nodes whose class means relate as the CSDs do, in a space turned at random."""
    rng = np.random.default_rng(seed)
    csds = rng.normal(size=(CLASSES, 5)).astype(np.float32)
    turn = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0][:5]
    truth = np.arange(NODES) % CLASSES
    X = (csds @ turn)[truth] + noise * rng.normal(size=(NODES, WIDTH))
    near = (truth[:, None] == truth) & (rng.random((NODES, NODES)) < 0.05)
    ties = sp.csr_array(np.triu(near, 1), dtype=np.float32)
    centred = (X - X.mean(axis=0)).astype(np.float32)
    return Hops((centred,), np.ones(1, np.float32)), truth, csds, Operator(ties + ties.T)


def seen_labels(truth: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(np.isin(truth, UNSEEN), -1, truth)


AMONG = np.isin(np.arange(CLASSES), UNSEEN)


def test_clusters_get_the_names_of_classes_that_relate_alike() -> None:
    hops, truth, csds, operator = planted()
    model = Align().fit(hops, seen_labels(truth), csds, operator, AMONG)
    told = model.opinions(hops, seen_labels(truth), operator, AMONG)
    hidden = np.isin(truth, UNSEEN)
    assert (told.beliefs.argmax(axis=1)[hidden] == truth[hidden]).mean() > 0.95
    assert model.certain
    assert model.expected > 0.6


def test_the_names_follow_the_class_texts() -> None:
    """Exchanging two class texts exchanges the two classes in the answers."""
    hops, truth, csds, operator = planted()
    labels = seen_labels(truth)
    plain = Align().fit(hops, labels, csds, operator, AMONG)
    turned = csds.copy()
    turned[[0, 2]] = csds[[2, 0]]
    other = Align().fit(hops, labels, turned, operator, AMONG)
    expected = plain.predict(hops, AMONG)
    exchanged = np.where(expected == 0, 2, np.where(expected == 2, 0, expected))
    hidden = labels < 0
    assert (other.predict(hops, AMONG)[hidden] == exchanged[hidden]).mean() > 0.99


def test_class_texts_without_relations_leave_only_a_guess() -> None:
    hops, truth, _, operator = planted()
    even = np.eye(CLASSES, dtype=np.float32)  # every class is as far from every other
    model = Align().fit(hops, seen_labels(truth), even, operator, AMONG)
    assert model.chance == 0.25
    assert model.expected == pytest.approx(0.25, abs=0.02)
    assert not model.certain


def test_doubt_about_names_lowers_the_confidence() -> None:
    hops, truth, csds, operator = planted()
    labels = seen_labels(truth)
    model = Align().fit(hops, labels, csds, operator, AMONG)
    told = model.opinions(hops, labels, operator, AMONG)
    free = np.flatnonzero(labels < 0)
    best = told.beliefs.argmax(axis=1)
    assert (told.confidence[free, best[free]] < told.beliefs[free, best[free]]).all()
    np.testing.assert_allclose(told.confidence.sum(axis=1), 1, atol=1e-4)
    known = np.flatnonzero(labels >= 0)
    np.testing.assert_allclose(told.confidence[known, labels[known]], 1, atol=1e-5)


def test_seen_classes_may_be_answers_too() -> None:
    """A fifth of the seen nodes have no label: they must not fill the clusters."""
    hops, truth, csds, operator = planted()
    rng = np.random.default_rng(1)
    held = ~np.isin(truth, UNSEEN) & (rng.random(NODES) < 0.2)
    labels = np.where(held, -1, seen_labels(truth))
    model = Align().fit(hops, labels, csds, operator)
    answer = model.opinions(hops, labels, operator).beliefs.argmax(axis=1)
    assert (answer[held] == truth[held]).mean() > 0.9
    hidden = np.isin(truth, UNSEEN)
    assert (answer[hidden] == truth[hidden]).mean() > 0.9


def test_without_a_graph() -> None:
    hops, truth, csds, _ = planted()
    model = Align().fit(hops, seen_labels(truth), csds, None, AMONG)
    hidden = np.isin(truth, UNSEEN)
    assert (model.predict(hops, AMONG)[hidden] == truth[hidden]).mean() > 0.9


def test_one_unseen_class_needs_no_matching() -> None:
    hops, truth, csds, operator = planted()
    labels = np.where(truth == 3, -1, truth)
    model = Align().fit(hops, labels, csds, operator, np.arange(CLASSES) == 3)
    assert model.certain
    assert (model.predict(hops, np.arange(CLASSES) == 3)[truth == 3] == 3).all()


def test_all_classes_seen() -> None:
    hops, truth, csds, operator = planted()
    labels = np.where(np.arange(NODES) % 3 == 0, -1, truth)
    model = Align().fit(hops, labels, csds, operator)
    answer = model.opinions(hops, labels, operator).beliefs.argmax(axis=1)
    assert (answer == truth).mean() > 0.95
    assert model.certain


def test_a_wide_space_is_projected() -> None:
    hops, truth, csds, operator = planted()
    rng = np.random.default_rng(2)
    wide = (hops.own @ np.linalg.qr(rng.normal(size=(300, WIDTH)))[0].T).astype(np.float32)
    model = Align().fit(
        Hops((wide,), np.ones(1, np.float32)), seen_labels(truth), csds, operator, AMONG
    )
    assert model.projection_.shape == (300, align.WIDTH)
    np.testing.assert_allclose(
        model.projection_.T @ model.projection_, np.eye(align.WIDTH), atol=1e-4
    )


def test_a_wide_space_of_few_nodes_is_projected() -> None:
    rng = np.random.default_rng(3)
    projection = align._main_directions(rng.normal(size=(20, 500)).astype(np.float32), 0)
    assert projection.shape == (500, 20)


def test_more_clusters_than_nodes_are_refused() -> None:
    hops, truth, csds, operator = planted()
    labels = np.where(np.isin(truth, UNSEEN), 1, truth)
    labels[:3] = -1
    with pytest.raises(InputError, match="an unlabelled node for each unseen class, found 3 for 4"):
        Align().fit(hops, labels, csds, operator, AMONG)


def test_a_new_class_is_refused() -> None:
    hops, truth, csds, operator = planted()
    model = Align().fit(hops, seen_labels(truth), csds, operator, AMONG)
    with pytest.raises(InputError, match="without names"):
        model.with_classes(csds[:1], hops, truth, operator)
