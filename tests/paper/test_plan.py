"""Plans and cells: how many runs, which settings, and how their outcomes are summed up."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.core.errors import InputError
from unseen.paper.accuracy import relative, remarks, shown
from unseen.paper.ledger import Ledger
from unseen.paper.methods import METHODS
from unseen.paper.plan import Cell, Plan, Summary
from unseen.paper.trial import Trial


def outcome(accuracy: float, **more: object) -> dict[str, object]:
    return {
        "accuracy": accuracy,
        "macro": accuracy / 2,
        "floor": 25.0,
        "classes given": 3,
        "seconds": 1.0,
        **more,
    }


def test_seeds_by_method_by_the_user_and_in_a_hurry() -> None:
    assert len(Plan().cell("dgpn", "cora").trials) == 10
    assert len(Plan().cell("wdvsc", "cora").trials) == 3
    assert len(Plan(seeds=4).cell("dgpn", "cora").trials) == 4
    assert len(Plan(seeds=4, slow_seeds=1).cell("wdvsc", "cora").trials) == 1
    assert len(Plan(seeds=4).cell("eszsl", "cora").trials) == 1  # the same every time
    quick = Plan(quick=True).cell("dgpn", "cora").trials
    assert [trial.seed for trial in quick] == [0, 1]
    assert quick[0].settings["epochs"] == 100


def test_split_one_has_the_settings_of_the_print_and_two_the_chosen_ones() -> None:
    one = Plan().cell("dgpn", "c-m10m").trials[0].settings
    assert one == {"hops": 3, "laziness": 0.7, "local_weight": 0.1, "epochs": 500}
    chosen = {"dgpn": {"c-m10m": {"hops": 5, "epochs": 200}}}
    two = Plan(chosen=chosen).cell("dgpn", "c-m10m", "II").trials[0].settings
    assert two == {"hops": 5, "laziness": 0.7, "epochs": 200}
    assert Plan(chosen=chosen).cell("dgpn", "c-m10m").trials[0].settings == one


@pytest.mark.parametrize("method", METHODS)
def test_a_quick_run_shortens_whatever_has_a_schedule(method: str) -> None:
    plain, quick = (Plan(quick=q).cell(method, "cora").trials[0].settings for q in (False, True))
    full = plain.get("epochs", METHODS[method].epochs)
    assert quick.get("epochs") == (full // 10 if full else None)


def test_unknown_methods_are_named() -> None:
    with pytest.raises(InputError, match=r"there is no 'svm'; those known: majority, random"):
        Plan(methods=("dgpn", "svm"))


def test_a_summary_waits_for_every_run(tmp_path: Path) -> None:
    cell = Cell(tuple(Trial("cora", "I", "dgpn", seed=seed) for seed in range(3)))
    ledger = Ledger(tmp_path)
    ledger.add(cell.trials[0], outcome(30.0))
    ledger.add(cell.trials[1], outcome(32.0, **{"stopped after": 7}))
    assert cell.summary(ledger) is None
    assert shown(cell.summary(ledger)) == "not run"
    ledger.add(cell.trials[2], outcome(34.0, **{"classes given": 1}))
    found = cell.summary(ledger)
    assert isinstance(found, Summary)
    assert (found.accuracy, found.deviation, found.macro) == (32.0, 2.0, 16.0)
    assert (found.runs, found.constant, found.stopped) == (3, 1, (7,))
    assert shown(found) == "32.00±2.00†"
    notes = remarks(Plan(), [("dgpn", cell)], ledger)
    assert notes[0] == "Runs: DGPN, official code 3."
    assert "1 runs ended before their schedule" in notes[1]
    assert notes[2].startswith("† At least one")


def test_missing_weights_are_told_instead_of_a_number(tmp_path: Path) -> None:
    cell = Cell((Trial("cora", "I", "dap-cnn"),))
    ledger = Ledger(tmp_path)
    ledger.add(cell.trials[0], {"missing": "weights not available", "why": "none found"})
    assert shown(cell.summary(ledger)) == "weights not available"


def test_relative_change_is_of_the_other() -> None:
    ours = Summary(30.0, 0, 0, 0, 1, 0, ())
    other = Summary(40.0, 0, 0, 0, 1, 0, ())
    assert relative(ours, other) == "-25.00%"
    assert relative(ours, None) == "-"
