"""Whatever is written, in whatever format, is what is read."""

import csv
import json
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.io.objects import from_frames
from unseen.io.read import read_graph
from unseen.io.tables import KNOWN, read_table

Columns = dict[str, list[Any]]


def write_delimited(path: Path, columns: Columns, separator: str, ending: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator=ending)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def write_lines(path: Path, columns: Columns) -> None:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


WRITERS: dict[str, Callable[[Path, Columns], object]] = {
    ".csv": lambda path, columns: write_delimited(path, columns, ",", "\n"),
    ".tsv": lambda path, columns: write_delimited(path, columns, "\t", "\r\n"),
    ".parquet": lambda path, columns: pl.DataFrame(columns).write_parquet(path),
    ".jsonl": write_lines,
    ".ndjson": write_lines,
}

letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
common = st.sampled_from(['"', '""', ",", "\n", "\r\n", "\r", "\t", ";", " ", "é", "e\u0301", "😀"])
text = st.lists(letters | common | st.just("word"), max_size=12).map("".join)
name = st.text(st.characters(exclude_categories=["C", "Z"]) | st.sampled_from('", -'), max_size=8)


def tidy(given: str) -> str:
    return unicodedata.normalize("NFC", given.strip())


def saying(given: str) -> bool:
    return bool(given.strip())


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Columns, Columns]:
    ids = draw(st.lists(name.filter(saying), min_size=1, max_size=6, unique_by=tidy))
    n = len(ids)
    size = st.floats(width=32, min_value=2**-59, max_value=2**59)  # whose squares 32 bits can hold
    numbers = st.just(0.0) | size | size.map(float.__neg__)
    nodes: Columns = {
        "id": ids,
        "text": draw(st.lists(text.filter(saying), min_size=n, max_size=n)),
        "x": draw(st.lists(numbers, min_size=n, max_size=n)),
    }
    ends = st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), min_size=1, max_size=8)
    pairs = draw(ends)
    weights = st.floats(width=32, min_value=2**-20, max_value=2**20)
    edges: Columns = {
        "source": [source for source, _ in pairs],
        "target": [target for _, target in pairs],
        "weight": draw(st.lists(weights, min_size=len(pairs), max_size=len(pairs))),
    }
    return nodes, edges


def expected(nodes: Columns, edges: Columns) -> np.ndarray[Any, Any]:
    """The adjacency matrix, entry by entry: largest weight, both ways, no loops."""
    rows = {tidy(node): i for i, node in enumerate(nodes["id"])}
    A = np.zeros((len(rows), len(rows)), dtype=np.float32)
    for source, target, weight in zip(*edges.values(), strict=True):
        i, j = rows[tidy(source)], rows[tidy(target)]
        if i != j:
            A[i, j] = A[j, i] = max(A[i, j], weight)
    return A


def check(graph: Graph, nodes: Columns, edges: Columns) -> None:
    assert graph.ids == tuple(map(tidy, nodes["id"]))
    assert graph.texts == tuple(nodes["text"])
    assert graph.features.tolist() == [[value] for value in nodes["x"]]
    assert np.array_equal(graph.adjacency.toarray(), expected(nodes, edges))


@pytest.mark.parametrize("suffix", KNOWN)
@settings(max_examples=60, deadline=None)
@given(written=graphs())
def test_the_graph_read_is_the_graph_written(suffix: str, written: tuple[Columns, Columns]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, "nodes" + suffix), Path(folder, "edges" + suffix)]
        for path, columns in zip(paths, written, strict=True):
            WRITERS[suffix](path, columns)
        check(read_graph(*paths), *written)


@settings(max_examples=60, deadline=None)
@given(written=graphs())
def test_the_same_from_frames(written: tuple[Columns, Columns]) -> None:
    check(from_frames(*map(pl.DataFrame, written)), *written)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(text, min_size=1, max_size=6), suffix=st.sampled_from(KNOWN))
def test_a_blank_text_is_kept_empty_and_counted(texts: list[str], suffix: str) -> None:
    ids = [f"n{i}" for i in range(len(texts))]
    with tempfile.TemporaryDirectory() as folder:
        nodes = Path(folder, "nodes" + suffix)
        WRITERS[suffix](nodes, {"text": texts, "id": ids})
        if not any(map(saying, texts)):
            with pytest.raises(InputError, match="neither any text nor features"):
                read_graph(nodes)
            return
        graph = read_graph(nodes)
    assert graph.texts == tuple(words if saying(words) else "" for words in texts)
    assert graph.repairs.nodes_without_text == sum(not saying(words) for words in texts)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(text, text), min_size=1, max_size=6))
def test_lines_are_where_the_rows_start(rows: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, starts = Path(folder, "t.csv"), []
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)  # ends lines with \r\n, and so quotes a text that ends in \r
            writer.writerow(["id", "text"])
            for row in rows:
                file.flush()
                starts.append(f"line {path.read_bytes().count(10) + 1}")
                writer.writerow(row)
        table = read_table(path)
        assert table.frame.rows() == rows
        assert [table.place(row) for row in range(len(rows))] == starts


@settings(max_examples=300, deadline=None)
@given(
    body=st.lists(st.sampled_from(["a", "b", ",", "\n", '"', "\r\n", " ", "1,x\n"]), max_size=14),
    suffix=st.sampled_from([".csv", ".tsv", ".jsonl"]),
)
def test_any_bytes_are_read_in_full_or_refused(body: list[str], suffix: str) -> None:
    """No row is merged, cut or dropped in silence: the strict csv module agrees with every cell."""
    content = "id,text\n" + "".join(body)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t" + suffix)
        path.write_bytes(content.encode())
        try:
            table = read_table(path)
        except InputError:
            return
    separator = "\t" if suffix == ".tsv" else ","
    lines = csv.reader(content.splitlines(keepends=True), delimiter=separator, strict=True)
    rows = [tuple(row) for row in lines if len(row) > 1 or "".join(row).strip()]
    width = len(rows[0])
    assert table.frame.width == width
    if width > 1:
        assert table.frame.rows() == rows[1:]
