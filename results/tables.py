"""Write the tables of README.md and of pages under docs/ from the records here.

Every block between `<!-- table NAME -->` and `<!-- /table -->` is replaced by that table, and every
one between `<!-- sheet EXPERIMENT NUMBER -->` and `<!-- /sheet -->` by that of results/paper.

    python results/tables.py
"""

from __future__ import annotations

import json
from pathlib import Path

import feature_tables
import flags
import text_peers
import text_tables
import zoo_tables

from unseen.paper.pages import fill
from unseen.paper.sheet import Sheet

HERE = Path(__file__).parent
PAGES = (
    "docs/results.md",
    "README.md",
    "docs/reproduction.md",
    "docs/understand/confidence.md",
    "docs/understand/limitations.md",
    "docs/understand/related-work.md",
)
TABLES = {
    name: make
    for room in (text_tables, feature_tables, zoo_tables, flags, text_peers)
    for name, make in room.TABLES.items()
}


def sheet(name: str) -> str:
    """Return a table of the paper, such as "table3 0", as its record has it."""
    experiment, number = name.split()
    record = json.loads((HERE / "paper" / f"{experiment}.json").read_text("utf-8"))
    return Sheet.of(record["sheets"][int(number)]).markdown()


def filled(page: str) -> str:
    """Return a page with every table as the records have it."""
    return fill(page, {"table": lambda name: TABLES[name](), "sheet": sheet})


if __name__ == "__main__":
    for path in (HERE.parent / page for page in PAGES):
        path.write_text(filled(path.read_text("utf-8")), "utf-8")
