"""`Classes`, `Labels` and `Split`: what a node may be, what some nodes are known to be."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.errors import InputError, shortlist

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import Graph

NONE_OF_THESE = "none of these"  # the answer for a node that no class fits well enough


def tidy(name: str) -> str:
    """Return a name with single spaces and composed accents, so that equal names are equal."""
    return unicodedata.normalize("NFC", " ".join(str(name).split()))


@dataclass(frozen=True)
class Classes:
    """Names of the classes and, where there are any, a sentence or more about each.

    >>> Classes(["cats", "dogs"], ["Purring pets.", None])
    Classes(2: cats, dogs)
    """

    names: Sequence[str]
    descriptions: Sequence[str | None] | None = None

    def __post_init__(self) -> None:
        names = tuple(tidy(name) for name in self.names)
        if any(not name for name in names):
            raise InputError(f"classes: class {names.index('') + 1} has an empty name; name it")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(f"classes: {shortlist(twice)} named more than once; merge or rename")
        folded = [name.replace("_", " ").casefold() for name in names]
        alike = [name for name, plain in zip(names, folded, strict=True) if folded.count(plain) > 1]
        if alike:
            raise InputError(
                f"classes: {shortlist(alike)} differ in capitals or underscores only; rename them"
            )
        if len(names) < 2:
            raise InputError(
                f"classes: found {len(names)}, but a choice needs at least two; "
                "add the names of the other classes"
            )
        given = [None] * len(names) if self.descriptions is None else list(self.descriptions)
        if len(given) != len(names):
            raise InputError(f"classes: {len(names)} names but {len(given)} descriptions")
        descriptions = tuple((text or "").strip() or None for text in given)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "descriptions", descriptions)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Classes({len(self)}: {', '.join(self.names)})"

    def index(self) -> dict[str, int]:
        """Return the position of each name."""
        return {name: i for i, name in enumerate(self.names)}

    def select(self, which: Sequence[int]) -> Classes:
        """Return the classes at these positions, in this order."""
        texts = self.descriptions or ()
        return Classes([self.names[i] for i in which], [texts[i] for i in which])

    def joined(self, other: Classes) -> Classes:
        """Return these classes followed by those of `other` that are not among them."""
        new = [i for i, name in enumerate(other.names) if name not in set(self.names)]
        texts = other.descriptions or ()
        return Classes(
            [*self.names, *(other.names[i] for i in new)],
            [*(self.descriptions or ()), *(texts[i] for i in new)],
        )


@dataclass(frozen=True, eq=False)
class Labels:
    """The class position of each node, -1 where nothing is known. [n]"""

    of: NDArray[np.int64]

    @classmethod
    def none(cls, nodes: int) -> Self:
        """Return labels for a graph of which nothing is known."""
        return cls(np.full(nodes, -1, dtype=np.int64))

    @classmethod
    def from_names(cls, names: Sequence[str | None], classes: Classes) -> Self:
        """Look each name up among the classes; an empty name or None is no label."""
        index = classes.index()
        given = [tidy(name) if isinstance(name, str) else "" for name in names]
        unknown = sorted({name for name in given if name and name not in index})
        if unknown:
            row = next(i for i, name in enumerate(given) if name in unknown)
            raise InputError(
                f"labels: {shortlist(unknown)} (first at row {row + 1}) is not among the classes "
                f"{shortlist(classes.names)}; add it to the classes or correct the label"
            )
        return cls(np.array([index.get(name, -1) for name in given], dtype=np.int64))

    @classmethod
    def from_mapping(cls, known: Mapping[str, str], graph: Graph, classes: Classes) -> Self:
        """Place labels that are given by node id; nodes that are not mentioned have none."""
        rows = graph.positions()
        strange = [node for node in known if str(node) not in rows]
        if strange:
            raise InputError(
                f"labels: {shortlist(strange)} not among the nodes of the graph; "
                "every labelled id must be a node"
            )
        names: list[str | None] = [None] * graph.nodes
        for node, name in known.items():
            names[rows[str(node)]] = name
        return cls.from_names(names, classes)

    def named(self, classes: Classes, graph: Graph) -> dict[str, str]:
        """Return the labels as class names by node id, the inverse of `from_mapping`."""
        ids = graph.ids or ()
        return {ids[i]: classes.names[c] for i, c in enumerate(self.of.tolist()) if c >= 0}

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which nodes have a label. [n]"""
        return self.of >= 0

    def seen(self) -> NDArray[np.int64]:
        """Return the positions of classes with at least one labelled node, ascending."""
        return np.unique(self.of[self.known])

    def unseen(self, classes: Classes) -> NDArray[np.int64]:
        """Return the positions of classes without a labelled node, ascending."""
        return np.setdiff1d(np.arange(len(classes)), self.seen())

    def only(self, which: NDArray[np.int64] | Sequence[int]) -> Labels:
        """Return a copy that keeps the labels of these classes and forgets the rest."""
        return Labels(np.where(np.isin(self.of, which), self.of, -1))


@dataclass(frozen=True)
class Split:
    """Which classes play which part: seen (labelled), validation (held out to choose), unseen."""

    seen: tuple[int, ...]
    validation: tuple[int, ...]
    unseen: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """Which nodes play which part where every class is seen: positions, kept in ascending order.

    >>> NodeSplit(train=[4, 0], validation=[1], test=[2]).train
    array([0, 4])
    """

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    def __post_init__(self) -> None:
        for part in ("train", "validation", "test"):
            positions = np.sort(np.asarray(getattr(self, part), dtype=np.int64))
            object.__setattr__(self, part, positions)
        nodes, times = np.unique(self.nodes, return_counts=True)
        if (times > 1).any():
            raise InputError(
                f"node split: {shortlist(nodes[times > 1])} named more than once; "
                "a node may train, validate or test, and that once"
            )

    @property
    def nodes(self) -> NDArray[np.int64]:
        """The nodes of all three parts, one part after the other."""
        return np.concatenate([self.train, self.validation, self.test])
