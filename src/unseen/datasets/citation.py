"""The citation graphs of the paper: found, checked against what is known, made a `Graph`."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from unseen.core.classes import Classes
from unseen.core.errors import InputError, MissingDataError
from unseen.core.graph import Graph
from unseen.datasets.catalogue import CATALOGUE, Entry, descriptions
from unseen.datasets.layout import Layout
from unseen.datasets.planetoid import PER_CLASS, TEST, VALIDATION
from unseen.io.cache import cache_folder


def data_folder() -> Path:
    """Return the folder of the published sets: what UNSEEN_DATA names, else the cache."""
    named = os.environ.get("UNSEEN_DATA")
    return Path(named).expanduser() if named else cache_folder("data")


def folder_of(name: str) -> Path:
    """Return the folder of a set (or of the class vectors, "csds"), which must be there."""
    folder = data_folder() / name
    if folder.is_dir():
        return folder
    if os.environ.get("UNSEEN_DATA"):
        raise MissingDataError(
            f"{name}: the folder that UNSEEN_DATA names, {folder.parent}, has no {name!r} in it; "
            f"correct the variable, or unset it and run `unseen datasets get {name}`"
        )
    raise MissingDataError(f"{name}: not fetched yet; run `unseen datasets get {name}`")


def read_checked(name: str, folder: Path) -> Layout:
    """Read a set from its folder; anything but the published contents is an error."""
    layout = Layout.read(folder)
    wrong = difference(name, layout)
    if wrong is not None:
        raise InputError(
            f"{name}: {folder} does not hold the published set: {wrong}; "
            f"remove the folder and run `unseen datasets get {name}`"
        )
    return layout


def difference(name: str, layout: Layout) -> str | None:
    """Compare a set with the catalogue (counts, names, then the checksum of it all); None = equal.

    The checksum is taken over the contents, not the files, because the same set comes from several
    sources and a compressed file differs with the library that wrote it; see `Layout.checksum`.
    A standard split may be absent (older copies have none, nor has Cora without GitHub), but not
    another one.
    """
    known = CATALOGUE[name]
    counts = np.bincount(layout.labels[layout.labels >= 0], minlength=len(layout.classes))
    for what, found, expected in (
        ("nodes", len(layout.labels), known.nodes),
        ("edge lines", len(layout.edges), known.lines),
        ("features", layout.features.shape[1], known.features),
        ("classes", layout.classes, known.class_names),
        ("nodes of each class", tuple(counts.tolist()), known.class_counts),
        ("splits", dict(layout.splits), dict(known.splits)),
        ("standard split", *_standard_counts(layout, known)),
        ("checksum", layout.checksum(), known.checksum),
    ):
        if found != expected:
            return f"{what}: expected {expected}, found {found}"
    return None


def _standard_counts(layout: Layout, known: Entry) -> tuple[object, object]:
    """Return the training nodes of each class, the validation and the test nodes: found, expected.

    Where there is no split, nothing is expected of it.
    """
    split, classes = layout.standard, len(known.class_counts)
    if split is None:
        return None, None
    train = np.bincount(layout.labels[split.train], minlength=classes)
    expected = ((PER_CLASS,) * classes, VALIDATION, TEST) if known.standard else "none"
    return (tuple(train.tolist()), len(split.validation), len(split.test)), expected


def to_graph(layout: Layout, *, clean: bool = False) -> Graph:
    """Return the graph: edges count both ways and once, a paper's edge to itself not at all.

    Node i is called "i", as the paper numbers it. `clean` leaves out the lines that dangle.
    """
    lines = np.delete(layout.edges, layout.dangling, axis=0) if clean else layout.edges
    return Graph.from_edges(
        lines[:, 0],
        lines[:, 1],
        nodes=len(layout.labels),
        features=layout.features,
        texts=layout.texts,
        vocabulary=layout.vocabulary,
    )


def described_classes(name: str) -> Classes:
    """Return the classes of a set with what each is about, in the order of their ids."""
    about = descriptions()[name]
    return Classes(list(about), list(about.values()))
