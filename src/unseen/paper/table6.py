"""Table 6: the vanilla GCN against the decomposition on standard node classification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.paper.accuracy import Found, floor_row, row, sheet
from unseen.paper.plan import Cell, Summary
from unseen.paper.published import LITERATURE, TABLE_6
from unseen.paper.trial import Trial

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Plan
    from unseen.paper.sheet import Sheet

DATA = ("cora", "citeseer", "pubmed")
ROWS = {"gcn": "GCN", "printed": "ours, Eq. 15 as printed", "exact": "ours, exact product"}
SEEDS, QUICK = 10, 2


def cells(plan: Plan) -> dict[tuple[str, str], Cell]:
    """Return the cells by network and data set."""
    seeds = plan.seeds or (QUICK if plan.quick else SEEDS)
    return {
        (name, data): Cell(
            tuple(Trial(data, "standard", f"standard {name}", seed=seed) for seed in range(seeds))
        )
        for name in ROWS
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return the table."""
    every, rows = cells(plan), []
    for name, called in ROWS.items():
        found = [every[name, data].summary(ledger) for data in DATA]
        rows.append(row(plan, called, map(_shown, found), TABLE_6.get(name, ("-",) * len(DATA))))
    literature = (text for value in LITERATURE for text in ("-", value))
    rows += [("GCN, numbers from literature", *literature), floor_row(found)]
    note = (
        f"{len(every['gcn', 'cora'].trials)} runs each. All classes are seen here, with 20 "
        "labelled nodes of each."
        + (" Quick: fewer runs, the schedule is whole." if plan.quick else "")
    )
    title = "Table 6, standard node classification: test accuracy (%)"
    return [sheet(title, "network", ("", " paper"), rows, [note], DATA)]


def _shown(found: Found) -> str:
    if isinstance(found, Summary):
        return f"{found.accuracy:.2f}±{found.deviation:.2f} (macro {found.macro:.2f})"
    return found or "not run"
