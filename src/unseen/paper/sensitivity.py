"""The K x beta figure: accuracy against the number of hops and the laziness (Class Split I)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unseen.paper.accuracy import remarks, shown
from unseen.paper.methods import WALK
from unseen.paper.published import C_M10M_NOTE, DATA, LABELS
from unseen.paper.sheet import Sheet

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan

METHOD = "dgpn"


def cells(plan: Plan) -> dict[tuple[str, int, float], Cell]:
    """Return the cells by data set, K and beta."""
    return {
        (data, hops, laziness): plan.cell(METHOD, data, hops=hops, laziness=laziness)
        for data in DATA
        for hops in WALK["hops"]
        for laziness in WALK["laziness"]
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return a grid for each data set."""
    every = cells(plan)
    return [
        Sheet(
            f"Accuracy (%) against K and beta, {LABELS[data]}, Class Split I, official code"
            + (" (quick)" if plan.quick else ""),
            ("K", *(f"beta {laziness}" for laziness in WALK["laziness"])),
            [
                (
                    str(hops),
                    *(shown(every[data, hops, beta].summary(ledger)) for beta in WALK["laziness"]),
                )
                for hops in WALK["hops"]
            ],
            [
                *([C_M10M_NOTE] if data == "c-m10m" else []),
                *remarks(
                    plan, ((METHOD, c) for (d, _, _), c in every.items() if d == data), ledger
                ),
            ],
        )
        for data in DATA
    ]


def draw(plan: Plan, ledger: Ledger, folder: Path) -> list[Path]:
    """Draw the heat maps."""
    from unseen.paper.figures import heat_maps

    every = cells(plan)
    found = {
        data: [
            [every[data, hops, beta].summary(ledger) for beta in WALK["laziness"]]
            for hops in WALK["hops"]
        ]
        for data in DATA
    }
    title = "Accuracy (%) of DGPN, official code, Class Split I; the deeper, the better"
    return heat_maps(found, WALK, folder / "sensitivity", title + (" (quick)" * plan.quick))
