"""Tables that are wider than the terminal."""

from __future__ import annotations

import re
from typing import Any

import pytest

from unseen.cli.console import print_table


def printed(capsys: pytest.CaptureFixture[str], *table: Any) -> list[str]:
    capsys.readouterr()
    print_table(*table)
    return capsys.readouterr().out.splitlines()


def rows_of(lines: list[str]) -> list[list[str]]:
    """Return the cells of heads and rows."""
    inside = [line for line in lines if line[0] in "│┃"]
    return [[cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in inside]


def test_a_wide_table_comes_in_blocks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    header = ("method", *(f"column {number}" for number in range(9)))
    table = [
        ("DGPN, official code", *(f"{number}3.78±0.28" for number in range(9))),
        ("a [name]", *"abcdefghi"),
    ]
    monkeypatch.setenv("COLUMNS", "80")
    lines = printed(capsys, "A title [x]", header, table)
    assert lines[0].rstrip() == "A title [x]"
    assert max(map(len, lines)) <= 80
    blocks = [(0, 1, 2, 3, 4), (0, 5, 6, 7, 8), (0, 9)]  # 1 + 22 + 4 * 13 = 75 of 80
    expected = [[row[at] for at in block] for block in blocks for row in (header, *table)]
    assert rows_of(lines) == expected
    assert sum("A title" in line for line in lines) == 1
    monkeypatch.setenv("COLUMNS", "75")
    assert printed(capsys, "A title [x]", header, table) == lines  # to the last column
    monkeypatch.setenv("COLUMNS", "74")
    assert [len(row) for row in rows_of(printed(capsys, "t", header, table))[::3]] == [4, 4, 4]


def test_a_table_that_fits_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert printed(capsys, "t", ("a", "b", "c"), [("x", 1, "123456")]) == [
        "t                 ",
        "┏━━━┳━━━┳━━━━━━━━┓",
        "┃ a ┃ b ┃ c      ┃",
        "┡━━━╇━━━╇━━━━━━━━┩",
        "│ x │ 1 │ 123456 │",
        "└───┴───┴────────┘",
    ]
    assert "┃" not in "".join(
        printed(capsys, "t", ("", ""), [("x", 1)])
    )  # no heads, no row of them


def test_a_column_wider_than_the_terminal_is_folded_and_loses_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = printed(capsys, "t", ("a", "b", "c"), [("x", "yz" * 40, "1")])
    assert max(map(len, lines)) <= 40
    found = rows_of(lines)
    assert found[0] == ["a", "b", "c"]
    assert ["".join(column) for column in zip(*found[1:], strict=True)] == ["x", "yz" * 40, "1"]


# Help, and what it costs.
