"""RandomGuess: a fair draw among any classes, and nothing that was given comes into it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from unseen.errors import InputError
from unseen.models.baselines.random_guess import RandomGuess
from unseen.propagate.hops import Hops

NODES, CLASSES = 6000, 5
LABELS = np.full(NODES, -1)
CSDS = np.zeros((CLASSES, 3), np.float32)


def nodes(count: int = NODES, fill: float = 0.0) -> Hops:
    return Hops((np.full((count, 2), fill, np.float32),), np.ones(1, np.float32))


def fair(counts: NDArray[np.int64]) -> bool:
    """Whether a fair draw gives counts like these (a wrong no once in a million)."""
    return float(chisquare(counts).pvalue) > 1e-6


def test_every_allowed_class_is_guessed_equally_often() -> None:
    model = RandomGuess().fit(nodes(), LABELS, CSDS)
    assert fair(np.bincount(model.predict(nodes()), minlength=CLASSES))
    among = np.array([False, True, False, True, True])
    counts = np.bincount(model.predict(nodes(), among), minlength=CLASSES)
    assert (counts[[0, 2]] == 0).all()
    assert fair(counts[among])


def test_guesses_of_neighbouring_rows_are_unrelated() -> None:
    guesses = RandomGuess().fit(nodes(), LABELS, CSDS).predict(nodes())
    pairs = np.bincount(CLASSES * guesses[::2] + guesses[1::2], minlength=CLASSES**2)
    assert fair(pairs)


def test_scores_are_uniform_from_zero_to_one() -> None:
    scores = RandomGuess().fit(nodes(), LABELS, CSDS).scores(nodes())
    assert scores.min() >= 0
    assert scores.max() < 1
    for column in scores.T:
        assert fair(np.histogram(column, bins=10, range=(0, 1))[0])


def test_only_the_seed_and_the_numbers_of_nodes_and_classes_count() -> None:
    plain = RandomGuess(seed=3).fit(nodes(), LABELS, CSDS).scores(nodes())
    other = RandomGuess(seed=3).fit(nodes(), LABELS + 2, CSDS + 1).scores(nodes(fill=1.0))
    assert (plain == other).all()
    assert not (plain == RandomGuess(seed=4).fit(nodes(), LABELS, CSDS).scores(nodes())).any()
    few = RandomGuess(seed=3).fit(nodes(7), LABELS[:7], CSDS)
    assert few.scores(nodes(7)).shape == (7, CLASSES)


def test_scores_do_not_depend_on_earlier_calls() -> None:
    model = RandomGuess().fit(nodes(), LABELS, CSDS)
    assert (model.scores(nodes()) == model.scores(nodes())).all()


def test_an_added_class_leaves_the_others_alone() -> None:
    model = RandomGuess().fit(nodes(), LABELS, CSDS)
    more = model.scores(nodes(), np.zeros((CLASSES + 2, 3), np.float32))
    assert (more[:, :CLASSES] == model.scores(nodes())).all()


def test_labels_must_fit_the_nodes() -> None:
    with pytest.raises(InputError, match=r"labels: expected 6,000 .*, found 2"):
        RandomGuess().fit(nodes(), LABELS[:2], CSDS)


def test_repr_is_the_call() -> None:
    assert repr(RandomGuess(seed=2)) == "RandomGuess(seed=2)"
