"""The search of Split II: validation classes alone decide, and it can be played again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unseen.paper import choosing
from unseen.paper.ledger import Ledger
from unseen.paper.methods import METHODS
from unseen.paper.plan import Plan
from unseen.paper.trial import Trial

PLAN = Plan(methods=("eszsl",), trials=6)


def outcome(trial: Trial) -> dict[str, Any]:
    """Return a made-up outcome: more ridge is better in validation and worse in test."""
    height = float(trial.settings.get("node_ridge", 0.5))
    accuracy = 50 + height / 100 if trial.on == "validation" else 50 - height / 100
    return {"accuracy": accuracy, "floor": 40.0, "classes given": 2, "macro": 1.0, "seconds": 0}


def play(ledger: Ledger, trials: int = 10**6) -> list[Trial]:
    """Answer the searches of all data sets, at most so many trials of each."""
    asked = []
    for stream in choosing.streams(PLAN):
        trial = next(stream)
        for _ in range(trials):
            asked.append(trial)
            if trial not in ledger:
                ledger.add(trial, outcome(trial))
            try:
                trial = stream.send(ledger[trial])
            except StopIteration:
                break
    return asked


def test_what_is_chosen_did_best_on_validation_classes(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    asked = play(ledger)
    on = [trial.on for trial in asked if trial.data == "cora"]
    assert on == ["validation"] * 6 + ["test"] * 6  # and the test classes after the choice
    best = choosing.chosen(PLAN, ledger)["eszsl"]
    assert set(best) == {"cora", "citeseer", "c-m10m"}
    for data, settings in best.items():
        tried = [t for t in asked if t.data == data and t.on == "validation"]
        assert settings == max(tried, key=lambda t: float(outcome(t)["accuracy"])).settings


def test_test_accuracies_cannot_change_the_choice(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    play(ledger)
    before = choosing.chosen(PLAN, ledger)
    for trial in [t for t in play(ledger) if t.on == "test"]:
        ledger.add(trial, {**outcome(trial), "accuracy": 99.0})
    assert choosing.chosen(PLAN, Ledger(tmp_path)) == before


def test_a_search_goes_on_where_it_was(tmp_path: Path) -> None:
    begun = Ledger(tmp_path / "a")
    play(begun, trials=3)
    assert choosing.chosen(PLAN, begun) == {}
    again = play(Ledger(tmp_path / "a"))  # the first ones are known
    whole = play(Ledger(tmp_path / "b"))
    assert [t.key() for t in again] == [t.key() for t in whole]


def test_a_search_without_data_ends_and_is_not_counted(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    stream = choosing.streams(PLAN)[0]
    trial = next(stream)
    ledger.add(trial, {"missing": "data not here", "why": "not fetched"})
    with pytest.raises(StopIteration):
        stream.send(ledger[trial])
    assert choosing.chosen(PLAN, ledger) == {}


def test_hindsight_tells_when_validation_misleads(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    play(ledger)
    choices, hindsight = choosing.sheets(PLAN, ledger)
    assert len(choices.rows) == len(hindsight.rows) == 3
    assert choices.rows[0][:3] == ("ESZSL", "cora", "6 (0 constant)")
    assert hindsight.rows[0][3] == "-1.00"
    assert hindsight.rows[0][4] == "49.99"  # of the defaults, 50 - 0.5 / 100


@pytest.mark.parametrize("method", choosing.SEARCHED)
def test_every_search_begins_with_the_defaults(method: str) -> None:
    first = next(choosing.streams(Plan(methods=(method,)))[0])
    defaults = METHODS[method].settings("cora")
    if method in choosing.SHORTENED:
        defaults = {"epochs": (METHODS[method].epochs or 0) // 10}
    assert first.settings == defaults
    assert (first.split, first.on, first.seed) == ("II", "validation", 0)


@pytest.mark.parametrize("method", choosing.SHORTENED)
def test_what_is_chosen_has_its_whole_schedule(method: str, tmp_path: Path) -> None:
    """A trial of a slow method runs a tenth of the epochs of the settings that it stands for."""
    ledger, plan = Ledger(tmp_path), Plan(methods=(method,), trials=2)
    stream = choosing.streams(plan)[0]
    trial = next(stream)
    tried = []
    while trial.on == "validation":
        tried.append(trial.settings["epochs"])
        outcome = {"accuracy": float(len(tried)), "floor": 1.0, "classes given": 2}
        ledger.add(trial, outcome)
        trial = stream.send(outcome)
    chosen = choosing.chosen(plan, ledger)[method]["cora"]
    assert len(tried) == 2
    assert chosen["epochs"] == 10 * tried[-1]
    assert chosen["epochs"] in METHODS[method].space["epochs"]
