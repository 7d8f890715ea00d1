"""Metrics against closed forms, and what must not change when classes or nodes are renamed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.evaluate import metrics

TRUTH = np.array([0, 0, 0, 0, 1, 1, 2])
GUESS = np.array([0, 0, 0, 1, 1, 0, 0])
NAMES = Classes(["cats", "dogs", "eels", "frogs"])

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)
answers = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.99, 1.0]), st.booleans()), min_size=1
)


def test_by_hand() -> None:
    assert metrics.accuracy(TRUTH, GUESS) == pytest.approx(4 / 7)
    assert metrics.macro_accuracy(TRUTH, GUESS) == pytest.approx((3 / 4 + 1 / 2 + 0) / 3)
    assert metrics.majority_floor(TRUTH) == pytest.approx(4 / 7)
    np.testing.assert_array_equal(
        metrics.confusion(TRUTH, GUESS, 3), [[3, 1, 0], [1, 1, 0], [1, 0, 0]]
    )


def test_the_best_constant_reaches_the_floor_and_no_macro_accuracy() -> None:
    constant = np.zeros_like(TRUTH)
    assert metrics.accuracy(TRUTH, constant) == metrics.majority_floor(TRUTH)
    assert metrics.macro_accuracy(TRUTH, constant) == pytest.approx(1 / 3)


def test_harmonic_mean() -> None:
    assert metrics.harmonic_mean(0.5, 0.5) == 0.5
    assert metrics.harmonic_mean(0.9, 0.0) == 0.0
    assert metrics.harmonic_mean(0.0, 0.0) == 0.0


@settings(max_examples=50, deadline=None)
@given(pairs, st.permutations(range(4)), st.integers(0, 99))
def test_renaming_classes_and_shuffling_nodes(
    given_pairs: list[tuple[int, int]], names: list[int], seed: int
) -> None:
    truth, guess = np.array(given_pairs).T
    order = np.random.default_rng(seed).permutation(len(truth))
    renamed = np.array(names)
    before = metrics.score(truth, guess, None, NAMES)
    after = metrics.score(renamed[truth][order], renamed[guess][order], None, NAMES)
    for name in ("accuracy", "macro_accuracy", "majority_floor"):
        assert getattr(before, name) == pytest.approx(getattr(after, name))
    np.testing.assert_array_equal(before.confusion, after.confusion[np.ix_(names, names)])
    np.testing.assert_array_equal(before.recall, after.recall[names])


@settings(max_examples=50, deadline=None)
@given(pairs)
def test_the_confusion_matrix_contains_the_other_scores(
    given_pairs: list[tuple[int, int]],
) -> None:
    truth, guess = np.array(given_pairs).T
    scores = metrics.score(truth, guess, None, NAMES)
    counts = scores.confusion
    assert counts.sum() == scores.nodes == len(truth)
    assert scores.accuracy == pytest.approx(np.trace(counts) / counts.sum())
    assert scores.majority_floor == pytest.approx(counts.sum(axis=1).max() / counts.sum())
    assert scores.macro_accuracy == pytest.approx(np.nanmean(scores.recall))


def test_calibration_by_hand() -> None:
    found = metrics.calibration([0.0, 0.5, 0.5, 0.9, 1.0], [0, 1, 0, 1, 1], bins=2)
    np.testing.assert_array_equal(found.count, [3, 2])  # 0.5 belongs to the lower bin
    np.testing.assert_allclose(found.confidence, [1 / 3, 0.95])
    np.testing.assert_allclose(found.accuracy, [1 / 3, 1])
    assert found.error == pytest.approx(2 / 5 * 0.05)


def test_calibration_extremes() -> None:
    assert metrics.calibration([1, 1, 0], [1, 1, 0]).error == 0
    assert metrics.calibration([1, 1, 0, 0], [0, 0, 1, 1]).error == 1
    assert np.isnan(metrics.calibration([1.0], [1]).accuracy[:9]).all()


@settings(max_examples=50, deadline=None)
@given(answers, st.integers(1, 12))
def test_calibration_error_is_the_weighted_gap(
    given_answers: list[tuple[float, bool]], bins: int
) -> None:
    confidence, correct = np.array(given_answers, dtype=float).T
    found = metrics.calibration(confidence, correct, bins)
    full = found.count > 0
    gaps = np.abs(found.accuracy - found.confidence)[full]
    assert found.count.sum() == len(confidence)
    assert found.error == pytest.approx((found.count[full] * gaps).sum() / len(confidence))
    lower = np.arange(bins)[full] / bins
    assert (found.confidence[full] >= lower - 1e-12).all()
    assert (found.confidence[full] <= lower + 1 / bins + 1e-12).all()


def test_coverage_by_hand() -> None:
    found = metrics.coverage_curve([0.9, 0.4, 0.9, 0.7], [1, 0, 0, 1])
    np.testing.assert_allclose(found.threshold, [0.9, 0.7, 0.4])
    np.testing.assert_allclose(found.coverage, [0.5, 0.75, 1])
    np.testing.assert_allclose(found.accuracy, [1 / 2, 2 / 3, 1 / 2])


@settings(max_examples=50, deadline=None)
@given(answers, st.integers(0, 99))
def test_coverage_ignores_order_and_ends_at_accuracy(
    given_answers: list[tuple[float, bool]], seed: int
) -> None:
    confidence, correct = np.array(given_answers, dtype=float).T
    order = np.random.default_rng(seed).permutation(len(correct))
    found = metrics.coverage_curve(confidence, correct)
    again = metrics.coverage_curve(confidence[order], correct[order])
    np.testing.assert_array_equal(found.accuracy, again.accuracy)
    assert (np.diff(found.coverage) > 0).all()
    assert found.coverage[-1] == 1
    assert found.accuracy[-1] == pytest.approx(correct.mean())


def test_scores_survive_json() -> None:
    scores = metrics.score(TRUTH, GUESS, np.full(7, 0.5), NAMES)
    whole = json.loads(json.dumps(scores.to_dict(), allow_nan=False))
    assert whole["names"] == ["cats", "dogs", "eels", "frogs"]
    assert whole["recall"] == [0.75, 0.5, 0.0, None]
    assert whole["calibration"]["count"][4] == 7
    assert whole["coverage"]["accuracy"] == [pytest.approx(4 / 7)]
    assert metrics.score(TRUTH, GUESS, None, NAMES).to_dict()["calibration"] is None


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(InputError, match="equal lengths"):
        metrics.accuracy([0, 1], [0])
    with pytest.raises(InputError, match="no nodes"):
        metrics.majority_floor([])
    with pytest.raises(InputError, match=r"truth: .* from 0 to 3, found -1 to 0"):
        metrics.score([0, -1], [0, -1], None, NAMES)
    with pytest.raises(InputError, match=r"predicted: .* from 0 to 3, found -2 to 0"):
        metrics.score([0, 0], [0, -2], None, NAMES)
    for wrong in (1.2, -0.1, np.nan):
        with pytest.raises(InputError, match="from 0 to 1"):
            metrics.calibration([wrong], [1])


# "None of these", the surest nodes, and the generalised protocol.


def test_none_of_these_is_neither_right_nor_a_wrong_class() -> None:
    truth, guess = [0, 0, 1, 1, 2], [0, -1, 1, 0, -1]
    scores = metrics.score(truth, guess, [0.9, 0.2, 0.8, 0.6, 0.1], NAMES)
    assert (scores.nodes, scores.abstained) == (5, 2)
    assert scores.share_answered == pytest.approx(3 / 5)
    assert scores.accuracy_answered == pytest.approx(2 / 3)
    assert scores.accuracy == pytest.approx(2 / 5)
    assert scores.macro_accuracy == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    np.testing.assert_allclose(scores.recall, [1 / 2, 1 / 2, 0, np.nan])
    assert scores.confusion.sum() == 3
    assert scores.calibration is not None
    assert scores.calibration.count.sum() == 3
    assert scores.calibration.error == pytest.approx((0.1 + 0.2 + 0.6) / 3)
    assert scores.coverage is not None
    np.testing.assert_allclose(scores.coverage.coverage, [1 / 5, 2 / 5, 3 / 5])
    np.testing.assert_allclose(scores.coverage.accuracy, [1, 1, 2 / 3])


def test_where_everything_is_answered_nothing_changes() -> None:
    scores = metrics.score(TRUTH, GUESS, None, NAMES)
    assert (scores.abstained, scores.share_answered) == (0, 1.0)
    assert scores.accuracy_answered == scores.accuracy


def test_nothing_answered() -> None:
    scores = metrics.score([0, 1], [-1, -1], [0.1, 0.2], NAMES)
    assert (scores.accuracy, scores.share_answered, scores.abstained) == (0, 0, 2)
    assert scores.accuracy_answered is None
    assert scores.calibration is None
    assert scores.coverage is None
    json.dumps(scores.to_dict(), allow_nan=False)


def test_the_surest_nodes_by_hand() -> None:
    q = np.linspace(1.0, 0.1, 10)  # the surest five are right, the others wrong
    found = metrics.coverage_curve(q, q > 0.55).at()
    np.testing.assert_allclose(found.coverage, metrics.SHARES)
    np.testing.assert_allclose(found.threshold, [0.1, 0.2, 0.3, 0.4, 0.6])
    np.testing.assert_allclose(found.accuracy, [5 / 10, 5 / 9, 5 / 8, 5 / 7, 1])


def test_equally_sure_nodes_are_kept_together() -> None:
    found = metrics.coverage_curve([0.9, 0.5, 0.5, 0.5], [1, 1, 0, 0]).at([0.25, 0.3, 1])
    np.testing.assert_allclose(found.coverage, [0.25, 1, 1])
    np.testing.assert_allclose(found.accuracy, [1, 0.5, 0.5])


def test_shares_that_were_not_answered_have_no_accuracy() -> None:
    told = metrics.score([0, 0, 1, 1], [0, 0, 1, -1], [0.9, 0.8, 0.7, 0.1], NAMES).to_dict()
    assert told["surest"]["share"] == list(metrics.SHARES)
    assert told["surest"]["accuracy"] == [None, None, None, 1.0, 1.0]
    assert told["surest"]["coverage"] == [None, None, None, 0.75, 0.5]


def test_generalised_by_hand() -> None:
    found = metrics.generalised_scores([0, 0, 0, 1, 2], [0, 0, 1, 1, -1], seen=[0])
    assert found is not None
    assert (found.seen_nodes, found.unseen_nodes) == (3, 2)
    assert (found.seen_accuracy, found.unseen_accuracy) == pytest.approx((2 / 3, 1 / 2))
    assert found.harmonic_mean == pytest.approx(4 / 7)


@pytest.mark.parametrize("seen", [[], [0, 1, 2, 3], [3]])
def test_one_kind_of_nodes_is_no_generalised_game(seen: list[int]) -> None:
    assert metrics.generalised_scores([0, 1, 2], [0, 1, 2], seen) is None


def test_answering_only_what_was_seen_scores_nothing() -> None:
    found = metrics.generalised_scores([0, 0, 1], [0, 0, 0], seen=[0])
    assert found is not None
    assert (found.seen_accuracy, found.unseen_accuracy, found.harmonic_mean) == (1, 0, 0)
