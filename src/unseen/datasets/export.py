"""`export`: a data set as the plain files that `unseen classify` reads."""

from __future__ import annotations

import csv
import io
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
from unseen.io.files import write_bytes, writing


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
    ids = graph.ids or ()
    columns: dict[str, Iterable[object]] = {"id": ids}
    if graph.texts is not None:
        columns["text"] = graph.texts
    sparse = sp.issparse(graph.features)
    if graph.features is not None and not sparse:
        columns |= {f"feature_{j}": column.tolist() for j, column in enumerate(graph.features.T)}
    columns["label"] = _named(labels, names)
    texts = [text or "" for text in dataset.classes.descriptions or ()]
    files = {
        "nodes.csv": _csv(columns),
        "edges.csv": _csv(_edges(graph, ids)),
        "classes.csv": _csv({"name": names, "description": texts}),
        "truth.csv": _csv({"id": ids, "label": _named(dataset.truth, names)}),
    }
    if sparse:
        out = io.BytesIO()
        sp.save_npz(out, graph.features)
        files["features.npz"] = out.getvalue()
        if graph.vocabulary is not None:
            files["vocabulary.txt"] = "".join(f"{word}\n" for word in graph.vocabulary).encode()
    return _write(folder, files)


def _write(folder: Path, files: dict[str, bytes]) -> list[Path]:
    """Write files that are not there yet; one that is, and differs, is left alone."""
    written = [folder / name for name in files]
    others = [p.name for p in written if p.exists() and _differs(p, files[p.name])]
    if others:
        raise InputError(
            f"{folder}: has other files of the same names ({shortlist(others)}), which are not "
            "overwritten; choose an empty or a new folder"
        )
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for path in written:
        if not path.exists():
            with replacing(path) as new:
                write_bytes(new, files[path.name])
    return written


def _differs(path: Path, content: bytes) -> bool:
    if not path.is_file() or path.stat().st_size != len(content):
        return True
    return path.read_bytes() != content


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


def _csv(columns: dict[str, Any]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue().encode("utf-8")
