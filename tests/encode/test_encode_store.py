"""The store keeps what was finished, gives back the same bits, and is never in the way."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from encode_helpers import CountingEncoder
from unseen.encode import base
from unseen.encode.base import encode
from unseen.encode.store import VectorStore


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "vectors"


def only_file(cache: Path) -> Path:
    (path,) = cache.glob("*.sqlite")
    return path


def test_a_killed_run_keeps_its_finished_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "BATCH", 10)
    texts = [f"text {i}" for i in range(35)]
    with pytest.raises(KeyboardInterrupt):
        encode(CountingEncoder(fail_after=2), texts)
    encoder = CountingEncoder()
    vectors = encode(encoder, texts)
    assert encoder.seen == texts[20:]
    np.testing.assert_array_equal(vectors, CountingEncoder().encode(texts))


def test_two_encoders_do_not_share_vectors(cache: Path) -> None:
    one, other = encode(CountingEncoder("one"), ["a"]), encode(CountingEncoder("another"), ["a"])
    assert not np.array_equal(one, other)
    assert len(list(cache.glob("*.sqlite"))) == 2


def test_an_identity_never_becomes_a_path(cache: Path) -> None:
    encode(CountingEncoder("../../outside"), ["a"])
    assert only_file(cache).stem.isalnum()
    assert [path.name for path in cache.parent.iterdir()] == ["vectors"]


@pytest.mark.parametrize("damage", ["text", "middle", "empty"])
def test_a_damaged_file_is_replaced(
    cache: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    texts = [f"text {i}" for i in range(5000)]
    expected = encode(CountingEncoder(), texts)
    path = only_file(cache)
    content = bytearray(path.read_bytes())
    if damage == "text":
        path.write_bytes(b"this is not a database at all" * 40)
    elif damage == "middle":
        content[20:] = b"\xff" * (len(content) - 20)
        path.write_bytes(content)
    else:
        path.write_bytes(b"")
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(encode(CountingEncoder(), texts), expected)
    assert ("is damaged" in caplog.text) == (damage != "empty")
    again = CountingEncoder()
    np.testing.assert_array_equal(encode(again, texts), expected)
    assert again.calls == []


@pytest.mark.parametrize(
    "change",
    [
        "vectors = substr(vectors, 5)",
        "vectors = zeroblob(length(vectors))",
        "vectors = 7",
        "keys = substr(keys, 2)",
        "keys = NULL",
    ],
)
def test_a_block_that_is_not_what_was_written_is_computed_again(cache: Path, change: str) -> None:
    expected = encode(CountingEncoder(), ["a", "bb"])
    with sqlite3.connect(only_file(cache)) as connection:
        connection.execute(f"UPDATE blocks SET {change}")
    connection.close()
    encoder = CountingEncoder()
    np.testing.assert_array_equal(encode(encoder, ["a", "bb"]), expected)
    assert encoder.seen == ["a", "bb"]
    again = CountingEncoder()
    encode(again, ["a", "bb"])
    assert again.calls == []


def test_a_folder_that_cannot_be_made_is_done_without(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(
            encode(CountingEncoder(), ["a"]), CountingEncoder().encode(["a"])
        )
    assert "going on without" in caplog.text


def test_a_file_that_cannot_be_written_is_still_read(
    cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    encode(CountingEncoder(), ["a"])
    connect = sqlite3.connect

    def read_only(path: Path, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(f"file:{path}?mode=ro", uri=True, **options)
        return connection

    monkeypatch.setattr(sqlite3, "connect", read_only)
    encoder = CountingEncoder()
    with caplog.at_level(logging.WARNING):
        encode(encoder, ["a", "b"])
    assert encoder.seen == ["b"]
    assert "going on without" in caplog.text


WRITER = """
import sys
import numpy as np
from unseen.encode.store import VectorStore

start = int(sys.argv[1])
with VectorStore("shared", 2) as store:
    for i in range(start, start + 200):
        store.add([f"text {i}"], np.array([[i, -i]], dtype=np.float32))
"""


def test_two_processes_write_one_file() -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(start)], stderr=subprocess.PIPE)
        for start in (0, 200)
    ]
    assert [writer.communicate(timeout=600)[1] for writer in writers] == [b"", b""]
    out = np.zeros((400, 2), dtype=np.float32)
    with VectorStore("shared", 2) as store:
        assert store.look_up([f"text {i}" for i in range(400)], out).all()
    np.testing.assert_array_equal(out, np.outer(np.arange(400), [1, -1]))


def test_a_hundred_thousand_look_ups_take_about_a_second() -> None:
    texts = [f"node number {i} of a large graph" for i in range(100_000)]
    vectors = np.random.default_rng(0).random((len(texts), 64), dtype=np.float32)
    with VectorStore("large", 64) as store:
        for start in range(0, len(texts), base.BATCH):
            rows = slice(start, start + base.BATCH)
            store.add(texts[rows], vectors[rows])
    out = np.zeros_like(vectors)
    began = process_time()
    with VectorStore("large", 64) as store:
        assert store.look_up(texts, out).all()
    assert process_time() - began < 10  # of this process alone: a busy machine is no failure
    np.testing.assert_array_equal(out, vectors)
