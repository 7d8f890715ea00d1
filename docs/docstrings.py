"""Doctests and formulas of docstrings as blocks of code, not as quotations."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

DOCTEST = re.compile(r"^( *)>>> .*\n?(?:\1\S.*\n?)*", re.MULTILINE)
FORMULA = re.compile(r"^( *)\.\. math::(.*\n(?:\1 +.*\n|\n(?=\1 +\S))*)", re.MULTILINE)


def fenced(text: str) -> str:
    """Return a docstring with its doctests and formulas between fences."""

    def doctest(found: re.Match[str]) -> str:
        margin = found[1]
        return f"{margin}```pycon\n{found[0].rstrip()}\n{margin}```\n"

    def formula(found: re.Match[str]) -> str:
        margin = found[1]
        lines = [line.strip() for line in found[2].strip().splitlines() if line.strip()]
        body = "\n".join(margin + line for line in lines)
        return f"{margin}```latex\n{body}\n{margin}```\n"

    text = FORMULA.sub(formula, text + "\n")
    return DOCTEST.sub(doctest, re.sub(r":math:(`[^`]*`)", r"\1", text))


class Docstrings(Extension):  # type: ignore[misc]
    """Run over every docstring before it is read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Fence what stands in the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
