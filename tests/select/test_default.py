"""Which model is fitted by default, and that nodes without names for their features get one too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from topic_graph import Sample, bag_of_words, sample
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.prediction import Prediction


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample()


@pytest.fixture(scope="module")
def counted(given: Sample) -> Graph:
    """The same graph with counts of words that have lost their names."""
    return Graph(given.graph.adjacency, features=bag_of_words(given.graph)[0])


def chosen(prediction: Prediction) -> dict[str, str]:
    return {choice["what"]: choice["chosen"] for choice in prediction.record["choices"]}


# Texts.


def test_texts_are_read_by_belief_propagation(given: Sample) -> None:
    found = unseen.classify(given.graph, given.classes)
    assert found.record["settings"]["model"].startswith("BeliefPropagation(")
    assert chosen(found)["weight of descriptions"] == "0.5"
    few = unseen.classify(Graph([[0, 1], [1, 0]], texts=["a star", "a soup"]), ["stars", "soups"])
    assert chosen(few)["weight of descriptions"] == "1.0"
    assert few.classifier.model_.get_params()["description_weight"] == 1.0


def test_the_weight_of_descriptions_is_the_best_of_the_folds(given: Sample) -> None:
    found = unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3))
    by_weight = found.record["choices"][1]
    assert by_weight["candidates"].keys() == {"0.5", "0.7", "0.9"}
    best = max(by_weight["candidates"].values())
    assert by_weight["candidates"][by_weight["chosen"]] == best
    weight = found.classifier.model_.get_params()["description_weight"]
    assert weight == float(by_weight["chosen"])


def test_nothing_in_the_default_is_trained_by_gradients(
    given: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts need no PyTorch, however many classes are seen."""

    def refuse(*_: object) -> None:
        raise AssertionError("maps were trained")

    monkeypatch.setattr("unseen.models.dgpn.DGPN.fit", refuse)
    unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3))


# Features.


def test_features_without_names_need_labels_of_two_classes(given: Sample, counted: Graph) -> None:
    for known in ((), (0,)):
        with pytest.raises(
            InputError,
            match=rf"no names.*of {len(known)} classes.*a vocabulary.*at least two classes",
        ):
            unseen.classify(counted, given.classes, given.labels(*known))


def test_features_without_names_learn_from_labels(given: Sample, counted: Graph) -> None:
    graph = Graph(counted.adjacency, features=sp.csr_array(counted.features))
    prediction = unseen.classify(graph, given.classes, given.labels(0, 1, 2, 3, 4))
    assert given.accuracy(prediction.nodes, prediction.label) > 0.8
    assert prediction.record["settings"]["encoder"] == "counts"
    assert chosen(prediction)["link"] == "clusters matched"
    assert "features" in prediction.reasons[0]


def test_whoever_has_features_without_names_is_told_what_decides(
    given: Sample, counted: Graph
) -> None:
    prediction = unseen.classify(counted, given.classes, given.labels(0, 1, 2), among="unseen")
    said = " ".join(prediction.record["warnings"])
    assert "clusters of nodes were matched to classes by how classes relate" in said
    assert "--encoder minilm reads them better" in said


def test_features_that_relate_unlike_classes_are_left_to_a_map(
    given: Sample, counted: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.models.cluster_matching.CHANCE", 10.0)
    prediction = unseen.classify(counted, given.classes, given.labels(0, 1, 2), among="unseen")
    assert chosen(prediction)["link"] == "ESZSL"
    assert prediction.record["settings"]["model"].startswith("ESZSL(")


def test_fewer_nodes_than_clusters_are_left_to_a_map(given: Sample, counted: Graph) -> None:
    labels = given.truth.copy()
    labels[np.isin(labels, (3, 4))] = 0
    labels[:1] = -1  # one node, two unseen classes
    prediction = unseen.classify(counted, given.classes, Labels(labels), among="unseen")
    assert len(prediction) == 1
    assert prediction.record["settings"]["model"].startswith("ESZSL(")


def test_features_that_are_all_the_same(given: Sample) -> None:
    graph = Graph(given.graph.adjacency, features=np.ones((given.graph.nodes, 4)))
    prediction = unseen.classify(graph, given.classes, given.labels(0, 1, 2))
    assert len(prediction) == (given.labels(0, 1, 2).codes < 0).sum()
    assert np.isfinite(prediction.proba).all()


def test_no_cluster_needs_a_name(given: Sample, counted: Graph) -> None:
    record = unseen.classify(counted, given.classes, given.labels(0, 1, 2, 3)).record
    assert not any("were matched" in warning for warning in record["warnings"])
    assert "no cluster needs a name" in record["choices"][-1]["why"]


def test_words_with_a_vocabulary(given: Sample) -> None:
    counts, vocabulary = bag_of_words(given.graph)
    graph = Graph(given.graph.adjacency, features=counts, vocabulary=vocabulary)
    prediction = unseen.classify(graph, given.classes)
    assert given.accuracy(prediction.nodes, prediction.label) > 0.9
    assert prediction.record["settings"]["encoder"] == "words"
    assert prediction.reasons[0].startswith("own words")


def test_what_was_not_used_is_said(given: Sample, counted: Graph) -> None:
    graph = Graph(counted.adjacency, texts=given.graph.texts, features=counted.features)
    warnings = unseen.classify(graph, given.classes).record["warnings"]
    assert "Nodes have texts and features; the features were not used." in warnings
