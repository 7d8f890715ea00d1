"""The command line: parse, call, print. Heavy imports wait inside the commands."""

from __future__ import annotations

from typing import Annotated

import typer

from unseen.cli.console import voiced
from unseen.cli.datasets import datasets_app
from unseen.cli.describe import describe
from unseen.cli.encode import encode
from unseen.cli.evaluate import compare, csd, evaluate
from unseen.cli.experiments import demo, reproduce
from unseen.cli.given import Command
from unseen.cli.gone import classify_walk, walk
from unseen.cli.graph import classify, predict
from unseen.cli.look import check, suggest
from unseen.cli.serve import serve

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Classify the nodes of a graph into classes that nobody has labelled.\n\n"
    "Start with [bold]unseen demo[/bold], then bring your own graph:\n\n"
    "[bold]unseen classify --nodes nodes.csv --edges edges.csv --classes classes.csv --out run"
    "[/bold]\n\nFiles are .csv, .tsv, .parquet or .jsonl. Nodes: id, text (or numeric columns), "
    "optional label. Edges: source, target, optional weight. Classes: name, optional description."
    "\n\nWhat a command does and an example of it: [bold]unseen COMMAND --help[/bold]",
)
COMMANDS = {  # in the order of the help
    "Start": (demo, check, classify),
    "Look at a run, correct it, go on": (evaluate, suggest, predict, compare, serve),
    "Texts": (describe, csd, encode),
    "Data sets and the paper": (reproduce,),
}
for part, commands in COMMANDS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=part)(voiced(command))
for former in (walk, classify_walk):
    app.command(hidden=True, context_settings={"ignore_unknown_options": True})(former)
app.add_typer(datasets_app, name="datasets", rich_help_panel=part)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"unseen {version('unseen')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", metavar="", callback=_version)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error and exit code 2."""
    from unseen.cli.door import guarded

    guarded(app)
