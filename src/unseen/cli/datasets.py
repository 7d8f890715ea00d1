"""Commands for graphs to try things on: `unseen datasets list`, `get` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import print_json, print_table, progress_bar, say
from unseen.cli.given import Command
from unseen.cli.options import AsJson

datasets_app = typer.Typer(
    no_args_is_help=True, help="Graphs to try: list them, fetch them, write them as files."
)


@datasets_app.command("list", cls=Command)
def list_datasets(as_json: AsJson = False) -> None:
    """List the data sets, and whether they are on this machine."""
    from unseen.datasets.registry import names

    if as_json:
        print_json(dict(names()))
        return
    print_table("Data sets", ("name", "about"), names())


@datasets_app.command("get", cls=Command)
def get_dataset(name: Annotated[str, typer.Argument(help="Name of the set.")]) -> None:
    """Fetch a data set, so that it can be used offline."""
    from unseen.datasets.catalogue import CATALOGUE
    from unseen.datasets.fetch import get
    from unseen.datasets.registry import load

    with progress_bar(False) as progress:
        folder = get(name, lambda step: progress(step, 0, 1))
    say(f"{name} is ready in {folder}")
    for note in load(name).notes if name in CATALOGUE else ():
        say(f"Note: {note}")


@datasets_app.command("export", cls=Command)
def export_dataset(
    name: Annotated[str, typer.Argument(help="Name of the set.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write.")],
    split: Annotated[
        str | None, typer.Option(help="Fill in the labels of the seen classes of this split.")
    ] = None,
) -> None:
    """Write nodes, edges, classes and truth as files that the other commands read.

    Example: [bold]unseen datasets export stdlib graph[/bold]
    """
    from unseen.datasets.export import export
    from unseen.datasets.registry import load

    for path in export(load(name), folder, split):
        say(str(path))
