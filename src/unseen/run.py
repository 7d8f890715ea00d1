"""Run folders and saved classifiers: what they hold, and how they are written.

    run/  predictions.csv  predictions.parquet  probabilities.parquet  report.html  record.json
          map.parquet
          graph/  nodes.parquet  edges.parquet  posterior.npy
                  [features.npz  columns.json  vocabulary.json]
          model/  arrays.safetensors  model.json  README.md  manifest.json
          manifest.json

`io/atomic.py` sees to it that a folder is whole or not there, `loading.py` reads it back.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from unseen.card import card
from unseen.core.classes import NONE_OF_THESE
from unseen.core.errors import InputError
from unseen.core.escape import without_formulas
from unseen.engines.base import engine_of
from unseen.explain.reasons import names_of
from unseen.io.atomic import FORMAT, in_place, write_json, write_manifest
from unseen.io.files import write_bytes, write_parquet, write_text
from unseen.io.workspace import remove
from unseen.loading import load
from unseen.parts import move_parts, report_table, write_parts
from unseen.suggestions import FILE, sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.estimator import ZeroShotNodeClassifier
    from unseen.prediction import Prediction

NO_SHEET = "which writes Parquet only, and no .csv for a spreadsheet; leave it out"
__all__ = ["load", "save", "write_run"]


def write_run(
    prediction: Prediction,
    folder: Path,
    top: int = 0,
    spreadsheet: bool = False,
    report: bool = True,
) -> Path:
    """Write everything about a prediction into `folder`, replacing an earlier run there.

    With `spreadsheet`, cells of predictions.csv that a spreadsheet would compute are made harmless.
    Of a graph on disk answers are written in parts, and the graph is left out (`parts.py`).
    """
    stored = getattr(prediction.graph, "engine", None)
    if stored is not None and spreadsheet:
        raise InputError(f"spreadsheet: the graph is on disk, {NO_SHEET}")
    if stored is not None:
        write_parts(prediction, stored.folder, top)

    def build(new: Path) -> None:
        from unseen.report.layout import MAP_NODES, lay_out, surroundings
        from unseen.report.page import render
        from unseen.report.search import all_nodes

        if stored is not None:
            table = report_table(prediction, top)
        else:
            table = prediction.to_polars(top=top)
            shown = without_formulas(table) if spreadsheet else table
            write_text(new / "predictions.csv", shown.write_csv())
            write_parquet(new / "predictions.parquet", table)
            write_parquet(new / "probabilities.parquet", prediction.probabilities())
        groups = _codes(prediction)[prediction.placed]
        rows = surroundings(prediction.vectors, prediction.graph.operator)
        chosen, places = lay_out(rows, MAP_NODES, 0, groups)
        the_map = _map_table(prediction, prediction.placed[chosen], places)
        write_parquet(new / "map.parquet", the_map)
        write_json(new / "record.json", prediction.record)
        nodes = None if stored is not None else _node_table(prediction)
        index = None if nodes is None or not report else all_nodes(nodes, table)
        if report:
            write_text(new / "report.html", render(prediction.record, table, the_map, index))
        if nodes is not None:
            (new / "graph").mkdir()
            _write_graph(prediction, nodes, new / "graph")
        (new / "model").mkdir()
        _write_model(prediction.classifier, new / "model")
        if stored is not None:
            write_parquet(new / FILE, sample(prediction))
            move_parts(stored.folder, new, top)

    in_place(folder, build)
    if stored is not None:
        remove(stored.folder)
    return folder


def save(classifier: ZeroShotNodeClassifier, folder: Path | str) -> Path:
    """Write a classifier alone, as the folder that `load` and `unseen predict` take."""
    return in_place(Path(folder), lambda new: _write_model(classifier, new))


def _kind(array: NDArray[Any]) -> str:
    """Return the type and the shape of an array, which have to be the same when it is read."""
    return f"{array.dtype.str} {list(array.shape)}"


def _codes(prediction: Prediction) -> NDArray[np.int64]:
    """Return the class of every node, -1 for none. [n]"""
    codes = prediction.labels.codes.copy()
    codes[prediction.nodes] = prediction.label
    return codes


def _map_table(
    prediction: Prediction, chosen: NDArray[np.int64], places: NDArray[np.float32]
) -> pl.DataFrame:
    """Return the nodes that the map of the report shows."""
    graph, names = prediction.graph, [*prediction.classes.names, NONE_OF_THESE]
    codes = _codes(prediction)
    confidence = np.full(graph.nodes, np.nan)
    confidence[prediction.nodes] = prediction.confidence
    texts = engine_of(graph).take(graph.texts or [""] * graph.nodes, chosen)
    return pl.DataFrame(
        {
            "id": names_of(graph.ids or (), chosen),
            "x": places[:, 0],
            "y": places[:, 1],
            "label": [names[codes[i]] for i in chosen],
            "confidence": pl.Series(confidence[chosen]).fill_nan(None),
            "known": prediction.labels.known[chosen],
            "text": [text[:160] for text in texts],
        }
    )


def _node_table(prediction: Prediction) -> pl.DataFrame:
    """Return id, text (where there is any) and the label that was given, "" for none."""
    graph, names = prediction.graph, [*prediction.classes.names, ""]
    nodes: dict[str, Any] = {"id": list(graph.ids or ())}
    if graph.texts is not None:
        nodes["text"] = list(graph.texts)
    nodes["label"] = [names[c] for c in prediction.labels.codes.tolist()]
    return pl.DataFrame(nodes)


def _write_graph(prediction: Prediction, nodes: pl.DataFrame, folder: Path) -> None:
    """Write the graph in the formats that `read_graph` takes, labels and posterior included."""
    graph = prediction.graph
    write_parquet(folder / "nodes.parquet", nodes)
    edges = sp.coo_array(graph.adjacency if graph.directed else sp.triu(graph.adjacency))
    ids = pl.Series(nodes["id"])
    source, target = (ids.gather(end) for end in edges.coords)
    listed = pl.DataFrame({"source": source, "target": target, "weight": edges.data})
    write_parquet(folder / "edges.parquet", listed)
    if graph.features is not None:
        out = io.BytesIO()
        sp.save_npz(out, sp.csr_array(graph.features))
        write_bytes(folder / "features.npz", out.getbuffer())
    if graph.feature_names is not None:
        write_json(folder / "columns.json", list(graph.feature_names))
    if graph.vocabulary is not None:
        write_json(folder / "vocabulary.json", list(graph.vocabulary))
    fitted = prediction.classifier
    if getattr(fitted, "graph_", None) is graph:
        out = io.BytesIO()
        np.save(out, fitted.posterior_.astype(np.float32))
        write_bytes(folder / "posterior.npy", out.getbuffer())


def _write_model(classifier: ZeroShotNodeClassifier, folder: Path) -> None:
    from safetensors.numpy import save as encode

    model, classes = classifier.model_, classifier.class_texts_
    if not hasattr(model, "state") or not hasattr(model, "restore"):
        raise InputError(
            f"model: {type(model).__name__} cannot be saved; give it `state()`, which returns "
            "arrays and plain values by name, and `restore(state)`"
        )
    parts = {"model": model.state(), "preparer": classifier.preparer_.state()}
    if classes.vectors is not None:
        parts["classes"] = {"vectors": classes.vectors}
    arrays: dict[str, NDArray[Any]] = {}
    values: dict[str, Any] = {}
    for part, state in parts.items():
        for name, value in state.items():
            (arrays if isinstance(value, np.ndarray) else values)[f"{part}.{name}"] = value
    whole = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    write_bytes(folder / "arrays.safetensors", encode(whole))
    own = type(model).__module__.partition(".")[0] != "unseen"
    settings = {
        "format": FORMAT,
        "classes": list(classes.names),
        "descriptions": list(classes.descriptions or ()),
        "seen": list(classifier.seen_),
        "feature_names": getattr(classifier, "feature_names_", None),
        "among": classifier.among,
        "abstain": classifier.abstain,
        "open_world": classifier.open_world,
        "device": classifier.device,
        "seed": classifier.seed,
        "encoder": classifier.encoder if isinstance(classifier.encoder, str) else None,
        "model": type(model).__name__ if not own else None,
        "params": {} if own else model.get_params(),
        "calibration": vars(classifier.calibration_),
        "choices": [vars(choice) | {"candidates": {}} for choice in classifier.choices_],
        "state": values,
        "arrays": {name: _kind(value) for name, value in whole.items()},
    }
    write_json(folder / "model.json", settings)
    write_text(folder / "README.md", card(classifier))
    write_manifest(folder)
