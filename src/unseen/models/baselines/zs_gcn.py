r"""ZS-GCN: a graph convolution over classes that turns each CSD into a classifier.

Rows are classes: :math:`H^{(0)} = S` [C, d_s], the CSDs at unit length. With the class graph P
[C, C], L layers without bias, LeakyReLU of slope 0.2 between them and d the width of the nodes'
attributes:

.. math::
    H^{(l)} &= \mathrm{LeakyReLU}(P\, H^{(l-1)}\, \Theta^{(l)}),  \qquad l < L \\
    \hat w_c &= \mathrm{unit}\big((P\, H^{(L-1)}\, \Theta^{(L)})_c\big)      && [C, d] \\
    Q &= \tfrac12 \sum_{c\ \mathrm{seen}} \lVert \hat w_c - w_c \rVert^2 \\
    \mathrm{score}(i, c) &= x_i^\top \hat w_c                               && [n, C]

Wang et al., CVPR 2018 (https://arxiv.org/abs/1803.08035); widths, slope, rate and decay are those
of their code. Dropout stands where it does there, on the inputs of the last two layers, at the rate
of 0.5 that the code declares (and never hands to the network). What neither they nor DGPN
(https://doi.org/10.1145/3447548.3467230) say of citation networks is chosen here:

- The class graph. Theirs is WordNet, which has no node for a research topic. Here each class is
  joined to the `neighbours` CSDs of largest cosine, in both directions, with a loop at each class,
  and :math:`P = D^{-1/2} A D^{-1/2}` as in their code. Two neighbours are about as many as a node
  of a tree has. All classes are in the graph in training, also those without a label.
- The classifiers :math:`w_c` of seen classes. Theirs are the last layer of a network trained on
  them. Here: softmax regression on the attributes of labelled nodes, without a bias, half the
  squared weights added to the summed loss (scikit-learn's default), then unit length.
- CSDs come in at unit length and are not centred. Where they share one dominating direction, as
  those of the paper do (cosines of 0.92 to 0.97), six layers of averaging leave hardly anything
  else, and training stays near one classifier for all classes. With CSDs that the caller centred
  it tells them apart.

Classes added after training change the graph, which is formed again, hence also the classifiers of
the classes that were there before.
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
from unseen.models.training import LayeredModel, dense, one_thread, stalled

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Generator, Tensor

    from unseen.core.task import Task

SLOPE = 0.2  # of LeakyReLU below zero
THINNED = 2  # layers, counted from the last, whose inputs dropout thins


@dataclass(repr=False, eq=False)
class ZSGCN(LayeredModel):
    """Classifiers of unseen classes, from their CSDs and those of the classes near them.

    Args:
        widths: of the hidden layers.
        neighbours: classes that each class is joined to, those of largest cosine.
        epochs: steps of Adam, each over all classes.
        learning_rate: of Adam.
        decay: Adam's `weight_decay`.
        dropout: share of entries left out of the inputs of the last two layers in a step.
        patience: epochs that must lower the loss by a thousandth, or training ends; None = never.
        seed: for the start and the dropout.

    Attributes:
        layers_: Theta of each layer.
        csds_: class vectors. [C, d_s]
        losses_: Q before each step. [epochs_]
        epochs_: how many steps were taken.
    """

    needs_labels = True
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {  # Table 8 of the paper, and defaults
        "learning_rate": (0.001, 0.01, 0.1),
        "epochs": (200, 350, 500, 1000, 1200),
        "decay": (0.0, 1e-6, 1e-5, 1e-4, 5e-4),
        "dropout": (0.3, 0.5, 0.7),
    }

    widths: Sequence[int] = (2048, 2048, 1024, 1024, 512)
    neighbours: int = 2
    epochs: int = 350
    learning_rate: float = 0.001
    decay: float = 5e-4
    dropout: float = 0.5
    patience: int | None = 50
    seed: int = 0

    def fit(self, task: Task) -> Self:
        """Learn the classifiers of seen classes, then the layers that give them."""
        require("torch", "torch", "ZSGCN")
        import torch

        seen = seen_classes("ZSGCN", task, 2)  # [C_s]
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout: expected at least 0 and below 1, found {self.dropout}")
        csds, labelled = task.S.copy(), np.flatnonzero(task.labels >= 0)  # [m]
        own = own_classifiers(dense(task.X[labelled]), task.labels[labelled])
        W = torch.as_tensor(own)  # [C_s, d]
        S, P = (torch.as_tensor(each) for each in (unit(csds), class_graph(csds, self.neighbours)))

        rng = torch.Generator().manual_seed(self.seed)
        layers = [
            torch.nn.init.xavier_uniform_(torch.empty(shape), generator=rng).requires_grad_()
            for shape in pairwise([csds.shape[1], *self.widths, W.shape[1]])
        ]
        rate, decay = self.learning_rate, self.decay
        adam = torch.optim.Adam(layers, lr=rate, weight_decay=decay, fused=True)
        history: list[float] = []
        with one_thread():
            while len(history) < self.epochs and not stalled(history, self.patience):
                predicted = self._classifiers(layers, P, S, rng)  # [C, d]
                loss = (predicted[seen] - W).square().sum() / 2
                adam.zero_grad()
                torch.autograd.backward(loss)
                adam.step()
                history.append(loss.item())

        self.layers_ = [each.detach().numpy() for each in layers]
        self.csds_ = csds
        self.losses_ = np.array(history, np.float32)  # [epochs_]
        self.epochs_ = len(history)
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        """Return x_i . w_c, with classifiers from a class graph over all CSDs. [n, C]"""
        require("torch", "torch", "ZSGCN")
        import torch

        check_widths(task, self.layers_[-1].shape[1], self.csds_.shape[1])
        S = self.csds_
        layers = [torch.as_tensor(each) for each in self.layers_]
        P = torch.as_tensor(class_graph(S, self.neighbours))
        W: NDArray[np.float32] = self._classifiers(layers, P, torch.as_tensor(unit(S))).numpy()
        return dense(task.X) @ W.T

    def _classifiers(
        self, layers: Sequence[Tensor], P: Tensor, S: Tensor, rng: Generator | None = None
    ) -> Tensor:
        """Return the rows w_c at unit length; with a generator, as in training. [C, d]"""
        from torch.nn.functional import leaky_relu, normalize

        H = S
        for at, layer in enumerate(layers):
            if at:
                H = leaky_relu(H, SLOPE)
            if rng is not None and self.dropout and at >= max(1, len(layers) - THINNED):
                kept = H.new_empty(H.shape).bernoulli_(1 - self.dropout, generator=rng)
                H = H * kept / (1 - self.dropout)
            H = P @ (H @ layer)
        return normalize(H)


def class_graph(csds: NDArray[np.float32], neighbours: int) -> NDArray[np.float32]:
    """Return the normalised edges between classes near each other, loops included. [C, C]"""
    S = unit(csds)
    cosines = S @ S.T
    np.fill_diagonal(cosines, -np.inf)  # a class comes last among its own neighbours
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :neighbours]
    A = np.eye(len(S))
    np.put_along_axis(A, nearest, 1, axis=1)
    A = np.maximum(A, A.T)
    degrees = A.sum(axis=1)
    return (A / np.sqrt(np.outer(degrees, degrees))).astype(np.float32)


def own_classifiers(X: NDArray[np.float32], y: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return the unit-length weights of softmax regression, classes in order. [C_s, d]"""
    from sklearn.linear_model import LogisticRegression

    weights = LogisticRegression(fit_intercept=False, tol=1e-6, max_iter=1000).fit(X, y).coef_
    if len(weights) == 1:  # of two classes only the second is kept; the first is its opposite
        weights = np.concatenate([-weights, weights])
    return unit(weights.astype(np.float32))
