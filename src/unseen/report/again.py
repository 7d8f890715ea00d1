"""A report made again from the files of a run folder, with what became known since: the truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unseen.core.errors import SavedFileError, UnseenError, quoted
from unseen.io.saved import Saved, read_saved
from unseen.io.tables import parse_table
from unseen.report.page import render
from unseen.report.search import all_nodes


def render_run(folder: Path, scores: Mapping[str, Any] | None = None) -> str:
    """Return the report of a run; `scores` adds how right its answers are."""

    def read(saved: Saved) -> str:
        tables = []
        for name in ("predictions.parquet", "map.parquet", "graph/nodes.parquet"):
            if name not in saved and any(each.startswith("predictions/") for each in saved.digests):
                raise SavedFileError(
                    f"{folder}: was made on disk, without the graph that a new report would need"
                )
            if name not in saved:
                raise SavedFileError(
                    f"{folder}: has no {name}; expected the folder of a run, as `unseen classify "
                    "--out` writes it"
                )
            tables.append(parse_table(saved.bytes(name), str(folder / name)).frame)
        predictions, places, nodes = tables
        record = saved.json("record.json")
        try:
            index = all_nodes(nodes, predictions)
            return render({**record, "scores": scores}, predictions, places, index)
        except UnseenError:
            raise
        except Exception as error:  # a record can lack anything
            raise SavedFileError(
                f"{folder}: its record and tables do not fit a report ({quoted(error)}); classify "
                "again"
            ) from error

    return read_saved(folder, read)
