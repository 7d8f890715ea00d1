"""Tables 2, 7 and 9 of the paper: what the data sets hold, counted here beside the print.

Edges are lines of the published files, as the paper counts them: a citation that goes both ways is
two lines, and a paper may cite itself. What a graph makes of them stands in the notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from unseen.datasets.citation import data_folder, folder_of, read_checked, to_graph
from unseen.paper.sheet import Sheet

if TYPE_CHECKING:
    from unseen.core.labels import NodeSplit, Split
    from unseen.datasets.layout import Layout

NOT_HERE = "not here: unseen datasets get "
TITLES = {"cora": "Cora", "citeseer": "Citeseer", "c-m10m": "C-M10M", "pubmed": "Pubmed"}

TABLE_2 = {  # nodes, edges, features, classes, Class Split I, Class Split II [train/val/test]
    "cora": ("2,708", "5,429", "1,433", "7", "[3/0/4]", "[2/2/3]"),
    "citeseer": ("3,327", "4,732", "3,703", "6", "[2/0/4]", "[2/2/2]"),
    "c-m10m": ("4,464", "5,804", "128", "6", "[3/0/3]", "[2/2/2]"),
}
TABLE_7 = {  # quantity and name of each class, by class id
    "cora": (
        ("818", "Neural Network"),
        ("180", "Rule Learning"),
        ("217", "Reinforcement Learning"),
        ("426", "Probabilistic Methods"),
        ("351", "Theory"),
        ("418", "Genetic Algorithms"),
        ("298", "Case Based"),
    ),
    "citeseer": (
        ("596", "Agent"),
        ("668", "Information Retrieval"),
        ("701", "Database"),
        ("249", "Artificial Intelligence"),
        ("508", "Human Computer Interaction"),
        ("590", "Machine Learning"),
    ),
    "c-m10m": (
        ("825", "Biology"),
        ("852", "Computer Science"),
        ("600", "Financial Economics"),
        ("730", "Industrial Engineering"),
        ("674", "Physics"),
        ("783", "Social Science"),
    ),
}
TABLE_9 = {  # classes, nodes, edges, train/validation/test nodes
    "cora": ("7", "2,708", "5,429", "140/500/1,000"),
    "citeseer": ("6", "3,327", "4,732", "120/500/1,000"),
    "pubmed": ("3", "19,717", "44,338", "60/500/1,000"),
}
WHY = {  # of each cell that is known to differ
    ("citeseer", "nodes"): "15 of planetoid's 3,327 are cited, but have neither words nor a class; "
    "the paper's appendix and its authors' files have 3,312 as well",
    ("c-m10m", "features"): "the paper's are 128 numbers of Bert-Tiny, which were not to be had; "
    "here they are the words of the titles",
}


def sheets(*_: object) -> list[Sheet]:
    """Return Tables 2, 7 and 9; a set that is not here becomes a row that says how to get it."""
    layouts = {name: read_checked(name, folder_of(name)) for name in TITLES if not absent(name)}
    return [_table_2(layouts), _table_7(layouts), _table_9(layouts)]


def absent(*names: str) -> str:
    """Say which of these sets is not here and how to get it; nothing where all are."""
    away = [name for name in names if not (data_folder() / name).is_dir()]
    return NOT_HERE + away[0] if away else ""


def _table_2(layouts: dict[str, Layout]) -> Sheet:
    columns = ("nodes", "edges", "features", "classes", "split I", "split II")
    ours = {
        name: (
            f"{len(layout.labels):,}",
            f"{len(layout.edges):,}",
            f"{layout.features.shape[1]:,}",
            f"{len(layout.classes)}",
            _class_counts(layout.splits["I"]),
            _class_counts(layout.splits["II"]),
        )
        for name, layout in layouts.items()
        if name in TABLE_2
    }
    title = "Table 2: the data sets (splits: classes to train/validate/test)"
    return _side_by_side(title, columns, TABLE_2, ours, _edges(layouts, TABLE_2))


def _table_9(layouts: dict[str, Layout]) -> Sheet:
    columns = ("classes", "nodes", "edges", "train/validation/test nodes")
    ours = {
        name: (
            f"{len(layout.classes)}",
            f"{len(layout.labels):,}",
            f"{len(layout.edges):,}",
            _node_counts(layout.standard) if layout.standard else NOT_HERE + name,
        )
        for name, layout in layouts.items()
        if name in TABLE_9
    }
    title = "Table 9: the data sets of the standard node classification"
    return _side_by_side(title, columns, TABLE_9, ours, _edges(layouts, TABLE_9))


def _table_7(layouts: dict[str, Layout]) -> Sheet:
    columns = ("data set", "class id", "quantity, paper", "here", "name, paper", "here")
    rows: list[tuple[str, ...]] = []
    notes = []
    for name, printed in TABLE_7.items():
        if name not in layouts:
            rows.append((TITLES[name], "", "", absent(name), "", ""))
            continue
        layout = layouts[name]
        counts = np.bincount(layout.labels, minlength=len(layout.classes))
        found = [(f"{n:,}", c) for n, c in zip(counts.tolist(), layout.classes, strict=True)]
        for i, (theirs, ours) in enumerate(zip(printed, found, strict=True)):
            rows.append((TITLES[name], f"{i}", theirs[0], ours[0], theirs[1], ours[1]))
        if found != list(printed):
            notes.append(f"{TITLES[name]}: the classes differ from the print.")
    return Sheet("Table 7: the classes", columns, rows, notes)


def _side_by_side(
    title: str,
    columns: tuple[str, ...],
    printed: Mapping[str, tuple[str, ...]],
    ours: Mapping[str, tuple[str, ...]],
    notes: list[str],
) -> Sheet:
    """Put the row of each set below the printed one, and a note on each cell that differs."""
    rows: list[tuple[str, ...]] = []
    differences = []
    for name, theirs in printed.items():
        found = ours.get(name, (absent(name), *[""] * (len(columns) - 1)))
        rows += [(TITLES[name], "paper", *theirs), (TITLES[name], "here", *found)]
        for what, a, b in zip(columns, theirs, found, strict=True):
            if name in ours and a != b and not b.startswith(NOT_HERE):
                why = WHY.get((name, what), "no reason is known")
                differences.append(f"{TITLES[name]}, {what}: {a} printed, {b} here: {why}.")
    return Sheet(title, ("data set", "", *columns), rows, differences + notes)


def _edges(layouts: dict[str, Layout], among: Iterable[str]) -> list[str]:
    """Say what the lines come to once each edge counts once, and loops are left out."""
    counts = [f"{TITLES[n]} {to_graph(layouts[n]).edges:,}" for n in among if n in layouts]
    if not counts:
        return []
    found = f"Edges are lines of the files. Edges between two papers: {', '.join(counts)}."
    return [f"{found} Of Citeseer's, 15 are spurious (the variant 'clean' lacks them)."]


def _class_counts(split: Split) -> str:
    return f"[{len(split.seen)}/{len(split.validation)}/{len(split.unseen)}]"


def _node_counts(split: NodeSplit) -> str:
    return f"{len(split.train):,}/{len(split.validation):,}/{len(split.test):,}"
