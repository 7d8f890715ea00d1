"""The ablation figure: what the decomposed convolution and the local loss add (Class Split I)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.paper.accuracy import macro, remarks, shown
from unseen.paper.methods import METHODS
from unseen.paper.plan import Summary
from unseen.paper.published import C_M10M_NOTE, DATA, LABELS, TUNED_NOTE
from unseen.paper.sheet import Sheet

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan

VARIANTS: dict[str, dict[str, Any]] = {  # both are DGPN with a part taken out
    "ProNet": {"hops": 0, "local_weight": 0.0},
    "ProNet+GCN": {"local_weight": 0.0},
    "ProNet+GCN+LL": {},
}
BASES = ("dgpn", "dgpn-paper")


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
    rows = []
    for base in plan.rows(BASES):
        for name in VARIANTS:
            found = [every[base, name, data].summary(ledger) for data in DATA]
            kind = METHODS[base].label
            cut = " (quick)" if plan.quick else ""
            numbers = [text for each in found for text in (shown(each), macro(each))]
            rows.append((f"{name} of {kind}{cut}", *numbers))
    for base in plan.rows(BASES)[:1]:
        floors = [every[base, "ProNet", data].summary(ledger) for data in DATA]
        floor = [f"{each.floor:.2f}" if isinstance(each, Summary) else "-" for each in floors]
        rows.append(("Majority (floor)", *(text for each in floor for text in (each, "-"))))
    return [
        Sheet(
            "Ablation, Class Split I: accuracy (%)",
            ("network", *(f"{LABELS[data]}{what}" for data in DATA for what in ("", " macro"))),
            rows,
            [
                "The paper shows a picture without numbers. ProNet: K = 0 and no local loss; "
                "ProNet+GCN: no local loss; ProNet+GCN+LL: all of DGPN.",
                TUNED_NOTE,
                C_M10M_NOTE,
                *remarks(plan, ((base, cell) for (base, _, _), cell in every.items()), ledger),
            ],
        )
    ]


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
