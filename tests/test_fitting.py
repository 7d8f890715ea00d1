"""How far descriptions are trusted: games decide, and where there are none, steadiness."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import unseen
from topic_graph import Sample, sample
from unseen import fitting
from unseen.graph import Graph


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample()


@pytest.fixture
def steady_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, float]], None]:
    """Say how steady each weight is, instead of trying."""

    def say(told: Mapping[str, float]) -> None:
        def steadiness(answer: Any, *_: Any) -> float:
            return told[str(answer.keywords["weight"])]

        monkeypatch.setattr(fitting, "steadiness", steadiness)

    return say


def choice(prediction: unseen.Prediction) -> dict[str, Any]:
    choices: list[dict[str, Any]] = prediction.record["choices"]
    return next(each for each in choices if each["what"] == "weight of descriptions")


@pytest.mark.parametrize("best", ["0.5", "0.7", "0.9"])
def test_without_games_the_steadiest_weight_is_used(
    given: Sample, steady_at: Callable[[Mapping[str, float]], None], best: str
) -> None:
    told = {weight: 0.9 if weight == best else 0.8 for weight in ("0.5", "0.7", "0.9")}
    steady_at(told)
    prediction = unseen.classify(given.graph, given.classes)
    found = choice(prediction)
    assert found["chosen"] == best
    assert found["candidates"] == told
    assert found["rule"] == "answers that stay when class texts are blurred"
    assert prediction.classifier.model.get_params()["description_weight"] == float(best)


def test_equally_steady_weights_leave_the_default(
    given: Sample, steady_at: Callable[[Mapping[str, float]], None]
) -> None:
    steady_at(dict.fromkeys(("0.5", "0.7", "0.9"), 1.0))
    assert choice(unseen.classify(given.graph, given.classes))["chosen"] == "0.5"


def test_texts_alone_are_steadiest_near_their_descriptions(given: Sample) -> None:
    graph = Graph.from_edges([], [], nodes=given.graph.nodes, texts=given.graph.texts)
    steady = choice(unseen.classify(graph, given.classes))
    assert steady["chosen"] == "0.9"
    low, middle, high = (steady["candidates"][weight] for weight in ("0.5", "0.7", "0.9"))
    assert low < middle < high < 1


def test_the_order_of_classes_leaves_steadiness_as_it_is() -> None:
    given = sample(per_class=20, agreement=0.45, seed=3)
    plain = choice(unseen.classify(given.graph, given.classes))
    turned = choice(unseen.classify(given.graph, given.classes.select([3, 0, 4, 2, 1])))
    assert min(plain["candidates"].values()) < 1
    assert turned["chosen"] == plain["chosen"]
    assert turned["candidates"] == pytest.approx(plain["candidates"], abs=0.02)


def test_one_class_needs_no_trial(
    given: Sample, steady_at: Callable[[Mapping[str, float]], None]
) -> None:
    steady_at({})  # nobody asks
    four = given.classes.select([0, 1, 2, 3])
    found = unseen.classify(given.graph, four, given.labels(0, 1, 2), among="unseen")
    assert choice(found)["why"] == "there is one class to choose from"
    assert set(found.label.tolist()) == {3}


def test_large_graphs_get_fewer_blurs(given: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def steadiness(answer: Any, S: Any, seed: int, times: int) -> float:
        asked.append(times)
        return 1.0

    monkeypatch.setattr(fitting, "steadiness", steadiness)
    unseen.classify(given.graph, given.classes)
    monkeypatch.setattr(fitting, "LARGE", given.graph.nodes - 1)
    unseen.classify(given.graph, given.classes)
    assert asked == [8, 8, 8, 4, 4, 4]


def test_where_games_are_played_they_alone_decide(
    given: Sample, steady_at: Callable[[Mapping[str, float]], None]
) -> None:
    steady_at({})  # nobody asks
    prediction = unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3))
    assert "leaving seen classes out" in choice(prediction)["rule"]
