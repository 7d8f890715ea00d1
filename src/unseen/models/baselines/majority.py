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
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.core.errors import InputError
from unseen.models.base import ScoreModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task


@dataclass(repr=False, eq=False)
class Majority(ScoreModel):
    """The best constant answer.

    Args:
        sizes: number of nodes of each class, as only an oracle knows; when empty, the labels given
            to `fit` are counted. [C]

    Attributes:
        sizes_: what is answered with; classes added after `fit` count zero. [C]
    """

    adds_classes = True

    sizes: Sequence[int] = ()

    def fit(self, task: Task) -> Self:
        """Take the sizes, or count labels; without either, all classes are alike."""
        counted = np.bincount(task.labels[task.labels >= 0], minlength=task.classes)
        if len(self.sizes) not in (0, task.classes):
            raise InputError(
                f"sizes: expected {task.classes} (one for each CSD), found {len(self.sizes)}; give "
                "the sizes of all classes, seen and unseen, in the order of the CSDs"
            )
        self.sizes_ = np.array(self.sizes) if len(self.sizes) else counted  # [C]
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        """Return the sizes in every row. [n, C]"""
        return np.tile(self.sizes_.astype(np.float32), (task.nodes, 1))

    def add_classes(self, task: Task) -> Self:
        """Count zero for the new ones."""
        twin = copy(self)
        twin.sizes_ = np.pad(self.sizes_, (0, task.classes - len(self.sizes_)))
        return twin
