"""Handing out trials: nothing twice, order within a stream, and what depends on outcomes."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from unseen.core.errors import MissingExtraError
from unseen.paper.ledger import Ledger
from unseen.paper.trial import Outcome, Trial, run
from unseen.paper.work import Stream, work

pytestmark = pytest.mark.usefixtures("paper_data")


def random_guess(seed: int, data: str = "cora") -> Trial:
    return Trial(data, "I", "random", seed=seed)


def asking(seeds: list[int], heard: list[Outcome]) -> Stream:
    for seed in seeds:
        heard.append((yield random_guess(seed)))


def silent(trial: Trial) -> None:
    """Take no notice."""


def test_outcomes_come_back_in_order_and_are_kept(tmp_path: Path) -> None:
    ledger, first, second = Ledger(tmp_path), [], []  # type: ignore[var-annotated]
    work([asking([0, 1, 2], first), asking([1, 3], second)], ledger, silent, jobs=2)
    assert [o["accuracy"] for o in first] == [
        ledger[random_guess(s)]["accuracy"] for s in (0, 1, 2)
    ]
    assert [o["accuracy"] for o in second] == [ledger[random_guess(s)]["accuracy"] for s in (1, 3)]
    assert len(ledger) == 4
    expected = run(random_guess(3))
    assert ledger[random_guess(3)]["accuracy"] == expected["accuracy"]  # as in this process


def test_what_is_known_is_not_run_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for seed in range(3):
        ledger.add(random_guess(seed), {"accuracy": float(seed)})
    heard: list[Outcome] = []
    told: list[Trial] = []
    work([asking([0, 1, 2], heard)], ledger, told.append, jobs=1)
    assert [each["accuracy"] for each in heard] == [0.0, 1.0, 2.0]
    assert told == [random_guess(seed) for seed in range(3)]


def test_what_was_missing_is_tried_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(random_guess(0), {"missing": "data not here", "why": "not fetched"})
    heard: list[Outcome] = []
    work([asking([0], heard)], ledger, silent, jobs=1)
    assert "accuracy" in heard[0]
    assert "accuracy" in Ledger(tmp_path)[random_guess(0)]


def test_a_missing_extra_comes_out_of_another_process() -> None:
    error = pickle.loads(pickle.dumps(MissingExtraError("WDVSc", "paper")))  # noqa: S301
    assert str(error) == 'WDVSc needs an optional dependency: pip install "unseen[paper]"'


def test_what_was_finished_before_an_error_is_kept(tmp_path: Path) -> None:
    def breaking() -> Stream:
        yield random_guess(0)
        yield Trial("cora", "I", "random", {"colour": "red"})

    ledger = Ledger(tmp_path)
    with pytest.raises(TypeError, match="colour"):
        work([breaking()], ledger, silent, jobs=1)
    assert random_guess(0) in Ledger(tmp_path)
