"""Leave-classes-out cross-validation: what is held out is held out, and luck does not decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unseen.core.task import Task
from unseen.select.cross_validation import Choice, Fold, choose, folds_of, leave_classes_out

CLASSES = 8
UNSEEN = np.arange(CLASSES) >= 6
ALL = np.ones(CLASSES, dtype=bool)
TRUTH = np.tile(np.arange(CLASSES), 25)
LABELS = np.where(TRUTH < 6, TRUTH, -1)
NONE = np.zeros(0, dtype=np.int64)

Candidate = Callable[[Fold], NDArray[np.int64]]


def fold(held_out: list[int], kept: list[int] | None = None) -> Fold:
    return Fold(np.full(9, -1), np.ones(3, dtype=bool), np.array(held_out), np.array(kept or NONE))


@pytest.mark.parametrize("allowed", [UNSEEN, ALL], ids=["unseen", "all"])
def test_held_out_labels_are_gone_and_no_others(allowed: NDArray[np.bool_]) -> None:
    for each in leave_classes_out(LABELS, allowed, 3, seed=0):
        out = np.union1d(each.held_out, each.kept)
        assert len(out) > 0
        assert (each.labels[out] == -1).all()
        rest = np.setdiff1d(np.arange(len(LABELS)), out)
        assert (each.labels[rest] == LABELS[rest]).all()


@pytest.mark.parametrize("allowed", [UNSEEN, ALL], ids=["unseen", "all"])
def test_no_label_of_a_held_out_class_is_left(allowed: NDArray[np.bool_]) -> None:
    for each in leave_classes_out(LABELS, allowed, 3, seed=0):
        parts = np.unique(LABELS[each.held_out])
        assert not np.isin(each.labels, parts).any()
        assert set(each.held_out) == set(np.flatnonzero(np.isin(LABELS, parts)))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.booleans(), st.integers(2, 3))
def test_folds_never_hold_a_label_of_an_unseen_class(
    seed: int, generalised: bool, folds: int
) -> None:
    for each in leave_classes_out(LABELS, ALL if generalised else UNSEEN, folds, seed):
        assert set(each.labels.tolist()) <= {-1, 0, 1, 2, 3, 4, 5}
        assert (LABELS[each.held_out] >= 0).all()
        assert (LABELS[each.kept] >= 0).all()
        assert each.allowed[UNSEEN].all()  # but they stay in the running as wrong answers


def test_each_seen_class_is_held_out_in_exactly_one_fold() -> None:
    made = leave_classes_out(LABELS, UNSEEN, 3, seed=1)
    assert sorted(c for each in made for c in np.unique(LABELS[each.held_out])) == list(range(6))


def test_held_out_classes_are_allowed_and_other_seen_ones_only_where_they_were() -> None:
    for each in leave_classes_out(LABELS, UNSEEN, 3, seed=0):
        expected = UNSEEN.copy()
        expected[LABELS[each.held_out]] = True
        assert (each.allowed == expected).all()
        assert len(each.kept) == 0
    assert all(each.allowed.all() for each in leave_classes_out(LABELS, ALL, 3, seed=0))


def test_about_a_fifth_of_the_other_seen_nodes_is_kept_back_where_they_may_be_answers() -> None:
    for each in leave_classes_out(LABELS, ALL, 3, seed=0):
        others = (LABELS >= 0).sum() - len(each.held_out)
        assert 0.1 < len(each.kept) / others < 0.3
        assert not np.isin(each.kept, each.held_out).any()


def test_the_labels_that_were_given_are_left_alone() -> None:
    labels, allowed = LABELS.copy(), UNSEEN.copy()
    leave_classes_out(labels, allowed, 3, seed=0)
    assert (labels == LABELS).all()
    assert (allowed == UNSEEN).all()


def test_same_seed_same_folds() -> None:
    first, second, other = (leave_classes_out(LABELS, ALL, 3, seed) for seed in (4, 4, 5))
    assert all((a.labels == b.labels).all() for a, b in zip(first, second, strict=True))
    assert any((a.labels != b.labels).any() for a, b in zip(first, other, strict=True))


def test_a_score_is_the_mean_over_held_out_classes_not_over_nodes() -> None:
    truth = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])
    answer = np.array([0, 0, 0, 1, 0, 9, 9, 9, 9])
    assert fold([0, 1, 2, 3, 4]).score(answer, truth) == pytest.approx((3 / 4 + 0) / 2)


def test_with_kept_nodes_a_score_is_the_harmonic_mean() -> None:
    truth = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])
    answer = np.array([0, 0, 0, 1, 1, 2, 0, 0, 0])
    assert fold([0, 1, 2, 3, 4], [5, 6, 7, 8]).score(answer, truth) == pytest.approx(
        2 * (7 / 8) * (1 / 4) / (7 / 8 + 1 / 4)
    )


def test_a_candidate_that_finds_nothing_scores_zero() -> None:
    truth = np.array([0, 0, 0, 0, 1, 2, 2, 2, 2])
    assert fold([0, 1], [5, 6]).score(np.full(9, 7), truth) == 0.0


def right_about(share: float) -> Candidate:
    """Return a candidate that is right about that share of the nodes of each held-out class."""

    def answers(each: Fold) -> NDArray[np.int64]:
        answer = np.full(len(TRUTH), -1)
        for c in np.unique(TRUTH[each.held_out]):
            found = each.held_out[TRUTH[each.held_out] == c]
            right = found[: round(share * len(found))]
            answer[right] = c
        return answer

    return answers


def chosen(candidates: Mapping[str, Candidate], default: str) -> Choice:
    return choose("what", candidates, LABELS, leave_classes_out(LABELS, UNSEEN, 3, seed=0), default)


def test_a_clearly_better_candidate_is_chosen() -> None:
    choice = chosen(
        {"old": right_about(0.4), "new": right_about(0.8), "bad": right_about(0.0)}, "old"
    )
    assert (choice.what, choice.chosen) == ("what", "new")
    assert choice.rule == "leave-classes-out, 3 folds"
    assert choice.why == "new found the nodes of held-out seen classes best"
    assert choice.candidates == pytest.approx({"old": 0.4, "new": 0.8, "bad": 0.0})


def test_the_best_candidate_wins_by_however_little() -> None:
    candidates = {"new": right_about(0.44), "old": right_about(0.4)}  # one node of 25 more
    assert chosen(candidates, "old").chosen == "new"


def test_a_margin_protects_the_default() -> None:
    candidates = {"new": right_about(0.44), "old": right_about(0.4)}
    folds = leave_classes_out(LABELS, UNSEEN, 3, 0)
    kept = choose("x", candidates, LABELS, folds, "old", margin=0.05)
    assert kept.chosen == "old"
    assert kept.why == "no candidate beat old by more than 5%"
    assert choose("x", candidates, LABELS, folds, "old", margin=0.03).chosen == "new"


def task(seen: int, nodes: int = 200) -> Task:
    codes = np.arange(nodes) % CLASSES
    return Task(np.ones((nodes, 2)), np.ones((CLASSES, 2)), np.where(codes < seen, codes, -1))


@pytest.mark.parametrize(("seen", "count"), [(0, 0), (3, 0), (4, 2), (5, 2), (6, 3), (8, 3)])
def test_as_many_folds_as_seen_classes_allow(seen: int, count: int) -> None:
    assert len(folds_of(task(seen), seed=0)) == count


def test_one_fold_for_a_large_graph() -> None:
    large = folds_of(task(6, nodes=20_008), seed=0)
    assert len(large) == 1
    assert len(np.unique(large[0].labels[large[0].labels >= 0])) == 4


def test_equals_and_worse_candidates_leave_the_default() -> None:
    assert chosen({"new": right_about(0.4), "old": right_about(0.4)}, "old").chosen == "old"
    choice = chosen({"new": right_about(0.2), "old": right_about(0.4)}, "old")
    assert choice.chosen == "old"
    assert choice.why == "old found the nodes of held-out seen classes best"
