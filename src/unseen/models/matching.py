r"""Cluster-class matching: which group of nodes is which class, by how classes relate.

Features without names share no space with class texts, so nothing says directly which cluster is
which class. What both sides have is a geometry: classes whose texts are alike should have nodes
that are alike and linked. With the groups g of nodes (one for each seen class, one cluster for each
unseen one), their mean vectors :math:`\mu^r` in several readings (own features, hops), the weight
:math:`e_{gh}` of the edges between them, :math:`e_g = \sum_h e_{gh}`, and relations :math:`R^k` of
class texts (`encode/class_relations.py`),

.. math::
    F_{gh} &= \sum_r \cos(\mu^r_g, \mu^r_h), \qquad
    E_{gh} = \ln \frac{e_{gh} + \epsilon}{e_g e_h / e + \epsilon} \\
    D_{gh} &= F_{gh} + \max(0, \operatorname{corr}(E, F))\, E_{gh},
    \qquad G_{cd} = \sum_k R^k_{cd} \\
    P(\pi) &\propto \exp\big(\gamma N \operatorname{corr}_{g<h}(D_{gh}, G_{\pi(g) \pi(h)})\big),
    \qquad T_{gc} = \sum_{\pi: \pi(g) = c} P(\pi)

where :math:`\pi` gives every cluster another unseen class, seen groups keep theirs, N is the number
of pairs, and every term of a sum is standardised: as evidence, each counts alike. Edges and
features measure one thing, so how they correlate says how reliable edges are: citations that run
across all features count for nothing. Maximising the correlation is the Gromov-Wasserstein problem
with squared loss, fused with the similarities to seen classes. Up to `COUNTED` clusters the
matchings are counted out, so that T is exact; beyond that T is found by projected gradients with
Sinkhorn projections (Peyre et al., "Gromov-Wasserstein Averaging of Kernel and Distance Matrices",
ICML 2016; Vayer et al., https://arxiv.org/abs/1811.02834, for the fused form).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARPNESS = 0.4  # gamma, at which T is as often right as it says, on text graphs made nameless
FEW = 3.0  # epsilon: edges between two groups below which their number says little
COUNTED = 6  # unseen classes whose 720 matchings are counted out
STEPS, SINKHORN_STEPS = 200, 10_000  # of projected gradients, and of Sinkhorn's scaling in each
ROUNDING = 1e-6  # deviation of cosines that are all the same
CLOSE = 1e-9  # change after which nothing more is gained


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
    u, seen = int(free.sum()), ~free
    M = ((D[free][:, None, seen] - G[free][None, :, seen]) ** 2).sum(axis=2)  # [u, u]
    A, B = (np.where(np.eye(u, dtype=bool), 0.0, each[np.ix_(free, free)]) for each in (D, G))
    alpha, epsilon = u / (u + 2), 4 / (SHARPNESS * (u + 2))
    spread = (A**2).mean(axis=1)[:, None] + (B**2).mean(axis=1)  # of the square loss [u, u]
    T = np.full((u, u), 1.0 / u**2)
    for _ in range(STEPS):
        before = T
        cost = 2 * alpha * (spread - 2 * A @ T @ B.T) + (1 - alpha) * M
        T = _sinkhorn(cost, epsilon)
        if np.linalg.norm(T - before) < CLOSE:
            break
    return np.asarray(T * u, dtype=np.float64)


def _sinkhorn(cost: NDArray[Any], epsilon: float) -> NDArray[Any]:
    """Return the plan between even margins that entropy keeps blurred. [u, u]"""
    u = len(cost)
    K = np.exp(-(cost - cost.min()) / epsilon)
    right = np.ones(u)
    for _ in range(SINKHORN_STEPS):
        left = 1 / (u * (K @ right))
        right = 1 / (u * (K.T @ left))
        plan = left[:, None] * K * right
        if np.abs(plan.sum(axis=1) - 1 / u).max() < CLOSE:
            break
    return np.asarray(plan)


def likeness(means: Sequence[NDArray[Any]], edges: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return D of groups, standardised. [..., C, C]

    Args:
        means: mean vectors of the groups, one array a reading. Each [..., C, d]
        edges: weight of the edges between two groups, if there are any. [..., C, C]
    """
    alike = np.sum([standard(cosines(each)) for each in means], axis=0)
    if edges is None:
        return standard(alike)
    linked = standard(_linked(edges))
    i, j = np.triu_indices(edges.shape[-1], 1)
    agreed = (standard(alike) * linked)[..., i, j].mean(axis=-1)  # their correlation
    return standard(alike + np.maximum(agreed, 0)[..., None, None] * linked)


def together(terms: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the sum of geometries, each of which counts alike; standardised. Each [..., C, C]"""
    return standard(np.sum([standard(each) for each in terms], axis=0))


def _linked(edges: NDArray[Any]) -> NDArray[Any]:
    """Return by how much groups are linked more than their degrees explain, in logarithms."""
    degrees = edges.sum(axis=-1)
    total = np.maximum(degrees.sum(axis=-1), 1e-9)[..., None, None]
    explained = degrees[..., :, None] * degrees[..., None, :] / total
    return np.asarray(np.log((edges + FEW) / (explained + FEW)))


def cosines(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the cosines between centred rows; a row of zeros is like none. [..., C, C]"""
    centred = rows - rows.mean(axis=-2, keepdims=True)
    centred /= np.maximum(np.linalg.norm(centred, axis=-1, keepdims=True), 1e-9)
    return np.asarray(centred @ centred.swapaxes(-1, -2))


def standard(M: NDArray[Any]) -> NDArray[np.float64]:
    """Scale symmetric matrices to mean 0 and deviation 1 above the diagonal. [..., C, C]

    One without differences becomes zero.
    """
    i, j = np.triu_indices(M.shape[-1], 1)
    above = M[..., i, j][..., None]  # [..., N, 1]
    spread = above.std(axis=-2, keepdims=True)
    spread[spread < ROUNDING] = np.inf
    return np.asarray((M - above.mean(axis=-2, keepdims=True)) / spread)
