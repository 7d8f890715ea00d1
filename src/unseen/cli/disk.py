"""Commands for graphs that do not fit into memory, hidden until an engine replaces them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import number, print_json, print_table, progress_bar, say
from unseen.cli.options import Among, AmongOption, AsJson, ClassFile, Directed, Seed

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def walk(
    edges: Annotated[
        Path,
        typer.Option(
            help="Node positions from 0 on: .parquet with source, target and perhaps weight, or "
            ".npy with two columns."
        ),
    ],
    features: Annotated[Path, typer.Option(help=".npy with one row a node.")],
    out: Annotated[Path, typer.Option(help="Folder of the hops; goes on with what is there.")],
    hops: Annotated[int, typer.Option(help="Steps from each node.", min=0)] = 3,
    memory: Annotated[str, typer.Option(help="What it may take, such as 4GB or 500MB.")] = "4GB",
    directed: Directed = False,
    class_file: Annotated[
        Path | None, typer.Option("--classes", help="Classes, for the centre of a small graph.")
    ] = None,
    encoder: Annotated[str | None, typer.Option(help="What made the node vectors.")] = None,
    as_json: AsJson = False,
) -> None:
    """Propagate node vectors over a graph on disk. Run it again to go on after a stop."""
    from unseen.disk.propagate import propagate_files
    from unseen.io.read import read_classes

    limit = size(memory)
    with progress_bar(as_json) as progress:
        found = propagate_files(
            edges,
            features,
            out,
            hops,
            memory=limit,
            directed=directed,
            classes=None if class_file is None else read_classes(class_file),
            encoder=encoder,
            progress=progress,
        )
    count, n, d = found.shape
    if as_json:
        print_json({"out": str(out), "nodes": n, "columns": d, "hops": count - 1})
        return
    say(f"{n:,} nodes, {d} columns, {count - 1} hops: {out}")


def classify_walk(
    folder: Annotated[Path, typer.Option("--walk", help="Folder of `unseen walk`.")],
    class_file: ClassFile,
    out: Annotated[
        Path, typer.Option(help="Folder of the predictions; goes on with what is there.")
    ],
    labels: Annotated[
        Path | None, typer.Option(help="Known classes: id (position of the node) and label.")
    ] = None,
    encoder: Annotated[
        str, typer.Option(help="What made the node vectors: static, minilm, ...")
    ] = "features",
    among: AmongOption = Among.all,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Give every unlabelled node of a graph on disk a class. Run it again to go on after a stop."""
    import polars as pl

    from unseen.disk.classify import PREDICTIONS, classify_hops
    from unseen.disk.folder import Propagated
    from unseen.io.read import labels_among, read_classes
    from unseen.io.tables import read_table

    classes = read_classes(class_file)
    nodes = pl.int_range(Propagated.open(folder).hops.shape[1], eager=True)
    with progress_bar(as_json) as progress:
        record = classify_hops(
            folder,
            classes,
            out,
            None if labels is None else labels_among(nodes, read_table(labels), classes),
            encoder=encoder,
            among=among.value,
            seed=seed,
            progress=progress,
        )
    parts = out / PREDICTIONS / "*.parquet"
    rows = _counts(parts)
    if as_json:
        keys = ("name", "predicted", "confidence")
        found = [dict(zip(keys, row, strict=True)) for row in rows]
        more = {name: record[name] for name in ("choices", "warnings")}
        print_json({"out": str(parts), "classes": found, **more})
        return
    print_table(
        f"{sum(row[1] for row in rows):,} nodes",
        ("class", "predicted", "mean confidence"),
        [(name, count, number(mean)) for name, count, mean in rows],
    )
    for choice in record["choices"]:
        say(f"{choice['what']}: {choice['chosen']} ({choice['rule']})")
    for warning in record["warnings"]:
        say(warning)
    say(f"Predictions: {parts}")


def size(text: str) -> int:
    """Return the number of bytes that a user wrote.

    >>> size("4GB"), size("500 MB"), size("1.5g")
    (4294967296, 524288000, 1610612736)
    """
    from unseen.core.errors import InputError

    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?\s*", text.upper())
    if found is None:
        raise InputError(f"memory: expected a size such as 4GB or 500MB, found {text!r}")
    return int(float(found[1]) * UNITS[found[2]])


def _counts(parts: Path) -> list[Any]:
    """Return name, number of nodes and mean confidence of each class that was predicted."""
    import polars as pl

    table = pl.scan_parquet(parts).group_by("label")
    found = table.agg(pl.len().alias("nodes"), pl.col("confidence").mean()).collect()
    return found.sort("nodes", "label", descending=[True, False]).rows()
