"""The demonstration: its figures, and that simpler ways fall short of it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import unseen
from unseen.demo import Row, demonstrate
from unseen.prediction import Prediction


@pytest.fixture(scope="module")
def demo() -> tuple[Prediction, list[Row]]:
    return demonstrate(seed=0)


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the graph is that of the running Python's own library"
)
def test_the_figures_of_the_readme(demo: tuple[Prediction, list[Row]]) -> None:
    rows = {row.method: row for row in demo[1]}
    assert rows["full pipeline"].accuracy == pytest.approx(83.7, abs=1.0)
    assert rows["full pipeline"].macro == pytest.approx(89.0, abs=1.0)


def test_rows_come_in_the_order_of_what_they_know(demo: tuple[Prediction, list[Row]]) -> None:
    methods = [row.method for row in demo[1]]
    assert methods[0] == "majority class"
    assert methods[-1] == "full pipeline"
    accuracies = [row.accuracy for row in demo[1]]
    assert accuracies == sorted(accuracies)


def test_only_unseen_sections_are_answered(demo: tuple[Prediction, list[Row]]) -> None:
    data = unseen.load_dataset("stdlib")
    unseen_ones = data.splits["demo"].unseen
    found = demo[0]
    assert set(found.label.tolist()) <= set(unseen_ones)
    assert found.record["settings"]["among"] == "unseen"
    hidden = np.flatnonzero(np.isin(data.truth.codes, unseen_ones))
    assert set(hidden) <= set(found.nodes.tolist())
    assert not np.isin(found.labels.codes, unseen_ones).any()
