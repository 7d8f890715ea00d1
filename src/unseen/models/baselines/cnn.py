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
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from unseen.encode.bert_files import file_digest
from unseen.errors import InputError, SavedFileError, shortlist
from unseen.models.base import Model, check_fit
from unseen.models.baselines.alexnet import features, find_weights, load_weights, random_weights
from unseen.models.baselines.dap import DAP
from unseen.models.baselines.zs_gcn import ZSGCN
from unseen.propagate.hops import Hops
from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.operators import Operator

INNER: Mapping[str, type[Model]] = {"dap": DAP, "zs-gcn": ZSGCN}
WEIGHTS = ("file", "random")
DRAW = 0  # seed of the random weights: one network for every run, as the published one is
KEPT = 2  # sets of features in memory: 73 MB for 4,464 nodes

_kept: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()  # the latest last


class OnAlexNet(Model):
    """A baseline on AlexNet's features of each node's own attributes.

    Args:
        inner: the baseline, "dap" or "zs-gcn".
        weights: of AlexNet: from a "file", or "random", the same in every run.
        path: the file; without it see `alexnet.find_weights`.
        seed: of the inner model.
        settings: its other settings by name, None for its defaults. What is worth trying is in
            `INNER[inner].search_space`.
    """

    needs_labels = True

    def __init__(
        self,
        inner: Literal["dap", "zs-gcn"] = "dap",
        weights: Literal["file", "random"] = "file",
        path: str | None = None,
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.inner = inner
        self.weights = weights
        self.path = path
        self.seed = seed
        self.settings = settings

    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Fit the inner model on features of all nodes, which a next fit need not compute again."""
        check_fit(hops, labels, csds, same_space=False)
        if not (labels >= 0).any():  # the inner model says so too, but after the costly part
            raise InputError(
                f"labels: {self.inner} learns from labelled nodes and found none; give labels of "
                "some classes"
            )
        model, backbone = self._make(), self._backbone()
        read = self._read(hops, backbone)
        self.inner_ = model.fit(read, labels, csds, operator, among)
        self.backbone_ = backbone
        self.width_ = hops.shape[1]
        return self

    def scores(self, hops: Hops, csds: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return the inner model's scores of the nodes' features. [n, C]"""
        if hops.shape[1] != self.width_:  # another width makes another picture, not an error
            raise InputError(
                f"nodes: expected vectors of {self.width_} dimensions as in training, found "
                f"{hops.shape[1]}; encode them as in training"
            )
        backbone = self._backbone()
        if backbone != self.backbone_:
            raise SavedFileError(
                f"AlexNet: the weights are others than in training: expected {self.backbone_}, "
                f"found {backbone}; put the file back or fit again"
            )
        return self.inner_.scores(self._read(hops, backbone), csds)

    def _make(self) -> Model:
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

    def _read(self, hops: Hops, backbone: str) -> Hops:
        """Return features [n, 4096] as the only hop, from memory where they are known."""
        X = np.ascontiguousarray(hops.own, np.float32)
        key = (backbone, f"{X.shape} {hashlib.sha256(X.data).hexdigest()}")
        if key not in _kept:
            weights = random_weights(DRAW) if self.weights == "random" else load_weights(self.path)
            _kept[key] = unit(features(X, weights))
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        return Hops((_kept[key],), np.ones(1, np.float32))
