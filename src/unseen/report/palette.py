"""How each class looks: a colour and a shape.

The first six colours are Okabe and Ito's, chosen for every kind of colour vision. No 24 colours can
be told apart by everybody, so after every eight classes the shape changes as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unseen.core.classes import NONE_OF_THESE

COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#6A3FC4", "#B0003A"),
    *("#2F5F9E", "#A86048", "#3F8F2F", "#D83078", "#8A7F00", "#12808F", "#9048D8", "#6F6F6F"),
    *("#8A93EE", "#E8B84A", "#45B89A", "#F0A0C0", "#F08A6B", "#35B5CC", "#B58CE0", "#A3B03C"),
)
SHAPES = ("circle", "square", "diamond", "triangle-up", "pentagon", "star")
SHAPE_EVERY = 8
UNKNOWN_COLOUR = "#8C8C8C"


@dataclass(frozen=True)
class Look:
    """One class as the page draws it; `rank` 0 is the class with most nodes."""

    name: str
    rank: int
    colour: str
    shape: str


def looks(classes: Sequence[dict[str, Any]]) -> list[Look]:
    """Return the looks of the classes, most predicted first, then most labelled."""
    order = sorted(classes, key=lambda c: (-c["predicted"], -c["labelled"]))
    return [
        Look(
            str(entry["name"]),
            rank,
            COLOURS[rank % len(COLOURS)],
            SHAPES[rank // SHAPE_EVERY % len(SHAPES)],
        )
        for rank, entry in enumerate(order)
    ]


def no_class(looks: Sequence[Look]) -> Look:
    """Return the looks of nodes whose answer is none of these classes, ranked after them all."""
    return Look(NONE_OF_THESE, len(looks), UNKNOWN_COLOUR, "circle")
