"""The graphs of the zoo by name: nodes, edges, classes with their texts, and the set they are of.

One set is for design; the other is fresh: it is run when all is settled, and every look at it is
counted (results/zoo_looks.md). Class texts stand in `classes.toml`; their authors knew what the
nodes are and the names of the classes, and had seen no node.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unseen.core.classes import Classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graphs.sources import Made

TEXTS = ("name", "sentence", "paragraph")  # what classes are described by
ENCODERS = ("static", "minilm")  # that texts are read by
FRESH = {  # made for 0.15, and run by nobody before its end; all others are for design
    *("building", "chapters", "components", "creatures", "dungeon", "endpoints", "exercises"),
    *("foods", "instruments", "komunikaty", "licences", "mediatypes", "notacion", "printers"),
    *("rural", "scripts"),
}


@dataclass(frozen=True, eq=False)
class Specimen:
    """A graph of the zoo, as arrays; classes are in the order of `classes.toml`."""

    texts: list[str]
    truth: NDArray[np.int64]  # class position of each node [n]
    edges: NDArray[np.int64]  # positions of source and target [m, 2]
    directed: bool


@cache
def class_texts() -> dict[str, dict[str, dict[str, str]]]:
    """Return sentence and paragraph of each class, by graph."""
    path = Path(__file__).with_name("classes.toml")
    told: dict[str, dict[str, dict[str, str]]] = tomllib.loads(path.read_text("utf-8"))
    return told


def names(which: str = "all") -> list[str]:
    """Return the graphs of the "design" set, of the "fresh" set, or "all"."""
    return [name for name in sorted(class_texts()) if which in ("all", set_of(name))]


def set_of(name: str) -> str:
    """Return "design" or "fresh"."""
    return "fresh" if name in FRESH else "design"


@lru_cache(maxsize=1)
def load(name: str) -> Specimen:
    """Build a graph; the last one is kept, since tasks come graph by graph."""
    made: Made = import_module(f"graphs.{name}").build()
    position = {each: c for c, each in enumerate(class_texts()[name])}
    row = {each: i for i, each in enumerate(made.ids)}
    return Specimen(
        made.texts,
        np.array([position[label] for label in made.labels]),
        np.array([(row[source], row[target]) for source, target in made.edges]),
        made.directed,
    )


def classes(name: str, texts: str, listed: NDArray[np.int64]) -> Classes:
    """Return some classes of a graph, by name alone or with a sentence or a paragraph."""
    told = list(class_texts()[name].items())
    kept = [told[c] for c in listed]
    described = {
        "name": None,
        "sentence": [text["sentence"] for _, text in kept],
        "paragraph": [f"{text['sentence']} {text['paragraph']}" for _, text in kept],
    }
    return Classes([each for each, _ in kept], described[texts])
