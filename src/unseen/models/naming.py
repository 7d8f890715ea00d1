r"""Name groups of nodes by how classes relate to each other.

Features without names share no space with class texts, so nothing says directly which cluster is
which class. What both sides have is a geometry: classes whose descriptions are alike should have
nodes that are alike. With the groups g of nodes (one for each seen class, one cluster for each
unseen one), their mean vectors :math:`\mu` of own features and :math:`\mu'` after a few hops, and
the centred CSDs :math:`s_c`,

.. math::
    D_{gh} &= \cos(\mu_g, \mu_h) + \cos(\mu'_g, \mu'_h), \qquad G_{cd} = \cos(s_c, s_d) \\
    P(\pi) &\propto \exp\big(\gamma N \operatorname{corr}_{g<h}(D_{gh}, G_{\pi(g) \pi(h)})\big),
    \qquad T_{gc} = \sum_{\pi: \pi(g) = c} P(\pi)

where :math:`\pi` gives every cluster another unseen class, seen groups keep theirs, N is the number
of pairs, and the terms of D are standardised. Maximising the correlation is the Gromov-Wasserstein
problem with squared loss, fused with the similarities to seen classes. Up to `COUNTED` clusters
the matchings are counted out, so that T is exact; beyond that POT's entropic solver finds T.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARPNESS = 0.4  # gamma, at which T is as often right as it says, on text graphs made nameless
COUNTED = 6  # unseen classes whose 720 matchings are counted out


def match(D: NDArray[Any], G: NDArray[np.float64], free: NDArray[np.bool_]) -> NDArray[Any]:
    """Return T, how likely each free group is each free class. [u, u]

    Args:
        D: likeness of groups, standardised; group i is class i unless it is free. [C, C]
        G: likeness of classes, standardised. [C, C]
        free: which groups have no name yet. [C]
    """
    count = int(free.sum())
    if count < 2:
        return np.ones((count, count))
    if count > COUNTED:
        return _transport(D, G, free)
    orders = np.array(list(permutations(range(count))))  # [count!, u]
    names = np.tile(np.arange(len(D)), (len(orders), 1))
    names[:, free] = np.flatnonzero(free)[orders]
    i, j = np.triu_indices(len(D), 1)
    H, d = G[names[:, i], names[:, j]], D[i, j]  # [count!, N], [N]
    fit = SHARPNESS * (H @ d)  # both are standardised over the same pairs: gamma N corr
    likely = np.exp(fit - fit.max())
    likely /= likely.sum()
    T = np.zeros((count, count))
    for place in range(count):
        np.add.at(T[place], orders[:, place], likely)
    return T


def _transport(D: NDArray[Any], G: NDArray[np.float64], free: NDArray[np.bool_]) -> NDArray[Any]:
    """Return T by entropic fused Gromov-Wasserstein, the same problem relaxed. [u, u]

    With T = tau/u the costs of seen and of unseen pairs come in the ratio alpha = u/(u+2), and the
    entropy of exp(-gamma/2 sum (D-G)^2) is met by epsilon = 4 / (gamma (u+2)).
    """
    import ot

    u, seen = int(free.sum()), ~free
    M = ((D[free][:, None, seen] - G[free][None, :, seen]) ** 2).sum(axis=2)  # [u, u]
    inner = (np.where(np.eye(u, dtype=bool), 0.0, A[np.ix_(free, free)]) for A in (D, G))
    even = np.full(u, 1.0 / u)
    plan = ot.gromov.entropic_fused_gromov_wasserstein(
        M,
        *inner,
        even,
        even,
        alpha=u / (u + 2),
        epsilon=4 / (SHARPNESS * (u + 2)),
        max_iter=200,
        numItermax=10_000,
        warn=False,
    )
    return np.asarray(plan * u, dtype=np.float64)


def likeness(*means: NDArray[Any]) -> NDArray[Any]:
    """Return D of groups with these mean vectors, one array a reading. Each [..., C, d]"""
    return standard(np.sum([standard(cosines(each)) for each in means], axis=0))


def cosines(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the cosines between centred rows; a row of zeros is like none. [..., C, C]"""
    centred = rows - rows.mean(axis=-2, keepdims=True)
    centred /= np.maximum(np.linalg.norm(centred, axis=-1, keepdims=True), 1e-9)
    return np.asarray(centred @ centred.swapaxes(-1, -2))


def standard(M: NDArray[Any]) -> NDArray[np.float64]:
    """Scale symmetric matrices to mean 0 and deviation 1 above the diagonal. [..., C, C]"""
    i, j = np.triu_indices(M.shape[-1], 1)
    above = M[..., i, j][..., None]  # [..., N, 1]
    spread = np.maximum(above.std(axis=-2, keepdims=True), 1e-6)  # less is rounding
    return np.asarray((M - above.mean(axis=-2, keepdims=True)) / spread)
