"""The K x beta figure: accuracy against the number of hops and the laziness (Class Split I)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unseen.paper.accuracy import macro, remarks, shown
from unseen.paper.methods import WALK
from unseen.paper.plan import Summary
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
    return [_sheet(data, plan, ledger, every) for data in DATA]


def _sheet(
    data: str, plan: Plan, ledger: Ledger, every: dict[tuple[str, int, float], Cell]
) -> Sheet:
    rows = []
    for hops in WALK["hops"]:
        found = [every[data, hops, beta].summary(ledger) for beta in WALK["laziness"]]
        rows.append(
            (
                f"{hops} (quick)" if plan.quick else str(hops),
                *(f"{shown(each)} ({macro(each)})" for each in found),
            )
        )
    floor = next((each.floor for each in found if isinstance(each, Summary)), float("nan"))
    return Sheet(
        f"Accuracy (%) against K and beta, {LABELS[data]}, Class Split I, official code",
        ("K", *(f"beta {laziness}" for laziness in WALK["laziness"])),
        rows,
        [
            f"In brackets: macro accuracy. Majority floor: {floor:.2f}.",
            "Alpha and epochs are those of the released code for each data set, which were set "
            "with test accuracy in view.",
            *([C_M10M_NOTE] if data == "c-m10m" else []),
            *remarks(plan, [(METHOD, every[key]) for key in every if key[0] == data], ledger),
        ],
    )


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
