"""Commands of earlier versions: what to type instead."""

from __future__ import annotations

from typing import Annotated

import typer

INSTEAD = (
    "unseen classify --engine disk --memory 4GB --nodes nodes.parquet --edges edges.parquet "
    "--classes classes.csv --out run"
)
Rest = Annotated[list[str] | None, typer.Argument()]


def walk(rest: Rest = None) -> None:
    """Say what took its place."""
    _gone("walk")


def classify_walk(rest: Rest = None) -> None:
    """Say what took its place."""
    _gone("classify-walk")


def _gone(command: str) -> None:
    from unseen.core.errors import InputError

    raise InputError(
        f"{command}: is gone since 0.11; graphs that do not fit into memory are read from their "
        f"texts by the main command: {INSTEAD}"
    )
