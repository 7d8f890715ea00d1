"""Files, runs and comparisons that the tests of the engines share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unseen.core.graph import Graph
from unseen.engines.disk import Disk
from unseen.engines.disk_operator import DiskOperator
from unseen.engines.place import store_in
from unseen.prediction import Prediction

PLENTY = 2 << 30
SHARE = re.compile(r"(\d+) ?%")  # of a reason
CLOSE = 1e-5


def on_disk(folder: Path, graph: Graph, block: int) -> tuple[Disk, DiskOperator]:
    """Return an engine and the operator of a graph whose edges lie in a folder."""
    stored = store_in(folder, graph, PLENTY, block=block)
    return stored.engine, stored.operator


def assert_equal(one: Prediction, other: Prediction) -> None:
    """The same labels and reasons, but for the last digit of a share; probabilities to 1e-5."""
    np.testing.assert_array_equal(one.nodes, other.nodes)
    np.testing.assert_array_equal(one.label, other.label)
    np.testing.assert_allclose(other.proba, one.proba, rtol=0, atol=CLOSE)
    np.testing.assert_array_equal(one.runner_up, other.runner_up)
    for mine, theirs in zip(one.reasons, other.reasons, strict=True):
        assert SHARE.sub("%", mine) == SHARE.sub("%", theirs)
        for a, b in zip(SHARE.findall(mine), SHARE.findall(theirs), strict=True):
            assert abs(int(a) - int(b)) <= 1
    assert list(one.flags) == list(other.flags)
    assert (one.background is None) == (other.background is None)
    if one.background is not None and other.background is not None:
        np.testing.assert_allclose(other.background, one.background, rtol=0, atol=CLOSE)


def answers(run: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return predictions and probabilities of a run folder of either engine."""
    found = []
    for kind in ("predictions", "probabilities"):
        parts = run / kind
        place: Any = parts / "*.parquet" if parts.is_dir() else run / f"{kind}.parquet"
        found.append(pl.scan_parquet(place).collect())
    return found[0], found[1]


def assert_same_run(one: Path, other: Path) -> None:
    """Two run folders hold the same answers, in the same order."""
    (mine, p), (theirs, q) = answers(one), answers(other)
    for column in ("id", "label", "runner_up"):
        assert mine[column].to_list() == theirs[column].to_list()
    assert p.columns == q.columns
    np.testing.assert_allclose(p[:, 1:].to_numpy(), q[:, 1:].to_numpy(), rtol=0, atol=CLOSE)
