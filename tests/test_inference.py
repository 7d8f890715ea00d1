"""A fitted classifier on the same graph, on a part of it, with more and with fewer classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from topic_graph import Sample, answers, sample
from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.core.task import Task
from unseen.estimator import ZeroShotNodeClassifier


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample()


@pytest.fixture(scope="module")
def fitted(given: Sample) -> ZeroShotNodeClassifier:
    return ZeroShotNodeClassifier().fit(given.graph, given.classes)


def part(given: Sample, kept: Any) -> Graph:
    rows = np.flatnonzero(kept).tolist()
    return Graph(
        given.graph.adjacency[rows][:, rows],
        texts=[(given.graph.texts or ())[i] for i in rows],
        ids=[(given.graph.ids or ())[i] for i in rows],
    )


def made_on_four(given: Sample) -> ZeroShotNodeClassifier:
    """A classifier that has never heard of music, made on the nodes that are not about it."""
    return ZeroShotNodeClassifier().fit(
        part(given, given.truth < 4), given.classes.select([0, 1, 2, 3])
    )


@pytest.fixture(scope="module")
def fitted_on_four(given: Sample) -> ZeroShotNodeClassifier:
    return made_on_four(given)


def features(given: Sample, width: int) -> Any:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(5, width))
    return means[given.truth] + 0.3 * rng.normal(size=(given.graph.nodes, width))


@pytest.fixture(scope="module")
def fitted_on_features(given: Sample) -> ZeroShotNodeClassifier:
    graph = Graph(given.graph.adjacency, features=features(given, 12))
    return ZeroShotNodeClassifier().fit(graph, given.classes, given.labels(0, 1, 2))


# Another graph.


def test_the_same_graph_gives_the_same_answer(
    given: Sample, fitted: ZeroShotNodeClassifier
) -> None:
    before, again = fitted.prediction_, fitted.explain(given.graph)
    np.testing.assert_array_equal(again.label, before.label)
    np.testing.assert_array_equal(again.runner_up, before.runner_up)
    np.testing.assert_array_equal(again.proba, before.proba)
    assert again.reasons == before.reasons
    steps = [step["step"] for step in again.record["steps"]]
    assert steps == ["encode", "add classes", "infer", "explain"]
    np.testing.assert_array_equal(fitted.predict(given.graph), fitted.predict())
    np.testing.assert_array_equal(fitted.predict_proba(given.graph), fitted.predict_proba())


def test_labels_come_along(given: Sample) -> None:
    labels = given.labels(0, 1)
    before = unseen.classify(given.graph, given.classes, labels, among="unseen")
    after = before.classifier.explain(given.graph, labels=labels, among="unseen")
    np.testing.assert_array_equal(after.nodes, before.nodes)
    np.testing.assert_array_equal(after.label, before.label)
    np.testing.assert_array_equal(after.proba, before.proba)


def test_features_give_the_same_answer(
    given: Sample, fitted_on_features: ZeroShotNodeClassifier
) -> None:
    before = fitted_on_features.prediction_
    again = fitted_on_features.explain(before.graph, labels=given.labels(0, 1, 2))
    np.testing.assert_array_equal(again.label, before.label)
    np.testing.assert_allclose(again.proba, before.proba, atol=1e-6)


def test_a_part_of_the_graph(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    graph = part(given, np.arange(given.graph.nodes) % 2 == 0)
    found = answers(fitted.explain(graph))
    assert list(found) == list(graph.ids or ())
    before = answers(fitted.prediction_)
    assert np.mean([before[node] == label for node, label in found.items()]) > 0.85


def test_one_new_node(fitted: ZeroShotNodeClassifier) -> None:
    """The old centre is used: a single node is not its own mean."""
    for text, label in (("piano and violin", "Music"), ("bake with butter", "Cooking")):
        assert fitted.predict(Graph([[0]], texts=[text])).tolist() == [label]


def test_another_graph_changes_nothing_that_was_fitted(
    given: Sample, fitted: ZeroShotNodeClassifier
) -> None:
    before = {name: np.copy(value) for name, value in fitted.model_.state().items()}
    answered = fitted.predict_proba()
    other = part(given, given.truth < 2)
    fitted.explain(other, ["Cooking", "Chess", "Law"], {(other.ids or ())[0]: "Chess"})
    after = fitted.model_.state()
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)
    np.testing.assert_array_equal(fitted.predict_proba(), answered)
    assert fitted.classes_.tolist() == list(given.classes.names)


# More classes.


def test_an_added_class_finds_its_nodes(
    given: Sample, fitted_on_four: ZeroShotNodeClassifier
) -> None:
    prediction = fitted_on_four.explain(given.graph, given.classes)
    assert prediction.classes.names == given.classes.names
    music = given.truth == 4
    assert (prediction.label[music] == 4).mean() > 0.8
    assert (prediction.label[~music] == 4).mean() < 0.1
    assert given.accuracy(prediction.nodes, prediction.label) > 0.85
    assert prediction.record["steps"][1]["detail"] == "Music"
    assert prediction.record["classes"][4]["seen"] is False


def test_an_added_class_leaves_the_others_alone(
    given: Sample, fitted_on_four: ZeroShotNodeClassifier
) -> None:
    after = fitted_on_four.explain(given.graph, given.classes).classifier
    old, new = vars(fitted_on_four.model_), vars(after.model_)
    for name in ("csds_", "centres_", "means_"):
        np.testing.assert_array_equal(new[name][:4], old[name])
        assert len(old[name]) == 4
    np.testing.assert_array_equal(new["precision_"], old["precision_"])
    for name in ("temperature_", "hop_temperature_", "diffusion_weight_", "homophily_"):
        assert new[name] == old[name]
    assert len(fitted_on_four.classes_) == 4
    assert len(after.classes_) == 5


def test_classes_are_added_one_by_one(given: Sample) -> None:
    """On the fitted graph: the state of old classes stays, bit for bit, and all nodes are asked."""
    fitted = ZeroShotNodeClassifier().fit(given.graph, given.classes.select([0, 1, 2]))
    before = fitted.model_.state()
    about = dict(zip(given.classes.names, given.classes.descriptions or (), strict=True))
    assert fitted.add_classes({"Medicine": about["Medicine"]}) is fitted
    fitted.add_classes({"Music": about["Music"]})
    assert fitted.classes_.tolist() == list(given.classes.names)
    after = fitted.model_.state()
    for name in ("csds_", "centres_", "means_"):
        np.testing.assert_array_equal(after[name][:3], before[name])
    np.testing.assert_array_equal(after["precision_"], before["precision_"])
    assert given.accuracy(fitted.prediction_.nodes, fitted.prediction_.label) > 0.8
    assert fitted.predict_proba().shape == (given.graph.nodes, 5)
    assert fitted.posterior_.shape == (given.graph.nodes, 5)
    assert fitted.prediction_.classifier is fitted
    again = fitted.explain(given.graph)
    np.testing.assert_array_equal(again.proba, fitted.prediction_.proba)


def test_a_class_that_is_there_already_changes_nothing(given: Sample) -> None:
    fitted = made_on_four(given)
    before = fitted.predict_proba()
    fitted.add_classes(["Cooking"])
    np.testing.assert_array_equal(fitted.predict_proba(), before)


def test_an_added_class_with_its_order_changed(
    given: Sample, fitted_on_four: ZeroShotNodeClassifier
) -> None:
    there = fitted_on_four.explain(given.graph, given.classes)
    back = fitted_on_four.explain(given.graph, given.classes.select([4, 2, 0, 3, 1]))
    assert answers(there) == answers(back)


def test_a_class_cannot_be_added_to_features(
    given: Sample, fitted_on_features: ZeroShotNodeClassifier
) -> None:
    more = Classes(["Music", "Gardening"])
    message = r"without names.*new class.*`unseen classify`"
    with pytest.raises(InputError, match=message):
        fitted_on_features.explain(
            fitted_on_features.graph_, given.classes.joined(more), given.labels(0, 1, 2)
        )
    before = fitted_on_features.predict_proba()
    with pytest.raises(InputError, match=message):
        fitted_on_features.add_classes(more)
    np.testing.assert_array_equal(fitted_on_features.predict_proba(), before)


# Fewer classes, labels, among.


def test_fewer_classes(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    wanted = given.classes.select([1, 3, 4])
    prediction = fitted.explain(given.graph, wanted)
    assert set(answers(prediction).values()) == set(wanted.names)
    assert set(prediction.to_polars()["runner_up"]) <= set(wanted.names)
    assert not prediction.proba[:, [0, 2]].any()
    kept = np.isin(given.truth, (1, 3, 4))
    assert given.accuracy(prediction.nodes[kept], prediction.label[kept]) > 0.9
    assert answers(fitted.explain(given.graph, list(wanted.names))) == answers(prediction)


def test_labels_of_the_new_graph(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    known = {"0": "Music", "5": "Music"}
    prediction = fitted.explain(given.graph, labels=known)
    assert set(answers(prediction)) == set(given.graph.ids or ()) - known.keys()
    assert prediction.record["graph"]["labelled"] == 2
    turned = given.classes.select([4, 3, 2, 1, 0])  # positions of labels follow the classes given
    named = Labels.from_mapping(known, given.graph, turned)
    some = [None if code < 0 else code for code in named.codes.tolist()]
    by_id = {"0": 0, "5": 0}
    for labels in (named, named.codes, named.codes.tolist(), some, by_id):
        again = fitted.explain(given.graph, turned, labels)
        assert answers(again) == answers(prediction)
        assert again.labels.codes[0] == given.classes.index()["Music"]
    names: list[str | None] = [None] * given.graph.nodes
    names[0] = names[5] = "Music"
    assert answers(fitted.explain(given.graph, turned, names)) == answers(prediction)


def test_among_unseen_counts_what_was_seen_in_training(given: Sample) -> None:
    labels = given.labels(0, 1, every=1)
    fitted = ZeroShotNodeClassifier().fit(given.graph, given.classes, labels)
    prediction = fitted.explain(given.graph, labels={"3": "Music"}, among="unseen")
    assert set(answers(prediction).values()) <= {"Football", "Medicine"}


# What does not fit.


def test_features_of_another_width(
    given: Sample, fitted_on_features: ZeroShotNodeClassifier
) -> None:
    graph = Graph(given.graph.adjacency, features=features(given, 13))
    with pytest.raises(
        InputError, match=r"^nodes: have vectors of 13 dimensions, but the model was made for 12;"
    ):
        fitted_on_features.explain(graph)


def test_sparse_or_dense_is_the_same(
    given: Sample, fitted_on_features: ZeroShotNodeClassifier
) -> None:
    graph = Graph(given.graph.adjacency, features=sp.csr_array(features(given, 12)))
    dense = Graph(given.graph.adjacency, features=features(given, 12))
    np.testing.assert_array_equal(
        fitted_on_features.predict(graph), fitted_on_features.predict(dense)
    )


def test_an_encoder_that_has_changed(
    given: Sample, fitted: ZeroShotNodeClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitted.preparer_, "identity_", "static of another version")
    with pytest.raises(InputError, match=r"^encoder: 'static' is not the version.*classify again"):
        fitted.explain(given.graph)


def test_texts_are_wanted_but_there_are_none(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    graph = Graph(given.graph.adjacency, features=features(given, 12))
    with pytest.raises(InputError, match="texts"):
        fitted.explain(graph)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"among": "some"}, r"^among: expected 'all' or 'unseen', found 'some'"),
        ({"labels": Labels(np.array([0]))}, r"^labels: found 1, but the graph has 150 nodes"),
        ({"labels": {"0": "Chess"}}, r"^labels: 'Chess' .*is not among the classes"),
        ({"labels": Labels(np.zeros(150, np.int64))}, r"nothing is left to label"),
        ({"classes": ["Music"]}, r"^classes: found 1, but a choice needs at least two"),
    ],
    ids=["among", "too few labels", "unknown label", "nothing left", "one class"],
)
def test_what_cannot_be_explained(
    given: Sample, fitted: ZeroShotNodeClassifier, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        fitted.explain(given.graph, **options)


def test_no_class_is_left(given: Sample) -> None:
    fitted = ZeroShotNodeClassifier().fit(given.graph, given.classes, given.labels(0, 1))
    with pytest.raises(InputError, match=r"^among: no class is left to choose from"):
        fitted.explain(given.graph, given.classes.select([0, 1]), among="unseen")


def test_a_public_model_is_the_one_that_the_estimator_uses(
    given: Sample, fitted: ZeroShotNodeClassifier
) -> None:
    """Used alone on the estimator's task it gives the estimator's posterior, the graph included."""
    preparer = fitted.preparer_
    encoded = preparer.encode(given.graph, given.classes)
    task = preparer.task(encoded, given.graph, Labels.none(150), np.ones(5, bool))
    model = unseen.PooledEM(**fitted.model_.get_params()).fit(task)
    np.testing.assert_allclose(model.posterior(task), fitted.posterior_, atol=1e-6)
    silent = task.X * (np.arange(150) % 3 > 0)[:, None]  # neighbours answer for every third node
    linked, alone = Task(silent, task.S, None, task.operator), Task(silent, task.S)
    answers = (unseen.PooledEM().fit(each).predict(each) == given.truth for each in (linked, alone))
    with_graph, texts_only = (each.mean() for each in answers)
    assert with_graph > texts_only + 0.05


def test_other_classes_on_the_fitted_graph_keep_its_labels(given: Sample) -> None:
    labels = given.labels(0, 1)
    fitted = ZeroShotNodeClassifier().fit(given.graph, given.classes, labels)
    found = fitted.explain(classes=given.classes.select([4, 0, 2]))
    np.testing.assert_array_equal(found.nodes, np.flatnonzero(~labels.known))
    assert set(found.label.tolist()) <= {0, 2, 4}


def test_the_classifier_of_an_answer_is_about_the_graph_of_the_answer(given: Sample) -> None:
    fitted = ZeroShotNodeClassifier().fit(given.graph, given.classes)
    other = Graph([[0, 1], [1, 0]], texts=["a rook and a bishop", "piano and violin"])
    music = (given.classes.descriptions or ())[given.classes.names.index("Music")]
    twin = fitted.explain(other, {"Chess": "A rook, a bishop, a board.", "Music": music}).classifier
    assert twin.predict().tolist() == ["Chess", "Music"]
    assert twin.posterior_.shape == (2, 6)
    assert len(fitted.predict()) == given.graph.nodes  # and the first stays as it was
    assert len(fitted.classes_) == 5
