"""Splits are complete and ordered, nothing of an unseen class is left to a model."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from unseen.classes import Labels, Split
from unseen.errors import InputError
from unseen.evaluate.protocol import all_splits, floor, hold_out, of_classes


@pytest.mark.parametrize(("classes", "seen"), [(2, 0), (3, 1), (6, 3), (7, 3)])
def test_every_split_once_and_in_order(classes: int, seen: int) -> None:
    splits = list(all_splits(classes, seen))
    assert len({split.seen for split in splits}) == len(splits) == comb(classes, seen)
    assert splits == sorted(splits, key=lambda split: split.seen)
    for split in splits:
        assert sorted(split.seen + split.unseen) == list(range(classes))
        assert split.validation == ()


def test_something_must_stay_unseen() -> None:
    with pytest.raises(InputError, match="expected 0 to 2 of 3 classes, found 3"):
        list(all_splits(3, 3))


def test_floor_looks_at_unseen_classes_only() -> None:
    truth = [0] * 50 + [1] * 3 + [2] * 1 + [-1] * 9
    assert floor(truth, [1, 2]) == 0.75
    with pytest.raises(InputError, match="no node belongs"):
        floor(truth, [5])


def test_hold_out_forgets_validation_and_unseen() -> None:
    labels = Labels(np.array([0, 1, 2, 3, -1, 0]))
    split = Split(seen=(0, 3), validation=(1,), unseen=(2,))
    np.testing.assert_array_equal(hold_out(labels, split).of, [0, -1, -1, 3, -1, 0])
    np.testing.assert_array_equal(labels.of, [0, 1, 2, 3, -1, 0])
    np.testing.assert_array_equal(of_classes(labels.of, split.unseen), [2])


def test_hold_out_with_nothing_seen() -> None:
    labels = Labels(np.array([0, 1]))
    assert not hold_out(labels, Split((), (), (0, 1))).known.any()
