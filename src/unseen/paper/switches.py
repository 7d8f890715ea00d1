"""What each single difference between the paper and its published code does to accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unseen.paper.accuracy import floor_row, macro, remarks, row, sheet, shown
from unseen.paper.published import C_M10M_NOTE, DATA

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan
    from unseen.paper.sheet import Sheet

COMMON: dict[str, Any] = {"epochs": 1000, "local_weight": 1.0}  # the same on all data sets
SWITCHES: dict[str, tuple[str, dict[str, Any]]] = {  # row: network it starts from, changes
    "as printed": ("dgpn-paper", {}),
    "as printed, softmax over all classes": ("dgpn-paper", {"negatives": "all"}),
    "as printed, mean over hops": ("dgpn-paper", {"local": "mean"}),
    "as printed, inputs weighed": ("dgpn-paper", {"weigh": "input"}),
    "as printed, dropout on the prediction too": ("dgpn-paper", {"drop_prediction": True}),
    "as printed, CSDs centred": ("dgpn-paper", {"csd_rows": "centred"}),
    "as printed, CSDs at their own length": ("dgpn-paper", {"csd_rows": "raw"}),
    "as printed, attributes not scaled": ("dgpn-paper", {"rows": "raw"}),
    "official code": ("dgpn", {}),
    "official code, softmax over seen classes": ("dgpn", {"negatives": "seen"}),
    "official code, sum over hops": ("dgpn", {"local": "sum"}),
    "official code, latent vectors weighed": ("dgpn", {"weigh": "latent"}),
    "official code, dropout on latent vectors only": ("dgpn", {"drop_prediction": False}),
    "official code, CSDs centred": ("dgpn", {"csd_rows": "centred"}),
    "official code, CSDs at their own length": ("dgpn", {"csd_rows": "raw"}),
    "official code, attributes not scaled": ("dgpn", {"rows": "raw"}),
    "official code, 200 epochs": ("dgpn", {"epochs": 200}),
    "official code, alpha 0.1": ("dgpn", {"local_weight": 0.1}),
}


def cells(plan: Plan) -> dict[tuple[str, str], Cell]:
    """Return the cells by row and data set."""
    return {
        (name, data): plan.cell(method, data, **{**COMMON, **changes})
        for name, (method, changes) in SWITCHES.items()
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return the table."""
    every, rows = cells(plan), []
    for name in SWITCHES:
        found = [every[name, data].summary(ledger) for data in DATA]
        rows.append(row(plan, name, map(shown, found), map(macro, found)))
    rows.append(floor_row(found))
    runs = remarks(plan, ((SWITCHES[name][0], cell) for (name, _), cell in every.items()), ledger)
    fixed = "K=3, beta=0.7, alpha 1 and 1,000 epochs, unless the row says otherwise."
    title = "One switch at a time, Class Split I: accuracy (%)"
    return [sheet(title, "network", ("", " macro"), rows, [fixed, C_M10M_NOTE, *runs])]
