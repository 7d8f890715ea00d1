"""Confidences are corrected to how often answers about held-out classes were right."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.evaluate.metrics import calibration
from unseen.select.calibration import SLOPES, Calibration

Answers = tuple[NDArray[np.float32], NDArray[np.bool_]]


def odds(x: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(1 / (1 + np.exp(-x)), dtype=np.float32)


def answered(slope: float, shift: float, nodes: int = 5000, seed: int = 0) -> Answers:
    """Return confidences c, and answers that are right with log-odds slope * logit(c) + shift."""
    rng = np.random.default_rng(seed)
    x = rng.normal(1, 2, nodes)
    return odds(x), rng.random(nodes) < odds(slope * x + shift)


@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (0.5, -1.0), (2.0, 0.7)])
def test_the_planted_correction_is_found(slope: float, shift: float) -> None:
    found = Calibration.fit([answered(slope, shift), answered(slope, shift, seed=1)], classes=1000)
    assert found.slope == pytest.approx(slope, abs=0.1)
    assert found.shift == pytest.approx(shift, abs=0.1)


def test_corrected_confidences_are_calibrated_on_other_nodes() -> None:
    found = Calibration.fit([answered(0.4, -1.0)], classes=1000)
    sure, right = answered(0.4, -1.0, seed=1)
    assert calibration(sure, right).error > 0.15
    assert calibration(found(sure), right).error < 0.03


def test_without_folds_nothing_is_corrected() -> None:
    empty = (np.zeros(0, np.float32), np.zeros(0, bool))
    assert Calibration.fit([], 4) == Calibration.fit([empty], 4) == Calibration()
    sure = np.array([0, 0.3, 1], np.float32)
    assert Calibration()(sure).tolist() == sure.tolist()


def test_few_held_out_classes_change_little_and_many_much() -> None:
    sure, right = np.full(2000, 0.9, np.float32), np.tile([True, False], 1000)
    said = [float(Calibration.fit([(sure, right)], classes)(sure)[0]) for classes in (1, 5, 1000)]
    assert said == sorted(said, reverse=True)
    assert said[0] > 0.75
    assert said[2] == pytest.approx(0.5, abs=0.02)


def test_every_fold_counts_the_same_however_many_nodes_it_has() -> None:
    small, large = np.full(500, 0.8, np.float32), np.full(5000, 0.8, np.float32)
    found = Calibration.fit(
        [(small, np.ones(500, bool)), (large, np.zeros(5000, bool))], classes=1000
    )
    assert found(small)[0] == pytest.approx(0.5, abs=0.02)


def test_the_order_of_nodes_stays_even_where_folds_were_upside_down() -> None:
    sure, right = answered(1.0, 0.0)
    found = Calibration.fit([(sure, ~right)], classes=1000)
    assert found.slope == SLOPES[0]
    ranks = np.argsort(sure)
    assert (np.diff(found(sure)[ranks]) >= 0).all()


def test_certainty_stays_a_number() -> None:
    told = Calibration(2.0, 0.5)(np.array([0, 0.5, 1], np.float32))
    assert np.isfinite(told).all()
    assert ((told >= 0) & (told <= 1)).all()
