r"""Prototype: the class whose description points the same way as the node and its surroundings.

.. math:: \mathrm{score}(i, c) = \cos\Big(\sum_{k=0}^{K} \omega_k (P^k X)_i,\; s_c\Big)

This is Eq. 22 of the paper with every map left at the identity: nothing is learned, so nothing can
be unlearned. It needs node vectors and CSDs in one space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from unseen.models.base import Model, check_fit
from unseen.vectors import unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unseen.propagate.hops import Hops
    from unseen.propagate.operators import Operator


class Prototype(Model):
    """Cosine between composed hops and CSDs."""

    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Remember the CSDs; labels are not used."""
        check_fit(hops, labels, csds, same_space=True)
        self.csds_ = unit(csds)
        return self

    def scores(self, hops: Hops, csds: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return cosines. [n, C]"""
        return unit(hops.composed()) @ (self.csds_ if csds is None else unit(csds)).T
