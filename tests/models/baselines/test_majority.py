"""Majority: no constant answer is right more often, and what it may know is said aloud."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.errors import InputError
from unseen.models.baselines import majority
from unseen.models.baselines.majority import Majority
from unseen.propagate.hops import Hops

TRUTH = np.repeat(np.arange(5), [4, 9, 2, 7, 5])
SIZES = (4, 9, 2, 7, 5)
HOPS = Hops((np.ones((len(TRUTH), 2), np.float32),), np.ones(1, np.float32))
CSDS = np.eye(5, 3, dtype=np.float32)
NONE = np.full(len(TRUTH), -1)


def test_every_row_holds_the_sizes() -> None:
    scores = Majority(SIZES).fit(HOPS, NONE, CSDS).scores(HOPS)
    assert scores.tolist() == [list(SIZES)] * len(TRUTH)


@pytest.mark.parametrize(
    "among", [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1], [1, 0, 1, 0, 0], [0, 0, 1, 0, 0]]
)
def test_no_constant_is_right_more_often(among: list[int]) -> None:
    allowed = np.array(among, bool)
    there = allowed[TRUTH]
    answer = Majority(SIZES).fit(HOPS, NONE, CSDS).predict(HOPS, allowed)
    constants = [float((TRUTH[there] == c).mean()) for c in np.flatnonzero(allowed)]
    assert len(set(answer.tolist())) == 1
    assert (answer == TRUTH)[there].mean() == max(constants)


def test_labels_are_counted_when_no_sizes_are_given() -> None:
    labels = np.where(TRUTH < 3, TRUTH, -1)
    labels[:2] = -1
    row = Majority().fit(HOPS, labels, CSDS).scores(HOPS)[0]
    assert row.tolist() == [2, 9, 2, 0, 0]


def test_labels_are_not_read_when_sizes_are_given() -> None:
    plain = Majority(SIZES).fit(HOPS, NONE, CSDS).scores(HOPS)
    labelled = Majority(SIZES).fit(HOPS, np.full_like(TRUTH, 2), CSDS).scores(HOPS)
    assert (plain == labelled).all()


def test_sizes_may_be_an_array_which_is_not_kept_a_hold_of() -> None:
    sizes: NDArray[np.int64] = np.array(SIZES)
    model = Majority(sizes).fit(HOPS, NONE, CSDS)  # type: ignore[arg-type]
    sizes[2] = 1000
    assert model.predict(HOPS).tolist() == [1] * len(TRUTH)


def test_without_sizes_and_labels_all_classes_are_alike() -> None:
    assert not Majority().fit(HOPS, NONE, CSDS).scores(HOPS).any()


def test_added_classes_count_zero_and_none_may_go() -> None:
    model = Majority(SIZES).fit(HOPS, NONE, CSDS)
    more = model.scores(HOPS, np.ones((7, 3), np.float32))
    assert more[0].tolist() == [*SIZES, 0, 0]
    with pytest.raises(InputError, match=r"csds: expected the 5 classes of fit.* found 4; .*among"):
        model.scores(HOPS, CSDS[:4])


def test_sizes_must_fit_the_csds() -> None:
    with pytest.raises(InputError, match=r"sizes: expected 5 \(one for each CSD\), found 3; give"):
        Majority((1, 2, 3)).fit(HOPS, NONE, CSDS)


def test_it_is_called_an_oracle() -> None:
    assert "oracle" in (majority.__doc__ or "")
    assert "oracle" in (Majority.__doc__ or "")


def test_repr_is_the_call() -> None:
    assert repr(Majority((3, 4))) == "Majority(sizes=(3, 4))"
