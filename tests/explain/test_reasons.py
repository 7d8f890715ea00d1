"""Shares of hops worked out by hand, and the sentences that tell them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from unseen.core.operator import Operator
from unseen.engines.memory import MEMORY
from unseen.explain.reasons import (
    NO_TEXT,
    TEXT_DISAGREES,
    Evidence,
    Reasons,
    agreement,
    explained,
)
from unseen.explain.shares import hop_shares
from unseen.explain.strings import Titles, packed

STAR = Operator([[0, 1, 5, 2, 0], [1, 0, 0, 0, 0], [5, 0, 0, 0, 0], [2, 0, 0, 0, 0], [0] * 5])
IDS = ["hub", "a", "b", "c", "alone"]


def one(*posteriors: list[float]) -> list[NDArray[np.float32]]:
    return [np.array([row], dtype=np.float32) for row in posteriors]


def shares_of(steps: list[NDArray[np.float32]], winner: int, second: int) -> list[float]:
    return list(hop_shares(steps, np.array([winner]), np.array([second]))[0].tolist())


def about(
    nodes: list[int],
    shares: list[list[float]],
    winner: tuple[int, ...] = (0, 0, 1, 0, 0),
    **more: Any,
) -> Evidence:
    usual: dict[str, Any] = {
        "own": "text",
        "names": ("Garden", "Kitchen"),
        "text_class": np.array([winner[node] for node in nodes]),
        "flags": np.zeros(len(nodes), dtype=np.uint8),
    }
    given_ = np.array(shares, dtype=np.float32)
    return Evidence(np.array(nodes), np.array(winner), given_, STAR, IDS, **(usual | more))


def reason(node: int, shares: list[float], **more: Any) -> str:
    return explained(about([node], [shares], **more))[0][0]


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
    assert reason(0, [0.6, 0.3, 0.06, 0.04]) == (
        "Decided by its own text (60%), its neighbours (30%) and nodes further away (10%). "
        "2 of 3 neighbours have this class, such as 'c'."
    )


def test_further_hops_are_left_out_where_they_said_nothing() -> None:
    assert reason(0, [0.7, 0.3]) == (
        "Decided by its own text (70%) and its neighbours (30%). "
        "2 of 3 neighbours have this class, such as 'c'."
    )
    assert "further" not in reason(0, [0.697, 0.3, 0.003])


def test_no_example_is_named_where_no_neighbour_agrees() -> None:
    said = reason(2, [1.0, 0.0])
    assert said == "Decided by its own text. Its only neighbour has another class."


def test_a_node_without_neighbours_had_its_own_words_alone() -> None:
    assert reason(4, [1.0, 0.0], own="words") == (
        "Decided by its own words alone, as it has no neighbours."
    )


def test_a_graph_that_was_not_used_is_said_so() -> None:
    assert reason(0, [1.0], own="features") == (
        "Decided by its own features alone, as the graph was not used."
    )


def test_reasons_follow_the_nodes_asked_about() -> None:
    found = explained(about([4, 1], [[1, 0], [0.5, 0.5]], (0,) * 5))[0]
    assert found == [
        "Decided by its own text alone, as it has no neighbours.",
        "Decided by its own text (50%) and its neighbours (50%). "
        "Its only neighbour has this class: 'hub'.",
    ]


def test_a_neighbour_is_named_by_its_title() -> None:
    texts = ["Hub", "", "", "Copper kettle. Boils water on any hob.", ""]
    found = reason(0, [0.7, 0.3], titles=Titles(texts, MEMORY))
    assert found.endswith("2 of 3 neighbours have this class, such as 'Copper kettle' (c).")


def test_a_neighbour_without_a_text_is_named_by_its_id() -> None:
    assert reason(0, [0.7, 0.3], titles=Titles([""] * 5, MEMORY)).endswith("such as 'c'.")


def test_words_stand_beside_the_share_of_the_text() -> None:
    words = packed(["kettle, boil"])
    said = reason(0, [0.7, 0.3], words=words)
    assert said.startswith("Decided by its own text (70%, words: kettle, boil) and its neighbours")
    assert reason(4, [1.0, 0.0], words=words) == (
        "Decided by its own text alone (words: kettle, boil), as it has no neighbours."
    )
    assert reason(0, [1.0, 0.0], words=words).startswith(
        "Decided by its own text (words: kettle, boil). "
    )


def test_a_text_that_speaks_for_another_class_is_said_plainly() -> None:
    found = reason(0, [0.0, 1.0], text_class=np.array([1]), words=packed(["kettle"]))
    assert found == (
        "Decided by its neighbours, but its own text alone speaks for 'Kitchen' (words: kettle). "
        "2 of 3 neighbours have this class, such as 'c'."
    )


def test_a_node_without_a_text_is_not_said_to_have_one() -> None:
    silent = {"text_class": np.array([-1]), "flags": np.array([NO_TEXT], np.uint8)}
    assert reason(0, [0.0, 1.0], **silent) == (
        "Decided by its neighbours, as it has no text of its own. "
        "2 of 3 neighbours have this class, such as 'c'."
    )
    assert reason(4, [1.0, 0.0], **silent) == (
        "It has no text of its own, and it has no neighbours."
    )


@pytest.mark.parametrize(
    ("agree", "count", "said"),
    [
        (0, 1, "Its only neighbour has another class."),
        (1, 1, "Its only neighbour has this class: x."),
        (0, 3, "None of its 3 neighbours has this class."),
        (1, 3, "1 of 3 neighbours has this class: x."),
        (2, 2, "Both neighbours have this class, such as x."),
        (3, 3, "All 3 neighbours have this class, such as x."),
        (2, 3, "2 of 3 neighbours have this class, such as x."),
    ],
)
def test_neighbours_are_counted_as_people_do(agree: int, count: int, said: str) -> None:
    assert agreement(agree, count, "x" if agree else "") == said


def test_who_decided_most_comes_first() -> None:
    assert reason(0, [0.1, 0.2, 0.7]).startswith(
        "Decided by nodes further away (70%), its neighbours (20%) and its own text (10%). "
    )


def test_flags_of_the_model_and_of_the_neighbours_are_brought_together() -> None:
    flags = np.array([0, 0, TEXT_DISAGREES, NO_TEXT], np.uint8)
    evidence = about([0, 1, 2, 4], [[1, 0]] * 4, (0, 0, 1, 0, 0), flags=flags)
    assert explained(evidence)[1] == [
        "",
        "",
        "text disagrees; neighbours disagree",
        "no text; no neighbours",
    ]


def test_where_no_node_has_an_edge_none_is_flagged_for_it() -> None:
    alone = replace(about([0, 4], [[1.0], [1.0]]), operator=Operator(np.zeros((5, 5))))
    assert explained(alone) == (
        ["Decided by its own text alone, as the graph was not used."] * 2,
        ["", ""],
    )


@pytest.mark.parametrize(
    ("winner", "said"),
    [((0, 0, 0, 1, 0), ""), ((0, 0, 1, 1, 0), "neighbours disagree")],
)
def test_neighbours_disagree_when_fewer_than_half_agree(winner: tuple[int, ...], said: str) -> None:
    assert explained(about([0], [[1, 0]], winner))[1] == [said]


def test_reasons_and_flags_are_formed_when_asked_for() -> None:
    """As on disk: whatever slice is asked for, in whatever order, is that of the whole."""
    evidence = about([0, 1, 2, 3, 4], [[0.7, 0.3]] * 5)
    sentences, flags = explained(evidence)
    why = Reasons(evidence)
    assert len(why) == len(why.flags) == 5
    for at in (slice(1, 3), slice(None), slice(3, 9), slice(0, 0)):
        assert why.flags[at] == flags[at]
        assert why[at] == sentences[at]
    assert [why[-1], why[2], why.flags[2]] == [sentences[-1], sentences[2], flags[2]]
