"""`Sheet`: a table ready to be read, on a terminal or in a page of the docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class Sheet:
    """A title, named columns, rows of cells as they are printed, and notes below."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Return a sheet as JSON has it."""
        rows = [tuple(row) for row in record["rows"]]
        return cls(record["title"], tuple(record["columns"]), rows, record["notes"])

    def markdown(self) -> str:
        """Return the table as Markdown, without its title.

        >>> print(Sheet("t", ("a", "b"), [("1", "2")]).markdown())
        | a | b |
        |---|---|
        | 1 | 2 |
        """
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        table = ["|" + "|".join(lines[1]) + "|" if row is lines[1] else _line(row) for row in lines]
        return "\n".join([*table, *(f"\n{_escaped(note)}" for note in self.notes)])


def _line(row: tuple[str, ...]) -> str:
    return "| " + " | ".join(_escaped(cell).replace("|", "\\|") for cell in row) + " |"


def _escaped(text: str) -> str:
    return text.replace("*", "\\*")
