"""Refine: better where the graph helps, no worse where it does not, and nothing leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from planted import Planted, plant

from unseen.classes import Labels
from unseen.errors import InputError
from unseen.models.prototype import Prototype
from unseen.models.refine import DAMPING, Opinions, Refine
from unseen.propagate.hops import Hops
from unseen.propagate.operators import Operator
from unseen.vectors import softmax, unit

SMALL: dict[str, Any] = {"nodes": 150, "classes": 5, "width": 12}


@pytest.fixture
def graph() -> Planted:
    return plant(0.8, 1.5, **SMALL)


@pytest.fixture
def labels(graph: Planted) -> NDArray[np.int64]:
    """Labels of two of five classes, for half of their nodes."""
    return np.where((graph.truth < 2) & (np.arange(len(graph.truth)) % 2 == 0), graph.truth, -1)


def none(graph: Planted) -> NDArray[np.int64]:
    return np.full(len(graph.truth), -1)


def opinions(
    graph: Planted,
    labels: NDArray[np.int64],
    operator: Operator | None,
    among: NDArray[np.bool_] | None = None,
    **settings: Any,
) -> Opinions:
    model = Refine(**settings).fit(graph.hops, labels, graph.csds, operator, among)
    return model.opinions(graph.hops, labels, operator, among)


def learned(model: Refine) -> dict[str, Any]:
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def same(first: Refine, second: Refine) -> bool:
    ours, theirs = learned(first), learned(second)
    return ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name], theirs[name]) for name in ours
    )


@pytest.mark.parametrize("seed", range(2))
def test_a_graph_of_like_minded_neighbours_helps_noisy_texts_clearly(seed: int) -> None:
    graph = plant(0.8, 2.5, seed=seed)
    text = Prototype().fit(graph.hops, none(graph), graph.csds).predict(graph.hops)
    refined = opinions(graph, none(graph), graph.operator).beliefs.argmax(axis=1)
    assert graph.accuracy(text) < 0.75
    assert graph.accuracy(refined) > graph.accuracy(text) + 0.15


@pytest.mark.parametrize("seed", range(4))
def test_a_random_graph_does_no_harm(seed: int) -> None:
    graph = plant(0.0, 2.0, seed=seed)
    without = opinions(graph, none(graph), None).beliefs.argmax(axis=1)
    refined = opinions(graph, none(graph), graph.operator).beliefs.argmax(axis=1)
    assert graph.accuracy(refined) > graph.accuracy(without) - 0.02


def test_unlabelled_texts_correct_descriptions_that_point_beside_their_class() -> None:
    graph = plant(0.0, 0.8)
    rng = np.random.default_rng(1)
    off = unit(graph.csds + 0.35 * rng.normal(size=graph.csds.shape).astype(np.float32))
    shifted = Planted(graph.truth, graph.hops, off, graph.ties)
    by_description, by_both = (
        graph.accuracy(
            opinions(shifted, none(graph), None, description_weight=weight).beliefs.argmax(axis=1)
        )
        for weight in (1.0, 0.5)
    )
    assert by_both > by_description + 0.02


def test_descriptions_alone_without_a_graph_are_the_largest_cosine(graph: Planted) -> None:
    cosine = (graph.rows @ unit(graph.csds).T).argmax(axis=1)
    model = Refine(description_weight=1).fit(graph.hops, none(graph), graph.csds)
    assert (model.predict(graph.hops) == cosine).all()
    told = model.opinions(graph.hops, none(graph), None)
    assert (told.beliefs.argmax(axis=1) == cosine).all()
    np.testing.assert_allclose(told.text, told.description, atol=1e-5)


def test_no_rounds_leave_every_centre_at_its_description(graph: Planted) -> None:
    cosine = (graph.rows @ unit(graph.csds).T).argmax(axis=1)
    told = opinions(graph, none(graph), None, rounds=0)
    assert (told.beliefs.argmax(axis=1) == cosine).all()


@pytest.mark.parametrize("walk", [True, False])
def test_labelled_nodes_keep_their_label(
    graph: Planted, labels: NDArray[np.int64], walk: bool
) -> None:
    wrong = np.where(labels >= 0, (labels + 1) % 2, -1)  # against text and neighbours
    told = opinions(graph, wrong, graph.operator if walk else None)
    known = wrong >= 0
    for each in (told.description, told.text):
        assert (each[known, wrong[known]] == 1).all()
    assert (told.beliefs.argmax(axis=1) == wrong)[known].all()
    assert (told.beliefs[known, wrong[known]] > 0.99).all()


def crowded() -> tuple[Planted, Operator]:
    """Return nodes whose texts are clear; node 0 is of class 1, its 60 neighbours of class 0."""
    graph = plant(0.9, 0.3, **SMALL)
    truth = graph.truth.copy()
    truth[0] = 1
    graph.hops.own[0] = graph.csds[1]
    graph.ties[0] = graph.ties[:, 0] = 0
    around = np.flatnonzero(truth == 0)
    extra = np.flatnonzero(truth == 2)
    truth[extra] = 0
    graph.hops.own[extra] = graph.csds[0]
    ties = graph.ties.copy()
    for other in (around, extra):
        ties[0, other] = ties[other, 0] = 1
    return Planted(truth, graph.hops, graph.csds, ties), Operator(ties)


def test_sixty_neighbours_do_not_talk_a_labelled_node_out_of_its_label() -> None:
    graph, operator = crowded()
    known = np.where(np.arange(150) % 2 == 0, graph.truth, -1)
    told = opinions(graph, known, operator)
    assert told.text[0].argmax() == 1
    assert told.beliefs[0].argmax() == 1


def test_sixty_neighbours_do_not_talk_a_node_into_a_class_that_is_not_allowed() -> None:
    graph, operator = crowded()
    known = np.where((graph.truth == 0) | (graph.truth == 3), graph.truth, -1)
    among = np.array([False, True, True, False, True])
    told = opinions(graph, known, operator, among)
    assert among[told.beliefs.argmax(axis=1)][known < 0].all()


def test_only_allowed_classes_are_answers(graph: Planted, labels: NDArray[np.int64]) -> None:
    among = np.array([False, False, True, False, True])
    told = opinions(graph, labels, graph.operator, among)
    free = labels < 0
    for each in (told.description, told.text, *told.hops):
        assert each[free][:, ~among].max() < 1e-6
        assert np.isin(each[free].argmax(axis=1), [2, 4]).all()


def test_every_opinion_is_a_distribution(graph: Planted, labels: NDArray[np.int64]) -> None:
    told = opinions(graph, labels, graph.operator, hops=4)
    assert len(told.hops) == 5
    for each in (told.description, told.text, *told.hops, told.confidence):
        assert each.shape == (150, 5)
        assert (each >= 0).all()
        np.testing.assert_allclose(each.sum(axis=1), 1.0, atol=1e-5)


def test_the_narrowest_hop_is_the_text_and_the_widest_decides(graph: Planted) -> None:
    told = opinions(graph, none(graph), graph.operator)
    assert (told.hops[0] == told.text).all()
    assert (told.beliefs == told.hops[-1]).all()
    assert (told.hops[1] != told.hops[0]).any()


def test_confidence_is_the_mean_of_the_three_opinions(graph: Planted) -> None:
    told = opinions(graph, none(graph), graph.operator)
    expected = np.mean([told.description, told.text, told.beliefs], axis=0)
    np.testing.assert_allclose(told.confidence, expected, atol=1e-6)


def test_beliefs_travel_as_the_formula_says() -> None:
    """Second line of the module's formula, node by node, in double precision."""
    graph = plant(0.8, 1.5, nodes=40, classes=3, width=6)
    rng = np.random.default_rng(0)
    A = graph.ties * rng.integers(1, 4, size=graph.ties.shape)
    A = np.maximum(A, A.T)
    model = Refine(hops=2)
    model.level_ = 0.6
    p = softmax(rng.normal(size=(40, 3)).astype(np.float32))
    steps = model._believe(p, Operator(A))
    a, q = A / A[A > 0].mean(), p.astype(np.float64)
    for k in (1, 2):
        told = p.astype(np.float64)
        for i in range(40):
            for j in np.flatnonzero(a[i]):
                told[i] *= (1 - 0.6 + 0.6 * 3 * q[j]) ** a[i, j]
        q = DAMPING * q + (1 - DAMPING) * told / told.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(steps[k], q, atol=1e-4)


def test_centres_lie_between_description_and_mean_as_the_weight_says(graph: Planted) -> None:
    found = 3 * np.random.default_rng(0).normal(size=graph.csds.shape).astype(np.float32)
    centres = Refine(description_weight=0.3)._centres(graph.csds, found)
    mixed = 0.3 * graph.csds + 0.7 * found / np.linalg.norm(found, axis=1, keepdims=True)
    np.testing.assert_allclose(centres, unit(mixed), atol=1e-6)
    assert (Refine(description_weight=1)._centres(graph.csds, found) == unit(graph.csds)).all()


def test_means_are_those_of_nodes_weighted_by_beliefs_that_heard_the_neighbours() -> None:
    graph = plant(0.8, 2.0, **SMALL)
    labels = np.where(graph.truth < 3, graph.truth, -1)
    model = Refine(rounds=1).fit(graph.hops, labels, graph.csds, graph.operator)
    assert model.agreement_.measured  # so that h stays the same to the end
    p = softmax(graph.rows @ graph.csds.T / model.centre_temperature_)
    p[labels >= 0] = np.eye(5)[labels[labels >= 0]]
    q = model._believe(p, graph.operator)[-1]
    means = [np.average(graph.rows, axis=0, weights=q[:, c]) for c in range(5)]
    np.testing.assert_allclose(model.means_, means, atol=1e-4)
    deaf = [np.average(graph.rows, axis=0, weights=p[:, c]) for c in range(5)]
    assert np.abs(np.array(deaf) - means).max() > 0.02


def test_the_second_round_starts_at_the_centres_of_the_first() -> None:
    graph = plant(0.8, 2.0, **SMALL)
    labels = np.where(graph.truth < 3, graph.truth, -1)
    first, second = (
        Refine(rounds=rounds).fit(graph.hops, labels, graph.csds, graph.operator)
        for rounds in (1, 2)
    )
    np.testing.assert_allclose(first.centres_, graph.csds, atol=1e-6)
    expected = unit(0.5 * graph.csds + 0.5 * unit(first.means_))
    np.testing.assert_allclose(second.centres_, expected, atol=1e-5)
    assert (second.means_ != first.means_).any()


def test_the_discriminant_is_that_of_weighted_classes(graph: Planted) -> None:
    model, X = Refine(), graph.rows.astype(np.float64)
    q = softmax(np.random.default_rng(0).normal(size=(150, 5)).astype(np.float32))
    model._discriminate(graph.rows, q)
    means = np.stack([np.average(X, axis=0, weights=q[:, c]) for c in range(5)])
    within = np.zeros((12, 12))
    for i in range(150):
        for c in range(5):
            within += q[i, c] * np.outer(X[i] - means[c], X[i] - means[c]) / 150
    within += 0.1 * np.trace(within) / 12 * np.eye(12)
    np.testing.assert_allclose(model.means_, means, atol=1e-5)
    np.testing.assert_allclose(model.precision_, np.linalg.inv(within), rtol=1e-2, atol=1e-2)


def test_renumbering_nodes_renumbers_answers(graph: Planted, labels: NDArray[np.int64]) -> None:
    order = np.random.default_rng(0).permutation(150)
    mixed = Planted(
        graph.truth[order],
        Hops((graph.hops.own[order],), graph.hops.weights),
        graph.csds,
        graph.ties[np.ix_(order, order)],
    )
    plain = opinions(graph, labels, graph.operator)
    moved = opinions(mixed, labels[order], mixed.operator)
    np.testing.assert_allclose(moved.beliefs, plain.beliefs[order], atol=5e-3)
    np.testing.assert_allclose(moved.text, plain.text[order], atol=5e-3)


def test_renumbering_classes_renumbers_columns(graph: Planted, labels: NDArray[np.int64]) -> None:
    order = np.array([3, 0, 4, 2, 1])  # new class c is old class order[c]
    renamed = np.where(labels >= 0, np.argsort(order)[labels], -1)
    mixed = Planted(graph.truth, graph.hops, graph.csds[order], graph.ties)
    among = np.array([True, False, True, True, True])
    plain = opinions(graph, labels, graph.operator, among)
    moved = opinions(mixed, renamed, graph.operator, among[order])
    np.testing.assert_allclose(moved.beliefs, plain.beliefs[:, order], atol=5e-3)


def test_the_lengths_of_vectors_do_not_matter(graph: Planted) -> None:
    rng = np.random.default_rng(0)
    longer = rng.uniform(0.5, 5, size=(150, 1)).astype(np.float32)
    other = Planted(
        graph.truth,
        Hops((graph.hops.own * longer,), graph.hops.weights),
        graph.csds * 7,
        graph.ties,
    )
    plain, scaled = (opinions(each, none(each), each.operator) for each in (graph, other))
    np.testing.assert_allclose(plain.beliefs, scaled.beliefs, atol=5e-3)


def test_what_is_fitted_does_not_depend_on_labels_of_unseen_classes(graph: Planted) -> None:
    """Whatever the unseen classes' labels are, `only` makes them -1, and the same bits result."""
    unseen = graph.truth >= 2
    shuffled = graph.truth.copy()
    shuffled[unseen] = np.random.default_rng(0).permutation(graph.truth[unseen])
    assert (shuffled != graph.truth).any()
    first, second = (
        Refine().fit(graph.hops, Labels(truth).only([0, 1]).of, graph.csds, graph.operator)
        for truth in (graph.truth, shuffled)
    )
    assert same(first, second)
    leaked = Refine().fit(graph.hops, graph.truth, graph.csds, graph.operator)
    assert not same(first, leaked)  # or the comparison could not have failed


def test_same_seed_same_bits_also_where_ties_are_sampled(
    graph: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.models.refine.TIES", 200)
    monkeypatch.setattr("unseen.models.agreement.TIES", 200)
    first, second, other = (
        Refine(seed=seed).fit(graph.hops, none(graph), graph.csds, graph.operator)
        for seed in (1, 1, 2)
    )
    assert same(first, second)
    assert not same(first, other)


def test_fitting_and_asking_leave_their_inputs_alone(
    graph: Planted, labels: NDArray[np.int64]
) -> None:
    own, csds, known = graph.hops.own.copy(), graph.csds.copy(), labels.copy()
    model = Refine().fit(graph.hops, labels, graph.csds, graph.operator)
    kept = {name: np.copy(value) for name, value in learned(model).items() if name != "agreement_"}
    model.opinions(graph.hops, labels, graph.operator)
    assert (graph.hops.own == own).all()
    assert (graph.csds == csds).all()
    assert (labels == known).all()
    assert all(np.array_equal(kept[name], learned(model)[name]) for name in kept)


def test_an_added_class_leaves_the_old_ones_as_they_were(
    graph: Planted, labels: NDArray[np.int64]
) -> None:
    model = Refine().fit(graph.hops, labels, graph.csds[:4], graph.operator)
    before = {name: np.copy(value) for name, value in learned(model).items()}
    more = model.with_classes(graph.csds[4:], graph.hops, labels, graph.operator)
    assert more.get_params() == model.get_params()
    for name in ("means_", "csds_", "centres_"):
        assert learned(more)[name].shape == (5, 12)
        assert (learned(more)[name][:4] == before[name]).all()
    for name in ("precision_", "level_", "temperature_", "start_temperature_"):
        assert np.array_equal(learned(more)[name], before[name])
    assert all(np.array_equal(learned(model)[name], before[name]) for name in before)


def test_an_added_class_finds_its_nodes(graph: Planted) -> None:
    known = none(graph)
    model = Refine().fit(graph.hops, known, graph.csds[:4], graph.operator)
    more = model.with_classes(graph.csds[4:], graph.hops, known, graph.operator)
    answer = more.opinions(graph.hops, known, graph.operator).beliefs.argmax(axis=1)
    assert (answer[graph.truth == 4] == 4).mean() > 0.8
    assert graph.accuracy(answer) > 0.8


def test_an_added_class_that_is_not_allowed_gets_nobody(graph: Planted) -> None:
    known, among = none(graph), np.array([True, True, True, True, False])
    model = Refine().fit(graph.hops, known, graph.csds[:4], graph.operator)
    more = model.with_classes(graph.csds[4:], graph.hops, known, graph.operator, among)
    told = more.opinions(graph.hops, known, graph.operator, among)
    assert np.isfinite(told.beliefs).all()
    assert told.beliefs[:, 4].max() < 1e-6


def test_with_descriptions_alone_an_added_class_is_its_description(graph: Planted) -> None:
    known = none(graph)
    whole = Refine(description_weight=1).fit(graph.hops, known, graph.csds)
    part = Refine(description_weight=1).fit(graph.hops, known, graph.csds[:4])
    more = part.with_classes(graph.csds[4:], graph.hops, known, None)
    np.testing.assert_allclose(more.scores(graph.hops), whole.scores(graph.hops), atol=1e-6)


def test_isolated_nodes_believe_their_own_text() -> None:
    graph = plant(0.8, 1.5, **SMALL)
    graph.ties[:10] = graph.ties[:, :10] = 0
    told = opinions(graph, none(graph), graph.operator)
    np.testing.assert_allclose(told.beliefs[:10], told.text[:10], atol=1e-6)
    assert np.abs(told.beliefs[10:] - told.text[10:]).max() > 0.1


def test_a_graph_that_is_of_no_use_is_not_walked() -> None:
    graph = plant(0.0, 1.0)
    told = opinions(graph, none(graph), graph.operator)
    assert len(told.hops) == 1
    assert (told.beliefs == told.text).all()


def test_errors_say_what_does_not_fit_together(graph: Planted) -> None:
    with pytest.raises(InputError, match=r"labels: expected 150 \(one for each node\), found 149"):
        Refine().fit(graph.hops, none(graph)[1:], graph.csds)
    with pytest.raises(InputError, match="class position 5 found, but there are only 5 CSDs"):
        Refine().fit(graph.hops, np.full(150, 5), graph.csds)
    with pytest.raises(InputError, match="have 4 dimensions but node vectors have 12; this model"):
        Refine().fit(graph.hops, none(graph), graph.csds[:, :4])
