r"""RandomGuess: a class drawn at random for each node, the naive baseline of the paper.

.. math:: \mathrm{score}(i, c) \sim U[0, 1) \qquad \text{[n, C]}

All scores are independent, so the best one among any set of classes is a uniform guess among them:
whoever predicts among the unseen classes gets the row "RandomGuess" of the paper's Table 3
(https://doi.org/10.1145/3447548.3467230).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.models.base import Model, check_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.hops import Hops
    from unseen.propagate.operators import Operator


class RandomGuess(Model):
    """Uniform random scores; the same seed and number of nodes give the same ones.

    Args:
        seed: of the random numbers.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Count the classes; nothing else is looked at."""
        check_fit(hops, labels, csds, same_space=False)
        self.classes_ = len(csds)
        return self

    def scores(self, hops: Hops, csds: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return random numbers from 0 to 1. [n, C]"""
        classes = self.classes_ if csds is None else len(csds)
        # Drawn class by class, so that an added class leaves the scores of the others as they are.
        drawn = np.random.default_rng(self.seed).random((classes, len(hops.own)), np.float32)
        return np.ascontiguousarray(drawn.T)
