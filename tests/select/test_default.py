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


def test_few_nodes_are_read_by_pooled_em(given: Sample) -> None:
    found = unseen.classify(given.graph, given.classes)  # too few to choose by held-out words
    assert found.record["settings"]["model"].startswith("PooledEM(")
    assert chosen(found)["model"] == "pooled"
    few = unseen.classify(Graph([[0, 1], [1, 0]], texts=["a star", "a soup"]), ["stars", "soups"])
    assert chosen(few)["model"] == "class texts alone"
    assert few.classifier.model_.get_params()["rounds"] == 0


def test_a_longer_class_text_is_trusted_more(given: Sample) -> None:
    names = unseen.classify(given.graph, list(given.classes.names)).classifier.model_
    told = [f"{text} " * 20 for text in given.classes.descriptions or ()]
    long = unseen.classify(given.graph, dict(zip(given.classes.names, told, strict=True)))
    trusted = long.classifier.model_
    assert (trusted.description_weight, trusted.pseudo_nodes) == pytest.approx((0.9, 50.0))
    assert names.description_weight < trusted.description_weight
    assert names.pseudo_nodes < trusted.pseudo_nodes


def test_folds_choose_the_model(given: Sample) -> None:
    found = unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3))
    choice = found.record["choices"][1]
    assert len(choice["candidates"]) == 4
    refined = {name: v for name, v in choice["candidates"].items() if name != "pooled"}
    best = max(refined.values())
    if choice["chosen"] == "pooled":
        assert choice["candidates"]["pooled"] > best + 0.02
    else:
        assert choice["candidates"][choice["chosen"]] == best


def test_labels_of_all_possible_answers_decide(given: Sample) -> None:
    labels = given.labels(*range(len(given.classes)))
    codes = np.full(given.graph.nodes, -1)
    for c in range(len(given.classes)):
        codes[np.flatnonzero(labels.codes == c)[:6]] = c
    found = unseen.classify(given.graph, given.classes, Labels(codes))
    choice, confidence = found.record["choices"][1:3]
    assert choice["chosen"] == "pooled"
    assert choice["rule"] == confidence["rule"] == "leave-nodes-out, 4 folds"
    assert found.classifier.model_.labelled_.any()
    few = Labels(np.where(np.arange(len(codes)) == np.flatnonzero(codes >= 0)[0], codes, -1))
    assert not unseen.classify(given.graph, given.classes, few).classifier.model_.labelled_.any()


@pytest.fixture(scope="module")
def many() -> Sample:
    return sample(per_class=80, homophily=0.8)


def test_a_few_labels_of_most_answers_teach_and_do_not_choose(many: Sample) -> None:
    seen = range(len(many.classes) - 1)
    labels = many.labels(*seen)
    few = np.full(many.graph.nodes, -1)
    for c in seen:  # enough for folds that choose class texts, too few for those of models
        few[np.flatnonzero(labels.codes == c)[:8]] = c
    choice = unseen.classify(many.graph, many.classes, Labels(few)).record["choices"][1]
    assert (choice["chosen"], choice["rule"]) == ("pooled", "leave-nodes-out, 4 folds")
    choice = unseen.classify(many.graph, many.classes, labels).record["choices"][1]
    assert choice["rule"].startswith("leave-classes-out")


def test_held_out_words_choose_where_nothing_is_labelled(many: Sample) -> None:
    found = unseen.classify(many.graph, many.classes)
    choice = found.record["choices"][1]
    assert choice["rule"] == "held-out words, kappa"
    assert choice["candidates"].keys() == {"pooled", "refined"}
    refined, pooled = (choice["candidates"][name] for name in ("refined", "pooled"))
    assert choice["chosen"] == ("refined" if refined > pooled and refined >= 0.3 else "pooled")
    assert f"{choice['candidates']['pooled']:.3f}" in choice["why"]
    assert many.accuracy(found.nodes, found.label) > 0.9


def test_class_texts_that_do_not_fit_are_told(many: Sample) -> None:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("bcdfghjklm"), 7)) for _ in range(60)]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(many.graph.nodes)]
    found = unseen.classify(Graph(many.graph.adjacency, texts=texts), many.classes)
    assert any("hardly fit this graph" in warning for warning in found.record["warnings"])
    assert found.confidence.mean() < 0.5
    fine = unseen.classify(many.graph, many.classes)
    assert not any("hardly fit" in warning for warning in fine.record["warnings"])


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
    assert prediction.reasons[0].startswith("Decided by its own words")


def test_what_was_not_used_is_said(given: Sample, counted: Graph) -> None:
    graph = Graph(counted.adjacency, texts=given.graph.texts, features=counted.features)
    warnings = unseen.classify(graph, given.classes).record["warnings"]
    assert "Nodes have texts and features; the features were not used." in warnings
