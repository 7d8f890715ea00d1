"""Shares of hops worked out by hand, and the sentences that tell them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from unseen.core.operator import Operator
from unseen.explain import hop_shares, reasons

STAR = Operator([[0, 1, 5, 2, 0], [1, 0, 0, 0, 0], [5, 0, 0, 0, 0], [2, 0, 0, 0, 0], [0] * 5])
IDS = ["hub", "a", "b", "c", "alone"]


def one(*beliefs: list[float]) -> list[NDArray[np.float32]]:
    return [np.array([row], dtype=np.float32) for row in beliefs]


def shares_of(steps: list[NDArray[np.float32]], winner: int, second: int) -> list[float]:
    return list(hop_shares(steps, np.array([winner]), np.array([second]))[0].tolist())


def explained(
    node: int, shares: list[float], winner: tuple[int, ...] = (0, 0, 1, 0, 0), own: str = "text"
) -> str:
    given_ = np.array([shares], dtype=np.float32)
    return reasons(np.array([node]), np.array(winner), given_, STAR, IDS, own)[0]


def test_shares_of_a_lead_that_grows_are_its_steps() -> None:
    """Odds of 2, then 4, then 16: ln 2 + ln 2 + 2 ln 2."""
    steps = one([2 / 3, 1 / 3], [4 / 5, 1 / 5], [16 / 17, 1 / 17])
    assert shares_of(steps, 0, 1) == pytest.approx([1 / 4, 1 / 4, 1 / 2], abs=1e-5)


def test_a_hop_that_spoke_against_the_winner_has_no_share() -> None:
    """Odds of 1/2, then 2, then 8, then 4: only hops 1 and 2 helped, by ln 4 each."""
    steps = one([1 / 3, 2 / 3], [2 / 3, 1 / 3], [8 / 9, 1 / 9], [4 / 5, 1 / 5])
    assert shares_of(steps, 0, 1) == pytest.approx([0, 1 / 2, 1 / 2, 0], abs=1e-5)


def test_only_winner_and_runner_up_count() -> None:
    """Class 2 is neither: the odds of 1 to 0 are 2, then 8, whatever class 2 does."""
    steps = one([0.1, 0.2, 0.7], [0.1, 0.8, 0.1])
    assert shares_of(steps, 1, 0) == pytest.approx([1 / 3, 2 / 3], abs=1e-5)


def test_without_the_graph_the_own_text_has_all() -> None:
    assert shares_of(one([0.9, 0.1]), 0, 1) == [1.0]


def test_a_tie_from_start_to_end_is_the_own_texts() -> None:
    assert shares_of(one([0.5, 0.5], [0.5, 0.5]), 0, 1) == [1.0, 0.0]


def test_certainty_is_finite() -> None:
    assert shares_of(one([1.0, 0.0], [1.0, 0.0]), 0, 1) == [1.0, 0.0]


@given(arrays(np.float32, (3, 5, 4), elements=st.floats(0.0, 1.0, width=32)))
def test_shares_are_proper_and_sum_to_one(q: NDArray[np.float32]) -> None:
    order = (-q[-1]).argsort(axis=1, kind="stable")
    shares = hop_shares(list(q), order[:, 0], order[:, 1])
    assert shares.shape == (5, 3)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)


def test_a_reason_tells_shares_agreement_and_the_strongest_that_agrees() -> None:
    assert explained(0, [0.6, 0.3, 0.06, 0.04]) == (
        "own text 60%, neighbours 30%, further hops 10%; 2 of 3 neighbours agree, such as 'c'"
    )


def test_further_hops_are_left_out_where_they_said_nothing() -> None:
    assert explained(0, [0.7, 0.3]) == (
        "own text 70%, neighbours 30%; 2 of 3 neighbours agree, such as 'c'"
    )
    assert "further" not in explained(0, [0.697, 0.3, 0.003])


def test_no_example_is_named_where_no_neighbour_agrees() -> None:
    assert explained(2, [1.0, 0.0]) == "own text 100%, neighbours 0%; 0 of 1 neighbours agree"


def test_a_node_without_neighbours_had_its_own_words_alone() -> None:
    assert explained(4, [1.0, 0.0], own="words") == "own words alone; no neighbours"


def test_a_graph_that_was_not_used_is_said_so() -> None:
    assert explained(0, [1.0], own="features") == "own features alone; the graph was not used"


def test_reasons_follow_the_nodes_asked_about() -> None:
    shares = np.array([[1, 0], [0.5, 0.5]], dtype=np.float32)
    told = reasons(np.array([4, 1]), np.zeros(5, np.int64), shares, STAR, IDS, "text")
    assert told == [
        "own text alone; no neighbours",
        "own text 50%, neighbours 50%; 1 of 1 neighbours agree, such as 'hub'",
    ]
