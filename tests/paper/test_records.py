"""The records of the paper in results/: rebuilt from every single run, and the docs from them."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from unseen.paper import choosing
from unseen.paper.ledger import Ledger
from unseen.paper.plan import CHOSEN, Plan
from unseen.paper.reproduce import EXPERIMENTS, _module
from unseen.paper.sheet import Sheet
from unseen.paper.trial import Trial

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "results" / "paper"
DOCS = ROOT / "docs" / "reproduction.md"
BLOCK = re.compile(r"<!-- sheet (\w+) (\d+) -->\n(.*?)\n<!-- /sheet -->", re.DOTALL)
FROM_TRIALS = tuple(name for name in EXPERIMENTS if hasattr(_module(name), "cells"))


def record(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def plan_of(name: str) -> Plan:
    asked = record(name)["plan"]
    methods = asked["methods"] and tuple(asked["methods"])
    chosen = json.loads((FOLDER / CHOSEN).read_text("utf-8"))
    runs = asked["seeds"], methods, asked["quick"]
    return Plan(*runs, chosen, asked["trials"], asked["slow_seeds"])


def sheets(name: str) -> list[Sheet]:
    return [
        Sheet(
            each["title"],
            tuple(each["columns"]),
            [tuple(row) for row in each["rows"]],
            each["notes"],
        )
        for each in record(name)["sheets"]
    ]


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return Ledger(FOLDER)


@pytest.mark.parametrize("name", [*FROM_TRIALS, "search"])
def test_a_record_is_what_its_runs_say(name: str, ledger: Ledger) -> None:
    assert _module(name).sheets(plan_of(name), ledger) == sheets(name)


def test_no_run_of_a_table_is_missing(ledger: Ledger) -> None:
    for name in FROM_TRIALS:
        cells = _module(name).cells(plan_of(name))
        missing = [key for key, cell in cells.items() if cell.summary(ledger) is None]
        assert not missing, f"{name}: {missing[:5]}"


def test_the_settings_that_ship_are_those_the_searches_found(ledger: Ledger) -> None:
    shipped = json.loads(files("unseen.paper").joinpath(CHOSEN).read_text("utf-8"))
    assert shipped == json.loads((FOLDER / CHOSEN).read_text("utf-8"))
    assert shipped == choosing.chosen(plan_of("search"), ledger)


def test_every_table_of_the_docs_stands_in_the_records() -> None:
    blocks = BLOCK.findall(DOCS.read_text("utf-8"))
    assert {name for name, _, _ in blocks} == set(EXPERIMENTS)
    for name, number, text in blocks:
        assert text == sheets(name)[int(number)].markdown(), (
            f"{name} {number}: run results/tables.py"
        )


def test_every_experiment_has_a_record_with_its_command() -> None:
    for name in EXPERIMENTS:
        found = record(name)
        assert found["command"].startswith("unseen reproduce ")
        assert f"`{found['command']}`" in DOCS.read_text("utf-8")
        assert not found["plan"]["quick"]
        assert found["versions"]["unseen"]


WORKED_OUT = {  # figures of the prose that stand in no table
    "11.23": 100 * (38.02 / 34.18 - 1),  # DGPN over Hyperbolic-ZSL, Citeseer I
    "10.00": (10.32 + 100 * (38.02 / 34.18 - 1) + 8.45) / 3,
    "61.11": 100 * 11 / 18,
    "77.78": 100 * 14 / 18,
    "3.33": 1 / (1 - 0.7),
    "10.19": (10.32 + 11.79 + 8.45) / 3,
}


DEFAULTS = {"89.04": "citeseer", "32.78": "c-m10m"}  # WDVSc as it is public, Class Split II


def test_figures_of_the_prose_stand_in_a_table_or_are_worked_out_here(ledger: Ledger) -> None:
    for text, data in DEFAULTS.items():
        runs = [ledger[Trial(data, "II", "wdvsc", seed=seed)] for seed in range(3)]
        assert f"{fmean(run['accuracy'] for run in runs):.2f}" == text
    assert all(f"{value:.2f}" == text for text, value in WORKED_OUT.items())
    prose = BLOCK.sub("", DOCS.read_text("utf-8"))
    printed = (ROOT / "src" / "unseen" / "paper" / "published.py").read_text("utf-8")
    known = printed + "".join(json.dumps(record(name), ensure_ascii=False) for name in EXPERIMENTS)
    figures = (
        set(re.findall(r"(?<![\d.])\d+\.\d\d(?!\d)", prose)) - WORKED_OUT.keys() - DEFAULTS.keys()
    )
    assert figures
    strange = sorted(each for each in figures if not re.search(rf"(?<!\d){each}(?!\d)", known))
    assert not strange


def test_the_ledger_tells_every_trial_once_and_nothing_of_a_machine() -> None:
    lines = (FOLDER / "trials.jsonl").read_text("utf-8").splitlines()
    trials = [json.dumps(json.loads(line)["trial"], sort_keys=True) for line in lines]
    assert len(trials) == len(set(trials))
    places = [line for line in lines if re.search(r"['\" ](/\w+){2,}|[A-Z]:\\\\", line)]
    assert not places, places[0][:200]
