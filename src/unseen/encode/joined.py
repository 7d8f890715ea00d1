"""Several encoders as one: their vectors side by side, "static+minilm".

With unit vectors e_1(t), ..., e_m(t) a text t becomes (e_1(t), ..., e_m(t)) / sqrt(m), so that the
cosine of two texts is the mean of their cosines: an ensemble that needs nothing else to know of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.base import Encoder, Progress


class JoinedEncoder:
    """Two or more encoders; each keeps its own cache."""

    def __init__(self, parts: Sequence[Encoder]) -> None:
        self.parts = tuple(parts)
        self.name = "+".join(part.name for part in parts)
        self.identity = " ".join(part.identity for part in parts)
        self.dimensions = sum(part.dimensions for part in parts)

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return one row for each text, [len(texts), d]."""
        return join([part.encode(texts, progress) for part in self.parts])


def join(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return rows of several encoders side by side, of unit length where none is zero. [n, d]"""
    return np.hstack([unit(part) for part in vectors]) / np.float32(np.sqrt(len(vectors)))
