"""Table 5: the rows of the adjacency matrix as attributes, with both kinds of CSDs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from unseen.paper.accuracy import macro, remarks, row, sheet, shown
from unseen.paper.methods import method_of
from unseen.paper.published import DATA, TABLE_5, TUNED_NOTE
from unseen.paper.table4 import rows_of

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan
    from unseen.paper.sheet import Sheet

KINDS: tuple[Literal["text", "label"], ...] = ("text", "label")
BY_KIND = "C-M10M: class vectors by what they hold, not as filed (the two files look exchanged)."


def cells(plan: Plan) -> dict[tuple[str, str, str], Cell]:
    """Return the cells by kind of CSDs, method and data set."""
    return {
        (csds, method, data): plan.cell(method, data, csds=csds, attributes="adjacency")
        for csds in KINDS
        for method in rows_of(plan)
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return a table for each kind of CSDs."""
    every, made = cells(plan), []
    for csds in KINDS:
        rows = []
        for method in rows_of(plan):
            found = [every[csds, method, data].summary(ledger) for data in DATA]
            paper = TABLE_5[csds].get(method, ("-",) * 3)
            ours = map(shown, found), map(macro, found)
            rows.append(row(plan, method_of(method).label, *ours, paper))
        here = ((method, cell) for (kind, method, _), cell in every.items() if kind == csds)
        notes = [TUNED_NOTE, BY_KIND, *remarks(plan, here, ledger)]
        title = f"Table 5, adjacency as attributes, {csds.upper()}-CSDs, Split I: accuracy (%)"
        made.append(sheet(title, "method", ("", " macro", " paper"), rows, notes, star=False))
    return made
