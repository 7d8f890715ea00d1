"""A report made again from the files of a run folder, with what became known since: the truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from unseen.core.errors import SavedFileError
from unseen.io.atomic import read_json
from unseen.report.page import render
from unseen.report.search import all_nodes


def render_run(folder: Path, scores: Mapping[str, Any] | None = None) -> str:
    """Return the report of a run; `scores` adds how right its answers are."""
    tables = {}
    for name in ("predictions", "map", "graph/nodes"):
        path = folder / f"{name}.parquet"
        if not path.is_file():
            raise SavedFileError(
                f"{folder}: has no {name}.parquet; expected the folder of a run, as "
                "`unseen classify --out` writes it"
            )
        tables[name] = pl.read_parquet(path)
    record = read_json(folder / "record.json")
    predictions = tables["predictions"]
    nodes = all_nodes(tables["graph/nodes"], predictions)
    return render({**record, "scores": scores}, predictions, tables["map"], nodes)
