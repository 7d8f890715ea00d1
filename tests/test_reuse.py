"""A fitted model on the same graph, on a part of it, with more and with fewer classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from topic_graph import Sample, one_thread, sample
from unseen.classes import Classes, Labels
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.models.refine import Refine
from unseen.prediction import Prediction
from unseen.propagate.hops import Hops


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample()


@pytest.fixture(scope="module")
def fitted(given: Sample) -> Prediction:
    made: Prediction = unseen.classify(given.graph, given.classes)
    return made


@pytest.fixture(scope="module")
def fitted_on_four(given: Sample) -> Prediction:
    """A model that has never heard of music, made on the nodes that are not about it."""
    made: Prediction = unseen.classify(
        part(given, given.truth < 4), given.classes.select([0, 1, 2, 3])
    )
    return made


@pytest.fixture(scope="module")
def fitted_on_features(given: Sample) -> Prediction:
    graph = Graph(given.graph.adjacency, features=features(given, 12))
    made: Prediction = unseen.classify(graph, given.classes, given.labels(0, 1, 2))
    return made


def part(given: Sample, kept: Any) -> Graph:
    rows = np.flatnonzero(kept).tolist()
    return Graph(
        given.graph.adjacency[rows][:, rows],
        texts=[(given.graph.texts or ())[i] for i in rows],
        ids=[(given.graph.ids or ())[i] for i in rows],
    )


def features(given: Sample, width: int) -> Any:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(5, width))
    return means[given.truth] + 0.3 * rng.normal(size=(given.graph.nodes, width))


def names(prediction: Prediction) -> dict[str, str]:
    return dict(prediction.to_polars().select("id", "label").iter_rows())


def test_the_same_graph_gives_the_same_answer(given: Sample, fitted: Prediction) -> None:
    again = unseen.predict(fitted.classifier, given.graph)
    np.testing.assert_array_equal(again.label, fitted.label)
    np.testing.assert_array_equal(again.runner_up, fitted.runner_up)
    np.testing.assert_allclose(again.confidence, fitted.confidence, atol=1e-6)
    assert again.reasons == fitted.reasons
    assert again.record["settings"]["saved model"] is True
    assert again.record["choices"] == []
    assert [step["step"] for step in again.record["steps"]] == ["encode", "add classes", "answer"]


def test_labels_and_maps_come_along(given: Sample) -> None:
    labels = given.labels(0, 1)
    before = unseen.classify(given.graph, given.classes, labels, among="unseen")
    after = unseen.predict(before.classifier, given.graph, labels=labels, among="unseen")
    np.testing.assert_array_equal(after.nodes, before.nodes)
    np.testing.assert_array_equal(after.label, before.label)
    np.testing.assert_allclose(after.confidence, before.confidence, atol=1e-6)


def test_features_give_the_same_answer(given: Sample, fitted_on_features: Prediction) -> None:
    labels = given.labels(0, 1, 2)
    classifier = fitted_on_features.classifier
    again = unseen.predict(classifier, fitted_on_features.graph, labels=labels)
    np.testing.assert_array_equal(again.label, fitted_on_features.label)
    np.testing.assert_allclose(again.confidence, fitted_on_features.confidence, atol=1e-6)


def test_a_part_of_the_graph(given: Sample, fitted: Prediction) -> None:
    graph = part(given, np.arange(given.graph.nodes) % 2 == 0)
    found = names(unseen.predict(fitted.classifier, graph))
    assert list(found) == list(graph.ids or ())
    before = names(fitted)
    assert np.mean([before[node] == label for node, label in found.items()]) > 0.85


def test_one_new_node(fitted: Prediction) -> None:
    """The old centre is used: a single node is not its own mean."""
    for text, label in (("piano and violin", "Music"), ("bake with butter", "Cooking")):
        prediction = unseen.predict(fitted.classifier, Graph([[0]], texts=[text]))
        assert names(prediction) == {"0": label}


def test_an_added_class_finds_its_nodes(given: Sample, fitted_on_four: Prediction) -> None:
    prediction = unseen.predict(fitted_on_four.classifier, given.graph, given.classes)
    assert prediction.classes.names == given.classes.names
    music = given.truth == 4
    assert (prediction.label[music] == 4).mean() > 0.8
    assert (prediction.label[~music] == 4).mean() < 0.1
    assert given.accuracy(prediction.nodes, prediction.label) > 0.85
    assert prediction.record["steps"][1]["detail"] == "Music"
    assert prediction.record["classes"][4]["seen"] is False


def test_an_added_class_leaves_the_others_alone(given: Sample, fitted_on_four: Prediction) -> None:
    before = fitted_on_four.classifier
    after = unseen.predict(before, given.graph, given.classes).classifier
    old, new = before.model, after.model
    assert isinstance(old, Refine)
    assert isinstance(new, Refine)
    for name in ("csds_", "centres_", "means_"):
        np.testing.assert_array_equal(getattr(new, name)[:4], getattr(old, name))
        assert len(getattr(old, name)) == 4
    np.testing.assert_array_equal(new.precision_, old.precision_)
    for name in ("level_", "temperature_", "start_temperature_", "centre_temperature_"):
        assert getattr(new, name) == getattr(old, name)
    hops = unseen.predict(before, given.graph).vectors
    alone = Hops((hops,), np.ones(1, np.float32))
    np.testing.assert_array_equal(new.scores(alone)[:, :4], old.scores(alone))
    assert len(before.classes) == 4


def test_an_added_class_with_its_order_changed(given: Sample, fitted_on_four: Prediction) -> None:
    there = unseen.predict(fitted_on_four.classifier, given.graph, given.classes)
    turned = given.classes.select([4, 2, 0, 3, 1])
    back = unseen.predict(fitted_on_four.classifier, given.graph, turned)
    assert names(there) == names(back)


def test_a_class_cannot_be_added_to_features(given: Sample, fitted_on_features: Prediction) -> None:
    classes = given.classes.joined(Classes(["Music", "Gardening"]))
    with pytest.raises(InputError, match=r"without names.*new class.*`unseen classify`"):
        unseen.predict(
            fitted_on_features.classifier, fitted_on_features.graph, classes, given.labels(0, 1, 2)
        )


def test_fewer_classes(given: Sample, fitted: Prediction) -> None:
    wanted = given.classes.select([1, 3, 4])
    prediction = unseen.predict(fitted.classifier, given.graph, wanted)
    assert set(names(prediction).values()) == set(wanted.names)
    assert set(prediction.to_polars()["runner_up"]) <= set(wanted.names)
    kept = np.isin(given.truth, (1, 3, 4))
    assert given.accuracy(prediction.nodes[kept], prediction.label[kept]) > 0.9
    only_names = unseen.predict(fitted.classifier, given.graph, list(wanted.names))
    assert names(only_names) == names(prediction)


def test_labels_of_the_new_graph(given: Sample, fitted: Prediction) -> None:
    known = {"0": "Music", "5": "Music"}
    prediction = unseen.predict(fitted.classifier, given.graph, labels=known)
    assert set(names(prediction)) == set(given.graph.ids or ()) - known.keys()
    assert prediction.record["graph"]["labelled"] == 2
    turned = given.classes.select([4, 3, 2, 1, 0])  # positions of labels follow the classes given
    labels = Labels.from_mapping(known, given.graph, turned)
    again = unseen.predict(fitted.classifier, given.graph, turned, labels)
    assert names(again) == names(prediction)
    assert prediction.labels.of[0] == given.classes.index()["Music"] == again.labels.of[0]


def test_among_unseen_counts_what_was_seen_in_training(given: Sample) -> None:
    labels = given.labels(0, 1, every=1)
    model = unseen.classify(given.graph, given.classes, labels).classifier
    prediction = unseen.predict(model, given.graph, labels={"3": "Music"}, among="unseen")
    assert set(names(prediction).values()) <= {"Football", "Medicine"}


def test_features_of_another_width(given: Sample, fitted_on_features: Prediction) -> None:
    graph = Graph(given.graph.adjacency, features=features(given, 13))
    with pytest.raises(
        InputError, match=r"^nodes: have vectors of 13 dimensions, but the model was made for 12;"
    ):
        unseen.predict(fitted_on_features.classifier, graph)


def test_sparse_or_dense_is_the_same(given: Sample, fitted_on_features: Prediction) -> None:
    graph = Graph(given.graph.adjacency, features=sp.csr_array(features(given, 12)))
    prediction = unseen.predict(fitted_on_features.classifier, graph)
    dense = unseen.predict(fitted_on_features.classifier, fitted_on_features.graph)
    np.testing.assert_array_equal(prediction.label, dense.label)


def test_an_encoder_that_has_changed(given: Sample, fitted: Prediction) -> None:
    other = replace(fitted.classifier, identity="static of another version")
    with pytest.raises(InputError, match=r"^encoder: 'static' is not the version.*classify again"):
        unseen.predict(other, given.graph)


def test_texts_are_wanted_but_there_are_none(given: Sample, fitted: Prediction) -> None:
    graph = Graph(given.graph.adjacency, features=features(given, 12))
    with pytest.raises(InputError, match="texts"):
        unseen.predict(fitted.classifier, graph)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"among": "some"}, r"^among: expected 'all' or 'unseen', found 'some'"),
        ({"labels": Labels(np.array([0]))}, r"^labels: 1 for a graph of 150 nodes"),
        ({"labels": {"0": "Chess"}}, r"^labels: 'Chess' .*is not among the classes"),
        ({"labels": Labels(np.zeros(150, np.int64))}, r"nothing is left to label"),
        ({"classes": ["Music"]}, r"^classes: found 1, but a choice needs at least two"),
    ],
    ids=["among", "too few labels", "unknown label", "nothing left", "one class"],
)
def test_what_cannot_be_done(
    given: Sample, fitted: Prediction, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        unseen.predict(fitted.classifier, given.graph, **options)


def test_no_class_is_left(given: Sample) -> None:
    model = unseen.classify(given.graph, given.classes, given.labels(0, 1)).classifier
    with pytest.raises(InputError, match=r"^among: no class is left to choose from"):
        unseen.predict(model, given.graph, given.classes.select([0, 1]), among="unseen")
