"""How far descriptions are trusted: steadiness decides, and with games both do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import unseen
from topic_graph import Sample, sample
from unseen import fitting


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


def choice(prediction: unseen.Prediction, what: str = "weight of descriptions") -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in prediction.record["choices"] if c["what"] == what)
    return found


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


def test_with_games_both_count_alike(
    given: Sample, steady_at: Callable[[Mapping[str, float]], None]
) -> None:
    labels = given.labels(0, 1, 2, 3)
    steady_at(dict.fromkeys(("0.5", "0.7", "0.9"), 0.0))
    games = choice(unseen.classify(given.graph, given.classes, labels))["candidates"]
    steady_at({"0.5": 0.0, "0.7": 0.0, "0.9": 1.0})
    found = choice(unseen.classify(given.graph, given.classes, labels))
    assert found["chosen"] == "0.9"
    assert "leaving seen classes out" in found["rule"]
    assert "blurred" in found["rule"]
    for weight, score in games.items():
        assert found["candidates"][weight] == pytest.approx(score + 0.5 * (weight == "0.9"))


def test_maps_are_compared_by_games_alone(
    given: Sample, steady_at: Callable[[Mapping[str, float]], None]
) -> None:
    steady_at(dict.fromkeys(("0.5", "0.7", "0.9"), 0.0))
    prediction = unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3))
    weight = choice(prediction)
    untrained = choice(prediction, "maps")["candidates"]["identity"]
    assert untrained == pytest.approx(2 * weight["candidates"][weight["chosen"]])
