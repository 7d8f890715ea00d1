"""What the command line shows: progress on standard error, tables and lines on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from unseen.core.errors import cut
from unseen.core.escape import json_text, terminal

if TYPE_CHECKING:
    from unseen.encode.base import Progress


LONGEST_CELL, LONGEST_LINE = 300, 600  # characters


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress]:
    """Show a bar for what is going on, on standard error so that output can be piped."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, quiet=quiet)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    silent = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("start", total=1)

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=terminal(what), completed=done, total=total)

        yield report


def print_table(title: str, header: tuple[str, ...], rows: list[Any]) -> None:
    """Print a table; one that is too wide in blocks of columns, the first column in each."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    title, header = terminal(title), tuple(map(terminal, header))
    cells = [[cut(terminal(cell), LONGEST_CELL, LONGEST_CELL - 3) for cell in row] for row in rows]
    # a column is as wide as its widest cell, a space on both sides and a line; a last line ends it
    widths = [3 + max(map(cell_len, column)) for column in zip(header, *cells, strict=True)]
    blocks: list[list[int]] = [[]]
    for at in range(1, len(header)):
        taken = 1 + widths[0] + sum(widths[each] for each in blocks[-1])
        if blocks[-1] and taken + widths[at] > console.width:
            blocks.append([])
        blocks[-1].append(at)
    for block in blocks:
        said = escape(title) if block is blocks[0] else None
        table = Table(title=said, title_justify="left", show_header=any(header))
        for at in (0, *block):
            table.add_column(header[at], overflow="fold")
        for row in cells:
            table.add_row(*(escape(row[at]) for at in (0, *block)))
        console.print(table)


def number(value: Any) -> str:
    """Return a number as a cell has it."""
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def say(text: str) -> None:
    """Print a line, indented as it is given."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    line = indent + " ".join(text.split())
    typer.echo(terminal(cut(line, LONGEST_LINE, LONGEST_LINE - 100)))


def print_json(value: Any) -> None:
    """Print a value for machines."""
    typer.echo(json_text(json.dumps(value, ensure_ascii=False, indent=1, default=str)))
