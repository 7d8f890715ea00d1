"""`Labels`: what some nodes are known to be. `Split`, `NodeSplit`: what is shown, what is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.core.classes import Classes, missing, tidy
from unseen.core.errors import InputError, shortlist

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.graph import Graph


@dataclass(frozen=True, eq=False)
class Labels:
    """The class position of each node, -1 where nothing is known. [n]"""

    codes: NDArray[np.int64]

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 1 or (codes.size and codes.dtype.kind not in "iu"):
            raise InputError(
                f"labels: expected one class position (a whole number) a node, found {codes.dtype} "
                f"of shape {codes.shape}; use `Labels.from_names` for names"
            )
        object.__setattr__(self, "codes", codes.astype(np.int64, copy=False))

    @classmethod
    def none(cls, nodes: int) -> Self:
        """Return labels for a graph of which nothing is known."""
        return cls(np.full(nodes, -1, dtype=np.int64))

    @classmethod
    def from_names(cls, names: Sequence[str | None], classes: Classes) -> Self:
        """Look each name up among the classes; an empty name, None or NaN is no label."""
        index = classes.index()
        given = ["" if missing(name) else tidy(str(name)) for name in names]
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
        found = cls.from_names(list(known.values()), classes)
        placed = cls.none(graph.nodes)
        placed.codes[rows_of(list(known), graph)] = found.codes
        return placed

    def named(self, classes: Classes, graph: Graph) -> dict[str, str]:
        """Return the labels as class names by node id, the inverse of `from_mapping`."""
        ids = graph.ids or ()
        return {ids[i]: classes.names[c] for i, c in enumerate(self.codes.tolist()) if c >= 0}

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which nodes have a label. [n]"""
        return self.codes >= 0

    def seen(self) -> NDArray[np.int64]:
        """Return the positions of classes with at least one labelled node, ascending."""
        return np.unique(self.codes[self.known])

    def unseen(self, classes: Classes) -> NDArray[np.int64]:
        """Return the positions of classes without a labelled node, ascending."""
        return np.setdiff1d(np.arange(len(classes)), self.seen())

    def __repr__(self) -> str:
        known = int(self.known.sum())
        return f"Labels({known:,} of {len(self.codes):,} nodes, {len(self.seen())} classes)"

    def only(self, which: NDArray[np.int64] | Sequence[int]) -> Labels:
        """Return a copy that keeps the labels of these classes and forgets the rest."""
        return Labels(np.where(np.isin(self.codes, which), self.codes, -1))


def allowed_classes(
    among: str | Sequence[str], labels: Labels, classes: Classes
) -> NDArray[np.bool_]:
    """Return which classes an unlabelled node may belong to. [C]"""
    if not isinstance(among, str | Sequence | np.ndarray):
        raise InputError(f"among: expected 'all', 'unseen' or a list of names, found {among!r}")
    if not isinstance(among, str):
        wanted = {tidy(name) for name in among}
        unknown = sorted(wanted - set(classes.names))
        if unknown or not wanted:
            raise InputError(
                f"among: expected names of classes, found {shortlist(unknown)}; name "
                f"some of {shortlist(classes.names)}"
            )
        return np.isin(np.array(classes.names, dtype=object), list(wanted))
    if among not in ("all", "unseen"):
        raise InputError(f"among: expected 'all' or 'unseen', found {among!r}")
    allowed = np.ones(len(classes), dtype=bool)
    if among == "unseen":
        allowed[labels.seen()] = False
        if not allowed.any():
            raise InputError(
                "among: 'unseen' was asked for, but every class has a labelled node; "
                "add classes without labels or use 'all'"
            )
    return allowed


def rows_of(ids: Sequence[object], graph: Graph) -> list[int]:
    """Return the row of each of these node ids, which have to be in the graph."""
    rows = graph.positions()
    unknown = [node for node in ids if str(node) not in rows]
    if unknown:
        raise InputError(
            f"labels: {shortlist(unknown)} not among the nodes of the graph; "
            "every labelled id must be a node"
        )
    return [rows[str(node)] for node in ids]


@dataclass(frozen=True)
class Split:
    """Which classes are seen (labelled), validation (held out to choose a setting) and unseen."""

    seen: tuple[int, ...]
    validation: tuple[int, ...]
    unseen: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class NodeSplit:
    """Which nodes train, validate and test where every class is seen: ascending positions.

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

    def __repr__(self) -> str:
        sizes = (len(self.train), len(self.validation), len(self.test))
        return "NodeSplit({:,} train, {:,} validation, {:,} test)".format(*sizes)
