r"""Linear discriminant: classes with means and one covariance, as their members are spread.

.. math:: W = \frac{1}{N} \sum_i w_i x_i x_i^\top - \sum_c \frac{N_c}{N} \bar x_c \bar x_c^\top ,
    \qquad \text{precision} = \Big(W + \rho \big(1 + \sigma \tfrac{d}{N}\big)
    \tfrac{\mathrm{tr} W}{d} I\Big)^{-1}

with weights w [n], class means [C, d], their sizes :math:`N_c` [C] and N their sum. The fewer nodes
there are for each of d directions, the more of W is chance, and the more it is drawn to the sphere
(Ledoit and Wolf, 2004, https://doi.org/10.1016/S0047-259X(03)00096-4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.engines.base import Engine, Rows

SCARCE = 3.0  # sigma


def precision_within(
    X: Rows,
    w: NDArray[np.float32],
    means: NDArray[np.float32],
    size: NDArray[np.float32],
    ridge: float,
    engine: Engine,
) -> NDArray[np.float32]:
    """Return the inverse of the covariance within classes. [d, d]"""
    n, d = float(size.sum()), X.shape[1]
    wide = means.astype(np.float64)  # an inverse magnifies rounding
    moment = engine.reduce(lambda X, w: (X * w[:, None]).T @ X, X, w)
    within = moment / n - (wide.T * (size / n)) @ wide
    shrunk = ridge * (1 + SCARCE * d / n)
    added = max(shrunk * float(np.trace(within)) / d, 1e-6)  # not 0 where all nodes are alike
    return np.asarray(np.linalg.inv(within + added * np.eye(d)), dtype=np.float32)
