"""The compact index behind the search of the page: every node by id, class, confidence and text.

It is JSON, compressed and in base64; the browser unpacks it when the field is used for the first
time. What is left of each text depends on how many nodes share the room.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from unseen.report.palette import Look
from unseen.report.safe import script_json

ROOM = 8_000_000  # characters of all texts together; a third of that once compressed
LONGEST = 160  # characters of one text
MOST_NODES = 300_000  # beyond, the page would be slower to open than a search is worth


def all_nodes(nodes: pl.DataFrame, predictions: pl.DataFrame) -> pl.DataFrame:
    """Return id, label, confidence, known and text of every node, in the order of the graph.

    Args:
        nodes: id, label ("" where none was given) and, where there are texts, text.
        predictions: id, label, confidence; one row a node without a label.
    """
    if "text" not in nodes.columns:
        nodes = nodes.with_columns(pl.lit("").alias("text"))
    answers = predictions.select("id", pl.col("label").alias("answer"), "confidence")
    return (
        nodes.with_columns(pl.col("label").fill_null(""), pl.col("text").fill_null(""))
        .join(answers, on="id", how="left", maintain_order="left")
        .select(
            "id",
            pl.coalesce("answer", pl.when(pl.col("label") != "").then("label")).alias("label"),
            pl.col("confidence").cast(pl.Float64),
            (pl.col("label") != "").alias("known"),
            "text",
        )
    )


def index(nodes: pl.DataFrame, looks: Sequence[Look]) -> str:
    """Return the index as it stands in the page; empty where there are too many nodes.

    Args:
        nodes: as `all_nodes` returns them.
        looks: the classes, as drawn.
    """
    if nodes.is_empty() or nodes.height > MOST_NODES:
        return ""
    most = min(LONGEST, max(0, ROOM // nodes.height - 20))
    codes = {look.name: i for i, look in enumerate(looks)}
    found: dict[str, Any] = {
        "classes": [[look.name, look.colour, look.shape] for look in looks],
        "id": nodes["id"].to_list(),
        "label": [codes.get(name, -1) for name in nodes["label"].to_list()],
        "confidence": nodes["confidence"].fill_nan(None).round(3).to_list(),
        "text": [" ".join(text[: 2 * most].split())[:most] for text in nodes["text"].to_list()],
    }
    packed = gzip.compress(json.dumps(found, ensure_ascii=False).encode(), 6, mtime=0)
    return script_json(json.dumps(base64.b64encode(packed).decode()))
