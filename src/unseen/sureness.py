r"""How sure to be: confidences corrected by how often answers about hidden seen classes were right.

With c the confidence before, and log-odds :math:`\operatorname{logit} c = \ln c - \ln(1 - c)`,

.. math::
    \operatorname{logit} c' = a \operatorname{logit} c + b, \qquad
    (a, b) = \arg\min\; -\frac{1}{G} \sum_g \frac{1}{n_g} \sum_i \ln \Pr(r_{gi} \mid c'_{gi})
        + \frac{1}{C_h} \big((a - 1)^2 + b^2\big)

over G games g with :math:`n_g` answers each, of which :math:`r_{gi}` says whether it was right.
Nodes of a class are right or wrong together, so it is the number of hidden classes, :math:`C_h`,
that says how far games may move a and b from 1 and 0. The order of nodes stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Judged = tuple[NDArray[np.float32], NDArray[np.bool_]]  # confidence and whether it was right

SLOPES = (0.1, 10.0)  # that a may have
CERTAIN = 1e-4  # nearest to 0 and 1 that log-odds are taken


@dataclass(frozen=True)
class Sureness:
    """The correction; without games there is none."""

    slope: float = 1.0
    shift: float = 0.0

    @classmethod
    def fit(cls, games: Sequence[Judged], classes: int) -> Sureness:
        """Find a and b from what was said in games, in which so many classes were hidden."""
        from scipy.optimize import minimize

        judged = [(_log_odds(sure), right) for sure, right in games if len(right)]
        if not judged:
            return cls()

        def loss(ab: NDArray[np.float64]) -> float:
            a, b = ab
            wrong = [np.logaddexp(0, np.where(right, -1, 1) * (a * x + b)) for x, right in judged]
            surprise = float(np.mean([each.mean() for each in wrong]))
            return surprise + float((a - 1) ** 2 + b**2) / classes

        a, b = minimize(loss, (1.0, 0.0), bounds=(SLOPES, (None, None))).x
        return cls(float(a), float(b))

    def __call__(self, confidence: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the corrected confidences, of the same shape."""
        if self == Sureness():
            return confidence
        odds = self.slope * _log_odds(confidence) + self.shift
        return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float32)


def _log_odds(confidence: NDArray[np.float32]) -> NDArray[np.float64]:
    c = np.clip(confidence.astype(np.float64), CERTAIN, 1 - CERTAIN)
    return np.asarray(np.log(c) - np.log1p(-c))
