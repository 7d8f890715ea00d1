r"""Table 6: classification where every class has labels, by a GCN and by its decomposition.

Both networks (`standard_networks.py`) are trained as appendix A.5.2 of the paper says: Adam, cross
entropy, an L2 penalty, at most 200 epochs, a stop after 10 without a lower validation loss.

What the paper leaves open was settled by the practice of the GCN that it cites, or on validation
nodes: half the squared length of the first layer's matrix alone is penalised, the validation loss
is the bare cross entropy, and the weights of the epoch that had the lowest one are kept. (The last
epoch's are 1.5 to 2 points worse on validation nodes for the decomposed network, whose loss is the
noisier one, and no different for the GCN.) Test nodes are counted once, at the end.

Papers: https://doi.org/10.1145/3447548.3467230 (Sec. 6.4), https://arxiv.org/abs/1609.02907 (GCN)
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError, require
from unseen.datasets.registry import load
from unseen.evaluate.metrics import accuracy, macro_accuracy, majority_floor
from unseen.models.training import one_thread

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from unseen.paper.standard_networks import Network

Kind = Literal["gcn", "printed", "exact"]

PENALTY, RATE = 5e-4, 0.01
EPOCHS, WINDOW = 200, 10


@dataclass(frozen=True, eq=False)
class StandardData:
    """A graph, its labels, and which nodes train, validate and test."""

    adjacency: Any  # CSR, symmetric, no loops [n, n]
    features: Any  # CSR [n, d]
    labels: NDArray[np.int64]  # [n]
    train: NDArray[np.int64]  # positions of nodes
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    def __post_init__(self) -> None:
        A = sp.csr_array(self.adjacency)
        if (A != A.T).nnz or A.diagonal().any():
            raise InputError(
                "adjacency: expected a symmetric matrix without loops, found another; a GCN adds "
                "the loops itself: give max(A, A.T) with an empty diagonal"
            )
        bare = np.flatnonzero(self.labels[np.concatenate([self.train, self.validation])] < 0)
        if len(bare):
            raise InputError(
                f"labels: {len(bare)} of the nodes that train and validate have none (-1); "
                "leave them out of the split"
            )


def standard_data(name: str) -> StandardData:
    """Return a data set of the paper with planetoid's split.

    Of Citeseer it is the clean variant: planetoid's edges, without those of the 15 papers that have
    neither words nor a class.
    """
    found = load(name, variant="clean" if name == "citeseer" else "official")
    split = found.standard_split()
    return StandardData(
        adjacency=found.graph.adjacency,
        features=sp.csr_array(found.graph.features, dtype=np.float32),
        labels=found.truth.codes,
        train=split.train,
        validation=split.validation,
        test=split.test,
    )


def train_standard(data: StandardData, model: Kind, seed: int) -> dict[str, Any]:
    """Train on the training nodes, stop by the validation nodes, count the test nodes, in %."""
    began = time.perf_counter()
    with one_thread():
        network, losses = fit_standard(data, model, seed)
        answer, truth = network.predict(data.test), data.labels[data.test]
    return {
        "accuracy": 100 * accuracy(truth, answer),
        "macro": 100 * macro_accuracy(truth, answer),
        "floor": 100 * majority_floor(truth),
        "classes given": 0,
        "epochs": len(losses),
        "seconds": round(time.perf_counter() - began, 2),
    }


def fit_standard(data: StandardData, model: Kind, seed: int) -> tuple[Network, list[float]]:
    """Return the network of the best epoch and the validation loss of every epoch."""
    require("torch", "torch", "Table 6")
    import torch
    from torch.nn.functional import cross_entropy

    from unseen.paper.standard_networks import Decomposed, Gcn

    if model not in get_args(Kind):
        raise InputError(f"model: expected one of {', '.join(get_args(Kind))}, found {model!r}")
    rng = torch.Generator().manual_seed(seed)
    classes = int(data.labels[data.train].max()) + 1  # labels of test nodes are not looked at
    given = data.adjacency, data.features, classes, rng
    network = Gcn(*given) if model == "gcn" else Decomposed(*given, exact=model == "exact")
    train, validation = (network.cut(rows) for rows in (data.train, data.validation))
    y, y_val = (torch.as_tensor(data.labels[rows]) for rows in (data.train, data.validation))
    adam = torch.optim.Adam(network.weights, lr=RATE)
    losses: list[float] = []
    best: list[Tensor] = []
    while len(losses) < EPOCHS and not stops(losses):
        loss = cross_entropy(network.logits(train, rng), y)
        loss = loss + PENALTY / 2 * network.weights[0].square().sum()
        adam.zero_grad()
        torch.autograd.backward(loss)
        adam.step()
        with torch.no_grad():
            losses.append(cross_entropy(network.logits(validation), y_val).item())
            if losses[-1] == min(losses):
                best = [each.clone() for each in network.weights]
    network.weights = best
    return network, losses


def stops(losses: list[float], window: int = WINDOW) -> bool:
    """Tell whether the last `window` losses brought none below those before.

    >>> stops([3, 2, 2.5, 2.1], window=2), stops([3, 2, 2.5, 1.9], window=2)
    (True, False)
    """
    return len(losses) > window and min(losses[-window:]) >= min(losses[:-window])
