"""Table 4: the same with LABEL-CSDs, and the relative decline against TEXT-CSDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.paper.accuracy import macro, relative, remarks, row, sheet, shown
from unseen.paper.methods import method_of
from unseen.paper.published import C_M10M_NOTE, DATA, TABLE_4, TUNED_NOTE

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan
    from unseen.paper.sheet import Sheet

ROWS = ("majority", "random", "dap", "eszsl", "zs-gcn", "wdvsc", "hyperbolic", "dgpn")


def rows_of(plan: Plan) -> tuple[str, ...]:
    """Return the methods of Tables 4 and 5 that were asked for."""
    return (*plan.rows(ROWS), *plan.own)


def cells(plan: Plan) -> dict[tuple[str, str, str], Cell]:
    """Return the cells by kind of CSDs, method and data set."""
    return {
        (csds, method, data): plan.cell(method, data, csds=csds)
        for csds in ("label", "text")
        for method in rows_of(plan)
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return the table."""
    every = cells(plan)
    rows = []
    for method in rows_of(plan):
        name, text = (
            [every[csds, method, data].summary(ledger) for data in DATA]
            for csds in ("label", "text")
        )
        printed = zip(*TABLE_4.get(method, (("-",) * 3, ("-",) * 3)), strict=True)
        paper = (f"{accuracy} ({decline})" for accuracy, decline in printed)
        ours = map(shown, name), map(macro, name), map(relative, name, text)
        rows.append(row(plan, method_of(method).label, *ours, paper))
    by_name = ((method, cell) for (csds, method, _), cell in every.items() if csds == "label")
    notes = [TUNED_NOTE, C_M10M_NOTE, *remarks(plan, by_name, ledger)]
    title = "Table 4, Class Split I with LABEL-CSDs: accuracy (%) and change against TEXT-CSDs"
    return [sheet(title, "method", ("", " macro", " Decl.", " paper"), rows, notes)]
