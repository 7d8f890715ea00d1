"""The arrays of a version: written once from its run folder, then memory-mapped by every worker.

    arrays/0001/  meta.json  classes.json  X.npy [Z.npy]  S.npy  proba.npy  posterior.npy  ...

They can be made again from the run at any time, and are whole or not there (`io/atomic.py`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.answer import Case
from unseen.core.arrays import unit
from unseen.core.classes import NONE_OF_THESE
from unseen.core.errors import InputError
from unseen.core.labels import allowed_classes
from unseen.explain.reasons import bits_of
from unseen.explain.shares import TINY
from unseen.io.atomic import MANIFEST, in_place, read_json, write_json
from unseen.io.tables import read_table
from unseen.models.base import infer
from unseen.models.typicality import hops_around
from unseen.propagate.hops import decompose
from unseen.record import read_record
from unseen.run import load
from unseen.serve.class_stats import class_stats
from unseen.serve.layout import beside, place_nodes
from unseen.serve.links import keep_links
from unseen.serve.outsiders import cut_off, outsiders_of
from unseen.serve.search import write_search
from unseen.serve.strings import write_index, write_strings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.encode.base import Progress
    from unseen.models.base import Inference, Reading

LAYOUT = 5  # of these folders; older ones are made again
SAME = ("X", "id", "texts", "search", "indices", "indptr", "weights", "degrees")  # of the graph
MAP_HOPS, MAP_LAZINESS = 2, 0.5  # of the vectors that the map is made of


def digest_of(run: Path) -> str:
    """Return what changes with a run: the checksum of its manifest."""
    return hashlib.sha256((run / MANIFEST).read_bytes()).hexdigest()[:16]


def fresh(folder: Path, run: Path) -> bool:
    """Tell whether the arrays are there and those of this run."""
    if not (folder / MANIFEST).is_file() or not (folder / "meta.json").is_file():
        return False
    meta = read_json(folder / "meta.json")
    return bool(meta.get("layout") == LAYOUT and meta.get("digest") == digest_of(run))


def write_arrays(
    run: Path,
    folder: Path,
    earlier: Path | None = None,
    progress: Progress | None = None,
    case: tuple[Any, Case] | None = None,
) -> Path:
    """Make the arrays of a run.

    Args:
        run: a folder with graph, model and answers.
        folder: where the arrays go.
        earlier: arrays of an earlier version, whose nodes stay where they are on the map.
        progress: told what is being done.
        case: the classifier and the case of the run, where they are in hand and `earlier` has the
            same nodes: what is the same is not made again.
    """
    made = _read(run, progress) if case is None else case
    same = earlier if case is not None else None

    def build(new: Path) -> None:
        _write(*made, run, new, earlier, same, progress or (lambda what, done, total: None))

    return in_place(folder, build)


def _read(run: Path, progress: Progress | None) -> tuple[Any, Case]:
    """Return the classifier of a run, and the case that it answers."""
    classifier = load(run)
    if not hasattr(classifier, "graph_"):
        raise InputError(
            f"{run}: holds no graph with answers about it, so there is nothing to serve; give a "
            "folder that `unseen classify --out` wrote"
        )
    graph, labels, classes = classifier.graph_, classifier.labels_, classifier.class_texts_
    allowed = allowed_classes(classifier.among, labels, classes)
    encoded = classifier.preparer_.encode(graph, classes, progress)
    task = classifier.preparer_.task(encoded, graph, labels, allowed)
    task = cut_off(task, graph, outsiders_of(run, graph))
    return classifier, Case(graph, labels, classes, task, encoded)


def _write(
    classifier: Any,
    case: Case,
    run: Path,
    new: Path,
    earlier: Path | None,
    same: Path | None,
    progress: Progress,
) -> None:
    graph, labels, classes, task = case.graph, case.labels, case.classes, case.task
    progress("read every node", 1, 4)
    model = classifier.model_
    keep_links(new, model, task)
    found = infer(model, task)
    readings = model.readings(task) if hasattr(model, "readings") else ()
    answers = _answers(run, graph, labels, len(classes))
    save = _saver(new)
    for name, value in answers.items():
        save(name, value)
    if same is None:
        X = unit(_dense(task.X))
        save("X", X)
        _write_graph(save, new, graph)
    else:
        X = np.asarray(task.X)
        for path in [each for name in SAME for each in same.glob(f"{name}*")]:
            _link(path, new / path.name)
    save("Z", hops_around(task).cosines(np.eye(X.shape[1], dtype=np.float32)))
    save("S", np.asarray(task.S, dtype=np.float32))
    save("posterior", classifier.posterior_)
    save("moved", _moved(found, answers))
    meta = [_write_reading(save, r, reading, X, task) for r, reading in enumerate(readings)]
    progress("lay out the map", 3, 4)
    save("places", _places(task, answers, earlier, graph))
    write_json(new / "classes.json", class_stats(task, answers))
    record = read_record(run)
    write_json(
        new / "meta.json",
        {
            "layout": LAYOUT,
            "digest": digest_of(run),
            "nodes": graph.nodes,
            "edges": graph.edges,
            "directed": graph.directed,
            "texts": graph.texts is not None,
            "shared": bool(task.shared),
            "own": case.encoded.own,
            "encoder": case.encoded.encoder,
            "names": list(classes.names),
            "descriptions": list(classes.descriptions or ()),
            "allowed": task.allowed.tolist(),
            "outsiders": outsiders_of(run, graph).tolist(),
            "seen": list(classifier.seen_),
            "mean_weight": graph.operator.mean_weight,
            "non_zeros": int(graph.adjacency.nnz),
            "labelled": int(labels.known.sum()),
            "readings": meta,
            "warnings": record.get("warnings", []),
            "choices": record.get("choices", []),
            "created": record.get("created"),
        },
    )


def _link(path: Path, place: Path) -> None:
    """Have a file in a second place; no file of arrays is ever written to."""
    try:
        os.link(path, place)
    except OSError:  # of a file system without links
        shutil.copyfile(path, place)


def _saver(folder: Path) -> Any:
    def save(name: str, value: NDArray[Any]) -> None:
        np.save(folder / f"{name}.npy", np.ascontiguousarray(value))

    return save


def _dense(X: Any) -> NDArray[np.float32]:
    return np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float32)


def _answers(run: Path, graph: Any, labels: Any, count: int) -> dict[str, NDArray[Any]]:
    """Return what the run says of every node: its label, the probabilities of all classes ..."""
    said, table = (
        read_table(run / f"{name}.parquet").frame for name in ("predictions", "probabilities")
    )
    names = table.columns[1 : 1 + count]
    classes = read_json(run / "model" / "model.json")["classes"]
    index = {name: c for c, name in enumerate(classes)} | {NONE_OF_THESE: -1, "": -1}
    rows = graph.positions()
    at = np.array([rows[each] for each in said["id"].to_list()], dtype=np.int64)
    n = graph.nodes
    found: dict[str, NDArray[Any]] = {
        "label": labels.codes.astype(np.int32),
        "runner_up": np.full(n, -1, np.int32),
        "confidence": np.where(labels.known, 1, 0).astype(np.float32),
        "proba": np.zeros((n, count), np.float32),
        "background": np.full(n, np.nan, np.float32),
        "flags": np.zeros(n, np.uint8),
        "known": labels.known.astype(np.uint8),
    }
    known = np.flatnonzero(labels.known)
    found["proba"][known, labels.codes[known]] = 1
    found["label"][at] = [index[each] for each in said["label"].to_list()]
    found["runner_up"][at] = [index[each or ""] for each in said["runner_up"].to_list()]
    found["confidence"][at] = said["confidence"].to_numpy()
    found["proba"][at] = table.select(names).to_numpy()
    if NONE_OF_THESE in table.columns:
        found["background"][at] = table[NONE_OF_THESE].to_numpy()
    if "flags" in said.columns:
        found["flags"][at] = bits_of(said["flags"].to_list())
    order = np.lexsort((-found["confidence"], found["label"]))
    doubt = at[np.argsort(found["confidence"][at], kind="stable")]
    free = order[found["known"][order] == 0]
    sizes = np.bincount(found["label"][free] + 1, minlength=count + 1)
    return found | {
        "by_class": free.astype(np.int64),
        "by_class_ends": np.cumsum([0, *sizes]).astype(np.int64),  # none of these first
        "by_doubt": doubt.astype(np.int64),
    }


def _moved(found: Inference, answers: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """Return what each hop added to the log-odds of a node's class over its runner-up. [n, K+1]"""
    row = np.arange(len(answers["label"]))
    a, b = pair(answers["label"], answers["runner_up"], answers["proba"])
    lead = np.stack([np.log((q[row, a] + TINY) / (q[row, b] + TINY)) for q in found.by_hop], axis=1)
    return np.asarray(np.diff(lead, axis=1, prepend=0.0), dtype=np.float32)


def pair(
    label: NDArray[Any], runner_up: NDArray[Any], proba: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the best class of each node and the next one, whatever it was answered. Twice [n]"""
    best = np.where(label >= 0, label, np.maximum(runner_up, 0)).astype(np.int64)
    rest = proba.copy()
    rest[np.arange(len(best)), best] = -1
    return best, rest.argmax(axis=1)


def _write_reading(
    save: Any, r: int, reading: Reading, X: NDArray[np.float32], task: Task
) -> dict[str, Any]:
    """Write a reading; where it is linear, its weights, and what each hop adds to its scores."""
    save(f"reading{r}", reading.posterior)
    if reading.weights is not None and reading.bias is not None:
        save(f"reading{r}.weights", np.asarray(reading.weights, dtype=np.float32))
        save(f"reading{r}.bias", np.asarray(reading.bias, dtype=np.float32))
        if reading.hops is not None:
            K = len(reading.hops) - 1
            blocks = decompose(X, task.operator, K, 0.5).blocks
            z = sum(w * block for w, block in zip(reading.hops, blocks, strict=True))
            save(f"reading{r}.length", np.linalg.norm(np.asarray(z, np.float64), axis=1))
            scores = [
                w * (block.astype(np.float64) @ reading.weights.T)
                for w, block in zip(reading.hops, blocks, strict=True)
            ]
            save(f"reading{r}.hops", np.stack(scores, axis=1))  # [n, K+1, C]
    return {
        "name": reading.name,
        "pool": reading.pool,
        "temperature": reading.temperature,
        "linear": reading.weights is not None,
        "hops": None if reading.hops is None else reading.hops.tolist(),
    }


def _write_graph(save: Any, new: Path, graph: Any) -> None:
    write_strings(new, "ids", graph.ids)
    write_index(new, graph.ids)
    texts = graph.texts or [""] * graph.nodes
    write_strings(new, "texts", texts)
    write_search(new / "search.sqlite", graph.ids, texts)
    A = graph.adjacency
    save("indptr", A.indptr.astype(np.int64))
    save("indices", A.indices.astype(np.int32))
    save("weights", A.data.astype(np.float32))
    rows, columns = graph.operator.degrees
    save("degrees", np.stack([np.asarray(rows), np.asarray(columns)]))


def _places(
    task: Any, answers: dict[str, NDArray[Any]], earlier: Path | None, graph: Any
) -> NDArray[np.float32]:
    if earlier is not None and (earlier / "places.npy").is_file():
        old: NDArray[np.float32] = np.load(earlier / "places.npy", allow_pickle=False)
        if len(old) == graph.nodes:
            return old
        if len(old) < graph.nodes:
            later = [graph.operator.neighbours(i)[0] for i in range(len(old), graph.nodes)]
            return np.concatenate([old, beside(old, later)])
    vectors = decompose(_dense(task.X), graph.operator, MAP_HOPS, MAP_LAZINESS).composed()
    return place_nodes(vectors, answers["label"].astype(np.int64))
