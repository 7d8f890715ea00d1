"""Write the tables of docs/reproduction.md from the records in results/paper.

Every block between `<!-- sheet NAME NUMBER -->` and `<!-- /sheet -->` is replaced by that table.

    python results/docs.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from unseen.paper.sheet import Sheet

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "reproduction.md"
BLOCK = re.compile(r"(<!-- sheet (\w+) (\d+) -->\n).*?(\n?<!-- /sheet -->)", re.DOTALL)


def table(found: re.Match[str]) -> str:
    """Return a block with its table as the record has it."""
    head, name, number, _ = found.groups()
    record = json.loads((HERE / "paper" / f"{name}.json").read_text("utf-8"))
    each = record["sheets"][int(number)]
    sheet = Sheet(
        each["title"], tuple(each["columns"]), [tuple(row) for row in each["rows"]], each["notes"]
    )
    return f"{head}{sheet.markdown()}\n<!-- /sheet -->"


if __name__ == "__main__":
    PAGE.write_text(BLOCK.sub(table, PAGE.read_text("utf-8")), "utf-8")
