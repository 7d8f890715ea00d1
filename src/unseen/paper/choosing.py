"""Settings of Class Split II: chosen on the validation classes from the paper's grid (Table 8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from unseen.paper.methods import METHODS
from unseen.paper.published import DATA
from unseen.paper.sheet import Sheet
from unseen.paper.trial import Trial
from unseen.search import search

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Plan
    from unseen.paper.work import Stream

SEARCHED = tuple(name for name, about in METHODS.items() if about.space)


def streams(plan: Plan) -> list[Stream]:
    """Return one search for each method and data set; a trial waits for the one before it."""
    return [_search(plan, method, data, {}) for method in plan.rows(SEARCHED) for data in DATA]


def chosen(plan: Plan, ledger: Ledger) -> dict[str, dict[str, Any]]:
    """Return the settings of every finished search, found by playing it again from the ledger."""
    return {
        method: found
        for method in plan.rows(SEARCHED)
        if (found := {data: best[0] for data, best in _finished(plan, ledger, method).items()})
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return what was chosen, and how it did on the validation classes."""
    rows: list[tuple[str, ...]] = []
    for method in plan.rows(SEARCHED):
        for data, (settings, accuracy, floor, tried) in _finished(plan, ledger, method).items():
            words = ", ".join(f"{name} {value:g}" for name, value in sorted(settings.items()))
            rows.append(
                (
                    METHODS[method].label,
                    data,
                    str(tried),
                    f"{accuracy:.2f}",
                    f"{floor:.2f}",
                    words or "its defaults",
                )
            )
    return [
        Sheet(
            "Search on the validation classes of Class Split II",
            ("method", "data", "trials", "validation accuracy", "floor", "settings"),
            rows,
            [
                "One seed a trial; the defaults are always the first. Nodes of test classes are "
                "not looked at."
            ],
        )
    ]


def _search(plan: Plan, method: str, data: str, into: dict[str, Any]) -> Stream:
    """Yield trials as the search asks for them; leave the best settings in `into`."""
    about = METHODS[method]
    finder = search(about.space, plan.trials, about.settings(data))
    settings, best = next(finder), float("-inf")
    while True:
        outcome = yield Trial(data, "II", method, settings, on="validation")
        into["tried"] = into.get("tried", 0) + 1
        if outcome["accuracy"] > best:
            best = outcome["accuracy"]
            into.update(accuracy=best, floor=outcome["floor"])
        try:
            settings = finder.send(outcome["accuracy"])
        except StopIteration as end:
            into["settings"] = end.value
            return


def _finished(
    plan: Plan, ledger: Ledger, method: str
) -> dict[str, tuple[dict[str, Any], float, float, int]]:
    found = {}
    for data in DATA:
        into: dict[str, Any] = {}
        stream = _search(plan, method, data, into)
        try:
            trial = next(stream)
            while trial in ledger:
                trial = stream.send(ledger[trial])
        except StopIteration:
            found[data] = (into["settings"], into["accuracy"], into["floor"], into["tried"])
    return found


def as_json(settings: dict[str, dict[str, Any]]) -> str:
    """Return chosen settings as the file has them."""
    return json.dumps(settings, indent=1, sort_keys=True) + "\n"
