r"""Calibration: confidences corrected by how often answers about held-out classes were right.

Platt scaling ("Probabilistic Outputs for Support Vector Machines", 1999) of log-odds, with c the
confidence before and :math:`\operatorname{logit} c = \ln c - \ln(1 - c)`,

.. math::
    \operatorname{logit} c' = a \operatorname{logit} c + b, \qquad
    (a, b) = \arg\min\; -\frac{1}{G} \sum_g \frac{1}{n_g} \sum_i \ln \Pr(r_{gi} \mid c'_{gi})
        + \frac{1}{C_h} \big((a - 1)^2 + b^2\big)

over G folds g with :math:`n_g` answers each, of which :math:`r_{gi}` says whether it was right.
Nodes of a class are right or wrong together, so it is the number of held-out classes,
:math:`C_h`, that says how far folds may move a and b from 1 and 0. The order of nodes stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Answers = tuple[NDArray[np.float32], NDArray[np.bool_]]  # confidence and whether it was right

SLOPES = (0.1, 10.0)  # that a may have
CERTAIN = 1e-4  # nearest to 0 and 1 that log-odds are taken


@dataclass(frozen=True)
class Calibration:
    """The correction; without folds there is none."""

    slope: float = 1.0
    shift: float = 0.0

    @classmethod
    def fit(cls, folds: Sequence[Answers], classes: int) -> Calibration:
        """Find a and b from the answers of each fold; so many classes were held out in all."""
        from scipy.optimize import minimize

        answers = [(_log_odds(sure), right) for sure, right in folds if len(right)]
        if not answers:
            return cls()

        def loss(ab: NDArray[np.float64]) -> float:
            a, b = ab
            wrong = [np.logaddexp(0, np.where(right, -1, 1) * (a * x + b)) for x, right in answers]
            surprise = float(np.mean([each.mean() for each in wrong]))
            return surprise + float((a - 1) ** 2 + b**2) / classes

        a, b = minimize(loss, (1.0, 0.0), bounds=(SLOPES, (None, None))).x
        return cls(float(a), float(b))

    @classmethod
    def capped(cls, confidence: NDArray[np.float32], mean: float) -> Calibration:
        """Return the shift of log-odds that brings the mean down to `mean`; none if it is lower."""
        odds = _log_odds(confidence)
        if len(odds) == 0 or float(confidence.mean()) <= mean:
            return cls()
        low, high = -10.0, 0.0
        for _ in range(40):
            middle = (low + high) / 2
            above = float((1 / (1 + np.exp(-odds - middle))).mean()) > mean
            low, high = (low, middle) if above else (middle, high)
        return cls(1.0, low)

    def __call__(self, confidence: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the corrected confidences, of the same shape."""
        if self == Calibration():
            return confidence
        odds = self.slope * _log_odds(confidence) + self.shift
        return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float32)

    def inverse(self, confidence: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what was corrected to these confidences, of the same shape."""
        odds = (_log_odds(confidence) - self.shift) / self.slope
        return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float32)


def _log_odds(confidence: NDArray[np.float32]) -> NDArray[np.float64]:
    c = np.clip(confidence.astype(np.float64), CERTAIN, 1 - CERTAIN)
    return np.asarray(np.log(c) - np.log1p(-c))
