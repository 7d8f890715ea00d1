"""What trained models share: class vectors that can be added to, layers, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import require
from unseen.models.base import ScoreModel, State, check_widths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task

ENOUGH = 0.001  # share by which the loss must fall within `patience` epochs
LAYER = "layer_"  # what the name of a layer in a saved state begins with


class CsdModel(ScoreModel):
    """A model that scores whatever class comes with a CSD, one added after `fit` as well.

    Attributes:
        csds_: class vectors. [C, d_s]
    """

    adds_classes = True
    csds_: NDArray[np.float32]

    def add_classes(self, task: Task) -> Self:
        """Compare with the new classes as well; nothing is learned again."""
        check_widths(task, task.X.shape[1], self.csds_.shape[1])
        twin = copy(self)
        twin.csds_ = np.concatenate([self.csds_, task.S[len(self.csds_) :]])
        return twin


class LayeredModel(CsdModel):
    """A model of a few layers.

    Attributes:
        layers_: matrices, and biases where there are any, in the order in which they are used.
    """

    layers_: list[NDArray[np.float32]]

    def state(self) -> State:
        """Return what was learned, one name for each layer."""
        flat = super().state()
        layers = flat.pop("layers_")
        return flat | {f"{LAYER}{number}_": layer for number, layer in enumerate(layers)}

    def restore(self, state: State) -> Self:
        """Take up what `state` returned."""
        layers = [name for name in state if name.startswith(LAYER)]
        super().restore({name: value for name, value in state.items() if name not in layers})
        self.layers_ = [state[f"{LAYER}{number}_"] for number in range(len(layers))]
        return self


def dense(X: Any) -> NDArray[np.float32]:
    """Return node vectors as an array. [n, d]"""
    rows: NDArray[np.float32] = X.toarray() if sp.issparse(X) else X
    return rows


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Keep PyTorch to one thread for a while, if wanted."""
    torch = require("torch", "torch", "training")
    before = torch.get_num_threads()
    torch.set_num_threads(1 if wanted else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stalled(losses: Sequence[float], patience: int | None) -> bool:
    """Whether the last `patience` epochs failed to lower the loss by a thousandth.

    >>> stalled([4, 2, 2, 1.999], 2), stalled([4, 2, 2, 1.9], 2), stalled([4, 4], 2)
    (True, False, False)
    """
    if patience is None or len(losses) <= patience:
        return False
    before, after = losses[:-patience], losses[-patience:]
    return min(after) > (1 - ENOUGH) * min(before)
