"""Edge homophily: planted levels are found, and nothing where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from planted import Planted, plant
from unseen.core.arrays import softmax, unit
from unseen.core.operator import Operator
from unseen.engines.memory import MEMORY
from unseen.models import homophily
from unseen.models.blocks import clamp
from unseen.models.homophily import (
    ENOUGH,
    HIGHEST,
    USELESS,
    Homophily,
    _assortativity,
    _fit_level,
    _matched_non_edges,
    _overlap,
    deviation,
    estimate_homophily,
    sharpen,
)


def estimated(graph: Planted, labels: NDArray[np.int64] | None = None) -> Homophily:
    known = np.full(len(graph.truth), -1) if labels is None else labels
    scores = graph.rows @ graph.S.T
    return estimate_homophily(graph.rows, scores, known, graph.operator, np.random.default_rng(0))


@pytest.mark.parametrize("noise", [0.3, 1.5])
@pytest.mark.parametrize("level", [0.3, 0.6, 0.9])
def test_the_planted_level_is_found(level: float, noise: float) -> None:
    found = estimated(plant(level, noise))
    assert found.level == pytest.approx(level, abs=0.06 if level > 0.5 else 0.13)
    assert found.usable == found.level
    assert not found.measured


def test_texts_that_name_a_neighbour_do_not_raise_the_level() -> None:
    """Two thirds of a text are those of a node joined to it, whatever that one's class is."""
    levels = []
    for seed in range(5):
        graph, rng = plant(0.5, 0.5, nodes=1000, seed=seed), np.random.default_rng(0)
        named = graph.operator.random_neighbours(np.arange(1000), rng)
        X = unit(graph.rows + 2 * graph.rows[named])
        scores, none = X @ graph.S.T, np.full(1000, -1)
        _, nearest, _ = sharpen(scores, graph.operator.sample_edges(20_000, rng), none)
        levels.append((nearest, estimate_homophily(X, scores, none, graph.operator, rng).usable))
    nearest, found = np.mean(levels, axis=0)
    assert nearest > 0.75
    assert found == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.3, 2.0])
def test_a_random_graph_is_of_no_use(noise: float, seed: int) -> None:
    assert estimated(plant(0.0, noise, seed=seed)).usable == 0.0


def test_texts_that_say_nothing_find_no_homophily() -> None:
    graph = plant(0.9, 0.3)
    noise = np.random.default_rng(1).normal(size=graph.rows.shape).astype(np.float32)
    scores = unit(noise) @ graph.S.T
    none = np.full(len(graph.truth), -1)
    found = estimate_homophily(unit(noise), scores, none, graph.operator, np.random.default_rng(0))
    assert found.usable == 0.0


def styled(agree: float) -> tuple[NDArray[np.float32], NDArray[np.float32], Operator]:
    """Return nodes joined in pairs of one style, of which a share is of one class.

    Half of a text is class, half is style, and no two pairs share a style. So joined nodes look as
    alike as any two of one class, but only some of them are of one class.
    """
    rng = np.random.default_rng(0)
    pairs, classes = 200, 4
    first = np.arange(pairs) % classes
    second = np.where(
        rng.random(pairs) < agree, first, (first + 1 + rng.integers(3, size=pairs)) % 4
    )
    topic = np.eye(classes)[np.concatenate([first, second])]
    style = np.tile(np.eye(pairs), (2, 1))
    X = unit(np.concatenate([topic, style], axis=1).astype(np.float32))
    A = np.zeros((2 * pairs, 2 * pairs), dtype=np.float32)
    A[np.arange(pairs), pairs + np.arange(pairs)] = 1
    return X, X[:, :classes], Operator(A + A.T)


def test_edges_that_agree_less_than_matched_non_edges_mislead() -> None:
    X, scores, operator = styled(0.6)
    found = estimate_homophily(X, scores, np.full(len(X), -1), operator, np.random.default_rng(0))
    assert found.level > 0.3  # so that it is not uselessness that decides
    assert found.information < 0.5 * found.control
    assert found.misleading
    assert found.usable == 0.0


def test_the_same_edges_do_not_mislead_when_all_agree() -> None:
    X, scores, operator = styled(1.0)
    found = estimate_homophily(X, scores, np.full(len(X), -1), operator, np.random.default_rng(0))
    assert not found.misleading
    assert found.usable > 0.9


def test_what_was_measured_cannot_mislead() -> None:
    assert Homophily(0.5, 0.0, 1.0, 1.0, measured=False).misleading
    assert not Homophily(0.5, 0.0, 1.0, 1.0, measured=True).misleading
    assert Homophily(USELESS - 0.01, 1.0, 0.0, 1.0, measured=True).usable == 0.0
    assert Homophily(USELESS, 1.0, 0.0, 1.0, measured=True).usable == USELESS


def test_labelled_edges_are_counted_with_the_chance_correction() -> None:
    """Ends: 100 of class 0, 60 of class 1, 40 of class 2; chance = .25 + .09 + .04 = .38."""
    pairs = [(0, 0)] * 40 + [(1, 1)] * 20 + [(2, 2)] * 10 + [(0, 1)] * 20 + [(2, 2)] * 10
    labels = np.array(pairs).ravel()
    edges = np.arange(200).reshape(100, 2).T
    assert _assortativity(labels, edges) == pytest.approx((0.80 - 0.38) / (1 - 0.38))


def test_labelled_edges_that_disagree_more_than_chance_count_as_none() -> None:
    labels = np.tile([0, 1], 60)
    assert _assortativity(labels, np.arange(120).reshape(60, 2).T) == 0.0


def test_counted_homophily_stays_below_certainty() -> None:
    labels = np.repeat(np.arange(60) % 3, 2)
    assert _assortativity(labels, np.arange(120).reshape(60, 2).T) == HIGHEST


def test_too_few_labelled_edges_are_not_counted() -> None:
    labels = np.repeat(np.arange(ENOUGH) % 3, 2)
    edges = np.arange(2 * ENOUGH).reshape(-1, 2).T
    assert _assortativity(labels, edges) is not None
    assert _assortativity(labels, edges[:, 1:]) is None
    labels[0] = -1  # half a labelled edge is none
    assert _assortativity(labels, edges) is None


def test_edges_within_the_only_labelled_class_measure_nothing() -> None:
    """Where all labels are of one class, every labelled edge agrees, whatever the graph is like."""
    labels = np.zeros(200, dtype=np.int64)
    assert _assortativity(labels, np.arange(200).reshape(100, 2).T) is None


def test_labels_of_one_class_do_not_switch_a_good_graph_off() -> None:
    graph = plant(0.9, 1.0)
    found = estimated(graph, np.where(graph.truth == 0, 0, -1))
    assert found.usable > 0.7


def test_enough_labels_are_measured_and_found_close_to_the_planted_level() -> None:
    graph = plant(0.6, 1.5)
    labels = np.where(graph.truth < 3, graph.truth, -1)
    found = estimated(graph, labels)
    assert found.measured
    edges = graph.operator.sample_edges(20_000, np.random.default_rng(0))
    assert found.level == _assortativity(labels, edges)


def test_a_measured_level_does_not_depend_on_the_texts() -> None:
    graph = plant(0.6, 1.5)
    labels = np.where(graph.truth < 3, graph.truth, -1)
    other = replace(graph, X=plant(0.6, 1.5, seed=9).X)
    assert estimated(graph, labels).level == estimated(other, labels).level


def test_a_graph_without_edges_needs_no_estimate() -> None:
    graph = plant(0.5, 1.0, degree=0)
    found = estimated(graph)
    assert (found.level, found.information, found.control, found.measured) == (0, 0, 0, False)
    assert found.temperature == pytest.approx(0.5 * deviation(graph.rows @ graph.S.T))


@settings(max_examples=60, deadline=None)
@given(arrays(np.float32, 40, elements=st.floats(0.0, 6.0, width=32)))
def test_the_fitted_level_is_that_of_a_fine_grid(overlap: NDArray[np.float32]) -> None:
    grid = np.linspace(0, HIGHEST, 2001)
    values = np.log1p(grid[:, None] * (overlap.astype(np.float64) - 1)).mean(axis=1)
    level, information = _fit_level(overlap)
    assert 0 <= level <= HIGHEST
    at = np.log1p(level * (overlap.astype(np.float64) - 1)).mean()
    assert information == pytest.approx(at, abs=1e-5)
    assert values.max() - information < 2e-3
    best = grid[values.argmax()]
    flat = abs(values.max() - np.interp(level, grid, values)) < 1e-5
    assert abs(level - best) < 0.004 or flat


def test_the_fitted_level_reaches_both_ends() -> None:
    assert _fit_level(np.full(9, 0.5, np.float32)) == (0.0, 0.0)
    level, information = _fit_level(np.full(9, 3.0, np.float32))
    assert level == HIGHEST
    assert information == pytest.approx(np.log(1 + HIGHEST * 2))


def test_overlap_by_hand_and_classes_that_nobody_has() -> None:
    p = np.array([[0.5, 0.5, 0], [1, 0, 0], [0, 1, 0]], dtype=np.float32)
    prior = p.mean(axis=0)  # 1/2, 1/2, 0
    found = _overlap(p[[0, 0, 1, 1]], p[[0, 1, 1, 2]], prior)
    assert found.tolist() == pytest.approx([1, 1, 2, 0])


def test_sharpening_explains_edges_best_among_the_temperatures_tried() -> None:
    graph = plant(0.7, 1.5)
    scores = graph.rows @ graph.S.T
    edges = graph.operator.sample_edges(20_000, np.random.default_rng(0))
    temperature, level, information = sharpen(scores, edges, np.full(len(scores), -1))
    tried = [factor * deviation(scores) for factor in homophily.SHARPNESS]
    assert temperature in tried
    found = {}
    for each in tried:
        p = softmax(scores / each)
        found[each] = _fit_level(_overlap(p[edges[0]], p[edges[1]], p.mean(axis=0)))
    assert information == pytest.approx(max(each for _, each in found.values()), abs=1e-4)
    assert level == pytest.approx(found[temperature][0], abs=0.01)


def test_sharpening_knows_labelled_ends() -> None:
    """Texts say nothing at all; what labels say is enough."""
    graph = plant(0.9, 0.3)
    flat = np.random.default_rng(0).normal(size=(500, 5)).astype(np.float32)
    edges = graph.operator.sample_edges(20_000, np.random.default_rng(0))
    assert sharpen(flat, edges, np.full(500, -1))[1] < 0.1
    assert sharpen(flat, edges, graph.truth)[1] == pytest.approx(0.9, abs=0.06)


def test_deviation_is_around_the_mean_of_each_row_over_allowed_classes() -> None:
    scores = np.array([[1, 3, -np.inf], [10, 14, -np.inf]], dtype=np.float32)
    assert deviation(scores) == pytest.approx(np.sqrt((1 + 1 + 4 + 4) / 4))
    assert deviation(scores[:, :1]) == 1.0  # one class: any scale will do


def test_clamped_rows_are_certain_and_others_stay() -> None:
    p = np.full((3, 2), 0.5, dtype=np.float32)
    clamp(p, np.array([1, -1, 0]))
    assert p.tolist() == [[0, 1], [0.5, 0.5], [1, 0]]


@pytest.mark.parametrize("block", [7, 250])
def test_a_matched_non_edge_is_as_similar_as_the_neighbour_and_neither_end(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(homophily, "BLOCK", block)
    X = unit(np.random.default_rng(0).normal(size=(80, 4)).astype(np.float32))
    edges = np.stack([np.arange(40), 40 + np.arange(40)])
    source, target, other = _matched_non_edges(X, edges, np.random.default_rng(1), MEMORY)
    assert not ((other == source) | (other == target)).any()
    similar = X @ X.T
    for i, j, k in zip(source, target, other, strict=True):
        gaps = np.abs(similar[i] - similar[i, j])
        gaps[[i, j]] = np.inf
        assert gaps[k] == pytest.approx(gaps.min(), abs=1e-6)
