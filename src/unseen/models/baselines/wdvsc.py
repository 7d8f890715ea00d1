r"""WDVSc: class centres mapped from CSDs, those of unseen classes drawn to clusters of nodes.

A perceptron f with LeakyReLU of slope 0.2 maps each CSD :math:`s_c` [d_s], at unit length, to a
class centre in the space of the nodes' attributes, again at unit length. :math:`m_c` is the mean of
a seen class, :math:`k_1, \dots, k_U` are the k-means centres of all unlabelled nodes, U being the
number of unseen classes; both are scaled to unit length.

.. math::
    \hat m_c &= \mathrm{unit}(f(s_c))                                       && [d_s] \to [d] \\
    D_{uv} &= \lVert \hat m_u - k_v \rVert^2                                && [U, U] \\
    \mathrm{OT}_\epsilon(D) &= \min_{T \in \Pi} \textstyle\sum_{uv} T_{uv} D_{uv}
        + \epsilon \sum_{uv} T_{uv} (\ln T_{uv} - 1) \\
    Q &= \tfrac{1}{2 C_s} \sum_{c\ \mathrm{seen}} \lVert \hat m_c - m_c \rVert^2
        + \lambda\, \mathrm{OT}_\epsilon(D) \\
    \mathrm{score}(i, c) &= -\lVert x_i - \hat m_c \rVert^2                 && [n, C]

:math:`\Pi` holds the plans whose rows and columns each sum to 1/U. No derivative goes through
Sinkhorn's steps. The best plan T* minimises over a set that does not depend on D, so by the
envelope theorem :math:`\partial\, \mathrm{OT}_\epsilon / \partial D = T^*`: POT finds T*, starting
from the potentials of the epoch before, and :math:`\sum T^* D` with T* held fixed has the right
gradient. This sum is also what `losses_` tells of the second term, as in the code of the method.

Wan et al., NeurIPS 2019 (https://arxiv.org/abs/1901.01570); the settings, the unit lengths (k-means
sees attributes as they are) and the rate divided by 10 after 4,000 epochs are those of their code.
That code differentiates :math:`\sum T D` through the steps, which it ends as soon as the potentials
move by less than 0.1 in all; here the steps go on until the plan's sums are right to a thousandth.

It is transductive: it sees the attributes of unlabelled nodes in training. They must be those of
the classes that are looked for: others would take a cluster and pull a class to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unseen.core.arrays import unit
from unseen.core.errors import InputError, require
from unseen.models.base import check_widths, seen_classes
from unseen.models.baselines.zs_gcn import SLOPE
from unseen.models.training import LayeredModel, dense, one_thread, stalled

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from unseen.core.task import Task

HIDDEN = (2048, 2048)
STARTS = 50  # of k-means, the best of which counts
STEPS = 1000  # of Sinkhorn, at most
EXACT = 1e-3  # how far the column sums of a plan may be from 1/U, as a vector
LATE = 4000  # epochs after which the rate is divided by 10

Potentials = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


@dataclass(repr=False, eq=False)
class WDVSc(LayeredModel):
    """Nearest class centre, the centres of unseen classes being matched with clusters.

    Args:
        weight: lambda, of the transport cost beside the squared error of seen classes.
        blur: epsilon, of the entropy in the transport cost.
        hidden: widths of the perceptron's hidden layers.
        epochs: steps of Adam, each over all classes.
        learning_rate: of Adam.
        decay: Adam's `weight_decay`.
        patience: epochs that must lower the loss by a thousandth, or training ends; None = never.
        seed: for the start and k-means.

    Attributes:
        layers_: matrices and biases of the perceptron, in turn.
        clusters_: k of the formula. [U, d]
        csds_: class vectors. [C, d_s]
        losses_: Q before each step. [epochs_]
        epochs_: how many steps were taken.
    """

    needs_labels = True
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {  # Table 8 of the paper, and defaults
        "learning_rate": (1e-4, 0.001, 0.01, 0.1),
        "epochs": (200, 500, 1000, 1200, 6000),
        "decay": (0.0, 1e-6, 1e-5, 1e-4, 5e-4),
    }

    weight: float = 0.001
    blur: float = 0.01
    hidden: Sequence[int] = HIDDEN
    epochs: int = 6000
    learning_rate: float = 1e-4
    decay: float = 5e-4
    patience: int | None = 100
    seed: int = 0

    def fit(self, task: Task) -> Self:
        """Train the map on means of seen classes and clusters of unlabelled nodes."""
        require("torch", "torch", "WDVSc")
        require("ot", "paper", "WDVSc")
        import torch

        seen, unseen = seen_classes("WDVSc", task, 1), task.unseen  # [C_s], [U]
        X, labels, csds = dense(task.X), task.labels, task.S.copy()
        means = np.stack([X[labels == c].mean(axis=0) for c in seen])  # [C_s, d]
        M = torch.as_tensor(unit(means))
        self.clusters_ = _clusters(X[labels < 0], len(unseen), self.seed)  # [U, d]
        K = torch.as_tensor(self.clusters_)
        S = torch.as_tensor(unit(csds[np.concatenate([seen, unseen])]))  # [C_s + U, d_s]

        rng = torch.Generator().manual_seed(self.seed)
        layers: list[Tensor] = []
        for rows, columns in pairwise([csds.shape[1], *self.hidden, means.shape[1]]):
            matrix = torch.nn.init.xavier_uniform_(torch.empty(rows, columns), generator=rng)
            layers += [matrix.requires_grad_(), torch.zeros(columns, requires_grad=True)]
        rate, decay = self.learning_rate, self.decay
        adam = torch.optim.Adam(layers, lr=rate, weight_decay=decay, fused=True)
        later = torch.optim.lr_scheduler.StepLR(adam, LATE)
        history: list[float] = []
        start: Potentials | None = None
        with one_thread():
            while len(history) < self.epochs and not stalled(history, self.patience):
                predicted = _centres(layers, S)  # [C_s + U, d]
                loss = (predicted[: len(seen)] - M).square().sum() / (2 * len(seen))
                if len(unseen):
                    D = _squared(predicted[len(seen) :], K)  # [U, U]
                    T, start = plan(D.detach().numpy(), self.blur, start)
                    loss = loss + self.weight * (torch.as_tensor(T).to(D) * D).sum()
                adam.zero_grad()
                torch.autograd.backward(loss)
                adam.step()
                later.step()
                history.append(loss.item())

        self.layers_ = [each.detach().numpy() for each in layers]
        self.csds_ = csds
        self.losses_ = np.array(history, np.float32)  # [epochs_]
        self.epochs_ = len(history)
        return self

    def centres(self) -> NDArray[np.float32]:
        """Return the class centres that the CSDs are mapped to. [C, d]"""
        require("torch", "torch", "WDVSc")
        import torch

        layers = [torch.as_tensor(each) for each in self.layers_]
        mapped: NDArray[np.float32] = _centres(layers, torch.as_tensor(unit(self.csds_))).numpy()
        return mapped

    def scores(self, task: Task) -> NDArray[np.float32]:
        """Return minus the squared distance of each node from each class centre. [n, C]"""
        check_widths(task, len(self.layers_[-1]), self.csds_.shape[1])
        return np.asarray(-_squared(dense(task.X), self.centres()), np.float32)


def plan(
    D: NDArray[Any], blur: float, start: Potentials | None = None
) -> tuple[NDArray[np.float64], Potentials]:
    """Return the plan of least blurred cost between equal weights, and its potentials. [U, U]"""
    from ot.bregman import sinkhorn_log

    T, log = sinkhorn_log(
        *([], [], D.astype(np.float64), blur),
        **{"numItermax": STEPS, "stopThr": EXACT, "log": True, "warn": False, "warmstart": start},
    )
    return T, (log["log_u"], log["log_v"])


def _clusters(X: NDArray[np.float32], count: int, seed: int) -> NDArray[np.float32]:
    """Return the k-means centres of unlabelled nodes at unit length. [count, d]"""
    from sklearn.cluster import KMeans

    if len(X) < count:
        raise InputError(
            f"labels: WDVSc looks for {count} classes without a label among the unlabelled nodes, "
            f"expected at least {count} of these, found {len(X)}; give it nodes of those classes"
        )
    if count == 0:
        return np.zeros((0, X.shape[1]), np.float32)
    means = KMeans(count, n_init=STARTS, random_state=seed).fit(X)
    return unit(means.cluster_centers_.astype(np.float32))


def _centres(layers: Sequence[Tensor], S: Tensor) -> Tensor:
    """Return unit(f(s_c)), layers being matrices and biases in turn. [C, d]"""
    from torch.nn.functional import leaky_relu, normalize

    H = S
    for at in range(0, len(layers), 2):
        H = (leaky_relu(H, SLOPE) if at else H) @ layers[at] + layers[at + 1]
    return normalize(H)


def _squared(A: Any, B: Any) -> Any:
    """Return squared distances of rows, as tensors or as arrays. [a, d], [b, d] -> [a, b]"""
    return (A * A).sum(1)[:, None] - 2 * A @ B.T + (B * B).sum(1)
