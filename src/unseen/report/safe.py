"""Strings of users made harmless for the three languages of the page, and numbers made readable.

A class name may hold anything. In HTML it is escaped; inside a script element the JSON of a figure
has no `<`, `>` or `&` at all; and plotly, which reads a little HTML of its own in hover texts and
tick labels, gets entities that it prints as the characters they stand for.
"""

from __future__ import annotations

import html
import math
import textwrap

SCRIPT_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028"}
NO_VALUE = "–"


def text(value: object) -> str:
    """Escape a value for HTML, within elements and within quoted attributes."""
    return html.escape(str(value), quote=True)


def plotly_text(value: object) -> str:
    """Escape a value for plotly's own small HTML; quotes stay, since it knows no such entity."""
    return html.escape(" ".join(str(value).split()), quote=False)


def script_json(encoded: str) -> str:
    """Return JSON that means the same and cannot end the script element it stands in."""
    for character, escape in SCRIPT_ESCAPES.items():
        encoded = encoded.replace(character, escape)
    return encoded


def clip(value: object, most: int) -> str:
    """Cut a long string, with an ellipsis where it was cut; escape afterwards, not before."""
    whole = " ".join(str(value).split())
    return whole if len(whole) <= most else whole[: most - 1].rstrip() + "…"


def wrapped(value: object, width: int) -> str:
    """Break a text into lines for a plotly hover box; escaped."""
    lines = textwrap.wrap(" ".join(str(value).split()), width)
    return "<br>".join(plotly_text(line) for line in lines)


def number(value: float | None, digits: int = 2) -> str:
    """Write a number with fixed digits, or a dash where there is none.

    >>> number(0.714), number(None)
    ('0.71', '–')
    """
    if value is None or not math.isfinite(value):
        return NO_VALUE
    return f"{value:,.{digits}f}"


def count(value: int, one: str, many: str | None = None) -> str:
    """Write a count with its noun.

    >>> count(1, "node"), count(5021, "node"), count(2, "class", "classes")
    ('1 node', '5,021 nodes', '2 classes')
    """
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """Write a time.

    >>> duration(0.034), duration(12.34), duration(200)
    ('34 ms', '12.3 s', '3 min 20 s')
    """
    if seconds < 0.0995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def percent(share: float) -> str:
    """Write a share between 0 and 1 as a percentage.

    >>> percent(0.414), percent(0.0004)
    ('41%', '<1%')
    """
    return "<1%" if 0 < share < 0.005 else f"{100 * share:.0f}%"
