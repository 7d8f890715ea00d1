"""How accuracies are printed: mean and deviation, macro accuracy, the published figure beside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from unseen.paper.methods import method_of
from unseen.paper.plan import QUICK_SHARE, Summary
from unseen.paper.published import DATA, LABELS
from unseen.paper.sheet import Sheet

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan

Found = Summary | str | None
Row = tuple[str, ...]


def shown(found: Found) -> str:
    """Return accuracy and deviation, or why there is none."""
    if isinstance(found, Summary):
        return f"{found.accuracy:.2f}±{found.deviation:.2f}" + ("†" if found.constant else "")
    return "not run" if found is None else found


def macro(found: Found) -> str:
    """Return the macro accuracy."""
    return f"{found.macro:.2f}" if isinstance(found, Summary) else "-"


def floor(found: Found) -> str:
    """Return the accuracy of the best constant answer."""
    return f"{found.floor:.2f}" if isinstance(found, Summary) else "-"


def relative(ours: Found, other: Found) -> str:
    """Return by how much of the other's accuracy ours differs."""
    if not isinstance(ours, Summary) or not isinstance(other, Summary):
        return "-"
    return f"{100 * (ours.accuracy / other.accuracy - 1):+.2f}%"


def row(plan: Plan, name: str, *columns: Iterable[str]) -> Row:
    """Return a row, data set by data set a cell of every column, with a word about a quick run."""
    cells = (text for each in zip(*columns, strict=True) for text in each)
    return (name + (" (quick)" if plan.quick else ""), *cells)


def floor_row(found: Iterable[Found]) -> Row:
    """Return the row of the best constant answer, in a table of two columns a data set."""
    return ("Majority (floor)", *(text for each in found for text in (floor(each), "-")))


def sheet(
    title: str,
    first: str,
    parts: tuple[str, ...],
    rows: list[Row],
    notes: list[str],
    data: tuple[str, ...] = DATA,
    star: bool = True,
) -> Sheet:
    """Return a table whose first column has this name, with `parts` columns for each data set."""
    names = [LABELS[each] if star else LABELS[each].rstrip("*") for each in data]
    return Sheet(
        title, (first, *(f"{name}{part}" for name in names for part in parts)), rows, notes
    )


def remarks(plan: Plan, cells: Iterable[tuple[str, Cell]], ledger: Ledger) -> list[str]:
    """Return what a reader should know about runs: how many, cut short, constant."""
    runs: dict[str, int] = {}
    stopped: dict[str, list[int]] = {}
    constant = False
    missing: dict[str, None] = {}  # in order
    for method, cell in cells:
        found = cell.summary(ledger)
        if not isinstance(found, Summary):
            outcomes = [ledger[trial] for trial in cell.trials if trial in ledger]
            missing |= {f"{o['missing']}: {o['why']}": None for o in outcomes if "missing" in o}
            continue
        name = method_of(method).label
        runs[name] = max(runs.get(name, 0), found.runs)
        constant |= found.constant > 0
        if found.stopped:
            stopped.setdefault(name, []).extend(found.stopped)
    notes = [f"Quick: 1/{QUICK_SHARE} of the epochs of each schedule."] if plan.quick else []
    if runs:
        notes.append("Runs: " + ", ".join(f"{name} {n}" for name, n in runs.items()) + ".")
    for name, epochs in stopped.items():
        notes.append(
            f"{name}: {len(epochs)} runs ended before their schedule because the training loss no "
            f"longer fell, after {min(epochs):,} to {max(epochs):,} epochs."
        )
    notes += [f"{why[0].upper()}{why[1:]}." for why in missing]
    if constant:
        notes.append("† At least one of the runs gave every node the same class.")
    return notes
