"""Damaged and unlucky tables: memory and disk take the same, and refuse the same in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from topic_graph import Call, sample, write_files
from unseen.io.tables import read_table

pytestmark = pytest.mark.usefixtures("quick_map")
Change = Callable[[str], str]


def weighted(value: str, every: bool = False) -> Change:
    def change(text: str) -> str:
        first, *rows = text.splitlines()
        told = [f"{row},{value if every or not i else 1}" for i, row in enumerate(rows)]
        return "\n".join([f"{first},weight", *told, ""])

    return change


REFUSED: dict[str, tuple[str, Change]] = {
    "a look-alike text": ("nodes", lambda text: text.replace("text", "Texts", 1)),
    "a look-alike label": ("nodes", lambda text: text.replace("label", "Labels", 1)),
    "a look-alike weight": ("edges", lambda text: weighted("2")(text).replace("weight", "Weight")),
    "an id with a zero before": ("nodes", lambda text: text.replace("\n1,", "\n01,", 1)),
    "an id twice but for spaces": ("nodes", lambda text: f"{text} 1 ,again,\n"),
    "no id": ("nodes", lambda text: f"{text},nobody,\n"),
    "a label in other capitals": ("nodes", lambda text: text.replace("Cooking", "cooking")),
    "a weight past 32 bits": ("edges", weighted("1e39")),
    "a weight that is nearly zero": ("edges", weighted("1e-40")),
    "a decimal comma": ("edges", weighted('"1,5"')),
    "an open quote": ("nodes", lambda text: text.replace("\n", '\n"', 1)),
    "a short row": ("nodes", lambda text: f"{text}zz\n"),
    "semicolons": ("edges", lambda text: text.replace(",", ";")),
    "a NUL": ("nodes", lambda text: f"{text}z\0z,x,\n"),
    "escape codes in an end": ("edges", lambda text: f"{text}\x1b[31mred,0\n"),
}
TAKEN: dict[str, tuple[str, Change]] = {
    "a byte order mark": ("nodes", lambda text: f"\ufeff{text}"),
    "ends of Windows": ("nodes", lambda text: text.replace("\n", "\r\n")),
    "spaces around labels": ("nodes", lambda text: text.replace("Cooking", " Cooking ")),
    "one weight for all": ("edges", weighted("1e15", every=True)),
}
ENGINES = ("memory", "disk")


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    given = sample(per_class=4)
    return write_files(tmp_path / "in", given, given.labels(0, 1))


def classify(call: Call, paths: dict[str, Path], out: Path, engine: str) -> tuple[int, str, str]:
    given = [word for name, path in paths.items() for word in (f"--{name}", path)]
    return call("classify", *given, "--engine", engine, "--out", out)


PARTS: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], int]] = {
    "in another order": (lambda part: part.select("label", "text", "id"), 0),
    "without a column": (lambda part: part.drop("label"), 2),
    "with one more": (lambda part: part.with_columns(more=pl.lit("x")), 2),
}


def answers(run: Path) -> pl.DataFrame:
    found = run / "predictions"
    table = read_table(found if found.is_dir() else run / "predictions.csv").frame
    return table.select("id", "label")


def spoil(path: Path, change: Change) -> None:
    path.write_bytes(change(path.read_text(encoding="utf-8")).encode())


@pytest.mark.parametrize("what", REFUSED)
def test_refused_alike(what: str, call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    name, change = REFUSED[what]
    spoil(paths[name], change)
    for engine in ENGINES:
        code, _, told = classify(call, paths, tmp_path / "run", engine)
        assert code == 2
        assert told.startswith("unseen: ")
        assert told.count("\n") == 1
        assert "\x1b" not in told
        assert {path.name for path in tmp_path.iterdir()} == {"in"}


@pytest.mark.parametrize("what", TAKEN)
def test_taken_alike(what: str, call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    assert classify(call, paths, tmp_path / "sound", "memory")[0] == 0
    name, change = TAKEN[what]
    spoil(paths[name], change)
    for engine in ENGINES:
        assert classify(call, paths, tmp_path / engine, engine)[0] == 0
        assert answers(tmp_path / engine).equals(answers(tmp_path / "sound"))


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("what", PARTS)
def test_parts_alike(
    what: str, form: str, call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    """Columns of parts are found by name, and are the same in all; hidden files are no parts."""
    change, expected = PARTS[what]
    assert classify(call, paths, tmp_path / "sound", "memory")[0] == 0
    frame, folder = pl.read_csv(paths["nodes"], infer_schema=False), tmp_path / "in" / "parts"
    folder.mkdir()
    (folder / f".hidden.{form}").write_text("x")
    for name, part in (("a", frame[:9]), ("b", change(frame[9:]))):
        part.write_csv(folder / f"{name}.csv") if form == "csv" else part.write_parquet(
            folder / f"{name}.parquet"
        )
    paths["nodes"] = folder
    for engine in ENGINES:
        code, _, told = classify(call, paths, tmp_path / engine, engine)
        assert code == expected, told
        if code:
            assert "its parts a." in told
        else:
            assert answers(tmp_path / engine).equals(answers(tmp_path / "sound"))


def test_a_row_with_another_column_in_place_of_ours(
    call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    """As JSON lines may have it: `Text` in one row, `text` in the others."""
    rows = pl.read_csv(paths["nodes"], infer_schema=False).to_dicts()
    rows.append({"id": "z", "Text": "a star"})
    paths["nodes"] = tmp_path / "in" / "nodes.jsonl"
    paths["nodes"].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for engine in ENGINES:
        code, _, told = classify(call, paths, tmp_path / "run", engine)
        assert code == 2
        assert f"nodes.jsonl line {len(rows)}: has `Text` but no `text`" in told
