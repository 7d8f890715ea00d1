r"""Steadiness: do answers stay when class texts are blurred? A choice that needs no label.

A class text is one author's way to say what a class is; another would have said it differently. So
every CSD is moved a little,

.. math:: s_c' = \mathrm{unit}(s_c + b\, g_c), \qquad g_c \text{ a random direction of unit length}

and a candidate answers from R such blurs. Its steadiness is the share of nodes that two of its
answers agree about, averaged over pairs. Who finds what is there in the data comes back to it from
wherever it starts; who drifts ends up elsewhere each time. This room imports no model: it is handed
functions to try.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLUR = 0.7  # b
TIMES = 8  # R; with fewer a single unlucky blur decides too often


def steadiness(
    answer: Callable[[NDArray[np.float32]], NDArray[np.int64]],
    S: NDArray[np.float32],
    seed: int,
    times: int = TIMES,
) -> float:
    """Return how far answers agree with each other, from 0 to 1.

    Args:
        answer: gives a class to each node from CSDs [C, d].
        S: the CSDs that are blurred. [C, d]
        seed: of the blurs; candidates that are compared should get the same ones.
        times: R, at least 2.
    """
    rng = np.random.default_rng(seed)
    told = [answer(_blurred(S, rng)) for _ in range(times)]
    return float(np.mean([(one == other).mean() for one, other in combinations(told, 2)]))


def _blurred(S: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    g = np.empty_like(S, np.float32)
    # a class gets the same direction wherever it stands in the list
    g[np.argsort(S[:, 0], kind="stable")] = rng.standard_normal(S.shape)
    return unit(unit(S) + np.float32(BLUR) * unit(g))
