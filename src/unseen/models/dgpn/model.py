r"""DGPN: decomposed graph prototype network, learned from labels of seen classes (KDD 2021).

What node i receives from k hops away, :math:`\bar x_i^{(k)} = (P^k X)_i` with the weight
:math:`\omega_k` of Eq. 13, goes through one map into a latent space, and from there into the space
of the class semantic descriptions (CSDs) :math:`s_c`: hop by hop (locality) and as a weighted sum
(compositionality).

.. math::
    h_i^{(k)} &= \psi(\bar x_i^{(k)})                                        && [d] \to [d_h] \\
    f_{ic}^{(k)} &= \mathrm{sim}(\phi_{loc}(h_i^{(k)}), s_c)                 && \text{Eq. 17} \\
    Q_{loc} &= -\textstyle\sum_k \ln \mathrm{softmax}_c(f_i^{(k)})              && \text{Eq. 18} \\
    z_i &= \textstyle\sum_k \omega_k h_i^{(k)}                               && \text{Eq. 19} \\
    g_{ic} &= \mathrm{sim}(\phi_{com}(z_i), s_c) \qquad
    Q_{com} = -\ln \mathrm{softmax}_c(g_i)                                   && \text{Eq. 20} \\
    Q &= Q_{com} + \alpha\, Q_{loc}                                          && \text{Eq. 21} \\
    \hat c_i &= \arg\max_c\; \mathrm{sim}(\phi_{com}(z_i), s_c)              && \text{Eq. 22}

Both losses are means over the labelled nodes, c in the softmax being the node's own class. Eq. 13
is in `propagate/hops.py`; the maps :math:`\psi, \phi_{loc}, \phi_{com}` and their two ways to start
are in `maps.py`; where the published code departs from the print, a setting stands for it
(`settings.py`); where X is sparse, `sparse.py` minimises the same losses and forms no hop.

Paper: https://doi.org/10.1145/3447548.3467230
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.core.arrays import masked, softmax, unit
from unseen.core.errors import InputError, SavedFileError, require
from unseen.engines.base import ALONE, engine_of
from unseen.models.base import Inference, State, check_shared, check_widths, seen_classes
from unseen.models.blocks import clamp
from unseen.models.dgpn import maps
from unseen.models.dgpn.descent import Among, descend, kept, learn
from unseen.models.dgpn.maps import (
    BIAS,
    COMPOSED,
    LOCAL,
    PSI,
    Maps,
    compose,
    predictions,
    to_latent,
    to_semantic,
)
from unseen.models.dgpn.settings import VARIANTS, check_choices
from unseen.models.training import CsdModel
from unseen.propagate.hops import Hops, hops_of
from unseen.propagate.sparse import SparseBlocks

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Generator, Tensor

    from unseen.core.task import Task
    from unseen.engines.base import Rows, Team


@dataclass(repr=False, eq=False)
class DGPN(CsdModel):
    """Maps from hops to CSDs, trained so that each hop and their sum say the class.

    Args:
        start: how the maps start; "auto" takes the identity where node vectors and CSDs share a
            space, and else "xavier".
        local_weight: alpha, the weight of the local loss.
        latent: width of the latent space with "xavier"; the identity keeps that of the input.
        epochs: steps of Adam, each over all labelled nodes.
        learning_rate: of Adam. At the identity it is divided by the width d: a step moves each
            entry of a map by as much as the rate, hence a vector by up to d times as much.
        dropout: share of latent entries left out in a step ("xavier" only).
        negatives: the classes that both softmaxes run over.
        weigh: where the weights of the hops go: on the "latent" vectors or on the "input" of psi.
        similarity: "inner" takes CSDs at the lengths they have, "cosine" disregards lengths.
        temperature: what cosines are divided by before a softmax; not part of the scores.
        decay: weight of half the squared distance of the maps from where they are at rest, added to
            the loss: the identity with that start, and else zero.
        seed: for the start and the dropout.
        device: where training runs, as PyTorch names it.
        local: whether the local loss is the "mean" over hops or their "sum" (Eq. 18).
        drop_prediction: whether entries of the composed prediction are left out as well.
        hops: K.
        laziness: beta.

    Attributes:
        maps_: matrices and biases of psi, phi_loc and phi_com, by name.
        csds_: class vectors. [C, d_s]
        losses_: Q before each step. [epochs]
    """

    needs_labels = True
    any_engine = True
    search_space = {  # noqa: RUF012  Table 8 of the paper
        "learning_rate": (0.001, 0.01, 0.1),
        "epochs": (200, 500, 1000, 1200),
        "decay": (0.0, 1e-6, 1e-5, 1e-4),
        "dropout": (0.3, 0.5, 0.7),
        "local_weight": (0.1, 0.5, 1.0),
        "hops": (1, 2, 3, 4, 5),
        "laziness": (0.1, 0.3, 0.5, 0.7, 0.9),
    }

    start: Literal["auto", "identity", "xavier"] = "auto"
    local_weight: float = 1.0
    latent: int = 128
    epochs: int = 200
    learning_rate: float = 0.01
    dropout: float = 0.5
    negatives: Literal["seen", "all"] = "all"
    weigh: Literal["latent", "input"] = "latent"
    similarity: Literal["inner", "cosine"] = "cosine"
    temperature: float = 0.1
    decay: float = 0.0
    seed: int = 0
    device: str = "cpu"
    local: Literal["mean", "sum"] = "mean"
    drop_prediction: bool = False
    hops: int = 3
    laziness: float = 0.7

    @classmethod
    def variant(cls, name: Literal["paper", "official"], **changes: Any) -> Self:
        """Return the network as the paper prints it or as its authors published it.

        >>> DGPN.variant("official", seed=3).negatives
        'all'
        """
        if name not in VARIANTS:
            raise InputError(f"variant: expected one of {tuple(VARIANTS)}, found {name!r}")
        return cls(**{**VARIANTS[name], **changes})

    def fit(self, task: Task) -> Self:
        """Train the maps on the labelled nodes, the only ones whose hops are read."""
        require("torch", "torch", "training DGPN")
        import torch

        check_choices(self)
        if self.start == "identity":
            check_shared("DGPN", task)
        seen = seen_classes("DGPN", task, 2)  # [C_s]
        labelled = np.flatnonzero(task.labels >= 0)  # [m]
        rivals, own = task.S, task.labels[labelled]  # [C', d_s], each one's place among them [m]
        if self.negatives == "seen":
            rivals, own = task.S[seen], np.searchsorted(seen, own)
        rng = torch.Generator(self.device).manual_seed(self.seed)
        maps = self._start(task, rng)
        hops = hops_of(task, self.hops, self.laziness)
        if not isinstance(hops.blocks, SparseBlocks):  # nothing else is read
            taken = tuple(engine_of(task).take(X, labelled) for X in hops.blocks)
            hops, labelled = Hops(taken, hops.weights), np.arange(len(labelled))
        given = (self, maps, hops, labelled, own, rivals, rng.get_state())
        history, self.maps_ = engine_of(task).train(partial(learn, *given))
        self.csds_ = task.S.copy()
        self.losses_ = np.array(history, np.float32)  # [epochs]
        return self

    def _start(self, task: Task, rng: Generator) -> Maps:
        """Return psi, phi_loc and phi_com before training."""
        width, semantic = task.X.shape[1], task.S.shape[1]
        if self.start == "identity" or (self.start == "auto" and task.shared):
            return maps.identity(width, self.device)
        return maps.xavier(width, self.latent, semantic, rng)

    def _losses(
        self,
        maps: Maps,
        x: Tensor,  # [K+1, m, d]
        y: Tensor,  # position of each node's class among the rivals [m]
        S: Tensor,  # CSDs of the rivals [C', d_s]
        weights: list[float],  # [K+1]
        rng: Generator,
        among: Among = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the compositional and the local loss, Eq. 17-20."""
        from torch.nn.functional import cross_entropy

        drops = self.dropout and PSI + BIAS in maps
        h = to_latent(maps, x)  # psi  [K+1, m, d_h]
        if drops:
            h = h * self._kept(h, rng, among)
        f = self._logits(to_semantic(maps, LOCAL, h), S)  # Eq. 17  [K+1, m, C']
        q_loc = cross_entropy(f.flatten(0, 1), y.repeat(len(f)))  # Eq. 18
        z = compose(weights, h)  # Eq. 19  [m, d_h]
        predicted = to_semantic(maps, COMPOSED, z)  # [m, d_s]
        if drops and self.drop_prediction:
            predicted = predicted * self._kept(predicted, rng, among)
        g = self._logits(predicted, S)  # [m, C']
        q_com = cross_entropy(g, y)  # Eq. 20
        return q_com, q_loc

    def _train(
        self,
        maps: Maps,
        hops: Hops,
        labelled: NDArray[np.int64],  # [m]
        own: NDArray[np.int64],  # position of each one's class among the rivals [m]
        rivals: NDArray[np.float32],  # [C', d_s]
        rng: Generator,
        team: Team = ALONE,
    ) -> Iterator[float]:
        """Lower Q, Eq. 21, by `epochs` steps of Adam, in place; give Q before each.

        Q is a mean over nodes: every worker of a team takes some of them and adds up gradients.
        """
        blocks = hops.blocks
        plain = not (PSI + BIAS in maps and self.similarity == "inner" and self.device == "cpu")
        if isinstance(blocks, SparseBlocks) and blocks.operator is not None and not plain:
            require("numba", "fast", "DGPN on sparse node vectors")
            from unseen.models.dgpn.sparse import Training

            with threadpool_limits(1, "blas"):  # products this small only wait for each other
                yield from Training(self, hops, labelled, own, rivals).train(maps)
            return
        yield from descend(self, maps, hops, labelled, own, rivals, rng, team)

    def scores(self, task: Task) -> Rows:
        """Return sim(phi_com(z_i), s_c), whose largest decides (Eq. 22). [n, C]"""
        return self._scores(task, self.hops)

    def infer(self, task: Task) -> Inference:
        """Return the softmax of the scores, first of hop 0 alone, then with one hop more each."""
        by_hop, allowed, heat = [], task.allowed, self.temperature

        def posterior(scores: NDArray[np.float32], y: NDArray[np.int64]) -> NDArray[np.float32]:
            p = softmax(masked(scores, allowed) / heat)
            clamp(p, y)
            return p

        for last in range(self.hops + 1):
            scores = self._scores(task, last)
            by_hop.append(engine_of(task).map(posterior, scores, task.labels))
        return Inference(tuple(by_hop), by_hop[-1])

    def _scores(self, task: Task, last: int) -> Rows:
        """Return sim(phi_com(z_i), s_c), with z from hops 0 to `last`. [n, C]"""
        check_widths(task, len(self.maps_[PSI]), self.csds_.shape[1])
        hops = hops_of(task, self.hops, self.laziness)
        before, after = (weights[: last + 1] for weights in self._weights(hops))
        S = self._scaled(self.csds_)

        def scores(*blocks: NDArray[np.float32]) -> NDArray[np.float32]:
            given = sparse or blocks
            predicted = predictions(self.maps_, given, before, after)
            return np.concatenate([self._scaled(rows) @ S.T for rows in predicted])

        sparse = hops.blocks if isinstance(hops.blocks, SparseBlocks) else None
        return engine_of(task).map(scores, *(() if sparse else hops.blocks))

    def state(self) -> State:
        """Return maps and class vectors, by name."""
        return {**self.maps_, "csds_": self.csds_}

    def restore(self, state: State) -> Self:
        """Take up what `state` returned, in place of `fit`."""
        missing = {PSI, LOCAL, COMPOSED, "csds_"} - state.keys()
        if missing:
            raise SavedFileError(f"DGPN: {', '.join(sorted(missing))} not found in the saved state")
        self.maps_ = {name: value for name, value in state.items() if name != "csds_"}
        self.csds_ = state["csds_"]
        return self

    def _local_share(self, hops: int) -> float:
        """Return the weight of the mean over K+1 hops of the local losses."""
        return self.local_weight * (hops if self.local == "sum" else 1)

    def _kept(self, like: Tensor, rng: Generator, among: Among) -> Tensor:
        return kept(like, self.dropout, rng, among)

    def _logits(self, predicted: Tensor, S: Tensor) -> Tensor:
        """Return sim(predicted, s_c) as a softmax takes it; S comes scaled. [..., C']"""
        from torch.linalg import vector_norm

        if self.similarity == "cosine":
            lengths = vector_norm(predicted, dim=-1, keepdim=True)
            predicted = predicted / (lengths.where(lengths > 0, 1.0) * self.temperature)
        return predicted @ S.T

    def _scaled(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return rows whose inner products are `similarity`."""
        return unit(rows) if self.similarity == "cosine" else rows

    def _weights(self, hops: Hops) -> tuple[list[float], list[float]]:
        """Return the weights of the hops before psi and after it. Twice [K+1]"""
        omega, ones = hops.weights.tolist(), [1.0] * len(hops.weights)
        return (omega, ones) if self.weigh == "input" else (ones, omega)
