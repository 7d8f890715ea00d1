"""Commands for graphs that do not fit into memory: `unseen walk` and `unseen classify-walk`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.options import Among, AmongOption, AsJson, ClassFile, Directed, Seed
from unseen.console import number, print_json, print_table, progress_bar, say

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
    out: Annotated[Path, typer.Option(help="Folder of the walk; goes on with what is there.")],
    hops: Annotated[int, typer.Option(help="Steps from each node.", min=0)] = 3,
    memory: Annotated[str, typer.Option(help="What it may take, such as 4GB or 500MB.")] = "4GB",
    directed: Directed = False,
    as_json: AsJson = False,
) -> None:
    """Walk a graph that does not fit into memory. Run it again to go on after a stop."""
    from unseen.big.walk import walk_files

    limit = size(memory)
    with progress_bar(as_json) as progress:
        found = walk_files(
            edges, features, out, hops, memory=limit, directed=directed, progress=progress
        )
    count, n, d = found.shape
    if as_json:
        print_json({"out": str(out), "nodes": n, "columns": d, "hops": count - 1})
        return
    say(f"{n:,} nodes, {d} columns, {count - 1} hops: {out}")


def classify_walk(
    walk: Annotated[Path, typer.Option(help="Folder of `unseen walk`.")],
    class_file: ClassFile,
    out: Annotated[
        Path, typer.Option(help="Folder of the predictions; goes on with what is there.")
    ],
    labels: Annotated[
        Path | None, typer.Option(help="Known classes: .parquet or .csv with id and label.")
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(
            help="What made the node vectors: static, minilm, ... features: no encoder did, so "
            "that labels of two classes or more are needed."
        ),
    ] = "features",
    among: AmongOption = Among.all,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Give every unlabelled node of a walk a class. Run it again to go on after a stop."""
    from unseen.big.classify import PREDICTIONS
    from unseen.big.classify import classify_walk as run
    from unseen.big.labels import read_positions
    from unseen.big.walk import open_walk
    from unseen.read.files import read_classes

    classes = read_classes(class_file)
    nodes = open_walk(walk)[0].shape[1]
    known = None if labels is None else read_positions(labels, nodes, classes)
    with progress_bar(as_json) as progress:
        record = run(
            walk,
            classes,
            out,
            known,
            encoder=encoder,
            among=among.value,
            seed=seed,
            progress=progress,
        )
    parts = out / PREDICTIONS / "*.parquet"
    rows = _counts(parts)
    if as_json:
        told = [dict(zip(("name", "predicted", "confidence"), row, strict=True)) for row in rows]
        print_json({"out": str(parts), "classes": told, "choices": record["choices"]})
        return
    print_table(
        f"{sum(row[1] for row in rows):,} nodes",
        ("class", "predicted", "mean confidence"),
        [(name, count, number(mean)) for name, count, mean in rows],
    )
    for choice in record["choices"]:
        say(f"{choice['what']}: {choice['chosen']} ({choice['rule']})")
    say(f"Predictions: {parts}")


def size(text: str) -> int:
    """Return the number of bytes that a user wrote.

    >>> size("4GB"), size("500 MB"), size("1.5g")
    (4294967296, 524288000, 1610612736)
    """
    from unseen.errors import InputError

    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?\s*", text.upper())
    if found is None:
        raise InputError(f"memory: expected a size such as 4GB or 500MB, found {text!r}")
    return int(float(found[1]) * UNITS[found[2]])


def _counts(parts: Path) -> list[Any]:
    """Return name, number of nodes and mean confidence of each class that was predicted."""
    import polars as pl

    table = pl.scan_parquet(parts).group_by("label")
    told = table.agg(pl.len().alias("nodes"), pl.col("confidence").mean()).collect()
    return told.sort("nodes", "label", descending=[True, False]).rows()
