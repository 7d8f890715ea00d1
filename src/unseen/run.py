"""Run folders and saved classifiers: what they hold, written and read without ever a pickle.

    run/  predictions.csv  predictions.parquet  probabilities.parquet  report.html  record.json
          map.parquet
          graph/  nodes.parquet  edges.parquet  posterior.npy  [features.npz  vocabulary.json]
          model/  arrays.safetensors  model.json  README.md  manifest.json
          manifest.json

`io/atomic.py` sees to it that a folder is whole or not there.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from unseen.core.classes import NONE_OF_THESE, Classes
from unseen.core.errors import InputError, SavedFileError
from unseen.engines.base import engine_of
from unseen.explain import names_of
from unseen.io.atomic import FORMAT, check_folder, in_place, read_json, write_json, write_manifest
from unseen.io.read import read_graph, read_labels
from unseen.models import MODELS
from unseen.parts import move_parts, report_table, write_parts
from unseen.prepare.preparer import Preparer
from unseen.select.calibration import Calibration
from unseen.select.cross_validation import Choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.estimator import ZeroShotNodeClassifier
    from unseen.prediction import Prediction


def write_run(prediction: Prediction, folder: Path, top: int = 0) -> Path:
    """Write everything about a prediction into `folder`, replacing an earlier run there.

    Of a graph on disk answers are written in parts, and the graph is left out (`parts.py`).
    """
    stored = getattr(prediction.graph, "engine", None)
    if stored is not None:
        write_parts(prediction, stored.folder, top)

    def build(new: Path) -> None:
        from unseen.report.layout import MAP_NODES, lay_out
        from unseen.report.page import render

        if stored is not None:
            table = report_table(prediction, top)
        else:
            table = prediction.to_polars(top=top)
            table.write_csv(new / "predictions.csv")
            table.write_parquet(new / "predictions.parquet")
            prediction.probabilities().write_parquet(new / "probabilities.parquet")
        groups = _codes(prediction)[prediction.placed]
        chosen, places = lay_out(prediction.vectors, MAP_NODES, 0, groups)
        the_map = _map_table(prediction, prediction.placed[chosen], places)
        the_map.write_parquet(new / "map.parquet")
        write_json(new / "record.json", prediction.record)
        page = render(prediction.record, table, the_map)
        (new / "report.html").write_text(page, encoding="utf-8")
        if stored is None:
            (new / "graph").mkdir()
            _write_graph(prediction, new / "graph")
        (new / "model").mkdir()
        _write_model(prediction.classifier, new / "model")
        if stored is not None:
            move_parts(stored.folder, new, top)

    in_place(folder, build)
    if stored is not None:
        shutil.rmtree(stored.folder, ignore_errors=True)
    return folder


def save(classifier: ZeroShotNodeClassifier, folder: Path | str) -> Path:
    """Write a classifier alone, as the folder that `load` and `unseen predict` take."""
    return in_place(Path(folder), lambda new: _write_model(classifier, new))


def load(folder: Path | str, *, model: Any = None, encoder: Any = None) -> ZeroShotNodeClassifier:
    """Read a classifier from a model folder, or from a run folder with its graph and posterior."""
    whole = Path(folder)
    path = whole / "model" if (whole / "model").is_dir() else whole
    check_folder(path)
    settings = read_json(path / "model.json")
    if not isinstance(settings, dict) or settings.get("format") != FORMAT:
        found = settings.get("format") if isinstance(settings, dict) else None
        newer = isinstance(found, int) and found > FORMAT
        remedy = "update with pip install --upgrade unseen" if newer else "classify again"
        raise SavedFileError(
            f"{path}: has format {found}, but this version of unseen reads {FORMAT}; {remedy}"
        )
    from safetensors.numpy import load_file

    try:
        classifier = _classifier(settings, load_file(path / "arrays.safetensors"), model, encoder)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise SavedFileError(f"{path}: is not a complete model ({error}); save it again") from error
    if path != whole:
        _read_run(classifier, whole)
    return classifier


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


def _write_graph(prediction: Prediction, folder: Path) -> None:
    """Write the graph in the formats that `read_graph` takes, labels and posterior included."""
    graph, labels = prediction.graph, prediction.labels
    nodes: dict[str, Any] = {"id": list(graph.ids or ())}
    if graph.texts is not None:
        nodes["text"] = list(graph.texts)
    names = [*prediction.classes.names, ""]
    nodes["label"] = [names[c] for c in labels.codes.tolist()]
    pl.DataFrame(nodes).write_parquet(folder / "nodes.parquet")
    edges = sp.coo_array(graph.adjacency if graph.directed else sp.triu(graph.adjacency))
    ids = pl.Series(nodes["id"])
    source, target = (ids.gather(end) for end in edges.coords)
    pl.DataFrame({"source": source, "target": target, "weight": edges.data}).write_parquet(
        folder / "edges.parquet"
    )
    if graph.features is not None:
        sp.save_npz(folder / "features.npz", sp.csr_array(graph.features))
    if graph.vocabulary is not None:
        write_json(folder / "vocabulary.json", list(graph.vocabulary))
    fitted = prediction.classifier
    if getattr(fitted, "graph_", None) is graph:
        np.save(folder / "posterior.npy", fitted.posterior_.astype(np.float32))


def _read_run(classifier: ZeroShotNodeClassifier, folder: Path) -> None:
    """Take up graph, labels and posterior of a run; one of another graph has no posterior."""
    check_folder(folder)
    kept = folder / "graph"
    posterior = kept / "posterior.npy"
    if not posterior.is_file():
        return
    features, vocabulary = kept / "features.npz", kept / "vocabulary.json"
    graph = read_graph(
        kept / "nodes.parquet",
        kept / "edges.parquet",
        features=features if features.is_file() else None,
        vocabulary=vocabulary if vocabulary.is_file() else None,
        directed=bool(read_json(folder / "record.json")["graph"]["directed"]),
    )
    classifier.graph_ = graph
    classifier.labels_ = read_labels(kept / "nodes.parquet", graph, classifier.class_texts_)
    found = np.load(posterior, allow_pickle=False)
    if found.shape != (graph.nodes, len(classifier.classes_)) or not np.isfinite(found).all():
        raise SavedFileError(f"{posterior}: does not fit the graph of the run; classify again")
    classifier.posterior_ = found


def _write_model(classifier: ZeroShotNodeClassifier, folder: Path) -> None:
    from safetensors.numpy import save_file

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
    save_file(
        {name: np.ascontiguousarray(value) for name, value in arrays.items()},
        folder / "arrays.safetensors",
    )
    (folder / "arrays.safetensors").chmod(0o644)
    own = type(model).__module__.partition(".")[0] != "unseen"
    settings = {
        "format": FORMAT,
        "classes": list(classes.names),
        "descriptions": list(classes.descriptions or ()),
        "seen": list(classifier.seen_),
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
    }
    write_json(folder / "model.json", settings)
    (folder / "README.md").write_text(_card(classifier), encoding="utf-8")
    write_manifest(folder)


def _classifier(
    settings: dict[str, Any], arrays: dict[str, NDArray[Any]], model: Any, encoder: Any
) -> ZeroShotNodeClassifier:
    from unseen.estimator import ZeroShotNodeClassifier

    state = {**settings["state"], **arrays}

    def part(prefix: str) -> dict[str, Any]:
        return {n.removeprefix(prefix): v for n, v in state.items() if n.startswith(prefix)}

    if settings["model"] is None and model is None:
        raise InputError("model: the saved one was your own; give an unfitted one as `model=`")
    if settings["encoder"] is None and encoder is None:
        raise InputError("encoder: the saved one was your own; give it as `encoder=`")
    if settings["model"] is not None:
        if settings["model"] not in MODELS:
            raise SavedFileError(f"model: {settings['model']!r} is none that unseen knows")
        model = MODELS[settings["model"]](**settings["params"])
    encoder = settings["encoder"] if encoder is None else encoder
    found = ZeroShotNodeClassifier(
        encoder=encoder,
        **{name: settings[name] for name in ("among", "abstain", "open_world", "device", "seed")},
    )
    vectors = arrays.get("classes.vectors")
    found.class_texts_ = Classes(settings["classes"], settings["descriptions"], vectors)
    found.classes_ = np.array(found.class_texts_.names, dtype=object)
    found.seen_ = tuple(settings["seen"])
    found.model_ = model.restore(part("model."))
    found.preparer_ = Preparer(encoder, settings["device"]).restore(part("preparer."))
    found.calibration_ = Calibration(**settings["calibration"])
    found.choices_ = tuple(Choice(**choice) for choice in settings["choices"])
    found.warnings_ = ()
    return found


def _card(classifier: ZeroShotNodeClassifier) -> str:
    """Return the model card."""
    classes, preparer = classifier.class_texts_, classifier.preparer_
    rows = "\n".join(
        f"| {_cell(name)} | {'labelled' if name in classifier.seen_ else 'unseen'} "
        f"| {_cell(text or '')} |"
        for name, text in zip(classes.names, classes.descriptions or (), strict=True)
    )
    grows = getattr(classifier.model_, "adds_classes", False)
    more = ", or one that is added later by name and description" if grows else ""
    words = "" if preparer.lsa_ is None else "; beside both, LSA of the graph's texts"
    return f"""# A zero-shot node classifier

Made by `unseen`. It gives nodes of a graph like the one it was fitted on one of the classes
below{more}.

- Model: `{classifier.model_!r}`
- Vectors: of nodes by `{preparer.encoder_}`, of classes from their {preparer.class_text_}{words}
- Use: `unseen predict --model FOLDER --nodes ... --edges ... --classes ... --out ...`

| class | in training | description |
|---|---|---|
{rows}

Accuracy on unseen classes is not known to the model: nobody has labelled them. Confidences are
estimates from texts and neighbours. Check a sample by hand before relying on them.
"""


def _cell(text: str) -> str:
    """Return a text that cannot end its cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
