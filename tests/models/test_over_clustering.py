"""Over-clustering: the formula word by word, climbing against counting out, votes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.models import over_clustering as room
from unseen.models.matching import SHARPNESS, cosines, likeness, standard
from unseen.models.over_clustering import Division, divide

FREE = np.array([True, False, True, False, True])


def division(m: int, seed: int = 0, linked: bool = True) -> Division:
    rng = np.random.default_rng(seed)
    fine, known = rng.normal(size=(2, m, 4)), rng.normal(size=(2, 2, 4))
    sizes = rng.integers(5, 40, m)
    edges = rng.integers(0, 60, (m + 2, m + 2))
    return Division(
        np.repeat(np.arange(m), sizes),
        sizes.astype(np.float32),
        tuple(fine.astype(np.float32)),
        tuple(known.astype(np.float32)),
        (edges + edges.T).astype(np.float32) if linked else None,
    )


def relations(seed: int = 0) -> NDArray[np.float64]:
    return standard(cosines(np.random.default_rng(seed).normal(size=(5, 4))))


def by_the_formula(given: NDArray[np.int64], of: Division, G: NDArray[np.float64]) -> float:
    """Return the score of one way to give fine clusters to classes, node by node."""
    members = given[of.of]
    i, j = np.triu_indices(5, 1)
    means = []
    for fine, known in zip(of.fine, of.known, strict=True):
        rows = np.empty((5, 4))
        rows[~FREE] = known
        rows[FREE] = [fine[of.of[members == c]].mean(axis=0) for c in range(3)]
        means.append(rows)
    edges = None
    if of.edges is not None:  # one by one
        places = np.concatenate([np.flatnonzero(FREE)[given], np.flatnonzero(~FREE)])
        edges = np.zeros((5, 5))
        for (a, b), weight in np.ndenumerate(of.edges):
            edges[places[a], places[b]] += weight
    D = likeness(means, edges)[i, j]
    nodes = of.fine[-1][of.of]
    groups = np.stack([nodes[members == c].mean(axis=0) for c in range(3)])
    spread = [((each - nodes.mean(axis=0)) ** 2).sum() for each in (groups[members], nodes)]
    p = np.bincount(members, minlength=3) / len(members)
    evenness = -(p * np.log(p)).sum() / np.log(3)
    fit = SHARPNESS * len(i) * np.corrcoef(D, G[i, j])[0, 1]
    return float(fit + room.KAPPA * spread[0] / spread[1] + room.ETA * evenness)


@pytest.mark.parametrize("linked", [True, False])
def test_scores_follow_the_formula(linked: bool) -> None:
    of, G = division(6, linked=linked), relations()
    ways = np.array([[0, 1, 2, 0, 1, 2], [0, 0, 0, 0, 1, 2], [2, 1, 1, 0, 2, 2]])
    expected = [by_the_formula(given, of, G) for given in ways]
    np.testing.assert_allclose(room._scores(ways, of, G, FREE), expected, rtol=1e-4)


def test_a_class_without_a_node_is_impossible() -> None:
    ways = np.array([[0, 0, 0, 1, 1, 1]])
    assert room._scores(ways, division(6), relations(), FREE) == room.IMPOSSIBLE


@pytest.mark.parametrize("seed", range(5))
def test_climbing_finds_the_best_of_all_ways(seed: int) -> None:
    of, G = division(7, seed), relations(seed)
    every = np.array(list(product(range(3), repeat=7)))
    best = room._scores(every, of, G, FREE).max()
    score, given = room._climb(of, G, FREE, np.random.default_rng(seed))
    assert score == pytest.approx(best, rel=1e-4)
    assert room._scores(given[None], of, G, FREE)[0] == pytest.approx(score, rel=1e-5)


def two_faced(seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
    """Return nodes [n, d], their class among three, and the means of all five classes.

    The first unseen class has two faces, further apart than the other two classes are: three
    clusters by k-means part the faces and join the others.
    """
    rng = np.random.default_rng(seed)
    axes = np.eye(8, dtype=np.float32)
    left, right = axes[0] + 0.6 * axes[1], axes[0] - 0.6 * axes[1]
    faces = np.stack([left, right, axes[2] + 0.5 * axes[3], axes[2] - 0.5 * axes[3]])
    truth = np.repeat([0, 0, 1, 2], 60)
    X = np.repeat(faces, 60, axis=0) + 0.1 * rng.normal(size=(240, 8))
    known = np.stack([axes[0] + 0.5 * axes[4], axes[3] + 0.5 * axes[5]])
    means = np.empty((5, 8), np.float32)
    means[FREE] = [X[truth == c].mean(axis=0) for c in range(3)]
    means[~FREE] = known
    return X.astype(np.float32), truth, means


def test_class_texts_tell_which_clusters_are_one_class() -> None:
    X, truth, means = two_faced()
    G = standard(cosines(means))  # class texts relate as the classes do
    plain = room._k_means(X, 3, 0)
    assert np.bincount(plain[truth == 0]).max() < 0.6 * 120  # its faces lie in two clusters
    found = divide((X, X), (means[~FREE], means[~FREE]), G, FREE, 0)
    assert (found == truth).mean() > 0.95


def test_the_same_seed_gives_the_same_division() -> None:
    X, _, means = two_faced()
    args = (X, X), (means[~FREE], means[~FREE]), standard(cosines(means)), FREE
    np.testing.assert_array_equal(divide(*args, 3), divide(*args, 3))


@pytest.mark.parametrize("nodes", [3, 5, 9])
def test_a_handful_of_nodes(nodes: int) -> None:
    X, _, means = two_faced()
    few = X[np.linspace(0, 239, nodes).astype(int)]
    found = divide((few, few), (means[~FREE], means[~FREE]), relations(), FREE, 0)
    assert set(found) == {0, 1, 2}


@pytest.mark.parametrize("unseen", [1, room.MOST + 1])
def test_one_class_and_too_many_are_left_to_k_means(unseen: int) -> None:
    X = np.random.default_rng(0).normal(size=(90, 6)).astype(np.float32)
    free = np.arange(unseen + 2) < unseen
    known, G = X[:2], standard(cosines(X[: unseen + 2]))
    found = divide((X, X), (known, known), G, free, 0)
    np.testing.assert_array_equal(found, room._k_means(X, unseen, 0))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("distinct", [1, 2, 3, 5])
def test_few_distinct_nodes_warn_nobody(distinct: int) -> None:
    X, _, means = two_faced()
    alike = np.tile(X[:: 240 // distinct][:distinct], (20, 1))
    found = divide((alike, alike), (means[~FREE], means[~FREE]), relations(), FREE, 0)
    assert len(np.unique(found)) == min(distinct, 3)


def test_the_plainest_division_where_class_texts_say_nothing() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 50)
    X = (2 * np.eye(6)[truth] + 0.2 * rng.normal(size=(150, 6))).astype(np.float32)
    known = rng.normal(size=(2, 6)).astype(np.float32)
    found = divide((X, X), (known, known), np.zeros((5, 5)), FREE, 0)
    assert all(len(np.unique(found[truth == c])) == 1 for c in range(3))
    assert len(np.unique(found)) == 3


def test_a_division_is_of_the_last_reading_and_keeps_every_likeness() -> None:
    rng = np.random.default_rng(1)
    own, smooth = rng.normal(size=(2, 80, 30)).astype(np.float32)
    known = rng.normal(size=(2, 2, 30)).astype(np.float32)
    made = room._fine_clusters((own, smooth), tuple(known), 5, 0)
    np.testing.assert_array_equal(made.of, room._k_means(smooth, 5, 0, starts=1))
    for reading, X in enumerate((own, smooth)):
        means = np.stack([X[made.of == a].mean(axis=0) for a in range(5)])
        whole = np.concatenate([means, known[reading]])
        narrow = np.concatenate([made.fine[reading], made.known[reading]])
        np.testing.assert_allclose(cosines(narrow), cosines(whole), atol=1e-5)


def test_a_climb_exchanges_classes_where_no_single_move_is_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With as many fine clusters as classes, any move leaves a class empty."""
    monkeypatch.setattr(room, "STARTS", 1)
    of, G = division(3), relations()
    for seed in range(6):
        score, given = room._climb(of, G, FREE, np.random.default_rng(seed))
        exchanged = np.array([given[[1, 0, 2]], given[[2, 1, 0]], given[[0, 2, 1]]])
        assert room._scores(exchanged, of, G, FREE).max() < score + 1e-6


def voted(monkeypatch: pytest.MonkeyPatch, *told: tuple[float, list[int]]) -> list[int]:
    """Return the clusters of five nodes, each a fine cluster, when divisions say this."""
    said = iter(told)

    def climb(*_: object) -> tuple[float, NDArray[np.int64]]:
        score, given = next(said)
        return score, np.array(given)

    monkeypatch.setattr(room, "DIVISIONS", len(told))
    monkeypatch.setattr(room, "_fine_clusters", lambda *_: replace(division(5), of=np.arange(5)))
    monkeypatch.setattr(room, "_climb", climb)
    X = np.eye(5, dtype=np.float32)
    found: list[int] = divide((X, X), (X[:2], X[:2]), relations(), FREE, 0).tolist()
    return found


def test_the_majority_of_divisions_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    other = (-0.1, [0, 0, 1, 2, 2])
    assert voted(monkeypatch, (0.0, [0, 0, 1, 1, 2]), other, other) == other[1]


def test_a_division_that_fits_badly_has_little_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    other = (-50.0, [0, 0, 1, 2, 2])
    assert voted(monkeypatch, other, (0.0, [0, 0, 1, 1, 2]), other) == [0, 0, 1, 1, 2]


def test_divisions_that_differ_in_names_alone_are_of_one_mind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = (-0.1, [1, 1, 2, 2, 0])
    assert voted(monkeypatch, (0.0, [0, 0, 1, 1, 2]), other, other) == [0, 0, 1, 1, 2]


def test_a_class_that_loses_every_vote_leaves_it_to_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    best = [0, 0, 0, 1, 2]
    others = (-0.1, [2, 0, 0, 1, 0]), (-0.1, [0, 2, 0, 1, 0])
    assert voted(monkeypatch, (0.0, best), *others) == best
