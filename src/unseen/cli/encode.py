"""`unseen encode`: vectors of many texts, in parts, going on where it was stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import print_json, progress_bar, say
from unseen.cli.options import AsJson, Device, DeviceOption, IdColumn, Nodes, TextColumns


def encode(
    nodes: Nodes,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the parts. Finished parts in it are kept.")
    ],
    encoder: Annotated[
        str, typer.Option(help="static, minilm, or a model of sentence-transformers.")
    ] = "static",
    id_column: IdColumn = "id",
    text_columns: TextColumns = "text",
    device: DeviceOption = Device.cpu,
    as_json: AsJson = False,
) -> None:
    """Write a vector for each text, as Parquet files.

    Example: [bold]unseen encode --nodes nodes.csv --out vectors[/bold]

    Repeat the command after an interruption: finished parts are not made again.
    """
    from unseen.prepare.encode_files import encode_files

    with progress_bar(as_json) as progress:
        count, width = encode_files(
            nodes,
            out,
            encoder=encoder,
            id_column=id_column,
            text_columns=tuple(n.strip() for n in text_columns.split(",") if n.strip()),
            device=device.value,
            progress=progress,
        )
    parts = out / "*.parquet"
    if as_json:
        print_json({"out": str(parts), "texts": count, "dimensions": width})
        return
    say(f"{count:,} vectors of {width} dimensions: {parts}")
