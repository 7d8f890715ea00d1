"""Formats: what a table is read as, and what is said when it cannot be read."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from unseen.core.errors import InputError
from unseen.io.tables import read_table


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, *parts: str) -> None:
    """The message is one line, begins with the file's name and holds these parts in order."""
    pattern = "^" + re.escape(str(path)) + ".*" + ".*".join(map(re.escape, parts))
    with pytest.raises(InputError, match=pattern) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("id,text\n007,a\n", [("007", "a")]),
        ("id,text\n007,a", [("007", "a")]),
        ("id,text\r\n007,a\r\n1,b\r\n", [("007", "a"), ("1", "b")]),
        ("id,text\r007,a\r1,b\r", [("007", "a"), ("1", "b")]),
        ("\ufeffid,text\n007,a\n", [("007", "a")]),
        ('\ufeff"id",text\n007,a\n', [("007", "a")]),
        ("\n  \nid,text\n007,a\n", [("007", "a")]),
        (" id , text \n007,a\n", [("007", "a")]),
        ("id,text\n007,\n", [("007", "")]),
        ("id,text\n\n007,a\n  \n1,b\n\n", [("007", "a"), ("1", "b")]),
        ('id,text\n007,"a, ""b""\nc"\n', [("007", 'a, "b"\nc')]),
        ('id,text\n007,a 5" disk\n1,b\n', [("007", 'a 5" disk'), ("1", "b")]),
        ("id,text\nNA,null\n", [("NA", "null")]),
        ("id,text\n#1,a\u2028b\n", [("#1", "a\u2028b")]),
        ('id,text\n1,"a\rb"\n', [("1", "a\rb")]),
        ("id,text\n1,a\rb\n2,c\r\n", [("1", "a\rb"), ("2", "c")]),
    ],
)
def test_csv_is_read_as_it_stands(
    tmp_path: Path, content: str, rows: list[tuple[str, str]]
) -> None:
    frame = read_table(write(tmp_path / "t.csv", content)).frame
    assert frame.columns == ["id", "text"]
    assert frame.rows() == rows


def test_one_column_with_blank_first_lines(tmp_path: Path) -> None:
    frame = read_table(write(tmp_path / "t.csv", "  \nname\na\nb\n")).frame
    assert frame.to_dict(as_series=False) == {"name": ["a", "b"]}


def test_extension_is_case_insensitive_and_tabs_separate_tsv(tmp_path: Path) -> None:
    frame = read_table(write(tmp_path / "t.TSV", 'id\ttext\n1\t"a\tb"\n2\tc,d\n')).frame
    assert frame.rows() == [("1", "a\tb"), ("2", "c,d")]


def test_a_field_may_be_longer_than_the_limit_of_the_csv_module(tmp_path: Path) -> None:
    text, limit = "x" * 200_000, csv.field_size_limit()
    assert read_table(write(tmp_path / "t.csv", f'id,text\n1,"{text}"\n')).frame["text"][0] == text
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.jsonl", "t.ndjson"])
def test_missing_empty_and_directory(tmp_path: Path, name: str) -> None:
    refused(tmp_path / name, "no such file")
    refused(write(tmp_path / name, ""), "is empty")
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    refused(tmp_path / name, "is a directory", "expected a file")


def test_directory_without_extension(tmp_path: Path) -> None:
    refused(tmp_path, "is a directory")


@pytest.mark.parametrize(("name", "found"), [("t.xlsx", "'.xlsx'"), ("t", "no extension")])
def test_unknown_extension_lists_the_known(tmp_path: Path, name: str, found: str) -> None:
    refused(write(tmp_path / name, "x"), found, ".csv, .tsv, .parquet, .jsonl, .ndjson")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_blank_file(tmp_path: Path, name: str) -> None:
    refused(write(tmp_path / name, " \n\n"), "is blank")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("id,text\n1,a,b\n2,c\n", [" line 2: found 3 fields; expected 2", "'id', 'text'"]),
        ("id,text\n1,a\n2\n3,c\n", [" line 3: found 1 fields; expected 2"]),
        ("id,text\n1,a\n2,b,", [" line 3: found 3 fields"]),
        ('id,text\n1,"a\n\nb"\n2,b,c\n', [" line 5: found 3 fields"]),
        ('id,text\n1,a\n2,"b\n3,c\n', [" line 3: found a quoted field that is never closed"]),
        ('id,text\n1,"a" b\n', [" line 2: found a quote within a quoted field"]),
        ("id;text\n1;a, b\n", [" line 1: the header", "commas between", "have semicolons", ".tsv"]),
        ("id\ttext\n1\ta\n", ["seem to have tabs"]),
        ("id,id\n1,2\n", [" line 1: column 2 repeats the name 'id'"]),
        (",id\n0,2\n", [" line 1: column 1 has no name"]),
        ('""', [" line 1: column 1 has no name"]),
        ("id,text\n1,a\x00b\n", [" line 2: found a NUL byte", "UTF-8"]),
        (b"id,text\n1,a\n2,caf\xe9\n", [" line 3: found byte 0xe9", "iconv -f latin1 -t utf-8"]),
        (b"id,t\xe9xt\n1,a\n", [" line 1: found byte 0xe9"]),
        ("id,text\n1,a\n".encode("utf-16"), [" line 1: found byte", "iconv -f utf-16 -t utf-8"]),
        ("id,text\n1,a\n".encode("utf-16-le"), [" line 1: found a NUL byte", "UTF-16"]),
    ],
)
def test_csv_that_cannot_be_read(tmp_path: Path, content: str | bytes, parts: list[str]) -> None:
    refused(write(tmp_path / "t.csv", content), *parts)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ('{"id": 1}\n{"id":\n', [" line 2: broken JSON (Expecting value)", "one object a line"]),
        ('{"id": 1} {"id": 2}\n', [" line 1: broken JSON (Extra data)"]),
        ('{"id": 1}\n\n[1]\n', [" line 3: found a JSON list", "one object a line"]),
        ('{"id": 1}\n3\n', [" line 2: found a JSON int"]),
        ('{"id": "\\u0000"}\n', [" line 1: found a NUL"]),
        ('{"id": "\\ud83d"}\n', [" line 1: found a NUL or half of a surrogate pair"]),
        (b'{"id": 1}\n{"id": "\xe9"}\n', [" line 2: found byte 0xe9"]),
        ("[" * 100_000, [" line 1: broken JSON"]),
    ],
)
def test_jsonl_that_cannot_be_read(tmp_path: Path, content: str | bytes, parts: list[str]) -> None:
    refused(write(tmp_path / "t.jsonl", content), *parts)


def test_jsonl_keeps_types_and_fills_gaps(tmp_path: Path) -> None:
    content = '\ufeff{"a": 1, "b": "x"}\r\n\n{"a": 2.5, "c": true, "d": 1}\n{"d": "y", "e": 1}\n'
    table = read_table(write(tmp_path / "t.ndjson", content + f'{{"e": {2**64}}}'))
    assert table.frame.to_dict(as_series=False) == {
        "a": [1.0, 2.5, None, None],
        "b": ["x", None, None, None],
        "c": [None, True, None, None],
        "d": [None, "1", "y", None],
        "e": [None, None, "1", str(2**64)],
    }
    assert [table.place(row) for row in range(3)] == ["line 1", "line 3", "line 4"]


def test_jsonl_reads_escaped_emoji(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.jsonl", '{"id": "\\ud83d\\ude00"}'))
    assert table.frame["id"].to_list() == ["😀"]


def test_damaged_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"id": ["a", "b"]}).write_parquet(path)
    whole = path.read_bytes()
    for damaged in (whole[:-20], b"id,text\n1,a and more\n", whole[:8] + b"\0" * 40 + whole[-4:]):
        refused(write(path, damaged), "not a whole Parquet file", "save it again")


def test_lines_are_counted_over_quoted_newlines(tmp_path: Path) -> None:
    content = 'id,text\n1,"a\n\nb"\n\n2,c\r\n3,"d\r\ne"\n4,f\n'
    table = read_table(write(tmp_path / "t.csv", content))
    places = [table.place(row) for row in range(4)]
    assert places == ["line 2", "line 6", "line 7", "line 9"]


def test_places_of_plain_csv_and_parquet(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "id\n1\n2\n"))
    assert [table.place(0), table.place(1)] == ["line 2", "line 3"]
    table.frame.write_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").place(1) == "row 2"


def test_missing_column_lists_what_was_found(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "ID,words\n1,a\n"))
    with pytest.raises(InputError, match=r"t\.csv: no column `id`; found 'ID', 'words'; did you"):
        table.require("id", "text")


def test_header_only(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", "id,text\n"))
    with pytest.raises(InputError, match=r"t\.csv: has columns \('id', 'text'\) but no rows"):
        table.require_rows("node")


def test_long_cells_are_cut_in_messages(tmp_path: Path) -> None:
    table = read_table(write(tmp_path / "t.csv", f"id\n{'x' * 500}\n"))
    assert table.shown(0, "id") == repr("x" * 57 + "...")


def test_nothing_beside_the_data_is_imported(tmp_path: Path) -> None:
    """The process that reads Parquet starts in the folder of the data, which anybody has made."""
    pl.DataFrame({"id": ["a"]}).write_parquet(tmp_path / "n.parquet")
    for name in ("json", "polars", "numpy", "struct", "resource", "random", "pyarrow"):
        write(tmp_path / f"{name}.py", "open('owned', 'w').close()\nraise SystemExit\n")
    program = "from unseen.io.tables import read_table as r; print(len(r('n.parquet').frame))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.stdout, done.stderr) == (b"1\n", b"")
    assert not (tmp_path / "owned").exists()
