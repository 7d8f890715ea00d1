"""Splits are complete and ordered, nothing of an unseen class is left to a model."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.core.labels import Labels, Split
from unseen.evaluate.protocol import all_splits, floor, generalised, hold_out, of_classes


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
    np.testing.assert_array_equal(hold_out(labels, split).codes, [0, -1, -1, 3, -1, 0])
    np.testing.assert_array_equal(labels.codes, [0, 1, 2, 3, -1, 0])
    np.testing.assert_array_equal(of_classes(labels.codes, split.unseen), [2])


def test_hold_out_with_nothing_seen() -> None:
    labels = Labels(np.array([0, 1]))
    assert not hold_out(labels, Split((), (), (0, 1))).known.any()


SPLIT = Split(seen=(0, 2), validation=(3,), unseen=(1,))


@pytest.mark.parametrize(
    ("share", "count"), [(0.01, (1, 1)), (0.2, (2, 1)), (0.5, (5, 2)), (0.99, (9, 2))]
)
def test_a_share_of_each_seen_class_is_held_out(share: float, count: tuple[int, int]) -> None:
    truth = Labels(np.array([0] * 10 + [1] * 6 + [2] * 3 + [3] * 4 + [-1] * 2))
    before = truth.codes.copy()
    kept, held = generalised(truth, SPLIT, seed=7, share=share)
    assert tuple(int((truth.codes[held] == c).sum()) for c in (0, 2)) == count
    assert held.tolist() == sorted(set(held.tolist()))
    assert not kept.known[held].any()
    assert kept.seen().tolist() == [0, 2]
    np.testing.assert_array_equal(kept.codes[kept.known], truth.codes[kept.known])
    assert sorted([*held, *np.flatnonzero(kept.known)]) == of_classes(truth.codes, (0, 2)).tolist()
    np.testing.assert_array_equal(truth.codes, before)


def test_the_draw_depends_on_the_seed_and_on_the_class_alone() -> None:
    truth = Labels(np.repeat([0, 1, 2, 3], 20))
    _, held = generalised(truth, SPLIT, seed=0)
    assert held.tolist() == generalised(truth, SPLIT, seed=0)[1].tolist()
    assert held.tolist() != generalised(truth, SPLIT, seed=1)[1].tolist()
    other = Labels(np.where(truth.codes == 1, 3, np.where(truth.codes == 2, -1, truth.codes)))
    _, alone = generalised(other, Split((0,), (), (1, 3)), seed=0)
    assert alone.tolist() == [node for node in held if truth.codes[node] == 0]


def test_what_the_generalised_game_needs() -> None:
    truth = Labels(np.array([0, 0, 2]))
    with pytest.raises(InputError, match="seen class 2 has 1 labelled nodes; expected two or more"):
        generalised(truth, SPLIT, seed=0)
    for share in (0.0, 1.0, -0.5):
        with pytest.raises(InputError, match="share: expected more than 0 and less than 1"):
            generalised(truth, SPLIT, seed=0, share=share)
