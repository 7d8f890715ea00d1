"""Which nodes to label next, for a run of any size: `unseen suggest`.

A run whose graph was left on disk keeps a sample for this, ``suggest.parquet``: id, label,
confidence, text, a node's own vector beside the hops around it, and its probabilities, for nodes
drawn at random, and the first four for those whose answers are least certain.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.arrays import unit
from unseen.core.classes import NONE_OF_THESE
from unseen.core.errors import InputError, SavedFileError
from unseen.core.task import Task
from unseen.engines.base import engine_of
from unseen.explain.reasons import names_of
from unseen.io.parquet import read_parquet
from unseen.io.saved import Saved, read_saved
from unseen.select.suggest import HOPS, LAZINESS, suggest_among

if TYPE_CHECKING:
    from unseen.encode.base import Progress
    from unseen.prediction import Prediction

FILE = "suggest.parquet"
DRAWN, DOUBTFUL = 10_000, 1_000  # nodes that are kept: at random, and least certain
SHOWN = ("id", "label", "confidence", "text")
VECTOR, PROBABILITY = "vector ", "probability "  # what the names of columns begin with


def sample(prediction: Prediction) -> pl.DataFrame:
    """Return what `suggest_rows` chooses from, of a prediction of any engine."""
    graph, engine = prediction.graph, engine_of(prediction.graph)
    X: Any = prediction.vectors
    task = Task(X, np.zeros((1, X.shape[1])), operator=graph.operator, engine=engine)
    nodes, Z = engine.diffuse(task, HOPS, LAZINESS).sample()
    at = np.searchsorted(prediction.nodes, nodes)  # both ascend
    at = np.minimum(at, len(prediction) - 1)
    asked = np.flatnonzero(prediction.nodes[at] == nodes)  # the others have labels
    if len(asked) > DRAWN:
        asked = np.sort(np.random.default_rng(0).choice(asked, DRAWN, replace=False))
    drawn = at[asked]
    space = np.hstack([unit(np.asarray(engine.take(X, nodes[asked]))), Z[asked]])
    doubtful = np.argsort(prediction.confidence, kind="stable")[:DOUBTFUL]
    P = np.asarray(prediction.proba[drawn])
    columns = [pl.Series(f"{VECTOR}{i}", column) for i, column in enumerate(space.T)]
    columns += [pl.Series(f"{PROBABILITY}{c}", column) for c, column in enumerate(P.T)]
    first = _rows(prediction, drawn).with_columns(columns)
    return pl.concat([first, _rows(prediction, doubtful)], how="diagonal")


def suggest_rows(table: pl.DataFrame, count: int, errors: bool, seed: int) -> pl.DataFrame:
    """Return nodes to label next, out of a sample: id, label, confidence and text."""
    drawn = table[f"{PROBABILITY}0"].is_not_null()
    if errors:
        if not 1 <= count <= DOUBTFUL:
            raise InputError(
                f"count: a run on disk keeps its {DOUBTFUL:,} least certain answers, found "
                f"{count:,}; ask for 1 to {DOUBTFUL:,}, or sort predictions/ by confidence"
            )
        return table.filter(~drawn).select(SHOWN).head(count)
    given = table.filter(drawn)
    space, probabilities = (
        given.select(pl.col(f"^{start}.*$")).to_numpy() for start in (VECTOR, PROBABILITY)
    )
    rows = suggest_among(space, probabilities, count, seed)
    found: pl.DataFrame = given.select(SHOWN)[rows.tolist()]
    return found


def suggest_of(
    run: Path, count: int, errors: bool, seed: int, progress: Progress | None = None
) -> pl.DataFrame:
    """Return nodes of a run folder to label next."""
    from unseen.run import load

    def kept(saved: Saved) -> pl.DataFrame | None:
        return read_parquet(saved.bytes(FILE), str(run / FILE)) if FILE in saved else None

    table = read_saved(run, kept)
    if table is None:
        fitted = load(run)
        fitted.progress = progress
        return fitted.explain().suggest(count, errors, seed)
    if not {*SHOWN, f"{VECTOR}0", f"{PROBABILITY}0"} <= set(table.columns):
        raise SavedFileError(f"{run / FILE}: lacks columns; classify again")
    drawn = table.filter(pl.col(f"{PROBABILITY}0").is_not_null())
    measured = drawn.drop("id", "label", "text")
    sound = all(column.dtype.is_float() and column.is_finite().all() for column in measured)
    if not sound or drawn.is_empty() or measured.null_count().sum_horizontal().item():
        raise SavedFileError(f"{run / FILE}: holds values that are no numbers; classify again")
    return suggest_rows(table, count, errors, seed)


def _rows(prediction: Prediction, rows: Any) -> pl.DataFrame:
    graph, nodes = prediction.graph, prediction.nodes[rows]
    names = np.array([*prediction.classes.names, NONE_OF_THESE], dtype=object)
    return pl.DataFrame(
        {
            "id": names_of(graph.ids or (), nodes),
            "label": names[prediction.label[rows]].tolist(),
            "confidence": np.round(prediction.confidence[rows].astype(np.float64), 4),
            "text": engine_of(graph).take(graph.texts or [""] * graph.nodes, nodes),
        },
        schema_overrides={"id": pl.String, "label": pl.String, "text": pl.String},
    )
