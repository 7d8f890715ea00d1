r"""Hyperbolic-ZSL: nodes mapped to the Poincare ball, next to the embedding of their class.

In the ball of curvature -1, with :math:`\exp_0, \log_0` from and to the tangent space at the origin
and Moebius addition :math:`\oplus`, two layers without a nonlinearity between them map the
attributes x [d] to :math:`y_i` [d_s]:

.. math::
    W \otimes p &= \exp_0(W \log_0 p) \\
    y_i &= \big(V \otimes ((W \otimes \exp_0(x_i)) \oplus a)\big) \oplus b
        && [d] \to [d_h] \to [d_s] \\
    \ell_c &= \exp_0\big(\mathrm{unit}(s_c)\big)                             && [C, d_s] \\
    D(p, q) &= 2 \operatorname{artanh} \lVert (-p) \oplus q \rVert \\
    Q &= \tfrac{1}{C_s - 1} \sum_{c \ne c_i} \max\big(0,\;
        \mu + D(y_i, \ell_{c_i}) - D(y_i, \ell_c)\big)
        && \text{mean over labelled nodes } i,\ c \text{ seen} \\
    \mathrm{score}(i, c) &= -D(y_i, \ell_c)                                  && [n, C]

Liu et al., CVPR 2020, pages 9273-9281; width, margin, rate, batches and epochs are those of their
code (https://github.com/ShaoTengLiu/Hyperbolic_ZSL). Chosen here, as neither they nor DGPN
(https://doi.org/10.1145/3447548.3467230) say it of CSDs:

- How CSDs enter the ball. Theirs are Poincare embeddings of WordNet. Here a CSD of unit length goes
  through :math:`\exp_0` as it is: all labels lie at the Euclidean radius tanh 1 = 0.76, the
  hyperbolic distance 2 from the origin, inside the ball by enough for 32-bit numbers. Two labels of
  cosine 0.95 are then 1.09 apart, so that a margin of 2 is never reached between them.
- The rivals. Their code draws one label at random from the batch, which may be the node's own;
  here the mean is over all other seen classes.
- The biases start at the origin. In their code the first one starts at :math:`\exp_0` of a vector
  of length 8, at the rim of the ball, where it cannot move.

W and V are flat, so that Riemannian Adam is plain Adam for them (fused, hence quick); only a and b
take its steps along the ball. geoopt keeps 32-bit points within a radius of 0.996: attributes of a
length above 3.1 are cut to that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unseen.core.arrays import unit
from unseen.core.errors import require
from unseen.models.base import check_widths, seen_classes
from unseen.models.training import LayeredModel, dense, one_thread, stalled

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from unseen.core.task import Task

SPREAD = 0.01  # standard deviation of the matrices at the start, as in the code of the method
STABILIZE = 10  # steps after which the biases are put back into the ball, as in that code
ROWS = 8192  # that are scored at a time


@dataclass(repr=False, eq=False)
class HyperbolicZSL(LayeredModel):
    """Nearest class embedding in the Poincare ball.

    Args:
        hidden: width between the two layers.
        margin: by which the distance to other classes should exceed that to one's own.
        batch: nodes in a step.
        epochs: times that each labelled node is seen.
        learning_rate: of Riemannian Adam.
        decay: its `weight_decay`.
        patience: epochs that must lower the loss by a thousandth, or training ends; None = never.
        seed: for the start and the order of nodes.

    Attributes:
        layers_: W, a, V and b.
        csds_: class vectors. [C, d_s]
        losses_: mean of Q over each epoch. [epochs_]
        epochs_: how many there were.
    """

    needs_labels = True
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {  # Table 8 of the paper, and defaults
        "learning_rate": (0.001, 0.01, 0.1),
        "epochs": (200, 240, 500, 1000, 1200),
        "decay": (0.0, 1e-6, 1e-5, 1e-4),
    }

    hidden: int = 1024
    margin: float = 2.0
    batch: int = 32
    epochs: int = 240
    learning_rate: float = 0.01
    decay: float = 0.0
    patience: int | None = 10
    seed: int = 0

    def fit(self, task: Task) -> Self:
        """Train the two layers on labelled nodes and the embeddings of their classes."""
        geoopt = _geoopt()
        import torch

        seen = seen_classes("HyperbolicZSL", task, 2)  # [C_s]
        csds, labelled = task.S.copy(), np.flatnonzero(task.labels >= 0)  # [m]
        ball = geoopt.PoincareBall()
        u = _tangent(ball, dense(task.X[labelled]))  # [m, d]
        own = torch.as_tensor(np.searchsorted(seen, task.labels[labelled]))  # [m]
        points = ball.expmap0(torch.as_tensor(unit(csds[seen])))  # [C_s, d_s]

        rng = torch.Generator().manual_seed(self.seed)
        layers: list[Tensor] = []
        for before, after in ((u.shape[1], self.hidden), (self.hidden, csds.shape[1])):
            matrix = torch.empty(after, before).normal_(0, SPREAD, generator=rng)
            bias = geoopt.ManifoldParameter(torch.zeros(after), manifold=ball)
            layers += [matrix.requires_grad_(), bias]
        rate: dict[str, Any] = {"lr": self.learning_rate, "weight_decay": self.decay}
        adam = torch.optim.Adam(layers[::2], **rate, fused=True)
        riemannian = geoopt.optim.RiemannianAdam(layers[1::2], **rate, stabilize=STABILIZE)
        history: list[float] = []
        with one_thread():
            while len(history) < self.epochs and not stalled(history, self.patience):
                total, order = 0.0, torch.randperm(len(u), generator=rng)
                for at in range(0, len(u), self.batch):
                    rows = order[at : at + self.batch]
                    distances = _distances(ball, layers, u[rows], points)  # [batch, C_s]
                    loss = hinge(distances, own[rows], self.margin)
                    adam.zero_grad()
                    riemannian.zero_grad()
                    torch.autograd.backward(loss)
                    adam.step()
                    riemannian.step()
                    total += loss.item() * len(rows)
                history.append(total / len(u))

        self.layers_ = [each.detach().numpy() for each in layers]
        self.csds_ = csds
        self.losses_ = np.array(history, np.float32)  # [epochs_]
        self.epochs_ = len(history)
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        """Return minus the hyperbolic distance of each node from each class. [n, C]"""
        ball = _geoopt().PoincareBall()
        import torch

        check_widths(task, self.layers_[0].shape[1], self.csds_.shape[1])
        points = ball.expmap0(torch.as_tensor(unit(self.csds_)))  # [C, d_s]
        layers = [torch.as_tensor(each) for each in self.layers_]
        X, distances = dense(task.X), np.empty((task.nodes, len(points)), np.float32)
        for at in range(0, len(X), ROWS):
            u = _tangent(ball, X[at : at + ROWS])
            distances[at : at + ROWS] = _distances(ball, layers, u, points).numpy()
        return -distances


def hinge(distances: Tensor, own: Tensor, margin: float) -> Tensor:
    """Return what each rival class is too near, as a mean over rivals and nodes. [m, C_s], [m]"""
    import torch

    mine = distances.gather(1, own[:, None])  # [m, 1]
    excess = torch.relu(margin + mine - distances).scatter(1, own[:, None], 0.0)  # [m, C_s]
    return excess.sum() / (len(own) * (distances.shape[1] - 1))


def _tangent(ball: Any, X: NDArray[np.float32]) -> Tensor:
    """Return attributes as the ball holds them: long ones cut short. [m, d]"""
    import torch

    u: Tensor = ball.logmap0(ball.expmap0(torch.as_tensor(X)))
    return u


def _distances(ball: Any, layers: Sequence[Tensor], u: Tensor, points: Tensor) -> Tensor:
    """Return the distance of each image from each point; u is log_0 of the input. [m, C]"""
    first, a, second, b = layers
    hidden = ball.projx(ball.mobius_add(ball.expmap0(u @ first.T), a))  # [m, d_h]
    images = ball.projx(ball.mobius_add(ball.expmap0(ball.logmap0(hidden) @ second.T), b))
    distances: Tensor = ball.dist(images[:, None], points)
    return distances


def _geoopt() -> Any:
    require("torch", "torch", "HyperbolicZSL")
    return require("geoopt", "paper", "HyperbolicZSL")
