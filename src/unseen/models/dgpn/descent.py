r"""Steps of Adam over all labelled nodes, by one process or by a team that shares them out.

The losses are means over the m labelled nodes. Worker w has :math:`m_w` of them, so that

.. math:: Q = \sum_w \frac{m_w}{m} Q_w, \qquad \nabla Q = \sum_w \frac{m_w}{m} \nabla Q_w :

gradients are added up over workers before each step, and all of them hold the same maps throughout.
Dropout is drawn for all nodes by every worker from the same seed. So losses are those of one worker
but for the order in which numbers are added.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unseen.models.dgpn.maps import BIAS, PSI, Maps
from unseen.models.training import one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Generator, Tensor

    from unseen.engines.base import Team
    from unseen.models.dgpn.model import DGPN
    from unseen.propagate.hops import Hops

SMALL = 4_000_000  # numbers in the input below which a second thread waits more than it works

Among = tuple[slice, int] | None  # which of how many labelled nodes are at hand; None: all


def learn(
    model: DGPN,
    maps: Maps,
    hops: Hops,
    labelled: NDArray[np.int64],  # [m]
    own: NDArray[np.int64],  # position of each one's class among the rivals [m]
    rivals: NDArray[np.float32],  # [C', d_s]
    state: Tensor,  # of the generator of random numbers
    team: Team,
) -> tuple[list[float], Maps]:
    """Return Q before each step, and the maps after the last."""
    import torch

    rng = torch.Generator(model.device)
    rng.set_state(state)
    history = list(model._train(maps, hops, labelled, own, rivals, rng, team))
    return history, {name: value.detach().cpu().numpy() for name, value in maps.items()}


def descend(
    model: DGPN,
    maps: Maps,
    hops: Hops,
    labelled: NDArray[np.int64],
    own: NDArray[np.int64],
    rivals: NDArray[np.float32],
    rng: Generator,
    team: Team,
) -> Iterator[float]:
    """Lower Q, Eq. 21, by `epochs` steps, in place; give Q before each."""
    import torch

    rectified = PSI + BIAS in maps
    before, after = model._weights(hops)
    mine, m = team.share(len(labelled)), len(labelled)
    nodes, part = labelled[mine], len(labelled[mine]) / m
    rows = np.stack([w * X[nodes] for w, X in zip(before, hops.blocks, strict=True)])
    given = (rows, own[mine], model._scaled(rivals))
    x, y, S = (torch.as_tensor(each, device=model.device) for each in given)
    rest = {name: torch.zeros_like(v) if rectified else v.clone() for name, v in maps.items()}
    rate = model.learning_rate if rectified else model.learning_rate / rows.shape[2]
    adam = torch.optim.Adam([value.requires_grad_() for value in maps.values()], lr=rate)
    with one_thread(rows.size < SMALL):
        for _ in range(model.epochs):
            q_com, q_loc = model._losses(maps, x, y, S, after, rng, (mine, m))
            loss = part * (q_com + model._local_share(len(x)) * q_loc)  # Eq. 21
            whole = loss.detach().clone()
            team.total([whole])
            yield whole.item()
            if model.decay:
                moved = sum((maps[name] - rest[name]).square().sum() for name in maps)
                loss = loss + part * model.decay / 2 * moved
            adam.zero_grad()
            torch.autograd.backward(loss)
            team.total(value.grad for value in maps.values() if value.grad is not None)
            adam.step()


def kept(like: Tensor, dropout: float, rng: Generator, among: Among) -> Tensor:
    """Return zeros for the entries that drop out and else what makes up for them. [..., m, d]

    Drawn for all labelled nodes; of these, the rows at hand are taken.
    """
    mine, count = among or (slice(None), like.shape[-2])
    shape = (*like.shape[:-2], count, like.shape[-1])
    drawn = like.new_empty(shape).bernoulli_(1 - dropout, generator=rng)
    return drawn[..., mine, :] / (1 - dropout)
