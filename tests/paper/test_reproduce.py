"""`unseen reproduce` from end to end, on the rows that take no time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from unseen.cli import app
from unseen.core.errors import InputError
from unseen.paper.ledger import Ledger
from unseen.paper.plan import CHOSEN, Plan, Summary
from unseen.paper.reproduce import EXPERIMENTS, command_line, reproduce

FAST = ("majority", "random", "eszsl")


def silent(what: str, done: int, total: int) -> None:
    """Take no notice."""


@pytest.mark.usefixtures("paper_data")
def test_table_3_is_made_recorded_and_made_again_from_the_ledger(tmp_path: Path) -> None:
    plan = Plan(seeds=2, methods=FAST)
    (report,) = reproduce("table3", plan, tmp_path, silent, jobs=2)
    first, second = report.sheets
    assert [row[0] for row in first.rows] == ["Majority (floor)", "RandomGuess", "ESZSL"]
    assert first.rows[0][1] == "28.53±0.00†"  # what the field's tables leave out
    assert first.rows[1][3] == "25.35±1.28"  # as printed
    assert second.rows[0][1] == "39.18±0.00†"
    record = json.loads((tmp_path / "table3.json").read_text("utf-8"))
    asked = {"seeds": 2, "methods": list(FAST), "quick": False, "trials": 60, "slow_seeds": None}
    assert record["plan"] == asked
    assert [tuple(row) for row in record["sheets"][0]["rows"]] == first.rows
    lines = (tmp_path / "trials.jsonl").read_text("utf-8").splitlines()
    (again,) = reproduce("table3", plan, tmp_path, silent, jobs=1)
    assert again.sheets == report.sheets
    assert (tmp_path / "trials.jsonl").read_text("utf-8").splitlines() == lines


@pytest.mark.usefixtures("paper_data")
def test_a_search_leaves_its_choice_for_split_two(tmp_path: Path) -> None:
    plan = Plan(methods=("eszsl",), trials=3)
    (report,) = reproduce("search", plan, tmp_path, silent, jobs=2)
    assert [row[1] for row in report.sheets[0].rows] == ["cora", "citeseer", "c-m10m"]
    chosen = json.loads((tmp_path / CHOSEN).read_text("utf-8"))
    assert set(chosen) == {"eszsl"}
    reproduce("table3", Plan(methods=("eszsl",)), tmp_path, silent, jobs=1)
    asked = Plan(methods=("eszsl",), chosen=chosen)
    for data, settings in chosen["eszsl"].items():
        cell = asked.cell("eszsl", data, "II")
        assert cell.trials[0].settings == settings
        assert isinstance(cell.summary(Ledger(tmp_path)), Summary)


def test_unknown_names_are_told_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing called 'table33' to reproduce; there is data,"):
        reproduce("table33", Plan(), tmp_path, silent)


def test_the_command_of_a_record_can_be_typed_again() -> None:
    found = command_line("table3", methods="dgpn,random", seeds=2, quick=True)
    assert found == "unseen reproduce table3 --methods dgpn,random --seeds 2 --quick"
    assert command_line("all", methods=None, seeds=None, quick=False) == "unseen reproduce all"


def test_every_experiment_is_told_in_the_help() -> None:
    shown = CliRunner().invoke(app, ["reproduce", "--help"], env={"COLUMNS": "200"}).output
    assert all(name in shown for name in (*EXPERIMENTS, "all"))
