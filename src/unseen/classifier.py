"""`Classifier`: all that `classify` settled on, ready for another graph. Saved by `run.py`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.errors import InputError
from unseen.models.agreement import clamp
from unseen.models.dgpn import DGPN
from unseen.models.refine import Opinions, Refine
from unseen.propagate.hops import Hops, decompose
from unseen.sureness import Sureness
from unseen.vectors import masked, softmax, unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.classes import Classes
    from unseen.encode.space import Space
    from unseen.encode.terms import Terms
    from unseen.propagate.operators import Operator


@dataclass(frozen=True, eq=False)
class Classifier:
    """A fitted pipeline: how to place nodes and classes, and the model that compares them.

    Attributes:
        classes: the classes known so far, in the order of the model's columns.
        seen: names of those that had labelled nodes.
        encoder, identity: what made the vectors.
        kind: which text stands for a class: "name", "description" or "both".
        node_centre, class_centre: means that are subtracted from each side. [d], [d_s]
        hops, laziness: K and beta of the decomposition (Eq. 13).
        maps: trained maps of own vectors into the space of the CSDs; None leaves them as they are.
        model: `Refine` where nodes and classes share a space, else `Align` or `DGPN`.
        terms: how the words of the first graph go together; None where there was too little to
            learn that from, or nothing but features.
        sureness: what confidences are corrected by.
    """

    classes: Classes
    seen: tuple[str, ...]
    encoder: str
    identity: str
    kind: str
    node_centre: NDArray[np.float32]
    class_centre: NDArray[np.float32]
    hops: int
    laziness: float
    maps: DGPN | None
    model: Refine | DGPN
    terms: Terms | None = None
    sureness: Sureness = field(default_factory=Sureness)

    def hops_of(self, space: Space, operator: Operator) -> Hops:
        """Centre the nodes, read their words, map them if maps were trained, and walk."""
        if space.nodes.shape[1] != len(self.node_centre):
            raise InputError(
                f"nodes: have vectors of {space.nodes.shape[1]:,} dimensions, but the model was "
                f"made for {len(self.node_centre):,}; give the same features, or texts that its "
                f"encoder ({self.encoder}) can read"
            )
        X = unit(space.nodes - self.node_centre)
        if self.terms is not None:
            X = self.terms.beside_nodes(X, self._bags(space)[0])
        if self.maps is not None:
            X = unit(self.maps.vectors(X))
        return decompose(X, operator, self.hops, self.laziness)

    def csds_of(self, space: Space) -> NDArray[np.float32]:
        """Return the class vectors as the model takes them: words beside. [C, d_s + t]"""
        S = self.class_vectors(space)
        return S if self.terms is None else self.terms.beside_classes(S, self._bags(space)[1])

    def class_vectors(self, space: Space) -> NDArray[np.float32]:
        """Centre the class vectors of the chosen kind. [C, d_s]"""
        return unit(space.csds.get(self.kind, space.csds["name"]) - self.class_centre)

    def _bags(self, space: Space) -> tuple[Any, Any]:
        if space.bags is None:
            raise InputError(
                "nodes: have features only, but the model was made from words; give texts, or a "
                "vocabulary for the columns"
            )
        return space.bags

    def with_classes(
        self,
        classes: Classes,
        csds: NDArray[np.float32],
        hops: Hops,
        labels: NDArray[np.int64],
        operator: Operator,
        among: NDArray[np.bool_],
    ) -> Classifier:
        """Return a classifier for more classes; nothing about the old ones is learned again.

        Args:
            classes: the old ones, in their order, followed by the new ones.
            csds: vectors of the new ones. [C_new, d_s]
            hops, labels, operator, among: the nodes at hand, as in `opinions`.
        """
        model: Refine | DGPN
        if isinstance(self.model, Refine):
            model = self.model.with_classes(csds, hops, labels, operator, among)
        else:
            state = self.model.state()
            state["csds_"] = np.concatenate([state["csds_"], csds])
            model = DGPN(**self.model.get_params()).restore(state)
        return replace(self, classes=classes, model=model)

    def opinions(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        operator: Operator,
        among: NDArray[np.bool_],
    ) -> Opinions:
        """Return what own texts and the hops around each node say about it."""
        if isinstance(self.model, Refine):
            return self.model.opinions(hops, labels, operator, among)
        steps = []
        for k in range(len(hops.blocks)):  # what is known after k hops
            near = Hops(hops.blocks[: k + 1], hops.weights[: k + 1])
            p = softmax(masked(self.model.scores(near), among) / self.model.temperature)
            clamp(p, labels)
            steps.append(p)
        return Opinions(steps[-1], steps[-1], tuple(steps), steps[-1])
