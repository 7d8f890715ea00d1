"""What the command line shows: progress on standard error, tables and lines on standard output."""

from __future__ import annotations

import inspect
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import typer

from unseen.cli.options import Quiet, Verbose
from unseen.core.errors import InputError, cut
from unseen.core.escape import json_text, terminal

if TYPE_CHECKING:
    from unseen.encode.base import Progress


LONGEST_CELL, LONGEST_LINE = 300, 600  # characters
FOLDED = 14  # characters that a column may be narrowed to
SILENT, EVERY = 10.0, 10.0  # seconds: before the first line of a log, and between two of them


@dataclass
class Voice:
    """How much a command says; one process runs one command."""

    quiet: bool = False
    verbose: bool = False


VOICE = Voice()


def voiced(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that also takes --quiet and --verbose."""

    @wraps(command)
    def run(*args: Any, quiet: bool = False, verbose: bool = False, **named: Any) -> None:
        if quiet and verbose:
            raise InputError("--quiet: and --verbose contradict each other; give one of them")
        VOICE.quiet, VOICE.verbose = quiet, verbose
        command(*args, **named)

    kinds = {"quiet": Quiet, "verbose": Verbose}
    own = inspect.signature(command, eval_str=True)  # typer reads it as it is
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in kinds.items()
    ]
    found: Any = run
    found.__signature__ = own.replace(parameters=[*own.parameters.values(), *more])
    found.__annotations__ = {**command.__annotations__, **kinds}
    return run


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Progress]:
    """Show what is going on, on standard error so that output can be piped.

    A bar on a terminal. Elsewhere, and with --verbose, lines of a log: none in the first seconds,
    then one for each thing that is begun, and one every few seconds.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or VOICE.quiet:
        yield lambda what, done, total: None
    elif VOICE.verbose or not console.is_terminal:
        yield Log(0.0 if VOICE.verbose else SILENT)
    else:
        with _bar(console) as bar:
            task = bar.add_task("start", total=1)

            def report(what: str, done: int, total: int) -> None:
                bar.update(task, description=terminal(what), completed=done, total=total)

            yield report


def _bar(console: Any) -> Any:
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True)


class Log:
    """Lines on standard error: `unseen: 12 s, encode texts, 4,096 of 100,000`.

    Args:
        after: seconds in which nothing is said.
        clock: tells the time in seconds.
    """

    def __init__(self, after: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._after, self._clock = after, clock
        self._began = self._told = clock()
        self._what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say what is done, unless it was said a moment ago."""
        now = self._clock()
        new = what != self._what
        if now - self._began < self._after or not (new or now - self._told >= EVERY):
            return
        self._what, self._told = what, now
        far = f", {done:,} of {total:,}" if total > 1 else ""
        sys.stderr.write(f"unseen: {now - self._began:.0f} s, {terminal(what)}{far}\n")
        sys.stderr.flush()


def print_table(title: str, header: tuple[str, ...], rows: list[Any]) -> None:
    """Print a table; one that is too wide in blocks of columns, the first column in each.

    Long cells are folded first: a table of a few columns stays one table.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if VOICE.quiet:
        return
    console = Console()
    title, header = terminal(title), tuple(map(terminal, header))
    cells = [[cut(terminal(cell), LONGEST_CELL, LONGEST_CELL - 3) for cell in row] for row in rows]
    # a column is as wide as its widest cell, a space on both sides and a line; a last line ends it
    widths = [3 + max(map(cell_len, column)) for column in zip(header, *cells, strict=True)]
    least = [min(width, 3 + FOLDED) for width in widths]
    blocks: list[list[int]] = [[]]
    for at in range(1, len(header)):
        taken = 1 + widths[0] + sum(widths[each] for each in blocks[-1])
        if blocks[-1] and taken + widths[at] > console.width and 1 + sum(least) > console.width:
            blocks.append([])
        blocks[-1].append(at)
    for block in blocks:
        said = escape(title) if block is blocks[0] else None
        table = Table(title=said, title_justify="left", show_header=any(header))
        for at in (0, *block):
            table.add_column(header[at], overflow="fold", no_wrap=widths[at] <= 3 + FOLDED)
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
    if VOICE.quiet:
        return
    indent = " " * (len(text) - len(text.lstrip(" ")))
    line = indent + " ".join(text.split())
    typer.echo(terminal(cut(line, LONGEST_LINE, LONGEST_LINE - 100)))


def plain(value: Any) -> str:
    """Return any value of a record as a cell has it, floats with four digits.

    >>> plain([0.30000000000000004, "a", None])
    '0.3, a, -'
    """
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    return "-" if value is None else str(value)


def print_json(value: Any) -> None:
    """Print a value for machines."""
    typer.echo(json_text(json.dumps(value, ensure_ascii=False, indent=1, default=str)))
