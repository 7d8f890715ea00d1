"""Labels of many nodes from a file, as one number a node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unseen.classes import tidy
from unseen.errors import InputError, shortlist

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unseen.classes import Classes

CHUNK = 1 << 20  # rows that are read together


def read_positions(path: Path | str, nodes: int, classes: Classes) -> NDArray[np.int32]:
    """Return the class position of each node, -1 where the file has none. [n]

    Args:
        path: a .parquet or .csv file with the columns id (position of a node, from 0 on) and label
            (name of a class; empty for none).
    """
    import polars as pl

    path = Path(path)
    table = _scan(path)
    names = [
        name
        for name in table.select(pl.col("label").unique()).collect()["label"].to_list()
        if name is not None
    ]
    index = classes.index()
    position = {name: index.get(tidy(name), -1) for name in names}
    unknown = sorted(name for name in names if tidy(name) and tidy(name) not in index)
    if unknown:
        raise InputError(
            f"{path}: label {shortlist(unknown)} is not among the classes "
            f"{shortlist(classes.names)}; add it to the classes or correct the label"
        )
    labels = np.full(nodes, -1, dtype=np.int32)
    rows = int(table.select(pl.len()).collect().item())
    for begin in range(0, rows, CHUNK):
        part = table.slice(begin, CHUNK).collect()
        _place(path, part, position, labels)
    return labels


def _scan(path: Path) -> pl.LazyFrame:
    """Return the columns id and label, checked."""
    import polars as pl

    known: dict[str, Callable[[Path], pl.LazyFrame]] = {
        ".parquet": pl.scan_parquet,
        ".csv": pl.scan_csv,
    }
    scan = known.get(path.suffix.lower())
    if scan is None or not path.is_file():
        found = "no such file" if not path.is_file() else f"extension {path.suffix!r}"
        raise InputError(f"{path}: found {found}; expected labels as .parquet or .csv")
    try:
        table = scan(path)
        schema = table.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from error
    for name in ("id", "label"):
        if name not in schema:
            raise InputError(
                f"{path}: no column `{name}`; found {shortlist(schema.names(), 10)}; rename or add "
                f"a column `{name}`"
            )
    if not schema["id"].is_integer():
        raise InputError(
            f"{path}: column `id` holds {schema['id']}; expected positions of nodes, from 0 on"
        )
    return table.select("id", pl.col("label").cast(pl.String))


def _place(
    path: Path, part: pl.DataFrame, position: dict[str, int], labels: NDArray[np.int32]
) -> None:
    """Write some rows of the file into `labels`."""
    import polars as pl

    which = part["label"].replace_strict(position, default=-1, return_dtype=pl.Int32).to_numpy()
    listed = which >= 0
    if part["id"].null_count():
        raise InputError(f"{path}: column `id` has empty cells; give each row the id of a node")
    ids, which = part["id"].to_numpy()[listed], which[listed]
    strange = ids[(ids < 0) | (ids >= len(labels))]
    if len(strange):
        raise InputError(
            f"{path}: id {strange[0]} is no node; expected positions from 0 to "
            f"{len(labels) - 1:,}; correct the id or drop the row"
        )
    before = labels[ids]
    labels[ids] = which
    twice = ((before >= 0) & (before != which)) | (labels[ids] != which)
    if twice.any():
        raise InputError(
            f"{path}: node {ids[twice][0]} has two labels; a node has one label; drop one"
        )
