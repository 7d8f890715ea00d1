r"""The maps of DGPN, shared by all hops: psi into the latent space, phi_loc and phi_com out of it.

They are held by name and start in one of two ways:

======== =================================== ============================ =========================
start    psi: [d] -> [d_h]                   phi: [d_h] -> [d_s]          for
======== =================================== ============================ =========================
xavier   ReLU(xW + b), then dropout          zV + c                       two unrelated spaces
identity xW, W = I + A, A = 0 at first       zV, V = I + B, B = 0         one space: before training
                                                                          this is `Prototype`
======== =================================== ============================ =========================

A file of a saved model holds them under the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unseen.propagate.sparse import SparseBlocks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Generator

PSI, LOCAL, COMPOSED = "to_latent_", "to_semantic_local_", "to_semantic_"
BIAS = "bias_"  # what the name of a map's bias ends in; maps that start at the identity have none
NAMES = tuple(name + end for name in (PSI, LOCAL, COMPOSED) for end in ("", BIAS))
ROWS = 8192  # that go through the maps at a time once they are learned

Maps = dict[str, Any]  # matrices and biases by name: tensors in training, arrays afterwards


def identity(width: int, device: str) -> Maps:
    """Return maps that leave every vector as it is."""
    import torch

    return {name: torch.eye(width, device=device) for name in (PSI, LOCAL, COMPOSED)}


def xavier(width: int, latent: int, semantic: int, rng: Generator) -> Maps:
    """Return maps drawn at random, with biases of zero."""
    import torch

    maps = {}
    for name, rows, columns in (
        (PSI, width, latent),  # W [d, d_h]
        (LOCAL, latent, semantic),  # V_loc [d_h, d_s]
        (COMPOSED, latent, semantic),  # V_com [d_h, d_s]
    ):
        matrix = torch.empty(rows, columns, device=rng.device)
        maps[name] = torch.nn.init.xavier_uniform_(matrix, generator=rng)
        maps[name + BIAS] = torch.zeros(columns, device=rng.device)
    return maps


def to_latent(maps: Maps, x: Any) -> Any:
    """psi: ReLU(xW + b), or xW without a bias. [..., d] -> [..., d_h]"""
    return rectify(maps, x @ maps[PSI])


def rectify(maps: Maps, h: Any) -> Any:
    """ReLU(h + b), or h without a bias. [..., d_h]"""
    if PSI + BIAS not in maps:
        return h
    h = h + maps[PSI + BIAS]
    return h * (h > 0)  # unlike a clip, with no slope at zero


def to_semantic(maps: Maps, name: str, h: Any) -> Any:
    """phi_loc or phi_com: hV + c, or hV without a bias. [..., d_h] -> [..., d_s]"""
    return h @ maps[name] + maps.get(name + BIAS, 0.0)


def compose(weights: list[float], h: Iterable[Any]) -> Any:
    """Return z, the weighted sum of hops (Eq. 19). K+1 times [m, d_h] -> [m, d_h]"""
    return sum(weight * each for weight, each in zip(weights, h, strict=True))


def predictions(
    maps: Maps,
    blocks: Sequence[NDArray[np.float32]],  # K+1 times [n, d]
    before: list[float],  # weights of the hops before psi [K+1, or fewer]
    after: list[float],  # and after it
) -> Iterator[NDArray[np.float32]]:
    """Give phi_com(z) by learned maps, some rows at a time. [ROWS, d_s]

    z is composed of as many hops as have a weight.
    """
    if isinstance(blocks, SparseBlocks):  # the map goes first, its narrow result is propagated
        projected = blocks.project(maps[PSI])
        h = [rectify(maps, w * u) for w, u in zip(before, projected, strict=False)]
        yield to_semantic(maps, COMPOSED, compose(after, h))
        return
    for at in range(0, max(1, len(blocks[0])), ROWS):
        rows = slice(at, at + ROWS)
        h = [to_latent(maps, w * block[rows]) for w, block in zip(before, blocks, strict=False)]
        yield to_semantic(maps, COMPOSED, compose(after, h))
