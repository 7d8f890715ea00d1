"""The game among seen classes: what is hidden is hidden, and luck does not decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unseen.validate import Choice, Game, choose, games

CLASSES = 8
UNSEEN = np.arange(CLASSES) >= 6
ALL = np.ones(CLASSES, dtype=bool)
TRUTH = np.tile(np.arange(CLASSES), 25)
LABELS = np.where(TRUTH < 6, TRUTH, -1)
NONE = np.zeros(0, dtype=np.int64)

Player = Callable[[Game], NDArray[np.int64]]


def game(hidden: list[int], kept: list[int] | None = None) -> Game:
    return Game(np.full(9, -1), np.ones(3, dtype=bool), np.array(hidden), np.array(kept or NONE))


@pytest.mark.parametrize("among", [UNSEEN, ALL], ids=["unseen", "all"])
def test_hidden_labels_are_hidden_and_no_others(among: NDArray[np.bool_]) -> None:
    for each in games(LABELS, among, 3, seed=0):
        out = np.union1d(each.hidden, each.kept)
        assert len(out) > 0
        assert (each.labels[out] == -1).all()
        rest = np.setdiff1d(np.arange(len(LABELS)), out)
        assert (each.labels[rest] == LABELS[rest]).all()


@pytest.mark.parametrize("among", [UNSEEN, ALL], ids=["unseen", "all"])
def test_no_label_of_a_hidden_class_is_left(among: NDArray[np.bool_]) -> None:
    for each in games(LABELS, among, 3, seed=0):
        parts = np.unique(LABELS[each.hidden])
        assert not np.isin(each.labels, parts).any()
        assert set(each.hidden) == set(np.flatnonzero(np.isin(LABELS, parts)))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.booleans(), st.integers(2, 3))
def test_games_never_hold_a_label_of_an_unseen_class(
    seed: int, generalised: bool, folds: int
) -> None:
    for each in games(LABELS, ALL if generalised else UNSEEN, folds, seed):
        assert set(each.labels.tolist()) <= {-1, 0, 1, 2, 3, 4, 5}
        assert (LABELS[each.hidden] >= 0).all()
        assert (LABELS[each.kept] >= 0).all()
        assert each.among[UNSEEN].all()  # but they stay in the game as wrong answers


def test_each_seen_class_is_hidden_in_exactly_one_game() -> None:
    played = games(LABELS, UNSEEN, 3, seed=1)
    assert sorted(c for each in played for c in np.unique(LABELS[each.hidden])) == list(range(6))


def test_hidden_classes_are_allowed_and_other_seen_ones_only_where_they_were() -> None:
    for each in games(LABELS, UNSEEN, 3, seed=0):
        expected = UNSEEN.copy()
        expected[LABELS[each.hidden]] = True
        assert (each.among == expected).all()
        assert len(each.kept) == 0
    assert all(each.among.all() for each in games(LABELS, ALL, 3, seed=0))


def test_about_a_fifth_of_the_other_seen_nodes_is_kept_back_where_they_may_be_answers() -> None:
    for each in games(LABELS, ALL, 3, seed=0):
        others = (LABELS >= 0).sum() - len(each.hidden)
        assert 0.1 < len(each.kept) / others < 0.3
        assert not np.isin(each.kept, each.hidden).any()


def test_the_labels_that_were_given_are_left_alone() -> None:
    labels, among = LABELS.copy(), UNSEEN.copy()
    games(labels, among, 3, seed=0)
    assert (labels == LABELS).all()
    assert (among == UNSEEN).all()


def test_same_seed_same_games() -> None:
    first, second, other = (games(LABELS, ALL, 3, seed) for seed in (4, 4, 5))
    assert all((a.labels == b.labels).all() for a, b in zip(first, second, strict=True))
    assert any((a.labels != b.labels).any() for a, b in zip(first, other, strict=True))


def test_a_score_is_the_mean_over_hidden_classes_not_over_nodes() -> None:
    truth = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])
    answer = np.array([0, 0, 0, 1, 0, 9, 9, 9, 9])
    assert game([0, 1, 2, 3, 4]).score(answer, truth) == pytest.approx((3 / 4 + 0) / 2)


def test_with_kept_nodes_a_score_is_the_harmonic_mean() -> None:
    truth = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])
    answer = np.array([0, 0, 0, 1, 1, 2, 0, 0, 0])
    assert game([0, 1, 2, 3, 4], [5, 6, 7, 8]).score(answer, truth) == pytest.approx(
        2 * (7 / 8) * (1 / 4) / (7 / 8 + 1 / 4)
    )


def test_a_player_that_finds_nothing_scores_zero() -> None:
    truth = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])
    assert game([0, 1], [5, 6]).score(np.full(9, 7), truth) == 0.0


def play_for(share: float) -> Player:
    """Return a player who is right about that share of the nodes of each hidden class."""

    def play(each: Game) -> NDArray[np.int64]:
        answer = np.full(len(TRUTH), -1)
        for c in np.unique(TRUTH[each.hidden]):
            found = each.hidden[TRUTH[each.hidden] == c]
            right = found[: round(share * len(found))]
            answer[right] = c
        return answer

    return play


def chosen(players: Mapping[str, Player], default: str) -> Choice:
    return choose("what", players, LABELS, games(LABELS, UNSEEN, 3, seed=0), default)


def test_a_clearly_better_candidate_is_chosen() -> None:
    choice = chosen({"old": play_for(0.4), "new": play_for(0.8), "bad": play_for(0.0)}, "old")
    assert (choice.what, choice.chosen) == ("what", "new")
    assert choice.rule == "leaving seen classes out, 3 games"
    assert choice.why == "new found the nodes of hidden seen classes best"
    assert choice.candidates == pytest.approx({"old": 0.4, "new": 0.8, "bad": 0.0})


def test_the_best_candidate_wins_by_however_little() -> None:
    players = {"new": play_for(0.44), "old": play_for(0.4)}  # one node of 25 more
    assert chosen(players, "old").chosen == "new"


def test_a_margin_protects_the_default() -> None:
    players = {"new": play_for(0.44), "old": play_for(0.4)}
    games_played = games(LABELS, UNSEEN, 3, 0)
    kept = choose("x", players, LABELS, games_played, "old", margin=0.05)
    assert kept.chosen == "old"
    assert kept.why == "no candidate beat old by more than 5%"
    assert choose("x", players, LABELS, games_played, "old", margin=0.03).chosen == "new"


def test_scores_that_are_known_are_not_played_again() -> None:
    played = games(LABELS, UNSEEN, 3, 0)
    choice = choose("x", {"new": play_for(0.4)}, LABELS, played, "old", known={"old": 0.9})
    assert choice.chosen == "old"
    assert choice.candidates["old"] == 0.9


def test_equals_and_worse_candidates_leave_the_default() -> None:
    assert chosen({"new": play_for(0.4), "old": play_for(0.4)}, "old").chosen == "old"
    choice = chosen({"new": play_for(0.2), "old": play_for(0.4)}, "old")
    assert choice.chosen == "old"
    assert choice.why == "old found the nodes of hidden seen classes best"
