"""Pages whose tables are written from records: docs, README.

A block `<!-- KIND NAME -->` ... `<!-- /KIND -->` of a page is replaced by what a function makes of
NAME, so that no number is copied by hand and a test can tell when one was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from unseen.core.errors import InputError, shortlist

Makers = Mapping[str, Callable[[str], str]]  # by kind: from the name of a block to its text
BLOCK = re.compile(r"(<!-- (\w+) ([^>]*?) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    """Return kind and name of every block of a page, in order.

    >>> blocks("<!-- table sums -->\\n<!-- /table -->")
    [('table', 'sums')]
    """
    return [(found[2], found[3]) for found in BLOCK.finditer(page)]


def fill(page: str, makers: Makers) -> str:
    """Return a page with every block as its maker has it.

    >>> print(fill("<!-- sum 1 2 -->\\nold\\n<!-- /sum -->", {"sum": lambda name: name}))
    <!-- sum 1 2 -->
    1 2
    <!-- /sum -->
    """

    def made(found: re.Match[str]) -> str:
        head, kind, name, _, tail = found.groups()
        if kind not in makers:
            raise InputError(
                f"page: nothing makes the block {kind} {name!r}; there is {shortlist(list(makers))}"
            )
        return f"{head}{makers[kind](name).rstrip()}\n{tail}"

    return BLOCK.sub(made, page)


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown.

    >>> print(markdown(("a", "b"), [("1", "2")]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
