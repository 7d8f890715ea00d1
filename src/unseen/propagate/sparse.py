r"""Hops of sparse attributes, never formed: what a linear map makes of them is enough.

Bags of words are wide and thin, their hops wide and dense. But :math:`P^k (X W) = (P^k X) W`: a map
to few columns can go first, and the narrow result is propagated. `SparseBlocks` stands where the
K+1 blocks :math:`P^k X` stand in `Hops`; whoever asks for one of them gets it as a dense array, and
whoever knows better asks for `project(W)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator


class SparseBlocks(Sequence["NDArray[np.float32]"]):
    """The blocks P^k X, k = 0..K, of sparse X [n, d]."""

    def __init__(self, X: Any, operator: Operator | None, hops: int) -> None:
        self.X = sp.csr_array(X, dtype=np.float32)
        self.operator = operator
        self.hops = hops
        self._formed: list[NDArray[np.float32]] = []

    def __len__(self) -> int:
        return self.hops + 1

    @overload
    def __getitem__(self, k: int) -> NDArray[np.float32]: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[NDArray[np.float32], ...]: ...
    def __getitem__(self, k: int | slice) -> Any:
        wanted = range(len(self))[k]
        last = max(wanted, default=-1) if isinstance(wanted, range) else wanted
        if last >= 0 and not self._formed:
            self._formed.append(self.X.toarray())
        while len(self._formed) <= last:
            self._formed.append(self._step(self._formed[-1]))
        return (
            tuple(self._formed[i] for i in wanted)
            if isinstance(wanted, range)
            else self._formed[last]
        )

    def project(self, W: NDArray[np.float32]) -> list[NDArray[np.float32]]:
        """Return P^k X W for k = 0..K. K+1 times [n, d']"""
        blocks = [np.asarray(self.X @ W, np.float32)]
        for _ in range(self.hops):
            blocks.append(self._step(blocks[-1]))
        return blocks

    def _step(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return P times a block; zero without a graph."""
        return np.zeros_like(block) if self.operator is None else self.operator.propagate(block)
