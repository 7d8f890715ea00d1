"""Text of users made harmless for where it goes: a terminal, Markdown, a cell of a spreadsheet.

HTML has `html.escape` (`core/html.py`, `report/safe.py`). A name of a class may hold anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# C0 and C1 controls but for the end of a line, what turns the direction of writing, half characters
CONTROL = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
MARKS = re.compile(r"([\\`*_\[\]<>!|~&$@]|:(?=//)|(?<=\bwww)\.)", re.IGNORECASE)
FORMULA = re.compile(r"\s*[=+\-@]|[\t\r]")


def terminal(text: object) -> str:
    r"""Return a text whose control characters are shown instead of obeyed.

    >>> terminal("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], str(text))


def json_text(encoded: str) -> str:
    """Return JSON that means the same and holds nothing that a terminal obeys."""
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded)


def markdown(text: object) -> str:
    r"""Return a text as Markdown shows it, letter for letter: no image, link, tag or end of a cell.

    >>> print(markdown("![x](http://host/p.png) | b"))
    \!\[x\](http\://host/p.png) \| b
    """
    return MARKS.sub(r"\\\1", terminal(" ".join(str(text).split())))


def formula(text: str) -> str:
    """Return a cell that a spreadsheet does not compute: with an apostrophe before what it would.

    >>> formula("=1+1"), formula("a=b")
    ("'=1+1", 'a=b')
    """
    return f"'{text}" if FORMULA.match(text) else text


def without_apostrophe(cell: str) -> str:
    """Return a cell as it was before `formula`.

    >>> without_apostrophe("'=1+1"), without_apostrophe("'a'")
    ('=1+1', "'a'")
    """
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell[1:]) else cell


def without_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose cells of text are all harmless in a spreadsheet."""
    import polars as pl

    return table.with_columns(
        pl.col(name).map_elements(formula, return_dtype=pl.String, skip_nulls=True)
        for name, kind in table.schema.items()
        if kind == pl.String
    )
