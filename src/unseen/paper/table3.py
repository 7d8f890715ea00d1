"""Table 3: every method on both class splits; settings of II chosen on validation classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.paper.accuracy import Found, Row, macro, relative, remarks, row, sheet, shown
from unseen.paper.methods import METHODS, method_of
from unseen.paper.plan import Summary
from unseen.paper.published import C_M10M_NOTE, DATA, IMPROVE, LABELS, TABLE_3

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Cell, Plan
    from unseen.paper.sheet import Sheet

OURS = "dgpn"
DEFAULTS = (
    "Settings: the public defaults of each baseline; DGPN K=3, beta=0.7. The row of the official "
    "code also takes its alpha and epochs of each data set, which the authors set without "
    "validation classes, with test accuracy in view: a test-tuned setting, repeated here as it is. "
    "The row as printed has alpha 1 and 1,000 epochs everywhere."
)
SEARCHED = (
    "Settings: those that did best on the validation classes (`unseen reproduce search`); nothing "
    "was chosen on test classes. Training uses the training classes alone."
)


def cells(plan: Plan) -> dict[tuple[str, str, str], Cell]:
    """Return the cells by split, method and data set."""
    return {
        (split, method, data): plan.cell(method, data, split)
        for split in ("I", "II")
        for method in _rows(plan)
        for data in DATA
    }


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return a table for each split."""
    return [_sheet(split, plan, ledger) for split in ("I", "II")]


def _rows(plan: Plan) -> tuple[str, ...]:
    return (*plan.rows(tuple(METHODS)), *plan.own)


def _sheet(split: str, plan: Plan, ledger: Ledger) -> Sheet:
    here = {key[1:]: cell for key, cell in cells(plan).items() if key[0] == split}
    found = {key: cell.summary(ledger) for key, cell in here.items()}
    rows = []
    for method in _rows(plan):
        ours = [found[method, data] for data in DATA]
        paper = TABLE_3[split].get(method, ("-",) * len(DATA))
        rows.append(row(plan, method_of(method).label, map(shown, ours), map(macro, ours), paper))
    if OURS in _rows(plan):
        rows.append(_improve(split, plan, found))
    settings = [DEFAULTS] if split == "I" else [SEARCHED, *_not_searched(plan)]
    runs = remarks(plan, ((method, cell) for (method, _), cell in here.items()), ledger)
    title = f"Table 3, Class Split {split}: zero-shot accuracy (%)"
    return sheet(title, "method", ("", " macro", " paper"), rows, [*settings, C_M10M_NOTE, *runs])


def _not_searched(plan: Plan) -> list[str]:
    """Say which rows of Class Split II have their defaults."""
    without = []
    for name in _rows(plan):
        about, searched = method_of(name), plan.chosen.get(name, ())
        missing = [LABELS[data] for data in DATA if data not in searched]
        if missing and (about.space or about.epochs or name in plan.own):
            without.append(about.label + (f" on {', '.join(missing)}" if searched else ""))
    return [f"No search was made for {'; '.join(without)}: their defaults."] if without else []


def _improve(split: str, plan: Plan, found: dict[tuple[str, str], Found]) -> Row:
    """Ours against the best baseline, as the paper's last row has it (the floor is no baseline)."""
    baselines = [
        method
        for method in plan.rows(tuple(METHODS))
        if not method.startswith((OURS, "majority")) and not method.endswith("-random")
    ]
    change = []
    for data in DATA:
        rivals = [each for m in baselines if isinstance(each := found[m, data], Summary)]
        best = max(rivals, key=lambda each: each.accuracy, default=None)
        change.append(relative(found[OURS, data], best))
    return row(plan, "Improve over the best baseline", change, [""] * len(DATA), IMPROVE[split])
