"""`export`: a data set as the plain files that `unseen classify` reads."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError, shortlist
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.datasets.registry import Dataset
from unseen.io.atomic import replacing


def export(dataset: Dataset, folder: Path, split: str | None = None) -> list[Path]:
    """Write a data set into a folder, each file in one piece, and return the files.

    nodes.csv has `id`, `text` and dense features where there are any, and `label`, filled for the
    seen classes of `split` alone (for no node without a split). edges.csv has `source`, `target`
    and, if edges differ in strength, `weight`; classes.csv `name` and `description`; truth.csv the
    label of every node. Sparse features go to features.npz, row by row as in nodes.csv, and their
    words, where known, to vocabulary.txt.
    """
    graph, names = dataset.graph, dataset.classes.names
    labels = _visible(dataset, split)
    folder.mkdir(parents=True, exist_ok=True)
    ids = graph.ids or ()
    columns: dict[str, Iterable[object]] = {"id": ids}
    if graph.texts is not None:
        columns["text"] = graph.texts
    sparse = sp.issparse(graph.features)
    if graph.features is not None and not sparse:
        columns |= {f"feature_{j}": column.tolist() for j, column in enumerate(graph.features.T)}
    columns["label"] = _named(labels, names)
    texts = [text or "" for text in dataset.classes.descriptions or ()]
    written = [
        _write_csv(folder / "nodes.csv", columns),
        _write_csv(folder / "edges.csv", _edges(graph, ids)),
        _write_csv(folder / "classes.csv", {"name": names, "description": texts}),
        _write_csv(folder / "truth.csv", {"id": ids, "label": _named(dataset.truth, names)}),
    ]
    if sparse:
        written.append(folder / "features.npz")
        with replacing(written[-1]) as new, new.open("wb") as file:
            sp.save_npz(file, graph.features)
        if graph.vocabulary is not None:
            written.append(folder / "vocabulary.txt")
            with replacing(written[-1]) as new:
                new.write_bytes("".join(f"{word}\n" for word in graph.vocabulary).encode())
    return written


def _visible(dataset: Dataset, split: str | None) -> Labels:
    if split is None:
        return Labels.none(dataset.graph.nodes)
    if split not in dataset.splits:
        there = f"there is {shortlist(dataset.splits)}" if dataset.splits else "it has none"
        raise InputError(f"{dataset.name}: has no split {split!r}; {there}")
    return dataset.truth.only(dataset.splits[split].seen)


def _named(labels: Labels, names: Sequence[str]) -> list[str]:
    return [names[c] if c >= 0 else "" for c in labels.codes]


def _edges(graph: Graph, ids: Sequence[str]) -> dict[str, Iterable[object]]:
    """Return the edges as columns; in an undirected graph each once, the earlier node first."""
    A = sp.coo_array(graph.adjacency if graph.directed else sp.triu(graph.adjacency, k=1))
    order = np.lexsort((A.coords[1], A.coords[0]))
    rows, targets, weights = A.coords[0][order], A.coords[1][order], A.data[order]
    columns: dict[str, Iterable[object]] = {
        "source": [ids[i] for i in rows],
        "target": [ids[j] for j in targets],
    }
    if (weights != 1).any():
        columns["weight"] = weights.tolist()
    return columns


def _write_csv(path: Path, columns: dict[str, Any]) -> Path:
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
