"""What changed between two runs: labels, confidences, settings and choices. No truth is needed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from unseen.core.errors import SavedFileError
from unseen.evaluate.files import RECORD, answers
from unseen.io.saved import Saved, read_saved

DEEPEST = 50  # levels of a record that are compared
MOST_NAMED = 10  # surest of the changed nodes that are named


@dataclass(frozen=True)
class Move:
    """How many nodes went from one label to another."""

    before: str
    after: str
    nodes: int


@dataclass(frozen=True)
class ChangedNode:
    """A node whose label changed; confidences are None where a run has none."""

    id: str
    before: str
    after: str
    confidence_before: float | None
    confidence_after: float | None


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side, `before` and `after`.

    `moves` are sorted by number of nodes, `surest_changes` by confidence after (or before, where
    only that is known). Mean confidences are over the nodes in both runs. `settings` and `choices`
    hold what differs: dotted key -> (before, after), None where a run has no such key.
    """

    nodes: int
    changed: int
    moves: tuple[Move, ...]
    confidence_before: float | None
    confidence_after: float | None
    surest_changes: tuple[ChangedNode, ...]
    settings: Mapping[str, tuple[Any, Any]]
    choices: Mapping[str, tuple[Any, Any]]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain Python values that JSON can hold."""
        return asdict(self)


def compare_runs(a: Path, b: Path) -> Comparison:
    """Compare the run folder `a` (before) with `b` (after); each has predictions and a record."""
    (before, record_before), (after, record_after) = (
        read_saved(Path(folder), _read) for folder in (a, b)
    )
    both = before.join(after, on="id", suffix="_after", maintain_order="left")
    changed = both.filter(pl.col("label") != pl.col("label_after"))
    moves = (
        changed.group_by("label", "label_after")
        .len()
        .sort("len", "label", "label_after", descending=[True, False, False])
    )
    sure = pl.coalesce("confidence_after", "confidence")
    surest = changed.sort(sure, "id", descending=[True, False], nulls_last=True).head(MOST_NAMED)
    columns = ("id", "label", "label_after", "confidence", "confidence_after")
    return Comparison(
        nodes=len(both),
        changed=len(changed),
        moves=tuple(Move(*row) for row in moves.rows()),
        confidence_before=_mean(both["confidence"]),
        confidence_after=_mean(both["confidence_after"]),
        surest_changes=tuple(ChangedNode(*row) for row in surest.select(columns).rows()),
        settings=_differences(record_before.get("settings"), record_after.get("settings")),
        choices=_differences(record_before.get("choices"), record_after.get("choices")),
        only_before=tuple(before.join(after, on="id", how="anti", maintain_order="left")["id"]),
        only_after=tuple(after.join(before, on="id", how="anti", maintain_order="left")["id"]),
    )


def _read(saved: Saved) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the columns id, label, confidence (null where the run has none), and the record."""
    frame = answers(saved)
    if "confidence" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias("confidence"))
    record = saved.json(RECORD)
    if not isinstance(record, dict):
        raise SavedFileError(
            f"{saved.folder / RECORD}: expected a JSON object, found a {type(record).__name__}; "
            "make the run again"
        )
    return frame.select("id", "label", "confidence"), record


def _mean(values: pl.Series) -> float | None:
    """Return the mean, or None where a value is missing or there is none."""
    return None if values.is_empty() or values.null_count() else float(values.to_numpy().mean())


def _differences(before: Any, after: Any) -> dict[str, tuple[Any, Any]]:
    """Return the leaves that differ, by their dotted keys in alphabetical order."""
    old, new = dict(_flat(before or {})), dict(_flat(after or {}))
    return {
        key: (old.get(key), new.get(key))
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    }


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, value) for what is no dictionary, list of dictionaries or settings."""
    if isinstance(value, str):
        value = _settings_of(value) or value
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        value = {str(item.get("what", at)): item for at, item in enumerate(value)}
    if isinstance(value, dict) and key.count(".") < DEEPEST:
        for name, item in value.items():
            yield from _flat(item, f"{key}.{name}" if key else str(name))
    else:
        yield key, value


def _settings_of(text: str) -> dict[str, Any] | None:
    """Return a model that stands in a record as `Name(setting=value, ...)` as a dictionary.

    >>> _settings_of("PooledEM(rounds=5, seed=0)")
    {'name': 'PooledEM', 'rounds': 5, 'seed': 0}
    """
    try:
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            found = {each.arg or "": ast.literal_eval(each.value) for each in call.keywords}
            return {"name": call.func.id, **found}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return None
