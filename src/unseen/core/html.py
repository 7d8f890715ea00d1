"""Small HTML tables for notebooks; whatever came from the user is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

MOST_ROWS = 20
LONGEST = 120  # characters of a cell


def short(text: object, most: int = LONGEST) -> str:
    """Return a text on one line, cut to a length."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def html_table(
    caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], total: int
) -> str:
    """Return the first rows as a table, with a line that says how many more there are."""

    def line(cells: Iterable[object], tag: str) -> str:
        inner = (f"<{tag} style='text-align:left'>{escape(short(cell))}</{tag}>" for cell in cells)
        return f"<tr>{''.join(inner)}</tr>"

    body = "".join(line(row, "td") for row in islice(rows, MOST_ROWS))
    more = f"<p>and {total - MOST_ROWS:,} more</p>" if total > MOST_ROWS else ""
    head = f"<caption>{escape(caption)}</caption><thead>{line(columns, 'th')}</thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>{more}"
