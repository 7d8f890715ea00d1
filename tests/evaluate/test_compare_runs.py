"""Two run folders side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unseen.core.errors import SavedFileError
from unseen.evaluate.compare import MOST_NAMED, ChangedNode, Move, compare_runs
from unseen.io.atomic import write_manifest

HEADER = "id,label,confidence,runner_up,reason\n"


def run(folder: Path, rows: list[str], record: Any) -> Path:
    folder.mkdir()
    (folder / "predictions.csv").write_text(HEADER + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "record.json").write_text(json.dumps(record), encoding="utf-8")
    write_manifest(folder)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    a = run(
        tmp_path / "a",
        ["1,x,0.5,y,", "2,x,0.5,y,", "3,y,0.75,x,", "4,z,0.25,x,", "old,x,1,y,"],
        {
            "settings": {"hops": 3, "model": {"name": "dgpn", "alpha": 1}, "seed": 0},
            "choices": [{"what": "csd", "chosen": "text"}],
            "seconds": 2,
        },
    )
    b = run(
        tmp_path / "b",
        ["4,z,0.75,x,", "3,x,0.5,y,", "2,y,1.0,x,", "1,y,0.75,x,", "new,x,1,y,"],
        {
            "settings": {
                "hops": 5,
                "model": {"name": "dgpn", "alpha": 2},
                "extra": True,
                "seed": 0,
            },
            "choices": [{"what": "csd", "chosen": "label"}],
            "seconds": 9,
        },
    )
    return a, b


def test_what_changed(runs: tuple[Path, Path]) -> None:
    found = compare_runs(*runs)
    assert (found.nodes, found.changed) == (4, 3)
    assert found.moves == (Move("x", "y", 2), Move("y", "x", 1))
    assert found.confidence_before == 0.5
    assert found.confidence_after == 0.75
    assert [node.id for node in found.surest_changes] == ["2", "1", "3"]
    assert found.surest_changes[0] == ChangedNode("2", "x", "y", 0.5, 1.0)
    assert (found.only_before, found.only_after) == (("old",), ("new",))


def test_differences_of_records(runs: tuple[Path, Path]) -> None:
    found = compare_runs(*runs)
    assert found.settings == {"extra": (None, True), "hops": (3, 5), "model.alpha": (1, 2)}
    assert found.choices == {"csd.chosen": ("text", "label")}
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_other_way_round(runs: tuple[Path, Path]) -> None:
    there, back = compare_runs(*runs), compare_runs(*reversed(runs))
    assert {(m.before, m.after, m.nodes) for m in there.moves} == {
        (m.after, m.before, m.nodes) for m in back.moves
    }
    assert back.settings == {key: (b, a) for key, (a, b) in there.settings.items()}
    assert (back.confidence_before, back.only_before) == (there.confidence_after, there.only_after)


def test_a_run_equals_itself(runs: tuple[Path, Path]) -> None:
    found = compare_runs(runs[0], runs[0])
    assert (found.nodes, found.changed, found.moves, found.surest_changes) == (5, 0, (), ())
    assert not found.settings
    assert not found.choices


def test_no_confidence_and_no_common_node(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", [], {}), run(tmp_path / "b", ["9,x,0.5,y,"], {})
    (a / "predictions.csv").write_text("id,label\n1,x\n", encoding="utf-8")
    write_manifest(a)
    found = compare_runs(a, b)
    assert (found.nodes, found.confidence_before, found.confidence_after) == (0, None, None)
    (a / "predictions.csv").write_text("id,label\n9,y\n", encoding="utf-8")
    write_manifest(a)
    found = compare_runs(a, b)
    assert (found.confidence_before, found.confidence_after) == (None, 0.5)
    assert found.surest_changes == (ChangedNode("9", "y", "x", None, 0.5),)


def test_only_the_surest_are_named(tmp_path: Path) -> None:
    a = run(tmp_path / "a", [f"{i},x,0.5,y," for i in range(30)], {})
    b = run(tmp_path / "b", [f"{i},y,{i / 30},x," for i in range(30)], {})
    named = [int(node.id) for node in compare_runs(a, b).surest_changes]
    assert named == list(range(29, 29 - MOST_NAMED, -1))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "record.json").unlink(), "record.json: is missing"),
        (lambda folder: (folder / "predictions.csv").unlink(), "predictions.csv: is missing"),
        (lambda folder: (folder / "record.json").write_text('{"settings": '), "was changed"),
        (lambda folder: (folder / "record.json").write_bytes(b"\xff\xfe"), "was changed"),
        (lambda folder: (folder / "record.json").write_text("[1]"), "was changed"),
    ],
)
def test_damaged_runs(runs: tuple[Path, Path], spoil: Any, message: str) -> None:
    spoil(runs[1])
    with pytest.raises(SavedFileError, match=message):
        compare_runs(*runs)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b'{"settings": ', "record.json: cannot be read"),
        (b"\xff\xfe", "record.json: cannot be read"),
        (b"[1]", "found a list"),
        (b"[" * 100_000, "record.json: cannot be read"),
        (b'{"seconds": NaN}', "record.json: cannot be read"),
    ],
)
def test_records_that_are_none(runs: tuple[Path, Path], record: bytes, message: str) -> None:
    (runs[1] / "record.json").write_bytes(record)
    write_manifest(runs[1])
    with pytest.raises(SavedFileError, match=message):
        compare_runs(*runs)


def test_a_run_without_its_manifest_is_not_compared(runs: tuple[Path, Path]) -> None:
    (runs[0] / "manifest.json").unlink()
    with pytest.raises(SavedFileError, match=r"has no manifest\.json"):
        compare_runs(*runs)
