"""Table 4: the same with LABEL-CSDs, and the relative decline against TEXT-CSDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.paper.accuracy import label, macro, relative, remarks, shown
from unseen.paper.methods import BASELINES
from unseen.paper.published import C_M10M_NOTE, DATA, LABELS, TABLE_4, TUNED_NOTE
from unseen.paper.sheet import Sheet

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan

ROWS = ("majority", "random", *BASELINES, "dgpn")


def cells(plan: Plan) -> dict[tuple[str, str, str], Cell]:
    """Return the cells by kind of CSDs, method and data set."""
    return {
        (csds, method, data): plan.cell(method, data, csds=csds)
        for csds in ("label", "text")
        for method in plan.rows(ROWS)
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return the table."""
    every = cells(plan)
    rows = []
    for method in plan.rows(ROWS):
        accuracies, declines = TABLE_4.get(method, (("-",) * 3, ("-",) * 3))
        row = [label(method, plan)]
        for data, paper, printed in zip(DATA, accuracies, declines, strict=True):
            name, text = (every[csds, method, data].summary(ledger) for csds in ("label", "text"))
            row += [shown(name), macro(name), relative(name, text), f"{paper} ({printed})"]
        rows.append(tuple(row))
    heads = ("", " macro", " Decl.", " paper")
    return [
        Sheet(
            "Table 4, Class Split I with LABEL-CSDs: accuracy (%) and change against TEXT-CSDs",
            ("method", *(f"{LABELS[data]}{what}" for data in DATA for what in heads)),
            rows,
            [
                TUNED_NOTE,
                C_M10M_NOTE,
                *remarks(
                    plan, [(key[1], every[key]) for key in every if key[0] == "label"], ledger
                ),
            ],
        )
    ]
