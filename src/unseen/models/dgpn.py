r"""DGPN: decomposed graph prototype network, learned from labels of seen classes (KDD 2021).

What node i hears from k hops away, :math:`\bar x_i^{(k)} = (P^k X)_i`, goes through one map into a
latent space, and from there into the space of the class semantic descriptions (CSDs)
:math:`s_c`: hop by hop (locality) and as a weighted sum (compositionality).

.. math::
    h_i^{(k)} &= \psi(\bar x_i^{(k)})                                        && [d] \to [d_h] \\
    f_{ic}^{(k)} &= \mathrm{sim}(\phi_{loc}(h_i^{(k)}), s_c)                 && \text{Eq. 17} \\
    Q_{loc} &= -\textstyle\sum_k \ln \mathrm{softmax}_c(f_i^{(k)})              && \text{Eq. 18} \\
    z_i &= \textstyle\sum_k \omega_k h_i^{(k)}                               && \text{Eq. 19} \\
    g_{ic} &= \mathrm{sim}(\phi_{com}(z_i), s_c) \qquad
    Q_{com} = -\ln \mathrm{softmax}_c(g_i)                                   && \text{Eq. 20} \\
    Q &= Q_{com} + \alpha\, Q_{loc}                                          && \text{Eq. 21} \\
    \hat c_i &= \arg\max_c\; \mathrm{sim}(\phi_{com}(z_i), s_c)              && \text{Eq. 22}

Both losses are means over the labelled nodes, c in the softmax being the node's own class. The maps
:math:`\psi, \phi_{loc}, \phi_{com}` and their two ways to start are in `dgpn_maps.py`; where the
published code departs from the print, a setting stands for it (`dgpn_settings.py`); on sparse
attributes, `dgpn_sparse.py` minimises the same losses and forms no hop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.errors import InputError, SavedFileError
from unseen.models import dgpn_maps
from unseen.models.base import Model, check_fit, check_widths
from unseen.models.dgpn_maps import (
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
from unseen.models.dgpn_settings import VARIANTS, check_choices, check_labels
from unseen.models.training import one_thread
from unseen.propagate.hops import Hops
from unseen.propagate.sparse import SparseBlocks
from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Generator, Tensor

    from unseen.propagate.operators import Operator

SMALL = 4_000_000  # numbers in the input below which a second thread waits more than it works

Batch = tuple[Any, Any]  # hops [K+1, m, d] and positions among the rivals [m], arrays or tensors


@dataclass(repr=False, eq=False)
class DGPN(Model):
    """Maps from hops to CSDs, trained so that each hop and their sum say the class.

    Args:
        start: how the maps start; "auto" takes the identity when node vectors and CSDs have the
            same width, which is how a caller says that they share a space, and else "xavier".
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
    """

    needs_labels = True
    search_space = {  # noqa: RUF012  Table 8 of the paper; K and beta belong to the hops
        "learning_rate": (0.001, 0.01, 0.1),
        "epochs": (200, 500, 1000, 1200),
        "decay": (0.0, 1e-6, 1e-5, 1e-4),
        "dropout": (0.3, 0.5, 0.7),
        "local_weight": (0.1, 0.5, 1.0),
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

    @classmethod
    def variant(cls, name: Literal["paper", "official"], **changes: Any) -> Self:
        """Return the network as the paper prints it or as its authors published it.

        >>> DGPN.variant("official", seed=3).negatives
        'all'
        """
        if name not in VARIANTS:
            raise InputError(f"variant: expected one of {tuple(VARIANTS)}, found {name!r}")
        return cls(**{**VARIANTS[name], **changes})

    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Train the maps on the labelled nodes, the only ones whose hops are read."""
        import torch

        csds = np.array(csds, np.float32)
        seen = self._check(hops, labels, csds)  # [C_s]
        labelled = np.flatnonzero(labels >= 0)  # [m]
        rivals, own = csds, labels[labelled]  # [C', d_s], each one's place among them [m]
        if self.negatives == "seen":
            rivals, own = csds[seen], np.searchsorted(seen, own)
        rng = torch.Generator(self.device).manual_seed(self.seed)
        maps = self._start(hops.shape[1], csds.shape[1], rng)
        sparse = isinstance(hops.blocks, SparseBlocks) and PSI + BIAS in maps
        if sparse and self.similarity == "inner" and self.device == "cpu":
            with threadpool_limits(1, "blas"):  # products this small only wait for each other
                history = list(self._train_sparse(maps, hops, labelled, own, rivals))
        else:
            before, after = self._weights(hops)
            x = np.stack([w * X[labelled] for w, X in zip(before, hops.blocks, strict=True)])
            batch = torch.as_tensor(x, device=self.device), torch.as_tensor(own, device=self.device)
            with one_thread(x.size < SMALL):
                maps, history = self.descend(maps, repeat(batch, self.epochs), rivals, after, rng)

        self.maps_: Maps = {name: value.detach().cpu().numpy() for name, value in maps.items()}
        self.csds_ = csds
        self.losses_ = np.array(history, np.float32)  # [epochs]
        return self

    def _losses(
        self,
        maps: Maps,
        x: Tensor,  # [K+1, m, d]
        y: Tensor,  # position of each node's class among the rivals [m]
        S: Tensor,  # CSDs of the rivals [C', d_s]
        weights: list[float],  # [K+1]
        rng: Generator,
    ) -> tuple[Tensor, Tensor]:
        """Return the compositional and the local loss, Eq. 17-20."""
        from torch.nn.functional import cross_entropy

        drops = self.dropout and PSI + BIAS in maps
        h = to_latent(maps, x)  # psi  [K+1, m, d_h]
        if drops:
            h = h * self._kept(h, rng)
        f = self._logits(to_semantic(maps, LOCAL, h), S)  # Eq. 17  [K+1, m, C']
        q_loc = cross_entropy(f.flatten(0, 1), y.repeat(len(f)))  # Eq. 18
        z = compose(weights, h)  # Eq. 19  [m, d_h]
        predicted = to_semantic(maps, COMPOSED, z)  # [m, d_s]
        if drops and self.drop_prediction:
            predicted = predicted * self._kept(predicted, rng)
        g = self._logits(predicted, S)  # [m, C']
        q_com = cross_entropy(g, y)  # Eq. 20
        return q_com, q_loc

    def descend(
        self,
        start: Maps,
        batches: Iterable[Batch],
        rivals: NDArray[np.float32],  # [C', d_s]
        after: list[float],  # weights of the hops [K+1]
        rng: Generator,
    ) -> tuple[Maps, list[float]]:
        """Lower Q, Eq. 21, by a step of Adam for each batch; return the maps and Q before each."""
        import torch

        S = torch.as_tensor(self._scaled(rivals), device=self.device)  # [C', d_s]
        rectified = PSI + BIAS in start
        maps = {name: value.clone().requires_grad_() for name, value in start.items()}
        rest = {
            name: torch.zeros_like(value) if rectified else value for name, value in start.items()
        }
        rate = self.learning_rate if rectified else self.learning_rate / len(start[PSI])
        adam = torch.optim.Adam(maps.values(), lr=rate)
        history = []
        for batch in batches:
            x, y = (torch.as_tensor(each, device=self.device) for each in batch)
            q_com, q_loc = self._losses(maps, x, y, S, after, rng)
            loss = q_com + self._local_share(len(x)) * q_loc  # Eq. 21
            history.append(loss.item())
            if self.decay:
                moved = sum((maps[name] - rest[name]).square().sum() for name in maps)
                loss = loss + self.decay / 2 * moved
            adam.zero_grad()
            torch.autograd.backward(loss)
            adam.step()
        return maps, history

    def _train_sparse(
        self,
        start: Maps,
        hops: Hops,
        labelled: NDArray[np.int64],  # [m]
        own: NDArray[np.int64],  # position of each one's class among the rivals [m]
        rivals: NDArray[np.float32],  # [C', d_s]
    ) -> Iterator[float]:
        """Do as `descend` does on sparse attributes, epoch by epoch and in place."""
        from unseen.models.dgpn_sparse import Training

        return Training(self, hops, labelled, own, rivals).train(start)

    def scores(self, hops: Hops, csds: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return sim(phi_com(z_i), s_c), also for classes that come with other CSDs. [n, C]"""
        check_widths(hops, csds, len(self.maps_[PSI]), self.csds_.shape[1])
        S = self._scaled(self.csds_ if csds is None else np.asarray(csds, np.float32))
        predicted = predictions(self.maps_, hops.blocks, *self._weights(hops))
        return np.concatenate([self._scaled(rows) @ S.T for rows in predicted])  # Eq. 22

    def vectors(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return phi_com(psi(X)), what nodes say themselves in the space of CSDs. [n, d_s]"""
        alone = Hops((np.asarray(X, np.float32),), np.ones(1, np.float32))
        check_widths(alone, None, len(self.maps_[PSI]), self.csds_.shape[1])
        return np.concatenate(list(predictions(self.maps_, alone.blocks, [1.0], [1.0])))

    def state(self) -> dict[str, NDArray[np.float32]]:
        """Return what was learned, by name, for a file."""
        return {**self.maps_, "csds_": self.csds_}

    def restore(self, state: dict[str, NDArray[np.float32]]) -> Self:
        """Take up what `state` returned, in place of `fit`."""
        missing = {PSI, LOCAL, COMPOSED, "csds_"} - state.keys()
        if missing:
            raise SavedFileError(f"DGPN: {', '.join(sorted(missing))} not found in the saved state")
        self.maps_ = {name: value for name, value in state.items() if name != "csds_"}
        self.csds_ = state["csds_"]
        return self

    def _check(
        self, hops: Hops, labels: NDArray[np.int64], csds: NDArray[np.float32]
    ) -> NDArray[np.int64]:
        """Refuse what cannot be trained on; return the seen classes. [C_s]"""
        check_choices(self)
        check_fit(hops, labels, csds, same_space=self.start == "identity")
        return check_labels(labels)

    def _start(self, width: int, semantic: int, rng: Generator) -> Maps:
        """Return the maps before training."""
        if self.start == "identity" or (self.start == "auto" and width == semantic):
            return dgpn_maps.identity(width, self.device)
        return dgpn_maps.xavier(width, self.latent, semantic, rng)

    def _local_share(self, hops: int) -> float:
        """Return the weight of the mean over K+1 hops of the local losses."""
        return self.local_weight * (hops if self.local == "sum" else 1)

    def _kept(self, like: Tensor, rng: Generator) -> Tensor:
        """Return zeros for the entries that drop out and else what makes up for them."""
        kept = like.new_empty(like.shape).bernoulli_(1 - self.dropout, generator=rng)
        return kept / (1 - self.dropout)

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
