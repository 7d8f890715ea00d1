"""BeliefPropagation: better where the graph helps, no worse where it does not, no leaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from planted import Planted, plant
from unseen.core.arrays import softmax, unit
from unseen.core.errors import InputError
from unseen.core.labels import Labels
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.base import Inference
from unseen.models.belief_propagation import DAMPING, BeliefPropagation, last
from unseen.models.blocks import clamp
from unseen.models.prototype import Prototype

SMALL: dict[str, Any] = {"nodes": 150, "classes": 5, "width": 12}


@pytest.fixture
def graph() -> Planted:
    return plant(0.8, 1.5, **SMALL)


@pytest.fixture
def labels(graph: Planted) -> NDArray[np.int64]:
    """Labels of two of five classes, for half of their nodes."""
    return np.where((graph.truth < 2) & (np.arange(len(graph.truth)) % 2 == 0), graph.truth, -1)


def inferred(
    graph: Planted,
    labels: NDArray[np.int64] | None = None,
    allowed: NDArray[np.bool_] | None = None,
    use_graph: bool = True,
    **settings: Any,
) -> Inference:
    task = graph.task(labels, allowed, use_graph)
    return BeliefPropagation(**settings).fit(task).infer(task)


def learned(model: BeliefPropagation) -> dict[str, Any]:
    return model.state()


def same(first: BeliefPropagation, second: BeliefPropagation) -> bool:
    ours, theirs = learned(first), learned(second)
    return ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name], theirs[name]) for name in ours
    )


@pytest.mark.parametrize("seed", range(2))
def test_a_homophilous_graph_helps_noisy_texts_clearly(seed: int) -> None:
    graph = plant(0.8, 2.5, seed=seed)
    task = graph.task()
    text = Prototype(hops=0).fit(task).predict(task)
    refined = BeliefPropagation().fit(task).predict(task)
    assert graph.accuracy(text) < 0.75
    assert graph.accuracy(refined) > graph.accuracy(text) + 0.15


def test_predict_uses_the_graph() -> None:
    """The public model alone, as anybody would call it."""
    graph = plant(0.9, 2.0)
    with_graph, without = (
        graph.accuracy(BeliefPropagation().fit(task).predict(task))
        for task in (graph.task(), graph.task(graph=False))
    )
    assert with_graph > 0.95
    assert with_graph > without + 0.1


@pytest.mark.parametrize("seed", range(4))
def test_a_random_graph_does_no_harm(seed: int) -> None:
    graph = plant(0.0, 2.0, seed=seed)
    without = inferred(graph, use_graph=False).posterior.argmax(axis=1)
    refined = inferred(graph).posterior.argmax(axis=1)
    assert graph.accuracy(refined) > graph.accuracy(without) - 0.02


def test_unlabelled_texts_correct_descriptions_that_point_beside_their_class() -> None:
    graph = plant(0.0, 0.8)
    rng = np.random.default_rng(1)
    off = unit(graph.S + 0.35 * rng.normal(size=graph.S.shape).astype(np.float32))
    shifted = replace(graph, S=off)
    by_description, by_both = (
        graph.accuracy(
            inferred(shifted, use_graph=False, description_weight=w).posterior.argmax(axis=1)
        )
        for w in (1.0, 0.5)
    )
    assert by_both > by_description + 0.02


@pytest.mark.parametrize("settings", [{"description_weight": 1}, {"rounds": 0}])
def test_descriptions_alone_without_a_graph_are_the_largest_cosine(
    graph: Planted, settings: dict[str, Any]
) -> None:
    cosine = (graph.rows @ unit(graph.S).T).argmax(axis=1)
    found = inferred(graph, use_graph=False, **settings)
    assert (found.posterior.argmax(axis=1) == cosine).all()
    np.testing.assert_allclose(found.confidence, found.posterior, atol=1e-5)


@pytest.mark.parametrize("use_graph", [True, False])
def test_labelled_nodes_keep_their_label(
    graph: Planted, labels: NDArray[np.int64], use_graph: bool
) -> None:
    wrong = np.where(labels >= 0, (labels + 1) % 2, -1)  # against text and neighbours
    found = inferred(graph, wrong, use_graph=use_graph)
    known = wrong >= 0
    assert (found.by_hop[0][known, wrong[known]] == 1).all()
    assert (found.posterior.argmax(axis=1) == wrong)[known].all()
    assert (found.posterior[known, wrong[known]] > 0.99).all()


def crowded() -> Planted:
    """Return nodes whose texts are clear; node 0 is of class 1, its 60 neighbours of class 0."""
    graph = plant(0.9, 0.3, **SMALL)
    truth, X, A = graph.truth.copy(), graph.X.copy(), graph.A.copy()
    truth[0], X[0] = 1, graph.S[1]
    A[0] = A[:, 0] = 0
    around, extra = np.flatnonzero(truth == 0), np.flatnonzero(truth == 2)
    truth[extra], X[extra] = 0, graph.S[0]
    for other in (around, extra):
        A[0, other] = A[other, 0] = 1
    return Planted(truth, X, graph.S, A)


def test_sixty_neighbours_do_not_overrule_a_label() -> None:
    graph = crowded()
    found = inferred(graph, np.where(np.arange(150) % 2 == 0, graph.truth, -1))
    assert found.by_hop[0][0].argmax() == 1
    assert found.posterior[0].argmax() == 1


def test_sixty_neighbours_do_not_lead_to_a_class_that_is_not_allowed() -> None:
    graph = crowded()
    known = np.where((graph.truth == 0) | (graph.truth == 3), graph.truth, -1)
    allowed = np.array([False, True, True, False, True])
    found = inferred(graph, known, allowed)
    assert allowed[found.posterior.argmax(axis=1)][known < 0].all()


def test_only_allowed_classes_are_answers(graph: Planted, labels: NDArray[np.int64]) -> None:
    allowed = np.array([False, False, True, False, True])
    found = inferred(graph, labels, allowed)
    free = labels < 0
    for each in (*found.by_hop, found.confidence):
        assert each[free][:, ~allowed].max() == 0
        assert np.isin(each[free].argmax(axis=1), [2, 4]).all()


def test_every_step_is_a_distribution(graph: Planted, labels: NDArray[np.int64]) -> None:
    found = inferred(graph, labels, hops=4)
    assert len(found.by_hop) == 5
    for each in (*found.by_hop, found.confidence):
        assert each.shape == (150, 5)
        assert (each >= 0).all()
        np.testing.assert_allclose(each.sum(axis=1), 1.0, atol=1e-5)


def test_the_widest_hop_decides(graph: Planted) -> None:
    found = inferred(graph)
    assert (found.posterior == found.by_hop[-1]).all()
    assert (found.by_hop[1] != found.by_hop[0]).any()


def test_confidence_is_the_mean_of_description_text_and_messages(
    graph: Planted, labels: NDArray[np.int64]
) -> None:
    task = graph.task(labels)
    model = BeliefPropagation().fit(task)
    description = softmax(graph.rows @ graph.S.T / np.float32(model.start_temperature_))
    clamp(description, labels)
    found = model.infer(task)
    expected = np.mean([description, found.by_hop[0], found.posterior], axis=0)
    np.testing.assert_allclose(found.confidence, expected, atol=1e-6)


def test_messages_follow_the_formula() -> None:
    """Second line of the module's formula, node by node, in double precision."""
    graph = plant(0.8, 1.5, nodes=40, classes=3, width=6)
    rng = np.random.default_rng(0)
    A = graph.A * rng.integers(1, 4, size=graph.A.shape)
    A = np.maximum(A, A.T)
    model = BeliefPropagation(hops=2)
    model.level_ = 0.6
    p = softmax(rng.normal(size=(40, 3)).astype(np.float32))
    edges = Operator(A)
    steps = list(
        model._propagate(p, edges, Task(np.ones((40, 1)), np.ones((3, 1)), operator=edges))
    )
    a, q = A / A[A > 0].mean(), p.astype(np.float64)
    for k in (1, 2):
        product = p.astype(np.float64)
        for i in range(40):
            for j in np.flatnonzero(a[i]):
                product[i] *= (1 - 0.6 + 0.6 * 3 * q[j]) ** a[i, j]
        q = DAMPING * q + (1 - DAMPING) * product / product.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(steps[k], q, atol=1e-4)


def test_centres_lie_between_description_and_mean_as_the_weight_says(graph: Planted) -> None:
    found = 3 * np.random.default_rng(0).normal(size=graph.S.shape).astype(np.float32)
    centres = BeliefPropagation(description_weight=0.3)._centres(graph.S, found)
    mixed = 0.3 * graph.S + 0.7 * found / np.linalg.norm(found, axis=1, keepdims=True)
    np.testing.assert_allclose(centres, unit(mixed), atol=1e-6)
    assert (BeliefPropagation(description_weight=1)._centres(graph.S, found) == unit(graph.S)).all()


def test_means_are_those_of_nodes_weighted_by_the_posterior_with_messages() -> None:
    graph = plant(0.8, 2.0, **SMALL)
    labels = np.where(graph.truth < 3, graph.truth, -1)
    model = BeliefPropagation(rounds=1).fit(graph.task(labels))
    assert model.homophily_.measured  # so that h stays the same to the end
    p = softmax(graph.rows @ graph.S.T / model.centre_temperature_)
    p[labels >= 0] = np.eye(5)[labels[labels >= 0]]
    q = last(model._propagate(p, graph.operator, graph.task(labels)))
    means = [np.average(graph.rows, axis=0, weights=q[:, c]) for c in range(5)]
    np.testing.assert_allclose(model.means_, means, atol=1e-4)
    alone = [np.average(graph.rows, axis=0, weights=p[:, c]) for c in range(5)]
    assert np.abs(np.array(alone) - means).max() > 0.02


def test_the_second_round_starts_at_the_centres_of_the_first() -> None:
    graph = plant(0.8, 2.0, **SMALL)
    labels = np.where(graph.truth < 3, graph.truth, -1)
    first, second = (BeliefPropagation(rounds=rounds).fit(graph.task(labels)) for rounds in (1, 2))
    np.testing.assert_allclose(first.centres_, graph.S, atol=1e-6)
    expected = unit(0.5 * graph.S + 0.5 * unit(first.means_))
    np.testing.assert_allclose(second.centres_, expected, atol=1e-5)
    assert (second.means_ != first.means_).any()


def test_renumbering_nodes_renumbers_answers(graph: Planted, labels: NDArray[np.int64]) -> None:
    order = np.random.default_rng(0).permutation(150)
    mixed = Planted(graph.truth[order], graph.X[order], graph.S, graph.A[np.ix_(order, order)])
    plain, moved = inferred(graph, labels), inferred(mixed, labels[order])
    np.testing.assert_allclose(moved.posterior, plain.posterior[order], atol=5e-3)
    np.testing.assert_allclose(moved.by_hop[0], plain.by_hop[0][order], atol=5e-3)


def test_renumbering_classes_renumbers_columns(graph: Planted, labels: NDArray[np.int64]) -> None:
    order = np.array([3, 0, 4, 2, 1])  # new class c is old class order[c]
    renamed = np.where(labels >= 0, np.argsort(order)[labels], -1)
    allowed = np.array([True, False, True, True, True])
    plain = inferred(graph, labels, allowed)
    moved = inferred(replace(graph, S=graph.S[order]), renamed, allowed[order])
    np.testing.assert_allclose(moved.posterior, plain.posterior[:, order], atol=5e-3)


def test_the_lengths_of_vectors_do_not_matter(graph: Planted) -> None:
    rng = np.random.default_rng(0)
    longer = rng.uniform(0.5, 5, size=(150, 1)).astype(np.float32)
    other = replace(graph, X=graph.X * longer, S=graph.S * 7)
    plain, scaled = (inferred(each) for each in (graph, other))
    np.testing.assert_allclose(plain.posterior, scaled.posterior, atol=5e-3)


def test_what_is_fitted_does_not_depend_on_labels_of_unseen_classes(graph: Planted) -> None:
    """Whatever the unseen classes' labels are, `only` makes them -1, and the same bits result."""
    unseen = graph.truth >= 2
    shuffled = graph.truth.copy()
    shuffled[unseen] = np.random.default_rng(0).permutation(graph.truth[unseen])
    assert (shuffled != graph.truth).any()
    first, second = (
        BeliefPropagation().fit(graph.task(Labels(truth).only([0, 1]).codes))
        for truth in (graph.truth, shuffled)
    )
    assert same(first, second)
    leaked = BeliefPropagation().fit(graph.task(graph.truth))
    assert not same(first, leaked)  # or the comparison could not have failed


def test_same_seed_same_bits_also_where_edges_are_sampled(
    graph: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.models.belief_propagation.EDGES", 200)
    monkeypatch.setattr("unseen.models.homophily.EDGES", 200)
    first, second, other = (BeliefPropagation(seed=seed).fit(graph.task()) for seed in (1, 1, 2))
    assert same(first, second)
    assert not same(first, other)


def test_fitting_and_inferring_leave_their_inputs_alone(
    graph: Planted, labels: NDArray[np.int64]
) -> None:
    X, S, known, task = graph.X.copy(), graph.S.copy(), labels.copy(), graph.task(labels)
    model = BeliefPropagation().fit(task)
    kept = {name: np.copy(value) for name, value in learned(model).items() if name != "homophily_"}
    model.infer(task)
    assert (task.X == X).all()
    assert (task.S == S).all()
    assert (task.labels == known).all()
    assert all(np.array_equal(kept[name], learned(model)[name]) for name in kept)


def extended(
    graph: Planted, labels: Any = None, allowed: Any = None, use_graph: bool = True, **settings: Any
) -> tuple[BeliefPropagation, BeliefPropagation]:
    """Return a model of the first four classes, and the same with the fifth added."""
    first = replace(graph, S=graph.S[:4])
    before = None if allowed is None else allowed[:4]
    model = BeliefPropagation(**settings).fit(first.task(labels, before, use_graph))
    return model, model.add_classes(graph.task(labels, allowed, use_graph))


def test_an_added_class_leaves_the_old_ones_as_they_were(
    graph: Planted, labels: NDArray[np.int64]
) -> None:
    first = replace(graph, S=graph.S[:4]).task(labels)
    before = learned(BeliefPropagation().fit(first))
    model, more = extended(graph, labels)
    assert more.get_params() == model.get_params()
    for name in ("means_", "csds_", "centres_"):
        assert learned(more)[name].shape == (5, 12)
        assert (learned(more)[name][:4] == before[name]).all()
    for name in ("precision_", "level_", "temperature_", "start_temperature_"):
        assert np.array_equal(learned(more)[name], before[name])
    assert all(np.array_equal(learned(model)[name], before[name]) for name in before)


def test_an_added_class_finds_its_nodes(graph: Planted) -> None:
    _, more = extended(graph)
    answer = more.predict(graph.task())
    assert (answer[graph.truth == 4] == 4).mean() > 0.8
    assert graph.accuracy(answer) > 0.8


def test_an_added_class_that_is_not_allowed_gets_no_node(graph: Planted) -> None:
    allowed = np.array([True, True, True, True, False])
    _, more = extended(graph, allowed=allowed)
    posterior = more.posterior(graph.task(allowed=allowed))
    assert np.isfinite(posterior).all()
    assert posterior[:, 4].max() == 0


def test_with_descriptions_alone_an_added_class_is_its_description(graph: Planted) -> None:
    _, more = extended(graph, use_graph=False, description_weight=1)
    cosine = graph.rows @ graph.S.T
    answer = more.predict(graph.task(graph=False))
    assert (answer == cosine.argmax(axis=1)).all()


def test_isolated_nodes_rely_on_their_own_text() -> None:
    graph = plant(0.8, 1.5, **SMALL)
    graph.A[:10] = graph.A[:, :10] = 0
    found = inferred(graph)
    text, posterior = found.by_hop[0], found.posterior
    np.testing.assert_allclose(posterior[:10], text[:10], atol=1e-6)
    assert np.abs(posterior[10:] - text[10:]).max() > 0.1


def test_no_message_is_sent_over_a_graph_that_is_of_no_use() -> None:
    found = inferred(plant(0.0, 1.0))
    assert len(found.by_hop) == 1
    assert (found.posterior == found.by_hop[0]).all()


def test_two_spaces_are_refused(graph: Planted) -> None:
    with pytest.raises(InputError, match=r"lie in two spaces here \(12 and 4 dimensions\)"):
        BeliefPropagation().fit(replace(graph, S=graph.S[:, :4]).task())
