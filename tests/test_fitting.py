"""How far descriptions are trusted: games decide, and where there are none, steadiness."""

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


def test_where_games_are_played_they_alone_decide(
    given: Sample, steady_at: Callable[[Mapping[str, float]], None]
) -> None:
    steady_at({})  # nobody asks
    prediction = unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3))
    assert "leaving seen classes out" in choice(prediction)["rule"]
