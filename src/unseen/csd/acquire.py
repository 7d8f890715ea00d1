"""Class semantic descriptions (CSDs) from what the user wrote about the classes (Sec. 4.1).

LABEL-CSDs come from the names, TEXT-CSDs from the descriptions; "both" is the sum of the two
directions. A class without a description is described by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unseen.encode.base import encode
from unseen.vectors import unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unseen.classes import Classes
    from unseen.encode.base import Encoder

KINDS = ("description", "both", "name")  # the order in which they are preferred
ACRONYM = 5  # letters that a word in capitals has at most


def acquire(classes: Classes, encoder: Encoder) -> dict[str, NDArray[np.float32]]:
    """Return the candidates, best liked first, each [C, d_s] with rows of unit length."""
    names = unit(encode(encoder, class_texts(classes, "name")))
    if not any(classes.descriptions or ()):
        return {"name": names}
    texts = unit(encode(encoder, class_texts(classes, "description")))
    return {"description": texts, "both": unit(names + texts), "name": names}


def class_texts(classes: Classes, kind: str) -> list[str]:
    """Return what the encoder reads about each class."""
    names = [_spelled(name) for name in classes.names]
    if kind == "name":
        return names
    pairs = zip(names, classes.descriptions or (), strict=True)
    return [f"{name}: {text}" if text else name for name, text in pairs]


def _spelled(name: str) -> str:
    """Return a name as it would stand in a text: encoders read NEURAL_NETWORKS badly.

    >>> _spelled("NEURAL_NETWORKS"), _spelled("IR"), _spelled("Case_Based")
    ('neural networks', 'IR', 'Case Based')
    """
    plain = name.replace("_", " ")
    shouted = plain.isupper() and max(map(len, plain.split())) > ACRONYM
    return plain.lower() if shouted else plain
