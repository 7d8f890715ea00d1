"""RandomGuess: a fair draw among any classes, and nothing that was given comes into it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chisquare

from unseen.core.task import Task
from unseen.models.baselines.random_guess import RandomGuess

NODES, CLASSES = 6000, 5


def nodes(count: int = NODES, fill: float = 0.0, classes: int = CLASSES, **known: Any) -> Task:
    return Task(np.full((count, 2), fill), np.full((classes, 3), fill), **known)


def fair(counts: NDArray[np.int64]) -> bool:
    """Whether a fair draw gives counts like these (a wrong no once in a million)."""
    return float(chisquare(counts).pvalue) > 1e-6


def test_every_allowed_class_is_guessed_equally_often() -> None:
    model = RandomGuess().fit(nodes())
    assert fair(np.bincount(model.predict(nodes()), minlength=CLASSES))
    allowed = np.array([False, True, False, True, True])
    counts = np.bincount(model.predict(nodes(allowed=allowed)), minlength=CLASSES)
    assert (counts[[0, 2]] == 0).all()
    assert fair(counts[allowed])


def test_guesses_of_neighbouring_rows_are_unrelated() -> None:
    guesses = RandomGuess().fit(nodes()).predict(nodes())
    pairs = np.bincount(CLASSES * guesses[::2] + guesses[1::2], minlength=CLASSES**2)
    assert fair(pairs)


def test_scores_are_uniform_from_zero_to_one() -> None:
    scores = RandomGuess().fit(nodes()).scores(nodes())
    assert scores.min() >= 0
    assert scores.max() < 1
    for column in scores.T:
        assert fair(np.histogram(column, bins=10, range=(0, 1))[0])


def test_only_the_seed_and_the_numbers_of_nodes_and_classes_count() -> None:
    plain = RandomGuess(seed=3).fit(nodes()).scores(nodes())
    labelled = nodes(fill=1.0, labels=np.full(NODES, 1))
    assert (plain == RandomGuess(seed=3).fit(labelled).scores(labelled)).all()
    assert not (plain == RandomGuess(seed=4).fit(nodes()).scores(nodes())).any()
    assert RandomGuess(seed=3).fit(nodes(7)).scores(nodes(7)).shape == (7, CLASSES)


def test_scores_do_not_depend_on_earlier_calls() -> None:
    model = RandomGuess().fit(nodes())
    assert (model.scores(nodes()) == model.scores(nodes())).all()


def test_an_added_class_leaves_the_others_alone() -> None:
    model, wider = RandomGuess().fit(nodes()), nodes(classes=CLASSES + 2)
    more = model.add_classes(wider).scores(wider)
    assert (more[:, :CLASSES] == model.scores(nodes())).all()


def test_repr_is_the_call() -> None:
    assert repr(RandomGuess(seed=2)) == "RandomGuess(seed=2)"
