"""Runs whose graph was left on disk say which nodes to label next, as others do."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unseen
from topic_graph import Call, sample, write_files
from unseen.core.arrays import unit
from unseen.core.errors import InputError, SavedFileError
from unseen.engines import disk, stored_graph
from unseen.files import classify_files, plan_run
from unseen.io.atomic import write_manifest
from unseen.io.read import read_classes
from unseen.propagate.hops import decompose
from unseen.suggestions import FILE, suggest_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run from files, whose graph is not in it."""
    given, folder = sample(per_class=60, topical=2), tmp_path_factory.mktemp("suggest")
    paths = write_files(folder / "inputs", given, given.labels(0))
    classes = read_classes(paths["classes"])
    with pytest.MonkeyPatch.context() as patch:
        for module in (disk, stored_graph):
            patch.setattr(module, "BLOCK", 70)
        plan = plan_run(paths["nodes"], paths["edges"], classes, engine="disk", memory="2GB")
        classify_files(paths["nodes"], paths["edges"], classes, folder / "run", plan=plan)
    return folder / "run"


def test_the_vectors_that_are_kept_are_those_of_memory(run: Path) -> None:
    given = sample(per_class=60, topical=2)
    one = unseen.classify(given.graph, given.classes, given.labels(0), engine="memory")
    table = pl.read_parquet(run / FILE).filter(pl.col("probability 0").is_not_null())
    assert len(table) == len(one)  # few enough to be kept, all without a label
    X = np.asarray(one.vectors)
    Z = unit(decompose(X, given.graph.operator, 3, 0.5).composed())
    kept = table.select(pl.col("^vector .*$")).to_numpy()
    np.testing.assert_allclose(kept, np.hstack([unit(X), Z])[one.nodes], atol=1e-4)
    P = table.select(pl.col("^probability .*$")).to_numpy()
    np.testing.assert_allclose(P, one.proba, atol=1e-5)
    mine = one.suggest(8)["id"].to_list()
    assert len(set(mine) & set(suggest_of(run, 8, False, 0)["id"])) >= 6  # k-means on 1e-5 apart


def test_the_least_certain_come_first(run: Path) -> None:
    found = suggest_of(run, 5, True, 0)
    every = pl.scan_parquet(run / "predictions" / "*.parquet").collect()
    assert found["confidence"].to_list() == sorted(every["confidence"])[:5]
    assert all(found["text"])
    with pytest.raises(InputError, match=r"keeps its 1,000 least certain answers, found 1,001"):
        suggest_of(run, 1001, True, 0)


def test_on_the_command_line(run: Path, call: Call, tmp_path: Path) -> None:
    code, _, complaint = call("suggest", "--run", run, "--count", 4, "--out", tmp_path / "next.csv")
    assert code == 0, complaint
    table = pl.read_csv(tmp_path / "next.csv")
    assert table.columns == ["id", "label", "confidence", "text"]
    assert len(table) == 4


@pytest.mark.parametrize("column", ["vector 1", "probability 0"])
@pytest.mark.parametrize("value", [float("nan"), "x", None])
def test_a_sample_of_no_numbers_is_refused(
    column: str, value: object, run: Path, tmp_path: Path
) -> None:
    other = tmp_path / "run"
    shutil.copytree(run, other)
    pl.read_parquet(run / FILE).with_columns(pl.lit(value).alias(column)).write_parquet(
        other / FILE
    )
    write_manifest(other)
    with pytest.raises(SavedFileError, match=r"holds values that are no numbers"):
        suggest_of(other, 4, False, 0)


def test_a_sample_that_was_changed_is_refused(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "run"
    shutil.copytree(run, other)
    raw = bytearray((other / FILE).read_bytes())
    raw[len(raw) // 2] ^= 1
    (other / FILE).write_bytes(raw)
    with pytest.raises(SavedFileError, match="was changed after it was written"):
        suggest_of(other, 4, False, 0)
