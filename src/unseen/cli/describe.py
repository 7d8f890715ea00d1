"""`unseen describe`: drafts of class texts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import print_json, progress_bar, say
from unseen.cli.given import refuse
from unseen.cli.options import AsJson, ClassFile, Seed, TextColumns


def describe(
    class_file: ClassFile,
    out: Annotated[
        Path, typer.Option(help="Write the drafts to this .csv. Read them before you use them.")
    ],
    endpoint: Annotated[
        str | None,
        typer.Option(
            help="Address of an OpenAI-compatible server, including /v1. A key, if it needs one, "
            "is read from the environment variable UNSEEN_API_KEY.",
            show_default="none; write a template to fill in",
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Name of the model on that server.")] = None,
    nodes: Annotated[
        Path | None, typer.Option(help="Nodes; the model is shown some of their texts.")
    ] = None,
    sample: Annotated[
        int, typer.Option(help="How many texts it is shown, drawn at random.", min=1, max=200)
    ] = 20,
    text_columns: TextColumns = "text",
    timeout: Annotated[float, typer.Option(help="Seconds to wait for an answer.", min=0.1)] = 60.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Draft a paragraph and typical terms for each class, by hand or with a language model.

    By hand: [bold]unseen describe --classes classes.csv --out to_fill.csv[/bold]

    With a model: [bold]unseen describe --classes classes.csv --out described.csv
    --nodes nodes.csv --endpoint http://127.0.0.1:11434/v1 --model llama3.1[/bold]

    Repeat the command after an interruption: no class is asked about twice.
    """
    from unseen.core.errors import InputError
    from unseen.describe.draft import describe as draft
    from unseen.describe.draft import template
    from unseen.describe.endpoint import KEY, Endpoint

    if endpoint is None:
        of_models = ("model", "nodes", "sample", "text_columns", "timeout", "seed")
        refuse(of_models, "is for a model that is asked; name its address with --endpoint")
        asked = template(class_file, out)
        if as_json:
            print_json({"out": str(out), "questions": asked})
        else:
            say(f"{len(asked)} questions to answer in the column `description`: {out}")
        return
    if nodes is None:
        refuse(("sample", "text_columns", "seed"), "is about texts; name the nodes with --nodes")
    if model is None:
        raise InputError("model: --endpoint needs --model, the name of a model on that server")
    place = Endpoint(endpoint, model, os.environ.get(KEY, "").strip(), timeout)
    with progress_bar(as_json) as progress:
        drafts = draft(
            class_file,
            out,
            place,
            nodes=nodes,
            sample=sample,
            text_columns=tuple(name.strip() for name in text_columns.split(",") if name.strip()),
            seed=seed,
            progress=progress,
        )
    failed = [each for each in drafts if each.note]
    if as_json:
        rows = [
            {"name": d.name, "before": d.before, "after": d.after, "note": d.note} for d in drafts
        ]
        print_json({"out": str(out), "drafts": rows})
    else:
        for each in drafts:
            _diff(each.name, each.before, each.after, each.note)
        say(f"{len(drafts) - len(failed)} of {len(drafts)} described; read them: {out}")
    if failed:
        raise typer.Exit(1)


def _diff(name: str, before: str, after: str, note: str) -> None:
    """Show what a class text was and what it would be."""
    say(name)
    if note:
        say(f"  ! {note}; the old text stays, repeat the command to try again")
    elif before == after:
        say("    unchanged")
    else:
        say(f"  - {before or '(no text)'}")
        say(f"  + {after}")
