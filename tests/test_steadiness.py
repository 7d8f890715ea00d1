"""Steadiness: who ignores blurs is steady, who follows them is not, and candidates see the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.steadiness import BLUR, TIMES, steadiness
from unseen.vectors import unit

S = unit(np.random.default_rng(42).standard_normal((6, 400)).astype(np.float32))
NODES = 2000


class Seen:
    """A candidate that keeps the CSDs it was given, and leaves a share of its answers to chance."""

    def __init__(self, by_chance: float = 0.0) -> None:
        self.given: list[NDArray[np.float32]] = []
        self.by_chance = by_chance

    def __call__(self, csds: NDArray[np.float32]) -> NDArray[np.int64]:
        self.given.append(csds)
        rng = np.random.default_rng(abs(int(1e6 * csds[0, 0])))
        answer = np.arange(NODES) % len(S)
        moved = rng.random(NODES) < self.by_chance
        return np.where(moved, rng.integers(len(S), size=NODES), answer)


def test_who_ignores_the_texts_is_perfectly_steady() -> None:
    assert steadiness(Seen(), S, seed=0) == 1.0


@pytest.mark.parametrize("by_chance", [0.3, 1.0])
def test_who_follows_chance_agrees_as_often_as_chance_does(by_chance: float) -> None:
    kept = 1 - by_chance
    expected = kept**2 + (1 - kept**2) / len(S)  # both stayed, or met by chance
    assert steadiness(Seen(by_chance), S, seed=0) == pytest.approx(expected, abs=0.02)


def test_every_pair_of_answers_counts() -> None:
    told = iter([np.zeros(4, np.int64), np.ones(4, np.int64), np.ones(4, np.int64)])
    assert steadiness(lambda _: next(told), S, seed=0, times=3) == pytest.approx(1 / 3)


def test_texts_of_any_length_are_blurred_alike() -> None:
    plain, long = Seen(), Seen()
    steadiness(plain, S, seed=0)
    steadiness(long, 5 * S, seed=0)
    np.testing.assert_allclose(long.given, plain.given, atol=1e-6)


def test_a_class_is_moved_alike_wherever_it_stands() -> None:
    plain, turned, order = Seen(), Seen(), [3, 0, 5, 4, 2, 1]
    steadiness(plain, S, seed=0)
    steadiness(turned, S[order], seed=0)
    for one, other in zip(plain.given, turned.given, strict=True):
        np.testing.assert_array_equal(one[order], other)


def test_texts_are_moved_by_as_much_as_is_said() -> None:
    candidate = Seen()
    steadiness(candidate, S, seed=0)
    assert len(candidate.given) == TIMES
    for moved in candidate.given:
        assert np.linalg.norm(moved, axis=1) == pytest.approx(1, abs=1e-5)
        kept = float((moved * S).sum(axis=1).mean())  # the cosine with what was written
        assert kept == pytest.approx(1 / np.sqrt(1 + BLUR**2), abs=0.04)
    one, other = candidate.given[:2]
    assert (one * other).sum(axis=1).max() < 0.9  # each time elsewhere


def test_candidates_get_the_same_blurs_and_another_seed_gives_others() -> None:
    one, other, third = Seen(), Seen(), Seen()
    steadiness(one, S, seed=1)
    steadiness(other, S, seed=1, times=2)
    steadiness(third, S, seed=2)
    assert len(other.given) == 2
    assert (one.given[0] == other.given[0]).all()
    assert (one.given[1] == other.given[1]).all()
    assert (one.given[0] != third.given[0]).any()
