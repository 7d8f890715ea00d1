"""How often flagged answers are right: design graphs of the zoo, no labels, encoder `static`.

    python results/flags.py     run what is missing, then print the table of confidence.md

The column `flags` names what deserves a look. One line of flags.jsonl is one graph: how many of its
answers have each flag, how many have none, and how many of either are right.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from graphs import catalogue
from records import HERE
from runner import run_missing
from zoo import ZooTask, inputs

import unseen
from unseen.explain.reasons import FLAGS
from unseen.paper.ledger import Ledger
from unseen.paper.pages import markdown
from unseen.paper.trial import Outcome

FILE = "flags.jsonl"
NONE, ANY = "no flag", "any flag"


@dataclass(frozen=True)
class Flagged:
    """One graph, with class texts of one kind."""

    graph: str
    texts: str = "paragraph"

    def key(self) -> str:
        """Return the trial as a line of text."""
        return json.dumps(asdict(self), sort_keys=True)


def run(trial: Flagged) -> Outcome:
    """Classify, and count answers and right ones by flag."""
    task = ZooTask(trial.graph, trial.texts, "all", "none", "asis", "static")
    graph, classes, truth = inputs(task)
    found = unseen.classify(graph, classes)
    return counted(list(found.flags), found.label == truth[found.nodes])


def counted(flags: list[str], right: Any) -> Outcome:
    """Return how many answers have each flag, and how many of them are right.

    >>> counted(["", "no text; close call"], np.array([True, False]))["close call"]
    {'answers': 1, 'right': 0}
    """
    sets = [set(each.split("; ")) - {""} for each in flags]
    having = {name: np.array([name in each for each in sets], dtype=bool) for name in FLAGS}
    having[ANY] = np.array([bool(each) for each in sets], dtype=bool)
    having[NONE] = ~having[ANY]
    return {
        name: {"answers": int(rows.sum()), "right": int(np.asarray(right)[rows].sum())}
        for name, rows in having.items()
    }


def table(folder: Path = HERE) -> str:
    """Return a row a flag: share of the answers, accuracy with and without it; means over graphs.

    A graph counts for a flag if 20 of its answers have it and 20 do not.
    """
    ledger = Ledger(folder, FILE)
    found = [ledger[trial] for trial in asked() if trial in ledger]
    rows = []
    for name in (*FLAGS, ANY):
        cells = []
        for each in found:
            whole = {key: each[ANY][key] + each[NONE][key] for key in ("answers", "right")}
            ours, all_, good = each[name], whole["answers"], whole["right"]
            if min(ours["answers"], all_ - ours["answers"]) < 20:
                continue
            without = (good - ours["right"]) / (all_ - ours["answers"])
            cells.append((ours["answers"] / all_, ours["right"] / ours["answers"], without))
        if cells:
            share, with_it, without = 100 * np.mean(cells, axis=0)
            lower = sum(cell[1] < cell[2] for cell in cells)
            figures = (f"{share:.0f} %", f"{with_it:.0f} %", f"{without:.0f} %")
            rows.append((name, *figures, f"{lower} of {len(cells)}"))
    head = ("flag", "answers with it", "right with it", "right without it", "lower on")
    return markdown(head, rows)


def asked() -> list[Flagged]:
    """Return one trial a graph of the design set."""
    return [Flagged(name) for name in catalogue.names("design")]


TABLES = {"flags": table}


if __name__ == "__main__":
    run_missing(asked(), Ledger(HERE, FILE), run, lambda trial, found: f"{trial.graph}: {found}")
    print(table())
