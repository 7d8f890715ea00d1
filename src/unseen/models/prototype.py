r"""Prototype: the class whose description points the same way as the node and its surroundings.

.. math:: \mathrm{score}(i, c) = \cos\Big(\sum_{k=0}^{K} \omega_k (P^k X)_i,\; s_c\Big)

with X [n, d], s [C, d] and :math:`\omega_k` of Eq. 13. This is Eq. 22 of the paper with every map
left at the identity: nothing is learned, so nothing can be unlearned. It needs node vectors and
class vectors in one space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.core.arrays import unit
from unseen.engines.base import engine_of
from unseen.models.base import Reading, ScoreModel, check_shared
from unseen.propagate.hops import hop_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Rows


class Prototype(ScoreModel):
    """Cosine between composed hops and class vectors.

    Args:
        hops: K; 0 compares a node's own vector alone.
        laziness: beta, how much of a node stays in each step.
        temperature: what cosines are divided by before the softmax.

    Attributes:
        csds_: class vectors of unit length. [C, d]
    """

    adds_classes = True
    by_class = ("csds_",)
    any_engine = True

    def __init__(self, hops: int = 3, laziness: float = 0.5, temperature: float = 0.1) -> None:
        self.hops = hops
        self.laziness = laziness
        self.temperature = temperature

    def fit(self, task: Task) -> Self:
        """Remember the class vectors; labels are not used."""
        check_shared("Prototype", task)
        self.csds_ = unit(task.S)
        return self

    def scores(self, task: Task) -> Rows:
        """Return cosines. [n, C]"""
        return engine_of(task).diffuse(task, self.hops, self.laziness).cosines(self.csds_)

    def readings(self, task: Task) -> tuple[Reading, ...]:
        """Return the one reading there is; it is linear."""
        bias, hops = np.zeros(len(self.csds_), np.float32), hop_weights(self.hops, self.laziness)
        posterior = self.infer(task).posterior
        return (Reading("hops", 1.0, posterior, self.csds_, bias, self.temperature, hops),)

    def own_weights(self) -> NDArray[np.float32]:
        """Return the class vectors. [C, d]"""
        return self.csds_

    def add_classes(self, task: Task) -> Self:
        """Compare with the new classes as well."""
        return type(self)(**self.get_params()).fit(task)
