"""A table of classes with a draft of each text, and where it came from.

Every answer is kept under the cache folder as it arrives, one file a question, so that a run that
was killed goes on where it stopped and no question is asked twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unseen.core.errors import InputError
from unseen.describe.endpoint import AnswerError, Endpoint
from unseen.describe.prompt import prompt, question, read_answer
from unseen.io.atomic import check_file, replacing, write_json
from unseen.io.cache import cache_folder
from unseen.io.files import write_text
from unseen.io.read import classes_of, read_graph
from unseen.io.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from unseen.core.classes import Classes


@dataclass(frozen=True)
class Draft:
    """The text of one class; `note` says why it is still the old one."""

    name: str
    before: str
    after: str
    prompt: str = ""
    date: str = ""
    note: str = ""


def template(path: Path, out: Path) -> list[str]:
    """Write the classes with a question each, and return the questions."""
    table, classes = _read(path, out)
    asked = [question(name, [o for o in classes.names if o != name]) for name in classes.names]
    texts = list(classes.descriptions or [None] * len(classes))
    _write(table.with_columns(description=pl.Series(texts, dtype=pl.String)), out, question=asked)
    return asked


def describe(
    path: Path,
    out: Path,
    endpoint: Endpoint,
    *,
    nodes: Path | None = None,
    sample: int = 20,
    text_columns: Sequence[str] = ("text",),
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda what, done, of: None,
) -> list[Draft]:
    """Write the classes with a draft of each text by a language model; return the drafts.

    Args:
        path: file of the classes.
        out: a .csv; prompt, model, date and note stand beside each text.
        endpoint: whom to ask.
        nodes: file of nodes, of which the model is shown some texts.
        sample: how many of them.
        text_columns: columns that hold the text of a node.
        seed: of the sample.
        progress: called with what is done.
    """
    table, classes = _read(path, out)
    shown = [] if nodes is None else _sample(nodes, sample, text_columns, seed)
    drafts = []
    for at, name in enumerate(classes.names):
        progress(f"describe {name}", at, len(classes))
        drafts.append(_draft(classes, at, shown, endpoint))
    _write(
        table.with_columns(description=pl.Series([d.after for d in drafts], dtype=pl.String)),
        out,
        prompt=[d.prompt for d in drafts],
        model=[endpoint.model if d.date else "" for d in drafts],
        date=[d.date for d in drafts],
        note=[d.note for d in drafts],
    )
    return drafts


def _read(path: Path, out: Path) -> tuple[pl.DataFrame, Classes]:
    if out.suffix.lower() != ".csv":
        raise InputError(f"{out}: expected a name that ends in .csv")
    if out.resolve() == path.resolve():
        raise InputError(f"{out}: holds the classes themselves; write the drafts to another file")
    if not out.resolve().parent.is_dir():
        raise InputError(f"{out}: there is no folder {out.resolve().parent}; make it first")
    if not out.is_file():
        check_file(out)
    elif not {"question", "note"} & set(read_table(out).frame.columns):
        raise InputError(f"{out}: exists, and is not overwritten; remove it or choose another")
    table = read_table(path)
    return table.frame, classes_of(table)


def _sample(nodes: Path, count: int, columns: Sequence[str], seed: int) -> list[str]:
    texts = [text for text in read_graph(nodes, text_columns=columns).texts or () if text.strip()]
    if not texts:
        raise InputError(f"{nodes}: has no texts to show; leave out --nodes")
    rows = np.random.default_rng(seed).permutation(len(texts))[:count]
    return [" ".join(texts[row].split()) for row in rows]


def _draft(classes: Classes, at: int, sample: Sequence[str], endpoint: Endpoint) -> Draft:
    name = classes.names[at]
    before = (classes.descriptions or [None] * len(classes))[at] or ""
    asked = prompt(classes, at, sample)
    digest = hashlib.sha256("\0".join((endpoint.url, endpoint.model, asked)).encode())
    place = cache_folder("describe") / f"{digest.hexdigest()[:40]}.json"
    kept = _kept(place)
    if kept is None:
        try:
            text = _asked(endpoint, asked)
        except AnswerError as error:
            return Draft(name, before, before, note=str(error))
        kept = {"text": text, "date": datetime.now(UTC).isoformat(timespec="seconds")}
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as new:
            write_json(new, kept)
    return Draft(name, before, kept["text"], asked, kept["date"])


def _asked(endpoint: Endpoint, asked: str) -> str:
    """Return a class text; a malformed answer is asked for once more."""
    for last in (False, True):
        try:
            return read_answer(endpoint.ask(asked))
        except AnswerError as error:
            if last or "JSON" not in str(error):
                raise
    raise AssertionError("unreachable")


def _kept(place: Path) -> dict[str, str] | None:
    """Return an earlier answer; a damaged file counts as none."""
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        return {"text": str(found["text"]), "date": str(found["date"])}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(table: pl.DataFrame, out: Path, **columns: list[str]) -> None:
    """Write the table whole or not at all."""
    full = table.with_columns(
        **{name: pl.Series(cells, dtype=pl.String) for name, cells in columns.items()}
    )
    if out.is_file() and _edited(read_table(out).frame, full):
        raise InputError(
            f"{out}: exists and was edited, or holds other drafts, so it is not overwritten; "
            "remove it or choose another"
        )
    with replacing(out) as new:
        write_text(new, full.write_csv())


def _edited(before: pl.DataFrame, after: pl.DataFrame) -> bool:
    """Tell whether a table holds a row that is not made again; failed ones may be."""
    if before.columns != after.columns:
        return True
    rows = before if "note" not in before.columns else before.filter(pl.col("note") == "")
    again = set(after.cast(pl.String).fill_null("").iter_rows())
    return not set(rows.iter_rows()) <= again
