"""Cluster-class matching: the formula word by word, exact against relaxed, ours against POT."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.models import matching
from unseen.models.matching import cosines, likeness, match, standard, together


def geometries(
    count: int, seed: int, noise: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 4)).astype(np.float32)
    moved = (rows + noise * rng.normal(size=rows.shape)).astype(np.float32)
    return standard(cosines(rows)), standard(cosines(moved))


def test_match_is_the_sum_over_all_matchings() -> None:
    """Against a loop that follows the formula of the docstring word by word."""
    D, G = geometries(6, 0, 0.8)
    free = np.array([True, False, True, True, False, False])
    i, j = np.triu_indices(6, 1)
    T, total = np.zeros((3, 3)), 0.0
    for order in permutations([0, 2, 3]):
        name = np.arange(6)
        name[[0, 2, 3]] = order
        corr = np.corrcoef(D[i, j], G[name[i], name[j]])[0, 1]
        weight = np.exp(matching.SHARPNESS * len(i) * corr)
        total += weight
        for place, c in enumerate(order):
            T[place, [0, 2, 3].index(c)] += weight
    np.testing.assert_allclose(match(D, G, free), T / total, atol=1e-6)


def test_rows_and_columns_sum_to_one() -> None:
    for count, unseen in ((6, 4), (12, 9)):
        D, G = geometries(count, 1, 0.5)
        T = match(D, G, np.arange(count) < unseen)
        np.testing.assert_allclose(T.sum(axis=0), 1, atol=1e-3)
        np.testing.assert_allclose(T.sum(axis=1), 1, atol=1e-3)


def test_beyond_counting_the_relaxed_problem_is_solved() -> None:
    D, G = geometries(14, 2, 0.2)
    T = match(D, G, np.arange(14) < 8)
    assert (T.argmax(axis=1) == np.arange(8)).mean() >= 0.75


def test_relaxed_and_exact_agree_where_both_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    D, G = geometries(9, 3, 0.3)
    free = np.arange(9) < 5
    exact = match(D, G, free)
    monkeypatch.setattr(matching, "COUNTED", 1)
    relaxed = match(D, G, free)
    assert (relaxed.argmax(axis=1) == exact.argmax(axis=1)).all()
    assert np.corrcoef(relaxed.ravel(), exact.ravel())[0, 1] > 0.9


def test_many_geometries_at_once_are_each_as_if_alone() -> None:
    rng = np.random.default_rng(4)
    own, hops = rng.normal(size=(2, 5, 6, 3))
    edges = rng.integers(0, 90, (5, 6, 6))
    edges = edges + edges.swapaxes(1, 2)
    both = likeness([own, hops], edges)
    for place in range(5):
        alone = likeness([own[place], hops[place]], edges[place])
        np.testing.assert_allclose(both[place], alone, atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_likeness_follows_the_formula(sign: int) -> None:
    """Edges count by how they correlate with features, and not at all where they contradict."""
    rng = np.random.default_rng(5)
    own, hops = rng.normal(size=(2, 6, 3))
    F = standard(cosines(own)) + standard(cosines(hops))
    edges = np.exp(4 + sign * standard(F) + 0.3 * standard(cosines(rng.normal(size=(6, 3)))))
    i, j = np.triu_indices(6, 1)
    e, few = edges.sum(axis=1), matching.FEW
    E = np.zeros((6, 6))
    for g, h in zip(i, j, strict=True):
        E[g, h] = np.log((edges[g, h] + few) / (e[g] * e[h] / edges.sum() + few))
    r = np.corrcoef(E[i, j], F[i, j])[0, 1]
    assert sign * r > 0.5
    D = F[i, j] + max(r, 0) * (E[i, j] - E[i, j].mean()) / E[i, j].std()
    expected = (D - D.mean()) / D.std()
    np.testing.assert_allclose(likeness([own, hops], edges)[i, j], expected, atol=1e-9)


def test_geometries_count_alike_whatever_their_scale() -> None:
    one, other = (cosines(np.random.default_rng(seed).normal(size=(6, 3))) for seed in (7, 8))
    np.testing.assert_allclose(together([one, other]), together([100 * one + 3, other]), atol=1e-9)


def test_a_geometry_without_differences_says_nothing() -> None:
    even = standard(cosines(np.eye(5, dtype=np.float32)))
    i, j = np.triu_indices(5, 1)
    assert np.abs(even[i, j]).max() < 0.5
    np.testing.assert_allclose(cosines(np.zeros((4, 3))), 0)


@pytest.mark.parametrize("unseen", [7, 9, 12])
@pytest.mark.parametrize("seed", range(3))
def test_the_relaxed_problem_has_the_solution_of_pot(unseen: int, seed: int) -> None:
    """Entropic fused Gromov-Wasserstein, solved by the library that most would take."""
    ot = pytest.importorskip("ot")
    D, G = geometries(unseen + 4, seed, 0.5)
    free = np.arange(unseen + 4) < unseen
    M = ((D[free][:, None, ~free] - G[free][None, :, ~free]) ** 2).sum(axis=2)
    A, B = (np.where(np.eye(unseen, dtype=bool), 0.0, each[:unseen, :unseen]) for each in (D, G))
    even = np.full(unseen, 1 / unseen)
    T = ot.gromov.entropic_fused_gromov_wasserstein(
        *(M, A, B, even, even),
        epsilon=4 / (matching.SHARPNESS * (unseen + 2)),
        alpha=unseen / (unseen + 2),
        max_iter=matching.STEPS,
        tol=1e-12,
        stopThr=1e-12,
    )
    np.testing.assert_allclose(match(D, G, free), T * unseen, atol=1e-6)
