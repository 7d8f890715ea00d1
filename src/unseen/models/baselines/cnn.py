r"""DAP(CNN) and ZS-GCN(CNN): a baseline of the paper that reads AlexNet's features of each node.

.. math::
    f_i = \mathrm{AlexNet}(x_i) / \lVert \mathrm{AlexNet}(x_i) \rVert \qquad [d] \to [4096]

takes the place of the attributes x_i of `DAP` or `ZSGCN`; nothing else changes. `alexnet.py` says
how a row of attributes is read as a picture. Unit length is a choice of this file (the paper,
https://doi.org/10.1145/3447548.3467230, is silent): settings of the inner model that fit attributes
then fit features too, whichever weights made them.

The network is not trained further. Its weights come from a file; without one, `fit` raises
`WeightsMissing`. Random weights make a comparison, not the paper's row: they have to be asked for,
and `backbone_` names them.
"""

from __future__ import annotations

import hashlib
import inspect
from collections import OrderedDict
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from unseen.core.arrays import unit
from unseen.core.errors import InputError, SavedFileError, require, shortlist
from unseen.models.base import ScoreModel, State, check_widths, seen_classes
from unseen.models.baselines.alexnet import (
    features,
    file_digest,
    find_weights,
    load_weights,
    random_weights,
)
from unseen.models.baselines.dap import DAP
from unseen.models.baselines.zs_gcn import ZSGCN
from unseen.models.training import CsdModel, dense

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task

INNER: Mapping[str, type[CsdModel]] = {"dap": DAP, "zs-gcn": ZSGCN}
WEIGHTS = ("file", "random")
DRAW = 0  # seed of the random weights: one network for every run, as the published one is
KEPT = 2  # sets of features in memory: 73 MB for 4,464 nodes

_kept: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()  # the latest last


@dataclass(repr=False, eq=False)
class OnAlexNet(ScoreModel):
    """A baseline on AlexNet's features of each node's own attributes.

    Args:
        inner: the baseline, "dap" or "zs-gcn".
        weights: of AlexNet: from a "file", or "random", the same in every run.
        path: the file; without it see `alexnet.find_weights`.
        seed: of the inner model.
        settings: its other settings by name, None for its defaults. What is worth trying is in
            `INNER[inner].search_space`.

    Attributes:
        inner_: the fitted baseline.
        backbone_: which weights AlexNet had.
        width_: of the attributes, d.
    """

    needs_labels = True
    adds_classes = True

    inner: Literal["dap", "zs-gcn"] = "dap"
    weights: Literal["file", "random"] = "file"
    path: str | None = None
    seed: int = 0
    settings: Mapping[str, Any] | None = None

    def fit(self, task: Task) -> Self:
        """Fit the inner model on features of all nodes, which a next fit need not compute again."""
        require("torch", "torch", "AlexNet")
        seen_classes(self.inner, task, 1)  # the inner model says so too, but after the costly part
        model, backbone = self._make(), self._backbone()
        self.inner_ = model.fit(self._read(task, backbone))
        self.backbone_ = backbone
        self.width_ = int(task.X.shape[1])
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        """Return the inner model's scores of the nodes' features. [n, C]"""
        require("torch", "torch", "AlexNet")
        check_widths(task, self.width_, task.S.shape[1])  # another width makes another picture
        backbone = self._backbone()
        if backbone != self.backbone_:
            raise SavedFileError(
                f"AlexNet: the weights are others than in training: expected {self.backbone_}, "
                f"found {backbone}; put the file back or fit again"
            )
        found: NDArray[np.float32] = self.inner_.scores(self._read(task, backbone))
        return found

    def add_classes(self, task: Task) -> Self:
        """Let the inner model compare with the new classes as well."""
        twin = copy(self)
        twin.inner_ = self.inner_.add_classes(task)
        return twin

    def state(self) -> State:
        """Return what was learned, that of the inner model under names that say so."""
        own = {"backbone_": self.backbone_, "width_": self.width_}
        return own | {f"inner_{name}": value for name, value in self.inner_.state().items()}

    def restore(self, state: State) -> Self:
        """Take up what `state` returned."""
        inner = {name: value for name, value in state.items() if name.startswith("inner_")}
        super().restore({name: value for name, value in state.items() if name not in inner})
        self.inner_ = self._make().restore(
            {name.removeprefix("inner_"): value for name, value in inner.items()}
        )
        return self

    def _make(self) -> CsdModel:
        """Return the inner model, not yet fitted."""
        for name, known in (("inner", tuple(INNER)), ("weights", WEIGHTS)):
            if getattr(self, name) not in known:
                raise InputError(
                    f"{name}: expected one of {shortlist(known)}, found {getattr(self, name)!r}"
                )
        kind, settings = INNER[self.inner], dict(self.settings or {})
        known = tuple(name for name in inspect.signature(kind).parameters if name != "seed")
        odd = settings.keys() - set(known)
        if odd:
            raise InputError(
                f"settings: {shortlist(sorted(odd))} found; {self.inner} has "
                f"{shortlist(known, len(known))}, and seed is an argument of its own"
            )
        arguments: dict[str, Any] = {**settings, "seed": self.seed}
        return kind(**arguments)

    def _backbone(self) -> str:
        """Return which weights these are: a name that changes when they do."""
        if self.weights == "random":
            return f"random weights, seed {DRAW}"
        return f"weights of SHA-256 {file_digest(find_weights(self.path))}"

    def _read(self, task: Task, backbone: str) -> Task:
        """Return the task with features [n, 4096] as X, from memory where they are known."""
        X = np.ascontiguousarray(dense(task.X))
        key = (backbone, f"{X.shape} {hashlib.sha256(X.data).hexdigest()}")
        if key not in _kept:
            weights = random_weights(DRAW) if self.weights == "random" else load_weights(self.path)
            _kept[key] = unit(features(X, weights))
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        return replace(task, X=_kept[key], shared=False, memo={})
