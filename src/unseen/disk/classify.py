"""Classes for the nodes of a graph on disk: `Prototype`, answered block by block.

Preparation and choices are those of the estimator; what is looked at to choose is a sample of rows.
Belief propagation and cluster matching need the whole graph in memory and are not part of this. A
folder::

    record.json    what was asked and chosen
    predictions/   Parquet, part by part (`predict.py`)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.core.labels import Labels, allowed_classes
from unseen.core.operator import Operator
from unseen.disk.folder import (
    GRAPH,
    Propagated,
    check_new,
    check_same,
    encode_classes,
    fingerprint,
    hops_fingerprint,
)
from unseen.disk.predict import block_task, predict_from_disk
from unseen.io.atomic import read_json, replacing, write_json
from unseen.models.homophily import EDGES
from unseen.models.prototype import Prototype
from unseen.prepare.preparer import Preparer
from unseen.propagate.disk_graph import DiskGraph
from unseen.select.class_texts import choose_class_texts
from unseen.select.cross_validation import ENOUGH, Choice, folds_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.encode.base import Progress
    from unseen.prepare.encoded import Encoded

FORMAT = 2
RECORD, PREDICTIONS = "record.json", "predictions"
SAMPLE = 10_000  # labelled nodes that the choice is made by
CLOSE = 1e-6  # centres that are no further apart give the same answers
APART = (
    "Nodes were centred without these class texts, which tells in a small graph: for the answers "
    "of `unseen classify`, give --classes and --encoder to `unseen walk` as well."
)


def classify_hops(
    folder: Path | str,
    classes: Classes,
    out: Path | str,
    labels: Labels | None = None,
    *,
    encoder: Any = "features",
    among: str = "all",
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Give every unlabelled node one of the classes; return the record.

    Args:
        folder: of `propagate_files`.
        classes: names and, better, descriptions of all classes.
        out: the folder; one that was left by a killed run is gone on with.
        labels: what some nodes are; these are left out of the answers.
        encoder: what made the node vectors, such as "static" or "minilm".
        among: "all" lets a node be of any class; "unseen" only of one without a labelled node.
        seed: of every random choice.
        progress: called with what is being done, how much is done, and of how much.
    """
    given, out = Propagated.open(folder), Path(out)
    count, n, d = given.hops.shape
    known = Labels.none(n) if labels is None else labels
    if len(known.codes) != n:
        raise InputError(f"labels: expected {n:,} (one for each node), found {len(known.codes):,}")
    allowed = allowed_classes(among, known, classes)
    encoded = encode_classes(classes, encoder, d)
    preparer = Preparer(encoder).fit_centres(given.total, given.count, encoded)
    asked = {
        "format": FORMAT,
        "hops": hops_fingerprint(given.hops),
        "classes": fingerprint([list(classes.names), [*encoded.csds]], *encoded.csds.values()),
        "labels": fingerprint("labels", known.codes),
        "encoder": [encoded.encoder, encoded.identity],
        "among": among,
        "seed": seed,
    }
    if (out / RECORD).is_file():
        record: dict[str, Any] = read_json(out / RECORD)
        before = record.get("asked", {})
        check_same(out, before, asked, "predictions that were made otherwise", "begin anew")
    else:
        check_new(out, "predictions")
        if progress is not None:
            progress("choose class texts", 0, 1)
        choice = _choose(given, preparer, encoded, known.codes, allowed, seed)
        apart = float(np.abs(preparer.node_centre_ - given.centre).max(initial=0.0))
        record = {
            "asked": asked,
            "choices": [vars(choice) | {"candidates": dict(choice.candidates)}],
            "model": repr(Prototype(count - 1)),
            "warnings": [APART] if apart > CLOSE else [],
        }
        out.mkdir(parents=True, exist_ok=True)
        with replacing(out / RECORD) as new:
            write_json(new, record)
    S = preparer.class_vectors(encoded, record["choices"][0]["chosen"])
    model = Prototype(count - 1).fit(block_task(np.zeros((count, 0, d), np.float32), S))
    where = out / PREDICTIONS
    predict_from_disk(
        model, given.hops, where, classes.names, S, allowed, known.codes, progress=progress
    )
    return record


def _choose(
    given: Propagated,
    preparer: Preparer,
    encoded: Encoded,
    codes: NDArray[np.int64],
    allowed: NDArray[np.bool_],
    seed: int,
) -> Choice:
    """Choose the class texts as the estimator does, by a sample of labelled nodes or of edges."""
    rng, operator = np.random.default_rng(seed), None
    nodes = np.flatnonzero(codes >= 0)
    if len(np.unique(codes[nodes])) >= ENOUGH:
        if len(nodes) > SAMPLE:
            nodes = np.sort(rng.choice(nodes, SAMPLE, replace=False))
    else:
        edges = DiskGraph.open(given.folder / GRAPH).sample_edges(EDGES, rng)  # [2, m]
        nodes, ends = np.unique(edges, return_inverse=True)
        shape, ones = (len(nodes), len(nodes)), np.ones(edges.shape[1], np.float32)
        operator = Operator(sp.csr_array((ones, tuple(ends.reshape(2, -1))), shape=shape))
    rows = given.hops.rows(nodes)  # [K+1, b, d]
    tasks = {
        kind: block_task(
            rows, preparer.class_vectors(encoded, kind), allowed, codes[nodes], operator
        )
        for kind in encoded.csds
    }
    return choose_class_texts(tasks, folds_of(next(iter(tasks.values())), seed), seed)
