"""The ablation figure: what the decomposed convolution and the local loss add (Class Split I)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.paper.accuracy import floor_row, macro, remarks, row, sheet, shown
from unseen.paper.methods import METHODS
from unseen.paper.published import C_M10M_NOTE, DATA, TUNED_NOTE

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan
    from unseen.paper.sheet import Sheet

VARIANTS: dict[str, dict[str, Any]] = {  # the first two are DGPN with a part taken out
    "ProNet": {"hops": 0, "local_weight": 0.0},
    "ProNet+GCN": {"local_weight": 0.0},
    "ProNet+GCN+LL": {},
}
BASES = ("dgpn", "dgpn-paper")
PARTS = (
    "The paper shows a picture without numbers. ProNet: K = 0 and no local loss; "
    "ProNet+GCN: no local loss; ProNet+GCN+LL: all of DGPN."
)


def cells(plan: Plan) -> dict[tuple[str, str, str], Cell]:
    """Return the cells by network, what is left of it, and data set."""
    return {
        (base, name, data): plan.cell(base, data, **changes)
        for base in plan.rows(BASES)
        for name, changes in VARIANTS.items()
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return the numbers behind the figure."""
    every = cells(plan)
    found = {key: cell.summary(ledger) for key, cell in every.items()}
    rows = []
    for base in plan.rows(BASES):
        for name in VARIANTS:
            ours = [found[base, name, data] for data in DATA]
            called = f"{name} of {METHODS[base].label}"
            rows.append(row(plan, called, map(shown, ours), map(macro, ours)))
    for base in plan.rows(BASES)[:1]:
        rows.append(floor_row(found[base, "ProNet", data] for data in DATA))
    runs = remarks(plan, ((base, cell) for (base, _, _), cell in every.items()), ledger)
    notes = [PARTS, TUNED_NOTE, C_M10M_NOTE, *runs]
    return [sheet("Ablation, Class Split I: accuracy (%)", "network", ("", " macro"), rows, notes)]


def draw(plan: Plan, ledger: Ledger, folder: Path) -> list[Path]:
    """Draw the bars: a figure for each network that parts are taken out of."""
    from unseen.paper.figures import bars

    every = cells(plan)
    paths = []
    for base in plan.rows(BASES):
        found = {
            name: [every[base, name, data].summary(ledger) for data in DATA] for name in VARIANTS
        }
        title = f"Ablation, Class Split I: {METHODS[base].label}" + (" (quick)" * plan.quick)
        paths += bars(found, DATA, folder / f"ablation-{base}", title)
    return paths
