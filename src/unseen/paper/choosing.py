"""Settings of Class Split II: chosen on the validation classes from the paper's grid (Table 8)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from unseen.paper.methods import METHODS
from unseen.paper.plan import QUICK_SHARE, shortened
from unseen.paper.published import DATA
from unseen.paper.search import search
from unseen.paper.sheet import Sheet
from unseen.paper.trial import Outcome, Trial

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Plan
    from unseen.paper.work import Stream

SEARCHED = tuple(name for name, about in METHODS.items() if about.space)
SHORTENED = ("wdvsc", "hyperbolic")  # a trial of theirs would take minutes
LOOKED = 12  # settings of a search that are run on the test classes, after the choice


def streams(plan: Plan) -> list[Stream]:
    """Return one search for each method and data set; a trial waits for the one before it."""
    return [_search(plan, method, data) for method in plan.rows(SEARCHED) for data in DATA]


def chosen(plan: Plan, ledger: Ledger) -> dict[str, dict[str, Any]]:
    """Return the settings that did best in every finished search."""
    best = {
        method: {data: found.best for data, found in _finished(plan, ledger, method).items()}
        for method in plan.rows(SEARCHED)
    }
    return {method: settings for method, settings in best.items() if settings}


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return what was chosen, and whether validation classes could tell."""
    choices: list[tuple[str, ...]] = []
    hindsight: list[tuple[str, ...]] = []
    for method in plan.rows(SEARCHED):
        for data, found in _finished(plan, ledger, method).items():
            name = METHODS[method].label
            top = max(found.validation, key=lambda outcome: float(outcome["accuracy"]))
            constant = sum(outcome["classes given"] == 1 for outcome in found.validation)
            choices.append(
                (
                    name,
                    data,
                    f"{len(found.validation)} ({constant} constant)",
                    f"{top['accuracy']:.2f}",
                    f"{top['floor']:.2f}",
                    ", ".join(f"{key} {value:g}" for key, value in sorted(found.best.items()))
                    or "its defaults",
                )
            )
            if len(found.test) >= min(LOOKED, len(found.validation)):
                hindsight.append((name, data, *_hindsight(found)))
    return [
        Sheet(
            "Search on the validation classes of Class Split II",
            ("method", "data", "trials", "validation accuracy", "floor", "settings"),
            choices,
            [
                "One seed a trial; the defaults are always the first. A constant trial gave every "
                "node the same class. Trials of WDVSc and Hyperbolic-ZSL run a tenth of the epochs "
                "that they stand for. No choice looks at nodes of test classes."
            ],
        ),
        Sheet(
            "In hindsight: does validation accuracy tell test accuracy?",
            ("method", "data", "settings", "rank correlation", "test: defaults", "least", "most"),
            hindsight,
            [
                f"The first {LOOKED} settings of each search, run on the test classes afterwards "
                "(one seed, accuracy in %). Spearman's rank correlation of the two accuracies; "
                "none where all of one kind are equal. Nothing was chosen by these figures."
            ],
        ),
    ]


@dataclass(frozen=True)
class Found:
    """A search that has ended: what was tried, in order, and how it did."""

    settings: list[dict[str, Any]]
    validation: list[Outcome]
    test: list[Outcome]  # of the first ones, looked at afterwards

    @property
    def best(self) -> dict[str, Any]:
        """The settings that did best on the validation classes, the earlier ones in ties."""
        accuracies = [outcome["accuracy"] for outcome in self.validation]
        return self.settings[accuracies.index(max(accuracies))]


def _search(plan: Plan, method: str, data: str) -> Stream:
    """Yield trials as the search asks for them, then some of them again on the test classes."""
    about = METHODS[method]
    finder = search(about.space, plan.trials, about.settings(data))
    asked = [next(finder)]
    while True:
        outcome = yield Trial(data, "II", method, _cut(method, asked[-1]), on="validation")
        if "missing" in outcome:
            return  # nothing to learn from until it is there
        try:
            asked.append(finder.send(outcome["accuracy"]))
        except StopIteration:
            break
    for settings in asked[:LOOKED]:
        yield Trial(data, "II", method, _cut(method, settings))


def _cut(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that a trial runs: some methods take a tenth of their epochs."""
    return shortened(method, settings) if method in SHORTENED else settings


def _whole(method: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that a trial stands for; every schedule of Table 8 has whole tenths."""
    if method not in SHORTENED:
        return settings
    return {**settings, "epochs": QUICK_SHARE * settings["epochs"]}


def _finished(plan: Plan, ledger: Ledger, method: str) -> dict[str, Found]:
    """Return the searches of a method that have ended, by data set."""
    points = prod(len(values) for values in METHODS[method].space.values())
    every = {}
    for data in DATA:
        tried = list(ledger.searched(method, data))
        if len(tried) < min(plan.trials, points):
            continue
        again = [Trial(data, "II", method, settings) for settings, _ in tried[:LOOKED]]
        every[data] = Found(
            settings=[_whole(method, settings) for settings, _ in tried],
            validation=[outcome for _, outcome in tried],
            test=[ledger[trial] for trial in again if trial in ledger],
        )
    return every


def _hindsight(found: Found) -> tuple[str, ...]:
    """Return how many settings, the rank correlation, and test accuracies."""
    from scipy.stats import spearmanr

    validation = [outcome["accuracy"] for outcome in found.validation[: len(found.test)]]
    test = [outcome["accuracy"] for outcome in found.test]
    differ = len(set(validation)) > 1 and len(set(test)) > 1
    rank = f"{spearmanr(validation, test).statistic:+.2f}" if differ else "none"
    return (str(len(test)), rank, f"{test[0]:.2f}", f"{min(test):.2f}", f"{max(test):.2f}")


def as_json(settings: dict[str, dict[str, Any]]) -> str:
    """Return chosen settings as the file has them."""
    return json.dumps(settings, indent=1, sort_keys=True) + "\n"
