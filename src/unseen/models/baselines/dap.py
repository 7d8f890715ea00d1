r"""DAP: direct attribute prediction, with CSDs in the place of attributes.

A linear map from node vectors x to class semantic descriptions (CSDs) s is learned on the labelled
nodes, y being the class of node i and m their number; a node then belongs to the nearest CSD.

.. math::
    \hat s_i &= W^\top x_i + b                                          && [d] \to [d_s] \\
    Q &= \tfrac{1}{m} \sum_i \lVert \hat s_i - s_{y_i} \rVert^2 \\
    \mathrm{score}(i, c) &= -\lVert \hat s_i - s_c \rVert^2             && [n, C]

Lampert et al. (https://doi.org/10.1109/TPAMI.2013.140) train one probabilistic classifier for each
binary attribute. CSDs are real numbers, so here each dimension is regressed. The authors of DGPN
(https://doi.org/10.1145/3447548.3467230) say only that they wrote it anew in PyTorch; the single
layer, its Xavier start, the squared error and dropout on x (there is no hidden layer) are choices
of this file. Only own attributes are read, never the graph, and no CSD of an unseen class before
`scores`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unseen.core.errors import InputError, require
from unseen.models.base import check_widths, seen_classes
from unseen.models.training import CsdModel, dense, one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Generator, Tensor

    from unseen.core.task import Task

SPARSE = 0.05  # share of non-zeros below which going from one to the next is quicker than algebra


@dataclass(repr=False, eq=False)
class DAP(CsdModel):
    """Linear regression of CSDs on a node's own vector, and the nearest CSD.

    Args:
        epochs: steps of Adam, each over all labelled nodes.
        learning_rate: of Adam.
        decay: Adam's `weight_decay`, on W and on b.
        dropout: share of the entries of x left out in a step; the others are scaled up.
        seed: for the start and the dropout.

    Attributes:
        map_, bias_: W and b. [d, d_s] and [d_s]
        csds_: class vectors. [C, d_s]
        losses_: Q before each step. [epochs]
    """

    needs_labels = True
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {  # Table 8 of the paper
        "learning_rate": (0.001, 0.01, 0.1),
        "epochs": (200, 500, 1000, 1200),
        "decay": (0.0, 1e-6, 1e-5, 1e-4),
        "dropout": (0.3, 0.5, 0.7),
    }

    epochs: int = 200
    learning_rate: float = 0.01
    decay: float = 0.0
    dropout: float = 0.5
    seed: int = 0

    def fit(self, task: Task) -> Self:
        """Regress the CSDs of their classes on the vectors of labelled nodes."""
        require("torch", "torch", "DAP")
        import torch

        seen_classes("DAP", task, 1)
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout: expected at least 0 and below 1, found {self.dropout}")
        labelled = np.flatnonzero(task.labels >= 0)  # [m]
        X, csds = dense(task.X[labelled]), task.S.copy()
        x = torch.as_tensor(X)  # [m, d]
        if np.count_nonzero(X) < SPARSE * X.size:
            x = x.to_sparse()
        T = torch.as_tensor(csds[task.labels[labelled]])  # [m, d_s]

        rng = torch.Generator().manual_seed(self.seed)
        W = torch.empty(X.shape[1], csds.shape[1])
        torch.nn.init.xavier_uniform_(W, generator=rng)
        W.requires_grad_()  # [d, d_s]
        b = torch.zeros(csds.shape[1], requires_grad=True)  # [d_s]
        adam = torch.optim.Adam([W, b], lr=self.learning_rate, weight_decay=self.decay)
        history = []
        with one_thread():  # runs side by side should not fight for cores
            for _ in range(self.epochs):
                predicted = _thinned(x, self.dropout, rng) @ W + b  # [m, d_s]
                loss = (predicted - T).square().sum(dim=1).mean()
                adam.zero_grad()
                torch.autograd.backward(loss)
                adam.step()
                history.append(loss.item())

        self.map_: NDArray[np.float32] = W.detach().numpy()  # [d, d_s]
        self.bias_: NDArray[np.float32] = b.detach().numpy()  # [d_s]
        self.csds_ = csds
        self.losses_ = np.array(history, np.float32)  # [epochs]
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        """Return minus the squared distance of each prediction from each CSD. [n, C]"""
        from scipy.spatial.distance import cdist

        check_widths(task, *self.map_.shape)
        predicted = dense(task.X) @ self.map_ + self.bias_  # [n, d_s]
        return np.asarray(-cdist(predicted, self.csds_, "sqeuclidean"), np.float32)


def _thinned(x: Tensor, dropout: float, rng: Generator) -> Tensor:
    """Return x with a share of its entries at zero and the others scaled up. [m, d]"""
    import torch

    if not dropout:
        return x
    entries = x.values() if x.is_sparse else x  # a zero that is left out is still a zero
    kept = torch.rand(entries.shape, generator=rng).ge_(dropout)  # bernoulli_ takes four times that
    entries = kept.mul_(entries).div_(1 - dropout)
    if not x.is_sparse:
        return entries
    return torch.sparse_coo_tensor(
        x.indices(), entries, x.shape, is_coalesced=True, check_invariants=False
    )
