r"""Majority: one and the same answer for all nodes, the floor to print beside an accuracy.

.. math:: \mathrm{score}(i, c) = n_c \qquad \text{the number of nodes of class c, for all i. [n, C]}

With `sizes` this is an oracle: it must be told how many nodes each class has, and no method may
know that of classes that nobody has labelled. It answers with the largest of the allowed classes,
so no constant answer is right more often. A method that does no better may have learned nothing:
some accuracies in the paper's Table 3 (https://doi.org/10.1145/3447548.3467230) lie below this
floor, which the paper does not print.

Without `sizes` it is no oracle: it counts the given labels, and classes without one count zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.errors import InputError
from unseen.models.base import Model, check_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.propagate.hops import Hops
    from unseen.propagate.operators import Operator


class Majority(Model):
    """The best constant answer.

    Args:
        sizes: number of nodes of each class, as only an oracle knows; when empty, the labels given
            to `fit` are counted. [C]
    """

    def __init__(self, sizes: Sequence[int] = ()) -> None:
        self.sizes = sizes

    def fit(
        self,
        hops: Hops,
        labels: NDArray[np.int64],
        csds: NDArray[np.float32],
        operator: Operator | None = None,
        among: NDArray[np.bool_] | None = None,
    ) -> Self:
        """Take the sizes, or count labels; without either, all classes are alike."""
        check_fit(hops, labels, csds, same_space=False)
        if len(self.sizes) == 0:
            self.sizes_ = np.bincount(labels[labels >= 0], minlength=len(csds))  # [C]
            return self
        if len(self.sizes) != len(csds):
            raise InputError(
                f"sizes: expected {len(csds)} (one for each CSD), found {len(self.sizes)}; give "
                "the sizes of all classes, seen and unseen, in the order of the CSDs"
            )
        self.sizes_ = np.array(self.sizes)  # [C]
        return self

    def scores(self, hops: Hops, csds: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Return the sizes in every row; classes added after those of `fit` count zero. [n, C]"""
        known = len(self.sizes_)
        classes = known if csds is None else len(csds)
        if classes < known:
            raise InputError(
                f"csds: expected the {known} classes of fit, with added ones after them, found "
                f"{classes}; to choose among some classes, use `among` of predict"
            )
        row = np.zeros(classes, np.float32)  # [C]
        row[:known] = self.sizes_
        return np.tile(row, (len(hops.own), 1))
