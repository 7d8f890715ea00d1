"""Table 6: the vanilla GCN against the decomposition on standard node classification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.paper.plan import Cell, Summary
from unseen.paper.published import LABELS, LITERATURE, TABLE_6
from unseen.paper.sheet import Sheet
from unseen.paper.trial import Trial

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Plan

DATA = ("cora", "citeseer", "pubmed")
ROWS = {"gcn": "GCN", "printed": "ours, Eq. 15 as printed", "exact": "ours, exact product"}
SEEDS, QUICK = 10, 2


def cells(plan: Plan) -> dict[tuple[str, str], Cell]:
    """Return the cells by network and data set."""
    seeds = plan.seeds or (QUICK if plan.quick else SEEDS)
    return {
        (row, data): Cell(
            tuple(Trial(data, "standard", f"standard {row}", seed=seed) for seed in range(seeds))
        )
        for row in ROWS
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return the table."""
    every = cells(plan)
    rows: list[tuple[str, ...]] = []
    for row, name in ROWS.items():
        found = [every[row, data].summary(ledger) for data in DATA]
        shown = [_shown(each) for each in found]
        paper = TABLE_6.get(row, ("-",) * len(DATA))
        numbers = [cell for pair in zip(shown, paper, strict=True) for cell in pair]
        rows.append((f"{name} (quick)" if plan.quick else name, *numbers))
    literature = [cell for value in LITERATURE for cell in ("-", value)]
    floors = [f"{each.floor:.2f}" if isinstance(each, Summary) else "-" for each in found]
    rows.append(("GCN, numbers from literature", *literature))
    rows.append(("Majority (floor)", *(cell for floor in floors for cell in (floor, "-"))))
    runs = len(every["gcn", "cora"].trials)
    return [
        Sheet(
            "Table 6, standard node classification: test accuracy (%)",
            ("network", *(f"{LABELS[data]}{what}" for data in DATA for what in ("", " paper"))),
            rows,
            [
                f"{runs} runs each. All classes are seen here, with 20 labelled nodes of each."
                + (" Quick: fewer runs, the schedule is whole." if plan.quick else ""),
            ],
        )
    ]


def _shown(found: Summary | str | None) -> str:
    if isinstance(found, Summary):
        return f"{found.accuracy:.2f}±{found.deviation:.2f} (macro {found.macro:.2f})"
    return found or "not run"
