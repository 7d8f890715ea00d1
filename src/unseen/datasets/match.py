"""Find the nodes of one copy of a graph in another that numbers them differently: by content.

A node's hash starts from its label and features and takes in its neighbourhood three times over:

    h_0(i) = H(label_i, x_i)
    h_r(i) = H(h_{r-1}(i), the h_{r-1}(j) of all j tied to i, sorted),   r = 1, 2, 3

Nodes of equal hash are partners. Those that still share theirs with another node of the same copy
are twins: alike in label, features and all that lies within three steps of them. Nothing that the
copies hold tells which twin is which, so they are taken in the order of their numbers.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.datasets.layout import node_hashes

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDS = 3


def content_hashes(
    features: Any, labels: NDArray[np.int64], edges: NDArray[np.int64]
) -> list[bytes]:
    """Return the refined hash of each node; edges count both ways and once, loops not at all.

    Args:
        features: sparse [n, d].
        labels: class id of each node [n].
        edges: pairs of node positions [m, 2].
    """
    X = sp.csr_array(features, dtype=np.float32, copy=True)
    X.eliminate_zeros()  # one copy may store a zero where another stores nothing
    found = node_hashes(X, labels)
    neighbours: list[set[int]] = [set() for _ in found]
    for a, b in edges.tolist():
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    for _ in range(ROUNDS):
        found = [
            hashlib.sha256(b"".join([own, *sorted(found[j] for j in others)])).digest()
            for own, others in zip(found, neighbours, strict=True)
        ]
    return found


def partners(theirs: Sequence[bytes], ours: Sequence[bytes]) -> NDArray[np.int64]:
    """Return our node for each of theirs [n], given the hashes of both; every one must have one."""
    left, right = Counter(theirs), Counter(ours)
    if left != right:
        raise InputError(
            "expected two copies of one graph, found nodes without a partner in label, features "
            f"and edges: {(left - right).total():,} of {len(theirs):,} in the one, "
            f"{(right - left).total():,} of {len(ours):,} in the other; fetch both again"
        )
    found = np.empty(len(theirs), dtype=np.int64)
    found[_in_order(theirs)] = _in_order(ours)
    return found


def twins(hashes: Sequence[bytes]) -> int:
    """Return how many nodes share their hash with another.

    >>> twins([b"x", b"y", b"x", b"z"])
    2
    """
    return sum(times for times in Counter(hashes).values() if times > 1)


def _in_order(hashes: Sequence[bytes]) -> list[int]:
    """Return the nodes by hash, and those of equal hash by number."""
    return sorted(range(len(hashes)), key=hashes.__getitem__)
