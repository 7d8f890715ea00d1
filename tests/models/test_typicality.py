"""Who belongs to a listed class at all, and what tells the others apart."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.core.arrays import unit
from unseen.engines.memory import Composed
from unseen.models.typicality import Insiders, TwoNormals


def planted(
    share: float = 0.5, n: int = 2000
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
    """Return hops, a noisy fit, and who is inside: outsiders lean towards a direction of theirs."""
    rng = np.random.default_rng(0)
    inside = rng.random(n) < share
    Z = rng.normal(size=(n, 16)).astype(np.float32)
    Z[inside, 0] += 2
    Z[~inside, 1] += 2
    fit = (0.5 * inside + rng.normal(size=n)).astype(np.float32)  # tells little by itself
    return unit(Z), fit, inside


def auroc(score: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, score))


def test_outsiders_are_known_by_what_they_share() -> None:
    Z, fit, inside = planted()
    found = Insiders.fit(Composed(Z), fit)
    assert auroc(1 - found.background(Composed(Z), fit), inside) > auroc(fit, inside) + 0.1
    assert found.background(Composed(Z), fit).mean() == pytest.approx(0.5, abs=0.2)


def test_a_better_fit_never_makes_a_node_more_of_an_outsider() -> None:
    Z, fit, _ = planted(share=0.8)
    found = Insiders.fit(Composed(Z), fit)
    at = np.repeat(Z[:1], 100, axis=0)
    background = found.background(Composed(at), np.linspace(-9, 9, 100, dtype=np.float32))
    assert (np.diff(background) <= 1e-7).all()
    assert background[0] > background[-1]


def test_two_normals_are_found() -> None:
    rng = np.random.default_rng(1)
    values = np.append(rng.normal(0, 1, 3000), rng.normal(5, 0.5, 1000)).astype(np.float32)
    found = TwoNormals.fit(values)
    assert (found.low, found.high, found.share) == pytest.approx((0, 5, 0.25), abs=0.1)
    assert (found.low_deviation, found.high_deviation) == pytest.approx((1, 0.5), abs=0.1)
    common = found.pooled()
    assert common.low_deviation == common.high_deviation
    assert common.low_deviation == pytest.approx(np.sqrt(0.75 * 1 + 0.25 * 0.25), abs=0.05)
