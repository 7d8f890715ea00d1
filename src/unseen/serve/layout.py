"""Where every node lies on the map: t-SNE of a sample, everything else between its likes.

The sample is the one of the report (`report/layout.py`). Another node lies at the mean of the
`NEAR` nodes of the sample whose vectors point most nearly the same way, nearer ones counting more,
and a little aside, so that nodes do not cover each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import unit
from unseen.report.layout import MAP_NODES, lay_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 4  # nodes of the sample that place another one
SHARP = 12.0  # how much more the nearest of them counts
ASIDE = 0.5  # of the distance to them, at random
BLOCK = 4096  # nodes placed at a time
WIDTH = 32  # dimensions in which nearness is measured


def place_nodes(
    vectors: NDArray[np.float32], groups: NDArray[np.int64], seed: int = 0
) -> NDArray[np.float32]:
    """Return a place within [-1, 1] for every node. [n, 2]

    Args:
        vectors: only directions count. [n, d]
        groups: the class of each node, so that small ones are in the sample. [n]
        seed: of the sample and of what is put aside.
    """
    chosen, places = lay_out(vectors, MAP_NODES, seed, groups)
    if len(chosen) == len(vectors):
        return places
    rng = np.random.default_rng(seed)
    sample = unit(np.asarray(vectors[chosen]))
    mean = sample.mean(axis=0)
    turn = np.linalg.svd(sample - mean, full_matrices=False)[2][:WIDTH].T  # [d, w]
    anchors = unit((sample - mean) @ turn)
    found = np.empty((len(vectors), 2), dtype=np.float32)
    for lo in range(0, len(vectors), BLOCK):
        rows = unit((unit(np.asarray(vectors[lo : lo + BLOCK])) - mean) @ turn)
        cosines = rows @ anchors.T  # [b, m]
        near = np.argpartition(-cosines, NEAR, axis=1)[:, :NEAR]
        close = np.take_along_axis(cosines, near, axis=1)
        weight = np.exp(SHARP * (close - close.max(axis=1, keepdims=True)))
        weight /= weight.sum(axis=1, keepdims=True)
        at = places[near]  # [b, NEAR, 2]
        centre = (weight[:, :, None] * at).sum(axis=1)
        spread = np.sqrt((weight[:, :, None] * (at - centre[:, None]) ** 2).sum(axis=(1, 2)))
        aside = rng.normal(size=centre.shape) * (ASIDE * np.minimum(spread, 0.05) + 0.004)[:, None]
        found[lo : lo + BLOCK] = centre + aside
    found[chosen] = places
    return np.clip(found, -1, 1)


def beside(
    places: NDArray[np.float32], neighbours: list[NDArray[np.int64]], seed: int = 0
) -> NDArray[np.float32]:
    """Return places for nodes that came later: the middle of their neighbours. [m, 2]"""
    rng = np.random.default_rng(seed)
    found = np.zeros((len(neighbours), 2), dtype=np.float32)
    for i, near in enumerate(neighbours):
        known = near[near < len(places)]
        if len(known):
            found[i] = places[known].mean(axis=0)
        else:
            found[i] = rng.uniform(-1, 1, 2)
    found += rng.normal(size=found.shape).astype(np.float32) * np.float32(0.01)
    return np.clip(found, -1, 1)
