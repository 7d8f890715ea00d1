r"""RandomGuess: a class drawn at random for each node, the naive baseline of the paper.

.. math:: \mathrm{score}(i, c) \sim U[0, 1) \qquad \text{[n, C]}

All scores are independent, so the best one among any set of classes is a uniform guess among them:
whoever predicts among the unseen classes gets the row "RandomGuess" of the paper's Table 3
(https://doi.org/10.1145/3447548.3467230).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.models.base import ScoreModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task


@dataclass(repr=False, eq=False)
class RandomGuess(ScoreModel):
    """Uniform random scores; the same seed and number of nodes give the same ones.

    Args:
        seed: of the random numbers.

    Attributes:
        classes_: C.
    """

    adds_classes = True

    seed: int = 0

    def fit(self, task: Task) -> Self:
        """Count the classes; nothing else is looked at."""
        self.classes_ = task.classes
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        """Return random numbers from 0 to 1. [n, C]"""
        # Drawn class by class, so that an added class leaves the scores of the others as they are.
        drawn = np.random.default_rng(self.seed).random((self.classes_, task.nodes), np.float32)
        return np.ascontiguousarray(drawn.T)

    def add_classes(self, task: Task) -> Self:
        """Guess the new ones as well."""
        return type(self)(**self.get_params()).fit(task)
