"""Run folders and saved models: what they hold, written and read without ever a pickle.

    run/  predictions.csv  predictions.parquet  report.html  record.json  map.parquet
          graph/  nodes.parquet  edges.parquet  [features.npz  vocabulary.json]
          model/  arrays.safetensors  model.json  README.md  manifest.json
          manifest.json

`files.py` sees to it that a folder is whole or not there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from unseen.classes import NONE_OF_THESE, Classes
from unseen.classifier import Classifier
from unseen.encode.terms import Terms
from unseen.errors import SavedFileError
from unseen.files import FORMAT, check_folder, in_place, read_json, write_json, write_manifest
from unseen.models.agreement import Agreement
from unseen.models.align import Align
from unseen.models.dgpn import DGPN
from unseen.models.refine import Refine
from unseen.sureness import Sureness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import Graph
    from unseen.prediction import Prediction

REFINE_ARRAYS = ("csds_", "centres_", "means_", "precision_")
ALIGN_ARRAYS = ("projection_", "plan_", "shares_")
REFINE_NUMBERS = ("level_", "temperature_", "start_temperature_", "centre_temperature_")


def write_run(prediction: Prediction, folder: Path) -> Path:
    """Write everything about a prediction into `folder`, replacing an earlier run there."""

    def build(new: Path) -> None:
        from unseen.report.layout import MAP_NODES, lay_out
        from unseen.report.page import render

        table = prediction.to_polars()
        table.write_csv(new / "predictions.csv")
        table.write_parquet(new / "predictions.parquet")
        known = prediction.labels.of.copy()
        known[prediction.nodes] = prediction.label
        chosen, places = lay_out(prediction.vectors, MAP_NODES, 0, known)
        the_map = _map_table(prediction, chosen, places)
        the_map.write_parquet(new / "map.parquet")
        write_json(new / "record.json", prediction.record)
        page = render(prediction.record, table, the_map)
        (new / "report.html").write_text(page, encoding="utf-8")
        (new / "graph").mkdir()
        _write_graph(prediction, new / "graph")
        (new / "model").mkdir()
        _write_model(prediction.classifier, new / "model")

    return in_place(folder, build)


def save(classifier: Classifier, folder: Path | str) -> Path:
    """Write a classifier alone, as the folder that `load` and `unseen predict` take."""
    return in_place(Path(folder), lambda new: _write_model(classifier, new))


def load(folder: Path | str) -> Classifier:
    """Read a classifier from a model folder or from the run folder that holds one."""
    path = Path(folder)
    if (path / "model").is_dir():
        path = path / "model"
    check_folder(path)
    settings = read_json(path / "model.json")
    if settings.get("format", 0) > FORMAT:
        raise SavedFileError(
            f"{path}: has format {settings['format']}, but this version of unseen reads up to "
            f"{FORMAT}; update with pip install --upgrade unseen"
        )
    from safetensors.numpy import load_file

    arrays = load_file(path / "arrays.safetensors")
    try:
        return _classifier(settings, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise SavedFileError(f"{path}: is not a complete model ({error}); save it again") from error


def _map_table(
    prediction: Prediction, chosen: NDArray[np.int64], places: NDArray[np.float32]
) -> pl.DataFrame:
    """Return the nodes that the map of the report shows."""
    graph, names = prediction.graph, [*prediction.classes.names, NONE_OF_THESE]
    of, confidence = prediction.labels.of.copy(), np.full(graph.nodes, np.nan)
    of[prediction.nodes], confidence[prediction.nodes] = prediction.label, prediction.confidence
    texts = graph.texts or [""] * graph.nodes
    ids = graph.ids or ()
    return pl.DataFrame(
        {
            "id": [ids[i] for i in chosen],
            "x": places[:, 0],
            "y": places[:, 1],
            "label": [names[of[i]] for i in chosen],
            "confidence": pl.Series(confidence[chosen]).fill_nan(None),
            "known": prediction.labels.known[chosen],
            "text": [texts[i][:160] for i in chosen],
        }
    )


def _write_graph(prediction: Prediction, folder: Path) -> None:
    """Write the graph in the formats that `read_graph` takes, labels included."""
    graph, labels = prediction.graph, prediction.labels
    nodes: dict[str, Any] = {"id": list(graph.ids or ())}
    if graph.texts is not None:
        nodes["text"] = list(graph.texts)
    names = [*prediction.classes.names, ""]
    nodes["label"] = [names[c] for c in labels.of]
    pl.DataFrame(nodes).write_parquet(folder / "nodes.parquet")
    ties = sp.coo_array(graph.adjacency if graph.directed else sp.triu(graph.adjacency))
    ids = pl.Series(nodes["id"])
    source, target = (ids.gather(end) for end in ties.coords)
    pl.DataFrame({"source": source, "target": target, "weight": ties.data}).write_parquet(
        folder / "edges.parquet"
    )
    if graph.features is not None:
        sp.save_npz(folder / "features.npz", sp.csr_array(graph.features))
    if graph.vocabulary is not None:
        write_json(folder / "vocabulary.json", list(graph.vocabulary))


def read_run_graph(folder: Path) -> Graph:
    """Read the graph of an earlier run back."""
    from unseen.read.files import read_graph

    check_folder(folder)
    kept = folder / "graph"
    features, vocabulary = kept / "features.npz", kept / "vocabulary.json"
    return read_graph(
        kept / "nodes.parquet",
        kept / "edges.parquet",
        features=features if features.is_file() else None,
        vocabulary=vocabulary if vocabulary.is_file() else None,
        directed=bool(read_json(folder / "record.json")["graph"]["directed"]),
    )


def _write_model(classifier: Classifier, folder: Path) -> None:
    from safetensors.numpy import save_file

    model, maps = classifier.model, classifier.maps
    arrays = {"node_centre": classifier.node_centre, "class_centre": classifier.class_centre}
    settings: dict[str, Any] = {
        "format": FORMAT,
        "classes": list(classifier.classes.names),
        "descriptions": list(classifier.classes.descriptions or ()),
        "seen": list(classifier.seen),
        "encoder": classifier.encoder,
        "identity": classifier.identity,
        "kind": classifier.kind,
        "hops": classifier.hops,
        "laziness": classifier.laziness,
        "model": type(model).__name__,
        "params": model.get_params(),
        "maps": None if maps is None else maps.get_params(),
        "sureness": vars(classifier.sureness),
    }
    if isinstance(model, Refine):
        arrays |= {f"model.{name}": getattr(model, name) for name in _arrays(model)}
        settings["numbers"] = {name: float(getattr(model, name)) for name in REFINE_NUMBERS}
        settings["agreement"] = vars(model.agreement_)
    else:
        arrays |= {f"model.{name}": value for name, value in model.state().items()}
    if classifier.terms is not None:
        arrays |= {f"terms.{name}": value for name, value in vars(classifier.terms).items()}
    if maps is not None:
        arrays |= {f"maps.{name}": value for name, value in maps.state().items()}
    save_file(
        {name: np.ascontiguousarray(value) for name, value in arrays.items()},
        folder / "arrays.safetensors",
    )
    (folder / "arrays.safetensors").chmod(0o644)
    write_json(folder / "model.json", settings)
    (folder / "README.md").write_text(_card(classifier), encoding="utf-8")
    write_manifest(folder)


def _classifier(settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Classifier:
    def part(prefix: str) -> dict[str, NDArray[Any]]:
        return {
            name.removeprefix(prefix): value
            for name, value in arrays.items()
            if name.startswith(prefix)
        }

    model: Refine | DGPN
    if settings["model"] in ("Refine", "Align"):
        model = (Refine if settings["model"] == "Refine" else Align)(**settings["params"])
        learned = part("model.")
        for name in _arrays(model):
            setattr(model, name, learned[name])
        for name in REFINE_NUMBERS:
            setattr(model, name, float(settings["numbers"][name]))
        model.agreement_ = Agreement(**settings["agreement"])
    else:
        model = DGPN(**settings["params"]).restore(part("model."))
    maps, terms = settings["maps"], part("terms.")
    return Classifier(
        classes=Classes(settings["classes"], settings["descriptions"]),
        seen=tuple(settings["seen"]),
        encoder=settings["encoder"],
        identity=settings["identity"],
        kind=settings["kind"],
        node_centre=arrays["node_centre"],
        class_centre=arrays["class_centre"],
        hops=settings["hops"],
        laziness=settings["laziness"],
        maps=None if maps is None else DGPN(**maps).restore(part("maps.")),
        model=model,
        terms=Terms(**terms) if terms else None,
        sureness=Sureness(**settings.get("sureness", {})),  # none up to 0.6.0
    )


def _arrays(model: Refine) -> tuple[str, ...]:
    return (*REFINE_ARRAYS, *(ALIGN_ARRAYS if isinstance(model, Align) else ()))


def _card(classifier: Classifier) -> str:
    """Return the model card."""
    rows = "\n".join(
        f"| {_cell(name)} | {'labelled' if name in classifier.seen else 'unseen'} "
        f"| {_cell(text or '')} |"
        for name, text in zip(
            classifier.classes.names, classifier.classes.descriptions or (), strict=True
        )
    )
    grows = not isinstance(classifier.model, Align)
    more = ", or one that is added later by name and description" if grows else ""
    words = "" if classifier.terms is None else "; beside both, which words go together"
    return f"""# A zero-shot node classifier

Made by `unseen`. It gives nodes of a graph like the one it was fitted on one of the classes
below{more}.

- Model: `{classifier.model!r}`
- Vectors: of nodes by `{classifier.encoder}`, of classes from their {classifier.kind}{words}
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
