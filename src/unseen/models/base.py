"""The contract of every model: `fit`, `scores`, `predict`, `get_params`, as in scikit-learn.

A constructor only stores what it is given; `fit` checks and learns; what was learned ends in `_`.
A model meets nodes as `Hops`, classes as rows of CSDs, labels as class positions (-1 = none): never
as ids, files or edge lists. One that must walk the graph itself is handed the `Operator`.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unseen.errors import InputError
from unseen.vectors import masked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.hops import Hops
    from unseen.propagate.operators import Operator


class Model(ABC):
    """A zero-shot node classifier over hops and class semantic descriptions (CSDs)."""

    needs_labels = False  # whether `fit` can learn anything without a labelled node
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {}  # settings worth trying, by name

    @abstractmethod
    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Learn from the labels of seen classes.

        Args:
            hops: what each node and its surroundings say, K+1 blocks [n, d].
            labels: class position of each node, -1 where there is none. [n]
            csds: one vector for each class, seen or not. [C, d_s]
            operator: the graph, for models that walk it.
            among: the classes that an unlabelled node may belong to; all of them when left out. [C]
        """

    @abstractmethod
    def scores(self, hops: Hops, csds: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return how well each class fits each node, higher is better. [n, C]"""

    def predict(self, hops: Hops, among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the best class of each node, chosen among all classes or some. [n]"""
        best: NDArray[np.int64] = masked(self.scores(hops), among).argmax(axis=1)
        return best

    def get_params(self) -> dict[str, Any]:
        """Return the arguments of the constructor as they stand."""
        names = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in names}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"


def check_fit(
    hops: Hops, labels: NDArray[np.int64], csds: NDArray[np.float32], *, same_space: bool
) -> None:
    """Refuse inputs that do not belong together, before anything is learned."""
    nodes, width = hops.shape
    if len(labels) != nodes:
        raise InputError(f"labels: expected {nodes:,} (one for each node), found {len(labels):,}")
    if labels.max(initial=-1) >= len(csds):
        raise InputError(
            f"labels: class position {labels.max()} found, but there are only {len(csds)} CSDs"
        )
    if same_space and csds.shape[1] != width:
        raise InputError(
            f"csds: have {csds.shape[1]} dimensions but node vectors have {width}; this model "
            "compares the two, so encode both with the same encoder"
        )


def seen_classes(model: str, labels: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Return the classes that have a label, refusing fewer than a model can learn from. [C_s]"""
    seen = np.unique(labels[labels >= 0])
    if len(seen) < least:
        raise InputError(
            f"labels: {model} learns from labelled nodes of {least} or more classes, found those "
            f"of {len(seen)}; label nodes of more classes"
        )
    return seen


def check_widths(hops: Hops, csds: NDArray[np.float32] | None, width: int, semantic: int) -> None:
    """Refuse nodes or CSDs of other widths than those trained on."""
    if hops.shape[1] != width:
        raise InputError(
            f"nodes: expected vectors of {width} dimensions as in training, found "
            f"{hops.shape[1]}; encode them as in training"
        )
    if csds is not None and csds.shape[1] != semantic:
        raise InputError(
            f"csds: expected {semantic} dimensions as in training, found {csds.shape[1]}; encode "
            "added classes as the first ones were"
        )
