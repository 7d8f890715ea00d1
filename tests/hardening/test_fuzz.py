"""Every reader, for a minute each, with files damaged at random: data, or an error in words.

UNSEEN_FUZZ_SECONDS says for how long instead.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import unseen
from topic_graph import Sample, sample
from unseen.core.errors import UnseenError
from unseen.csd.wikipedia import _read as read_article
from unseen.datasets.layout import Layout
from unseen.encode.store import VectorStore
from unseen.evaluate import compare_runs, evaluate_files
from unseen.io.atomic import check_place, write_manifest
from unseen.io.features import parse_features, parse_vocabulary
from unseen.io.read import classes_of
from unseen.io.tables import parse_table
from unseen.propagate.npy import NpyFile

pytestmark = [pytest.mark.fuzz, pytest.mark.usefixtures("quick_map")]
SECONDS = float(os.environ.get("UNSEEN_FUZZ_SECONDS", "60"))
PIECES = (
    b'"',
    b"\n",
    b"\r",
    b"\0",
    b",",
    b"\t",
    b"{",
    b"[",
    b"]" * 9,
    b"\xff\xfe",
    b"1e999",
    b"NaN",
)
MOST = 500  # characters of a message


@st.composite
def damaged(draw: Any, sound: bytes) -> bytes:
    """Draw a file that was sound once: bytes changed, cut out, put in, said twice."""
    content = bytearray(sound)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(content) - 1, 0)))
        how = draw(st.sampled_from(["flip", "set", "cut", "drop", "put", "far", "twice"]))
        if how == "flip" and content:
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif how == "set" and content:
            content[at] = draw(st.integers(0, 255))
        elif how == "cut":
            del content[at:]
        elif how == "drop":
            del content[at : at + draw(st.integers(1, 40))]
        elif how == "put":
            content[at:at] = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=20)))
        elif how == "far" and len(content) > 8:
            content[at : at + 4] = draw(
                st.sampled_from([b"\xff" * 4, b"\xff\xff\xff\x7f", b"\0" * 4])
            )
        else:
            content[at:at] = content[at : at + draw(st.integers(1, 200))]
    return bytes(content)


def hammer(sounds: list[bytes], read: Callable[[int, bytes], object]) -> None:
    """Read damaged files until the time is over; whatever is raised has to be of our own kind."""

    @st.composite
    def cases(draw: Any) -> tuple[int, bytes]:
        which = draw(st.integers(0, len(sounds) - 1))
        return which, draw(damaged(sounds[which]))

    def once(case: tuple[int, bytes]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = ""
            try:
                read(*case)
            except UnseenError as error:
                told = str(error)
            assert len(told) <= MOST

    ends, turn = time.monotonic() + SECONDS, 0
    while time.monotonic() < ends:
        turn += 1
        each = settings(
            max_examples=100, deadline=None, database=None, suppress_health_check=list(HealthCheck)
        )
        seed(turn)(each(given(cases())(once)))()


@pytest.fixture(scope="module")
def sampled() -> Sample:
    return sample(per_class=6)


@pytest.fixture(scope="module")
def run(sampled: Sample, tmp_path_factory: pytest.TempPathFactory, quick_map: None) -> Path:
    made = unseen.classify(sampled.graph, sampled.classes, sampled.labels(0, 1))
    return made.save(tmp_path_factory.mktemp("fuzz") / "run")


def test_tables_of_text(sampled: Sample) -> None:
    nodes = (
        b'id,text,label,x\na,"a ""star""",Music,1\nb,"two\nlines",,2.5\nc,\xc3\xa9t\xc3\xa9,,3\n'
    )
    lines = b'{"id": "a", "text": "x", "x": 1}\n{"id": "b", "text": "y\\u00e9", "x": 2.5}\n'
    classes = b"name,description\nMusic,Songs\nFood,Soup\n"
    names = ["n.csv", "n.tsv", "n.jsonl", "c.csv", "v.txt", "v.json"]
    sounds = [nodes, nodes.replace(b",", b"\t"), lines, classes, b"one\ntwo\n", b'["one", "two"]']

    def read(which: int, raw: bytes) -> None:
        name = names[which]
        if name.startswith("v"):
            parse_vocabulary(raw, name)
        elif name.startswith("c"):
            classes_of(parse_table(raw, name))
        else:
            unseen.from_frames(parse_table(raw, name).frame)

    hammer(sounds, read)


def test_parquet(run: Path) -> None:
    frame = pl.DataFrame({"id": ["a", "b"], "text": ["x", None], "x": [1.5, None], "k": [1, 2]})
    sounds = [(run / "graph" / "nodes.parquet").read_bytes()]
    for compression in ("zstd", "snappy", "uncompressed"):
        out = io.BytesIO()
        frame.write_parquet(out, compression=compression)
        sounds.append(out.getvalue())
    hammer(sounds, lambda _, raw: unseen.from_frames(parse_table(raw, "n.parquet").frame))


def test_arrays(tmp_path: Path) -> None:
    A = sp.random_array((8, 6), density=0.5, rng=np.random.default_rng(0), dtype=np.float32)
    sounds = []
    for form in ("csr", "csc", "bsr", "coo", "dia"):
        out = io.BytesIO()
        sp.save_npz(out, A.asformat(form), compressed=False)
        sounds.append(out.getvalue())
    out = io.BytesIO()
    np.savez(out, A.toarray())
    sounds.append(out.getvalue())
    out = io.BytesIO()
    np.save(out, A.toarray())
    sounds.append(out.getvalue())

    def read(which: int, raw: bytes) -> None:
        if which < len(sounds) - 1:
            X = parse_features(raw, "x.npz", 8, "nodes.csv")
            assert (X @ np.ones((X.shape[1], 1), np.float32)).shape == (8, 1)
            return
        path = tmp_path / "x.npy"
        path.write_bytes(raw)
        file = NpyFile.open(path)
        if file.dtype == np.float32 and file.shape == (8, 6):
            file.read(0, np.empty((8, 6), np.float32))

    hammer(sounds, read)


def test_run_folders(run: Path, tmp_path: Path) -> None:
    """With the checksums of what is damaged, so that it is looked at, and without."""
    names = sorted(p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file())
    names = [name for name in names if name not in ("report.html", "map.parquet")]
    sounds = [(run / name).read_bytes() for name in names]
    truth = tmp_path / "t.csv"
    truth.write_text("id,label\n0,Music\n1,Cooking\n", encoding="utf-8")
    copy = tmp_path / "copy"
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns("report.html", "map.parquet"))
    whole = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}

    def read(which: int, raw: bytes) -> None:
        (copy / names[which]).write_bytes(raw)
        if not names[which].endswith("manifest.json") and len(raw) % 4:
            write_manifest(copy / "model")
            write_manifest(copy)
        jobs: tuple[Callable[[], object], ...] = (
            lambda: unseen.load(copy),
            lambda: unseen.load(copy / "model"),
            lambda: compare_runs(run, copy),
            lambda: evaluate_files(copy / "predictions.csv", truth),
            lambda: check_place(copy),
        )
        complaints = []
        for job in jobs:
            try:
                job()
            except UnseenError as error:
                complaints.append(error)
        for path, content in whole.items():
            path.write_bytes(content)
        assert all(len(str(error)) <= MOST for error in complaints)

    hammer(sounds, read)


def test_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path))
    vectors = np.ones((2, 4), np.float32)
    with VectorStore("fuzz", 4) as store:
        store.add(["a", "b"], vectors)
    path = store.path
    article = json.dumps({"title": "x", "revision": 1, "text": "y", "url": "z"}).encode()
    sounds = [path.read_bytes(), article]

    def read(which: int, raw: bytes) -> None:
        if which:
            (tmp_path / "x.json").write_bytes(raw)
            read_article(tmp_path / "x.json")
            return
        path.write_bytes(raw)
        out = np.zeros((2, 4), np.float32)
        with VectorStore("fuzz", 4) as store:
            known = store.look_up(["a", "b"], out)
            store.add(["c"], vectors[:1])
        np.testing.assert_array_equal(out[known], vectors[known])

    assert sqlite3.sqlite_version
    hammer(sounds, read)


def test_data_sets(tmp_path: Path) -> None:
    layout = Layout(
        edges=np.array([[0, 1], [1, 2]]),
        features=sp.csr_array(np.eye(3, 4, dtype=np.float32)),
        labels=np.array([0, 1, -1]),
        classes=("a", "b"),
        splits={},
        texts=("x", "y", "z"),
        vocabulary=("p", "q", "r", "s"),
    )
    layout.write(tmp_path)
    paths = sorted(tmp_path.iterdir())
    sounds = [path.read_bytes() for path in paths]

    def read(which: int, raw: bytes) -> None:
        paths[which].write_bytes(raw)
        try:
            Layout.read(tmp_path).checksum()
        finally:
            paths[which].write_bytes(sounds[which])

    hammer(sounds, read)
