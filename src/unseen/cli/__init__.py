"""The command line: parse, call, print. Heavy imports wait inside the commands."""

from __future__ import annotations

import io
import sys

import typer

from unseen.cli.datasets import datasets_app
from unseen.cli.describe import describe
from unseen.cli.disk import classify_walk, walk
from unseen.cli.evaluate import compare, csd, evaluate
from unseen.cli.experiments import demo, reproduce
from unseen.cli.graph import check, classify, predict, suggest

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Labels for classes that nobody has labelled: zero-shot node classification.\n\n"
    "Start with [bold]unseen demo[/bold], then bring your own graph: "
    "[bold]unseen classify --nodes nodes.csv --edges edges.csv --classes classes.csv --out run"
    "[/bold]\n\nFiles may be .csv, .tsv, .parquet or .jsonl. Nodes: id, text (or numeric columns), "
    "optional label. Edges: source, target, optional weight. Classes: name, optional description.",
)
for command in (  # in the order of the help
    classify,
    predict,
    check,
    suggest,
    evaluate,
    compare,
    csd,
    describe,
    demo,
    reproduce,
):
    app.command()(command)
for alias in (walk, classify_walk):  # until an engine for graphs on disk replaces them
    app.command(hidden=True)(alias)
app.add_typer(datasets_app, name="datasets")


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error and exit code 2."""
    from unseen.core.errors import UnseenError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows another
            stream.reconfigure(errors="replace")
    try:
        app()
    except UnseenError as error:
        sys.stderr.write(f"unseen: {' '.join(str(error).split())}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write(
            "unseen: interrupted; no half-written file is left, and finished parts are kept\n"
        )
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        sys.stderr.write(f"unseen: {error.filename or ''}: {error.strerror or error}\n")
        sys.exit(2)
    except MemoryError:
        sys.stderr.write("unseen: not enough memory for this graph; try a smaller one\n")
        sys.exit(2)
