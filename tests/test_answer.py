"""One answer in several forms: `predict`, `predict_proba`, `prediction_`, tables, posterior."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from topic_graph import Sample, sample, without_edges
from unseen.estimator import ZeroShotNodeClassifier
from unseen.prediction import Prediction

CASES = ["no labels", "two seen", "four seen", "only unseen", "no edges", "another model"]


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=12)


@pytest.fixture(scope="module", params=CASES)
def fitted(given: Sample, request: pytest.FixtureRequest) -> ZeroShotNodeClassifier:
    graph = without_edges(given.graph) if request.param == "no edges" else given.graph
    known = {"two seen": (0, 1), "four seen": (0, 1, 2, 3), "only unseen": (0, 1)}
    labels = given.labels(*known.get(request.param, ()))
    among = "unseen" if request.param == "only unseen" else "all"
    model = unseen.Prototype() if request.param == "another model" else None
    return ZeroShotNodeClassifier(among=among, model=model).fit(graph, given.classes, labels)


def test_predict_is_the_most_probable_class(given: Sample, fitted: ZeroShotNodeClassifier) -> None:
    p = fitted.predict_proba()
    assert p.shape == (given.graph.nodes, 5)
    assert p.dtype == np.float32
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_array_equal(fitted.predict(), fitted.classes_[p.argmax(axis=1)])
    assert fitted.classes_.tolist() == list(given.classes.names)


def test_labelled_nodes_keep_their_label_and_are_certain(fitted: ZeroShotNodeClassifier) -> None:
    known = fitted.labels_.known
    codes = fitted.labels_.codes[known]
    np.testing.assert_array_equal(fitted.predict()[known], fitted.classes_[codes])
    expected = np.eye(5, dtype=np.float32)[codes]
    np.testing.assert_array_equal(fitted.predict_proba()[known], expected)
    np.testing.assert_array_equal(fitted.prediction_.nodes, np.flatnonzero(~known))


def test_the_confidence_is_the_probability_of_the_label(fitted: ZeroShotNodeClassifier) -> None:
    found: Prediction = fitted.prediction_
    rows = np.arange(len(found))
    np.testing.assert_array_equal(found.confidence, found.proba[rows, found.label])
    assert (found.confidence >= np.float32(1 / 5)).all()
    np.testing.assert_array_equal(found.proba, fitted.predict_proba()[found.nodes])
    best = found.top(1)
    table = found.to_polars()
    assert best["label"].to_list() == table["label"].to_list()
    assert best["probability"].to_list() == table["confidence"].to_list()


def test_probabilities_follow_the_posterior(fitted: ZeroShotNodeClassifier) -> None:
    found = fitted.prediction_
    posterior = fitted.posterior_[found.nodes]
    order = np.argsort(-posterior, axis=1, kind="stable")
    falling = np.take_along_axis(found.proba, order, axis=1)
    assert (np.diff(falling, axis=1) <= 0).all()
    np.testing.assert_array_equal(order[:, 0], found.label)
    np.testing.assert_allclose(fitted.posterior_.sum(axis=1), 1, atol=1e-5)


def test_shares_of_hops_sum_to_one(fitted: ZeroShotNodeClassifier) -> None:
    shares = fitted.prediction_.hop_shares
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)


def test_classes_that_are_not_allowed_have_no_chance(given: Sample) -> None:
    labels = given.labels(0, 1)
    found = unseen.classify(given.graph, given.classes, labels, among="unseen")
    assert not found.proba[:, :2].any()
    assert (found.confidence >= np.float32(1 / 3)).all()


def test_one_class_that_is_left_is_certain(given: Sample) -> None:
    found = unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3), among="unseen")
    assert set(found.confidence.tolist()) == {1.0}
    assert set(found.runner_up.tolist()) == {-1}


def test_abstaining_changes_the_label_and_no_probability(given: Sample) -> None:
    sure = ZeroShotNodeClassifier().fit(given.graph, given.classes)
    half = float(np.median(sure.prediction_.confidence))
    shy = ZeroShotNodeClassifier(abstain=half).fit(given.graph, given.classes)
    np.testing.assert_array_equal(shy.predict_proba(), sure.predict_proba())
    none = shy.predict() == "none of these"
    assert 0 < none.sum() < len(none)
    np.testing.assert_array_equal(shy.predict()[~none], sure.predict()[~none])
    assert shy.prediction_.top(1)["label"].to_list() == sure.predict().tolist()


def odd_one() -> ZeroShotNodeClassifier:
    """Two communities; one node says what the other community says, and one says nothing."""
    texts = [
        *("planet orbit", "a star and its comet", "the telescope and the galaxy", "moon eclipse"),
        *("garlic soup. From our kitchen.", ""),
        *("onion sauce", "roast with butter", "flour for the oven", "soup with garlic"),
        *("stars of a galaxy", "orbits of planets", "a comet and its tail", "telescope and stars"),
    ]
    sky, food = (0, 1, 2, 3, 4, 5, 10, 11, 12, 13), (6, 7, 8, 9)
    pairs = [(a, b) for group in (sky, food) for a in group for b in group if a < b]
    source, target = (np.array(end) for end in zip(*pairs, strict=True))
    ids = [f"n{i}" for i in range(len(texts))]
    graph = unseen.Graph.from_edges(source, target, nodes=len(texts), texts=texts, ids=ids)
    about = {
        "Astronomy": "Stars, planets and galaxies as seen through telescopes.",
        "Cooking": "Recipes and food that is prepared in a kitchen.",
    }
    model = unseen.BeliefPropagation()
    return ZeroShotNodeClassifier(model=model).fit(graph, about)


def test_reasons_name_words_and_titles_and_say_when_the_own_text_disagrees() -> None:
    table = {row["id"]: row for row in odd_one().prediction_.to_polars().to_dicts()}
    assert table["n4"]["label"] == "Astronomy"
    assert "its own text alone speaks for 'Cooking' (words: " in table["n4"]["reason"]
    assert "garlic" in table["n4"]["reason"] or "soup" in table["n4"]["reason"]
    assert "text disagrees" in table["n4"]["flags"]
    assert table["n5"]["reason"].startswith("Decided by ")
    assert ", as it has no text of its own. " in table["n5"]["reason"]
    assert "no text" in table["n5"]["flags"]
    assert table["n6"]["reason"].startswith("Decided by ")
    assert "onion" in table["n6"]["reason"]
    assert "such as '" in table["n6"]["reason"]
    assert "(n7)" in table["n6"]["reason"]  # the title of a neighbour, and its id
    assert table["n6"]["flags"] == ""


def test_a_flag_is_there_exactly_where_the_own_text_alone_says_otherwise(
    fitted: ZeroShotNodeClassifier,
) -> None:
    found = fitted.prediction_
    steps = found.hop_shares.shape[1]
    flagged = np.array(["text disagrees" in flags for flags in found.flags])
    said = np.array(["speaks for" in reason for reason in found.reasons])
    if steps == 1:
        assert not flagged.any()
    assert (flagged[said]).all()
    assert not (flagged & (found.hop_shares[:, 0] > 0.999)).any()
