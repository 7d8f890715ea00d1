"""Table 5: the rows of the adjacency matrix as attributes, with both kinds of CSDs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from unseen.paper.accuracy import label, macro, remarks, shown
from unseen.paper.published import DATA, LABELS, TABLE_5, TUNED_NOTE
from unseen.paper.sheet import Sheet
from unseen.paper.table4 import ROWS

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan

KINDS: tuple[Literal["text", "label"], ...] = ("text", "label")

BY_KIND = "C-M10M: class vectors by what they hold, not as filed (the two files look exchanged)."


def cells(plan: Plan) -> dict[tuple[str, str, str], Cell]:
    """Return the cells by kind of CSDs, method and data set."""
    return {
        (csds, method, data): plan.cell(method, data, csds=csds, attributes="adjacency")
        for csds in KINDS
        for method in plan.rows(ROWS)
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return a table for each kind of CSDs."""
    every = cells(plan)
    made = []
    for csds in KINDS:
        rows = []
        for method in plan.rows(ROWS):
            row = [label(method, plan)]
            for data, paper in zip(DATA, TABLE_5[csds].get(method, ("-",) * 3), strict=True):
                found = every[csds, method, data].summary(ledger)
                row += [shown(found), macro(found), paper]
            rows.append(tuple(row))
        heads = ("", " macro", " paper")
        made.append(
            Sheet(
                f"Table 5, adjacency as attributes, {csds.upper()}-CSDs, Split I: accuracy (%)",
                ("method", *(f"{LABELS[d].rstrip('*')}{what}" for d in DATA for what in heads)),
                rows,
                [
                    TUNED_NOTE,
                    BY_KIND,
                    *remarks(plan, [(k[1], every[k]) for k in every if k[0] == csds], ledger),
                ],
            )
        )
    return made
