"""A file is read in the same way in pieces and as a whole: the same cells, the same complaints."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from unseen.core.errors import InputError
from unseen.engines import sources
from unseen.io.tables import read_table

ROWS = [(f"n{i}", f'a "word", {i}\nand a line' if i % 7 == 3 else f"text {i}") for i in range(60)]
TABLES = {
    "plain.csv": "id,text\n" + "".join(f"{i},{'x' * i}\n" for i in range(60)),
    "quoted.csv": '"id",text\n'
    + "".join('{},"{}"\n'.format(i, text.replace('"', '""')) for i, text in ROWS),
    "returns.csv": "id,text\r\n" + "".join(f"{i},x y\r\n" for i in range(60)),
    "blank.tsv": "\n\nid\ttext\n\n" + "".join(f"{i}\tx\n\n" for i in range(60)),
    "lines.jsonl": "".join(f'{{"id": "n{i}", "text": "a\\nb"}}\n\n' for i in range(60)),
    "marked.csv": "\ufeffid,text\n" + "".join(f"é{i},x\n" for i in range(60)) + "last,one",
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "SMALL", 0)
    monkeypatch.setattr(sources, "PIECE", 50)
    monkeypatch.setattr(sources, "BATCH", 7)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", TABLES)
def test_pieces_are_the_whole(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, TABLES[name])
    pieces, whole = list(sources.batches(path)), read_table(path)
    assert len(pieces) > 3
    assert pl.concat([piece.frame for piece in pieces]).equals(whole.frame)
    places = [piece.place(row) for piece in pieces for row in range(piece.frame.height)]
    assert places == [whole.place(row) for row in range(whole.frame.height)]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "wrong",
    ["short\n", "far,too,long\n", 'open,"quote\n', 'a,"b"c\n', "nul,\0\n", b"latin,\xe9\n"],
)
@pytest.mark.parametrize("name", ["plain.csv", "quoted.csv"])
def test_complaints_are_those_of_the_whole(name: str, wrong: str | bytes, tmp_path: Path) -> None:
    added = wrong.encode() if isinstance(wrong, str) else wrong
    path = write(tmp_path, name, TABLES[name].encode() + added + b"more,1\n" * 20)
    with pytest.raises(InputError) as whole:
        read_table(path)
    with pytest.raises(InputError) as pieces:
        list(sources.batches(path))
    assert str(pieces.value) == str(whole.value)


@pytest.mark.usefixtures("small")
def test_json_lines_tell_their_line(tmp_path: Path) -> None:
    path = write(tmp_path, "n.jsonl", '{"id": 1, "text": "x"}\n' * 40 + '{"id": 2, "id": 3}\n')
    with pytest.raises(InputError, match="line 41: has the key 'id' twice"):
        list(sources.batches(path))


@pytest.mark.usefixtures("small")
def test_parquet_by_rows(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": range(60), "text": [f"text {i}" for i in range(60)]})
    frame.write_parquet(tmp_path / "n[1].parquet")
    frame.head(1).write_parquet(tmp_path / "n1.parquet")  # what the name would match as a pattern
    pieces = list(sources.batches(tmp_path / "n[1].parquet"))
    assert pl.concat([piece.frame for piece in pieces]).equals(frame)
    assert pieces[1].place(0) == "row 8"
    assert sources.rows_of(tmp_path / "n[1].parquet") == 60


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("cut", [0, 4, 9, -1, -5])
def test_damaged_parquet_is_told_of(cut: int, tmp_path: Path) -> None:
    pl.DataFrame({"id": range(60)}).write_parquet(tmp_path / "n.parquet")
    raw = (tmp_path / "n.parquet").read_bytes()
    path = write(tmp_path, "cut.parquet", raw[:cut] or b"PAR1")
    for read in (sources.rows_of, lambda path: list(sources.batches(path))):
        with pytest.raises(InputError, match=r"cut.parquet: not a whole Parquet file"):
            read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "n.csv")
    (tmp_path / "e.csv").symlink_to("/dev/zero")
    for name in ("n.csv", "e.csv"):
        for read in (sources.rows_of, lambda path: list(sources.batches(path))):
            with pytest.raises(InputError, match="is a pipe or a device; expected a file"):
                read(tmp_path / name)
