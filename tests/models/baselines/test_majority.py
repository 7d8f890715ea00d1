"""Majority: no constant answer is right more often, and what it may know is said aloud."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.core.errors import InputError
from unseen.core.task import Task
from unseen.models.baselines import majority
from unseen.models.baselines.majority import Majority

TRUTH = np.repeat(np.arange(5), [4, 9, 2, 7, 5])
SIZES = (4, 9, 2, 7, 5)


def nodes(labels: Any = None, allowed: Any = None, classes: int = 5) -> Task:
    return Task(np.ones((len(TRUTH), 2)), np.eye(classes, 3), labels, allowed=allowed)


def test_every_row_holds_the_sizes() -> None:
    scores = Majority(SIZES).fit(nodes()).scores(nodes())
    assert scores.tolist() == [list(SIZES)] * len(TRUTH)


@pytest.mark.parametrize(
    "allowed", [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1], [1, 0, 1, 0, 0], [0, 0, 1, 0, 0]]
)
def test_no_constant_is_right_more_often(allowed: list[int]) -> None:
    there = np.array(allowed, bool)[TRUTH]
    answer = Majority(SIZES).fit(nodes()).predict(nodes(allowed=allowed))
    constants = [float((TRUTH[there] == c).mean()) for c in np.flatnonzero(allowed)]
    assert len(set(answer.tolist())) == 1
    assert (answer == TRUTH)[there].mean() == max(constants)


def test_labels_are_counted_when_no_sizes_are_given() -> None:
    labels = np.where(TRUTH < 3, TRUTH, -1)
    labels[:2] = -1
    row = Majority().fit(nodes(labels)).scores(nodes())[0]
    assert row.tolist() == [2, 9, 2, 0, 0]


def test_labels_are_not_read_when_sizes_are_given() -> None:
    plain = Majority(SIZES).fit(nodes()).scores(nodes())
    labelled = Majority(SIZES).fit(nodes(np.full_like(TRUTH, 2))).scores(nodes())
    assert (plain == labelled).all()


def test_sizes_may_be_an_array_which_is_not_kept_a_hold_of() -> None:
    sizes: NDArray[np.int64] = np.array(SIZES)
    model = Majority(sizes).fit(nodes())  # type: ignore[arg-type]
    sizes[2] = 1000
    assert model.predict(nodes()).tolist() == [1] * len(TRUTH)


def test_without_sizes_and_labels_all_classes_are_alike() -> None:
    assert not Majority().fit(nodes()).scores(nodes()).any()


def test_added_classes_count_zero() -> None:
    model, more = Majority(SIZES).fit(nodes()), nodes(classes=7)
    assert model.add_classes(more).scores(more)[0].tolist() == [*SIZES, 0, 0]
    assert model.scores(nodes())[0].tolist() == [*SIZES]


def test_sizes_must_fit_the_csds() -> None:
    with pytest.raises(InputError, match=r"sizes: expected 5 \(one for each CSD\), found 3; give"):
        Majority((1, 2, 3)).fit(nodes())


def test_it_is_called_an_oracle() -> None:
    assert "oracle" in (majority.__doc__ or "")
    assert "oracle" in (Majority.__doc__ or "")


def test_repr_is_the_call() -> None:
    assert repr(Majority((3, 4))) == "Majority(sizes=(3, 4))"
