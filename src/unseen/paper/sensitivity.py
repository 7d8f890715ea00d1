"""The K x beta figure: accuracy against the number of hops and the laziness (Class Split I)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unseen.models.dgpn.model import DGPN
from unseen.paper.accuracy import Found, floor, macro, remarks, shown
from unseen.paper.published import C_M10M_NOTE, DATA, LABELS
from unseen.paper.sheet import Sheet

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan

METHOD = "dgpn"
AXES = {name: DGPN.search_space[name] for name in ("hops", "laziness")}  # Table 8: K and beta


def cells(plan: Plan) -> dict[tuple[str, int, float], Cell]:
    """Return the cells by data set, K and beta."""
    return {
        (data, hops, laziness): plan.cell(METHOD, data, hops=hops, laziness=laziness)
        for data in DATA
        for hops in AXES["hops"]
        for laziness in AXES["laziness"]
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return a grid for each data set."""
    found = _grids(plan, ledger)
    return [
        Sheet(
            f"Accuracy (%) against K and beta, {LABELS[data]}, Class Split I, official code",
            ("K", *(f"beta {laziness}" for laziness in AXES["laziness"])),
            [
                (
                    f"{hops} (quick)" if plan.quick else str(hops),
                    *(f"{shown(each)} ({macro(each)})" for each in row),
                )
                for hops, row in zip(AXES["hops"], found[data], strict=True)
            ],
            [
                f"In brackets: macro accuracy. Majority floor: {floor(found[data][0][0])}.",
                "Alpha and epochs are those of the released code for each data set, which were set "
                "with test accuracy in view.",
                *([C_M10M_NOTE] if data == "c-m10m" else []),
                *remarks(
                    plan, [(METHOD, c) for k, c in cells(plan).items() if k[0] == data], ledger
                ),
            ],
        )
        for data in DATA
    ]


def draw(plan: Plan, ledger: Ledger, folder: Path) -> list[Path]:
    """Draw the heat maps."""
    from unseen.paper.figures import heat_maps

    title = "Accuracy (%) of DGPN, official code, Class Split I; the deeper, the better"
    title += " (quick)" * plan.quick
    return heat_maps(_grids(plan, ledger), AXES, folder / "sensitivity", title)


def _grids(plan: Plan, ledger: Ledger) -> dict[str, list[list[Found]]]:
    """Return what came out by data set: a row for each K, a column for each beta."""
    every = cells(plan)
    return {
        data: [
            [every[data, hops, beta].summary(ledger) for beta in AXES["laziness"]]
            for hops in AXES["hops"]
        ]
        for data in DATA
    }
