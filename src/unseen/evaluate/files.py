"""Score a file of predictions against a file of true labels."""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from unseen.core.classes import NONE_OF_THESE, Classes
from unseen.core.errors import InputError, SavedFileError, shortlist
from unseen.core.labels import Labels
from unseen.evaluate.metrics import Scores, generalised_scores, score
from unseen.io import columns
from unseen.io.saved import Saved, is_saved, read_saved
from unseen.io.tables import Table, joined, parse_table, read_table

RECORD = "record.json"


def evaluate_files(predictions: Path, truth: Path) -> Scores:
    """Compare predicted labels with true ones, for the ids that are in both files.

    Both files are CSV, TSV, Parquet or JSON lines with columns `id` and `label`; predictions may
    have `confidence` too. A row without a label counts as missing. The classes are all those that
    either file names, sorted. The prediction "none of these" is no class, unless the truth has one
    of that name.

    Where the predictions are a run folder or lie in one, they have to be as they were written
    there; its record tells which classes were seen, and nodes of these and of the others are scored
    apart (`Scores.generalised`).
    """
    predicted, seen = _predictions(Path(predictions))
    true = read_labelled(truth)
    for path, table in ((predictions, predicted), (truth, true)):
        if table.is_empty():
            raise InputError(f"{path}: every `label` is empty; expected the class of each node")
    both = predicted.join(
        true.select("id", "label"), on="id", suffix="_true", maintain_order="left"
    )
    if both.is_empty():
        raise InputError(
            f"{predictions} and {truth}: no id is in both; found {shortlist(predicted['id'], 3)} "
            f"and {shortlist(true['id'], 3)}; check that the ids are written alike"
        )
    answers = predicted["label"].to_list(), both["label"].to_list()
    if NONE_OF_THESE not in true["label"]:
        answers = _answered(answers[0]), _answered(answers[1])
    classes = _named_in(filter(None, answers[0]), true["label"])
    truly = Labels.from_names(both["label_true"].to_list(), classes).codes
    guessed = Labels.from_names(answers[1], classes).codes
    confidence = both["confidence"].to_numpy() if "confidence" in both.columns else None
    positions = [c for c, name in enumerate(classes.names) if name in (seen or ())]
    return replace(
        score(truly, guessed, confidence, classes),
        generalised=None if seen is None else generalised_scores(truly, guessed, positions),
        missing_in_truth=len(predicted) - len(both),
        missing_in_predictions=len(true) - len(both),
    )


def read_labelled(path: Path) -> pl.DataFrame:
    """Read `id`, `label` and, where there is one, `confidence`; rows without a label are left out.

    Ids and labels are read as those of a nodes file are. An id that occurs twice is an error, and
    so is a confidence that is not a number from 0 to 1.
    """
    return labelled(read_table(path))


def labelled(table: Table) -> pl.DataFrame:
    """Return the columns of a table, as `read_labelled` does."""
    table.require("id", "label")
    table.refuse_look_alike("confidence")
    table.require_rows("node")
    frame = pl.DataFrame(
        {"id": columns.node_ids(table), "label": columns.one_spaced(columns.names(table, "label"))}
    )
    if "confidence" in table.frame.columns:
        frame = frame.with_columns(_confidence(table))
    return frame.filter(pl.col("label") != "")


def listed(saved: Saved, *names: str) -> pl.DataFrame:
    """Return the predictions in these files of a run, as `read_labelled` does.

    Cells of a .csv may have an apostrophe that keeps a spreadsheet from computing them; the Parquet
    file beside it is the same table without.
    """
    tables = []
    for name in names:
        raw, plain = saved.bytes(name), f"{name.removesuffix('.csv')}.parquet"
        if plain in saved and plain != name:
            name, raw = plain, saved.bytes(plain)
        tables.append(parse_table(raw, str(saved.folder / name)))
    return labelled(tables[0] if len(tables) == 1 else joined(str(saved.folder), tables))


def answers(saved: Saved) -> pl.DataFrame:
    """Return all predictions of a run, in one file or in parts."""
    names = [name for name in saved.digests if name.startswith(("predictions.csv", "predictions/"))]
    if not names:
        raise SavedFileError(
            f"{saved.folder}: holds no predictions; give the folder that `unseen classify --out` "
            "wrote"
        )
    return listed(saved, *sorted(names))


def _predictions(path: Path) -> tuple[pl.DataFrame, set[str] | None]:
    """Return predictions and, of a run, the classes that were seen."""
    above = (path, path.parent, path.parent.parent)  # parts lie in a folder of the run
    runs = (each for each in above if (each / RECORD).is_file() or is_saved(each))
    folder = next(runs, None)
    if folder is None:
        return read_labelled(path), None
    asked = path.relative_to(folder).as_posix()

    def read(saved: Saved) -> tuple[pl.DataFrame, set[str] | None]:
        seen = _seen(saved.json(RECORD))
        if path == folder:
            return answers(saved), seen
        names = [each for each in saved.digests if asked in (each, each.partition("/")[0])]
        names = names or fnmatch.filter(saved.digests, asked)
        if not names:  # a file of the user's own beside those of the run
            return read_labelled(path), seen
        return listed(saved, *sorted(names)), seen

    return read_saved(folder, read)


def _answered(labels: list[str]) -> list[str]:
    """Return the labels, '' in place of "none of these"."""
    return ["" if label == NONE_OF_THESE else label for label in labels]


def _seen(found: Any) -> set[str] | None:
    """Return the classes that had labelled nodes by the record of a run; None if it is silent."""
    entries = found.get("classes") if isinstance(found, dict) else None
    listed = isinstance(entries, list) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("seen"), bool)
        for entry in entries
    )
    return {entry["name"] for entry in entries or () if entry["seen"]} if listed else None


def _confidence(table: Table) -> pl.Series:
    values = table.frame["confidence"].cast(pl.Float64, strict=False)
    wrong = (~values.is_between(0, 1)).fill_null(True).arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{table.where(row)}: `confidence` is {table.shown(row, 'confidence')}; expected a "
            "number from 0 to 1 in every row; correct it or leave the column out"
        )
    return values


def _named_in(*labels: Iterable[str]) -> Classes:
    """Return the classes that the columns name, which have to differ by more than capitals."""
    names = sorted({name for column in labels for name in column})
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[name.casefold()].append(name)
    for spellings in alike.values():
        if len(spellings) > 1:
            raise InputError(
                f"labels: {shortlist(spellings)} differ in capitals only; write them alike in both "
                "files, or predictions will count as wrong"
            )
    if len(names) < 2:
        raise InputError(
            f"labels: both files name the one class {names[0]!r}, so there was nothing to decide; "
            "give predictions among two classes or more"
        )
    return Classes(names)
