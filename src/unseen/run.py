"""Run folders and saved models: whole or not there, checked on reading, and never a pickle.

    run/  predictions.csv  predictions.parquet  report.html  record.json  map.parquet
          graph/  nodes.parquet  edges.parquet  [features.npz  vocabulary.json]
          model/  arrays.safetensors  model.json  README.md  manifest.json
          manifest.json

A folder is built under another name beside its place, its manifest (sha256 of every file) written
last, and put in place by one rename, so that a kill leaves the old run or the new one.
"""

from __future__ import annotations

import ctypes
import glob
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from unseen.classes import Classes
from unseen.classifier import Classifier
from unseen.errors import InputError, SavedFileError, shortlist
from unseen.models.agreement import Agreement
from unseen.models.dgpn import DGPN
from unseen.models.refine import Refine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.graph import Graph
    from unseen.prediction import Prediction

FORMAT = 1
MANIFEST = "manifest.json"
REFINE_ARRAYS = ("csds_", "centres_", "means_", "precision_")
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
        _write_json(new / "record.json", prediction.record)
        page = render(prediction.record, table, the_map)
        (new / "report.html").write_text(page, encoding="utf-8")
        (new / "graph").mkdir()
        _write_graph(prediction, new / "graph")
        (new / "model").mkdir()
        _write_model(prediction.classifier, new / "model")

    return _in_place(folder, build)


def save(classifier: Classifier, folder: Path | str) -> Path:
    """Write a classifier alone, as the folder that `load` and `unseen predict` take."""
    return _in_place(Path(folder), lambda new: _write_model(classifier, new))


def load(folder: Path | str) -> Classifier:
    """Read a classifier from a model folder or from the run folder that holds one."""
    path = Path(folder)
    if (path / "model").is_dir():
        path = path / "model"
    check_folder(path)
    settings = _read_json(path / "model.json")
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


def check_folder(folder: Path) -> None:
    """Compare every file with the manifest; raise where one is missing or was changed."""
    if not folder.is_dir():
        raise SavedFileError(f"{folder}: no such folder; expected one that unseen has written")
    if not (folder / MANIFEST).is_file():
        raise SavedFileError(
            f"{folder}: has no {MANIFEST}, so it is not a finished run or model; "
            "give the folder that `unseen classify --out` or `unseen.save` wrote"
        )
    for name, digest in _manifest(folder).items():
        path = folder / Path(name)
        if not path.is_file():
            raise SavedFileError(f"{path}: is missing; restore it or make the folder again")
        if _sha256(path) != digest:
            raise SavedFileError(
                f"{path}: was changed after it was written (its checksum differs); "
                "restore it or make the folder again"
            )


def check_place(folder: Path) -> None:
    """Refuse to write where something else is: only a run or an empty folder is replaced."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give the name of a folder")
    if folder.resolve() == Path.cwd():
        raise InputError(f"{folder}: is the current folder; give the name of a folder in it")
    parent = next(path for path in folder.resolve().parents if path.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{folder}: {parent} is no folder that can be written; choose another")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        ours = {Path(name).parts[0] for name in _manifest(folder)} | {MANIFEST}
    except SavedFileError:
        ours = set()
    strange = sorted(path.name for path in folder.iterdir() if path.name not in ours)
    if strange:
        raise InputError(
            f"{folder}: exists and is not a run that unseen wrote (it holds "
            f"{shortlist(strange, 3)}), so it is not replaced; choose another folder or empty it"
        )


def _manifest(folder: Path) -> dict[str, str]:
    """Return the checksum of each file as the manifest has it."""
    found = _read_json(folder / MANIFEST)
    files = found.get("files") if isinstance(found, dict) else None
    if not isinstance(files, dict) or not files or not isinstance(found.get("format"), int):
        raise SavedFileError(
            f"{folder / MANIFEST}: is not a manifest that unseen wrote; make the folder again"
        )
    if found["format"] > FORMAT:
        raise SavedFileError(
            f"{folder}: has format {found['format']}, but this version of unseen reads up to "
            f"{FORMAT}; update with pip install --upgrade unseen"
        )
    return files


def _map_table(
    prediction: Prediction, chosen: NDArray[np.int64], places: NDArray[np.float32]
) -> pl.DataFrame:
    """Return the nodes that the map of the report shows."""
    graph, names = prediction.graph, prediction.classes.names
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
        _write_json(folder / "vocabulary.json", list(graph.vocabulary))


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
        directed=bool(_read_json(folder / "record.json")["graph"]["directed"]),
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
    }
    if isinstance(model, Refine):
        arrays |= {f"model.{name}": getattr(model, name) for name in REFINE_ARRAYS}
        settings["numbers"] = {name: float(getattr(model, name)) for name in REFINE_NUMBERS}
        settings["agreement"] = vars(model.agreement_)
    else:
        arrays |= {f"model.{name}": value for name, value in model.state().items()}
    if maps is not None:
        arrays |= {f"maps.{name}": value for name, value in maps.state().items()}
    save_file(
        {name: np.ascontiguousarray(value) for name, value in arrays.items()},
        folder / "arrays.safetensors",
    )
    (folder / "arrays.safetensors").chmod(0o644)
    _write_json(folder / "model.json", settings)
    (folder / "README.md").write_text(_card(classifier), encoding="utf-8")
    _write_manifest(folder)


def _classifier(settings: dict[str, Any], arrays: dict[str, NDArray[np.float32]]) -> Classifier:
    def part(prefix: str) -> dict[str, NDArray[np.float32]]:
        return {
            name.removeprefix(prefix): value
            for name, value in arrays.items()
            if name.startswith(prefix)
        }

    model: Refine | DGPN
    if settings["model"] == "Refine":
        model = Refine(**settings["params"])
        learned = part("model.")
        for name in REFINE_ARRAYS:
            setattr(model, name, learned[name])
        for name in REFINE_NUMBERS:
            setattr(model, name, float(settings["numbers"][name]))
        model.agreement_ = Agreement(**settings["agreement"])
    else:
        model = DGPN(**settings["params"]).restore(part("model."))
    maps = settings["maps"]
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
    )


def _card(classifier: Classifier) -> str:
    """Return the model card."""
    rows = "\n".join(
        f"| {_cell(name)} | {'labelled' if name in classifier.seen else 'unseen'} "
        f"| {_cell(text or '')} |"
        for name, text in zip(
            classifier.classes.names, classifier.classes.descriptions or (), strict=True
        )
    )
    return f"""# A zero-shot node classifier

Made by `unseen`. It gives nodes of a graph like the one it was fitted on one of the classes below,
or one that is added later by name and description.

- Model: `{classifier.model!r}`
- Node vectors: `{classifier.encoder}`; class vectors from the {classifier.kind} of each class
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


def _in_place(folder: Path, build: Callable[[Path], None]) -> Path:
    """Build a folder beside its place and move it there in one step."""
    check_place(folder)
    place = folder.resolve()  # a link to a folder stays a link
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place)
        prefix = f".{place.name[:100]}.{os.getpid()}."
        new = Path(tempfile.mkdtemp(prefix=prefix, dir=place.parent))
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror}); choose a folder that can"
        ) from error
    try:
        new.chmod(0o755)
        build(new)
        _write_manifest(new)
        if place.is_dir():
            _exchange(new, place)
        else:
            new.rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _sweep(place: Path) -> None:
    """Remove what killed writers left beside a run; those still alive are left alone."""
    for left in place.parent.glob(f".{glob.escape(place.name[:100])}.*.*"):
        pid = left.name.rsplit(".", 2)[1]
        if pid.isdecimal() and left.is_dir() and not _alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _alive(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # asking would end the process there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _exchange(new: Path, old: Path) -> None:
    """Swap two folders: in one step where the system can, else by two renames."""
    if sys.platform == "linux":
        rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
        if rename and rename(here, os.fsencode(new), here, os.fsencode(old), swap) == 0:
            return
    aside = old.with_name(f"{new.name}.old")
    old.rename(aside)
    new.rename(old)
    shutil.rmtree(aside, ignore_errors=True)


def _write_manifest(folder: Path) -> None:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p != folder / MANIFEST)
    digests = {path.relative_to(folder).as_posix(): _sha256(path) for path in files}
    _write_json(folder / MANIFEST, {"format": FORMAT, "files": digests})


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SavedFileError(f"{path}: cannot be read ({error}); make the folder again") from error
