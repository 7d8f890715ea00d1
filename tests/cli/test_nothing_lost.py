"""No command writes over what it did not write, or over what it reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from topic_graph import Call, sample, write_files

pytestmark = pytest.mark.usefixtures("quick_map")


@pytest.fixture
def paths(call: Call, tmp_path: Path) -> dict[str, Path]:
    found = write_files(tmp_path / "in", sample(per_class=4))
    given = [word for name, path in found.items() for word in (f"--{name}", path)]
    assert call("classify", *given, "--out", tmp_path / "run")[0] == 0
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_places_that_are_taken(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    run, mine = tmp_path / "run", tmp_path / "mine.html"
    mine.write_text("mine", encoding="utf-8")
    (tmp_path / "link").symlink_to(run)
    truth = tmp_path / "truth.csv"
    truth.write_text("id,label\n0,Music\n1,Music\n", encoding="utf-8")
    evaluate = ("evaluate", "--predictions", run / "predictions.csv", "--truth", truth, "--report")
    predict = ("predict", "--model", run, "--nodes", paths["nodes"], "--out")
    classify = ("classify", "--classes", paths["classes"], "--nodes")
    before = contents(tmp_path)
    for words, said in (
        ((*evaluate, mine), "mine.html: exists"),
        ((*evaluate, truth), "truth.csv: exists"),
        ((*evaluate, run / "predictions.csv"), "predictions.csv: exists"),
        ((*evaluate, run / "new.html"), "which unseen wrote as a whole"),
        ((*predict, run), "is what the answers are made with"),
        ((*predict, tmp_path / "link"), "is what the answers are made with"),
        (("predict", "--model", run / "model", *predict[3:], run), "run/model, which is what the"),
        ((*classify, run / "graph" / "nodes.parquet", "--out", run), "which is what the answers"),
        ((*classify, run / "graph" / "*.parquet", "--out", run), "which is what the answers"),
        (("encode", "--nodes", paths["nodes"], "--out", run / "x"), "which unseen wrote"),
        (("describe", "--classes", paths["classes"], "--out", truth), "exists, and is not"),
    ):
        code, _, complaint = call(*words)
        assert code == 2
        assert said in complaint
        assert contents(tmp_path) == before


def test_drafts_that_were_edited_stay(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    words = ("describe", "--classes", paths["classes"], "--out", tmp_path / "d.csv")
    assert call(*words)[0] == 0
    assert call(*words)[0] == 0  # the same again
    edited = (tmp_path / "d.csv").read_text("utf-8").replace("Songs,", "Melodies,")
    (tmp_path / "d.csv").write_text(edited, encoding="utf-8")
    code, _, complaint = call(*words)
    assert code == 2
    assert "exists and was edited" in complaint
    assert (tmp_path / "d.csv").read_text("utf-8") == edited


def test_vectors_are_those_of_the_texts(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "vectors"
    words = ("encode", "--nodes", paths["nodes"], "--out", out)
    assert call(*words)[0] == 0
    part = next(out.glob("*.parquet"))
    vectors = pl.read_parquet(part)["vector"].to_numpy()
    part.write_bytes(part.read_bytes()[:-9] + b"123456789")
    assert call(*words)[0] == 0
    np.testing.assert_array_equal(pl.read_parquet(part)["vector"].to_numpy(), vectors)
    text = paths["nodes"].read_text("utf-8")
    paths["nodes"].write_text(text.replace("people", "peopel"), encoding="utf-8")
    code, _, complaint = call(*words)
    assert code == 2
    assert "vectors that were made otherwise" in complaint


@pytest.mark.parametrize("row", [",no id\n", "0,again\n"])
def test_a_refused_file_leaves_no_folder_of_vectors(
    row: str, call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    sound = paths["nodes"].read_text("utf-8")
    paths["nodes"].write_text(sound + row, encoding="utf-8")
    words = ("encode", "--nodes", paths["nodes"], "--out", tmp_path / "vectors")
    assert call(*words)[0] == 2
    assert not (tmp_path / "vectors").exists()
    paths["nodes"].write_text(sound, encoding="utf-8")
    assert call(*words)[0] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--source-column", "target"), "named as source and as target"),
        (("--text-columns", "text,text"), "named as a text twice"),
    ],
)
def test_columns_that_would_say_nothing(
    options: tuple[str, ...], said: str, call: Call, paths: dict[str, Path], tmp_path: Path
) -> None:
    given = [word for name, path in paths.items() for word in (f"--{name}", path)]
    code, _, complaint = call("classify", *given, "--out", tmp_path / "x", *options)
    assert code == 2
    assert said in complaint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("how", ["full", "closed"])
def test_output_that_cannot_be_written(how: str) -> None:
    """As with `unseen ... > /dev/full` and `unseen ... >&-`."""
    words = [sys.executable, "-m", "unseen.cli", "datasets", "list"]
    given = {"stdout": os.open("/dev/full", os.O_WRONLY)} if how == "full" else {}
    shell = ["sh", "-c", '"$@" >&-', "sh"] if how == "closed" else []
    done = subprocess.run([*shell, *words], stderr=subprocess.PIPE, check=False, **given)  # type: ignore[call-overload]
    if how == "full":
        assert done.returncode == 2
        assert done.stderr == b"unseen: standard output: No space left on device\n"
    else:
        assert (done.returncode, done.stderr) == (0, b"")
