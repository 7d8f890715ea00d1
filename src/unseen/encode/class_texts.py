"""Class semantic descriptions (CSDs) from what the user wrote about the classes (Sec. 4.1).

LABEL-CSDs come from the names, TEXT-CSDs from the descriptions; "both" is the sum of the two
directions. A class without a description is described by its name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

from unseen.core.arrays import unit
from unseen.encode.base import encode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.encode.base import Encoder

KINDS = ("description", "both", "name")  # the order in which they are preferred
SHOUTED = re.compile(r"[^\W\d_]{4,}")  # in a list in capitals; shorter words may be acronyms


def class_vectors(classes: Classes, encoder: Encoder) -> dict[str, NDArray[np.float32]]:
    """Return the candidates, best liked first, each [C, d_s] with rows of unit length."""
    names = unit(encode(encoder, class_texts(classes, "name")))
    if not any(classes.descriptions or ()):
        return {"name": names}
    texts = unit(encode(encoder, class_texts(classes, "description")))
    return {"description": texts, "both": unit(names + texts), "name": names}


def class_texts(classes: Classes, kind: str) -> list[str]:
    """Return what the encoder reads about each class."""
    names = _spelled(classes.names)
    if kind == "name":
        return names
    pairs = zip(names, classes.descriptions or (), strict=True)
    return [f"{name}: {text}" if text else name for name, text in pairs]


def class_text_words(classes: Classes, kind: str) -> float:
    """Return how many words a class text of this kind has, in the middle."""
    texts = class_texts(classes, "name" if kind == "name" else "description")
    return float(median(len(text.split()) for text in texts))


def _spelled(names: Sequence[str]) -> list[str]:
    """Return names as they would stand in a text: encoders read NEURAL_NETWORKS badly.

    >>> _spelled(["NEURAL_NETWORKS", "AI"]), _spelled(["Case_Based", "AI"])
    (['neural networks', 'AI'], ['Case Based', 'AI'])
    """
    plain = [" ".join(name.replace("_", " ").split()) or name for name in names]
    if not all(name.isupper() for name in plain):
        return plain
    return [SHOUTED.sub(lambda word: word[0].lower(), name) for name in plain]
