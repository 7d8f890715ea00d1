r"""DGPN trained as its complexity is written down: dense hops, every node, autograd.

.. math:: (K+1)\, n\, d\, d_h + K\, n\, d_h + (K+2)\, n\, d_h\, d_s \quad \text{an epoch}

The K+1 dense blocks :math:`\omega_k P^k X` [n, d] are formed once, before the first epoch. In each
epoch all n nodes go through psi, phi_loc and phi_com; then both losses pick the labelled ones. They
are those of the published code: softmaxes over all classes, the mean over hops, dropout 0.5 after
psi and on the composed prediction. The published code propagates by a dense adjacency matrix; to
leave that out of the epochs, and to take the fused form of Adam, is a kindness to the baseline.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy, dropout, linear, relu

from unseen.propagate.hops import Hops

LATENT, RATE = 128, 0.01  # d_h, and the rate of Adam


class DenseDGPN:
    """The network and its optimiser."""

    def __init__(self, hops: Hops, labels: Any, csds: Any, drop: float = 0.5) -> None:
        blocks = [w * block for w, block in zip(hops.weights, hops.blocks, strict=True)]
        self.x = torch.as_tensor(np.stack(blocks))  # [K+1, n, d]
        self.labelled = torch.as_tensor(np.flatnonzero(labels >= 0))  # [m]
        self.y = torch.as_tensor(labels)[self.labelled]
        self.S = torch.as_tensor(csds)  # [C, d_s]
        self.drop = drop
        shapes = ((LATENT, self.x.shape[2]), *((self.S.shape[1], LATENT),) * 2)
        self.maps = [
            tensor
            for shape in shapes  # psi, phi_loc, phi_com
            for tensor in (torch.nn.init.xavier_uniform_(torch.empty(shape)), torch.zeros(shape[0]))
        ]
        for tensor in self.maps:
            tensor.requires_grad_()
        self.adam = torch.optim.Adam(self.maps, RATE, fused=True)

    def epoch(self) -> float:
        """Take a step, and return the loss before it."""
        loss = self.loss()
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return float(loss.item())

    def loss(self) -> Any:
        """Return Q = Q_com + Q_loc (Eq. 21, alpha = 1)."""
        W, b, V_loc, c_loc, V_com, c_com = self.maps
        h = dropout(relu(linear(self.x, W, b)), self.drop)  # [K+1, n, d_h]
        f = linear(h, V_loc, c_loc) @ self.S.T  # [K+1, n, C]
        predicted = dropout(linear(h.sum(dim=0), V_com, c_com), self.drop)  # [n, d_s]
        g = predicted @ self.S.T  # [n, C]
        q_loc = cross_entropy(f[:, self.labelled].flatten(0, 1), self.y.repeat(len(f)))
        return cross_entropy(g[self.labelled], self.y) + q_loc
