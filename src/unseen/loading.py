"""`load`: a classifier, or a run with its graph and answers, from a folder that may hold anything.

Every byte is compared with the manifest before it is used, every setting is checked before it is
believed, and nothing of a file is ever run as code.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.classes import Classes
from unseen.core.errors import InputError, SavedFileError, UnseenError, quoted
from unseen.io.arrays import load_array
from unseen.io.build import USUAL, build_graph, node_content
from unseen.io.features import parse_features, parse_vocabulary
from unseen.io.read import labels_of
from unseen.io.saved import FORMAT, MANIFEST, Saved, parse_json, read_saved
from unseen.io.tables import parse_table
from unseen.models import MODELS
from unseen.prepare.preparer import Preparer
from unseen.prepare.words import BUCKETS
from unseen.saved_model import check_learned, check_params, check_settings, is_texts
from unseen.select.calibration import Calibration
from unseen.select.cross_validation import Choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.estimator import ZeroShotNodeClassifier

MODEL = "model/"


def load(folder: Path | str, *, model: Any = None, encoder: Any = None) -> ZeroShotNodeClassifier:
    """Read a classifier from a model folder, or from a run folder with its graph and posterior."""
    whole = Path(folder)

    def read(saved: Saved) -> ZeroShotNodeClassifier:
        if MODEL + MANIFEST not in saved:
            return _read_model(saved, model, encoder)
        inner = Saved(whole / MODEL)
        classifier = _read_model(inner, model, encoder)
        for name in (MANIFEST, "model.json"):
            saved.bytes(MODEL + name)  # the model of this very run, not of one that came after it
        _read_graph(classifier, saved)
        return classifier

    if (whole / MODEL / MANIFEST).is_file() and not (whole / MANIFEST).is_file():
        Saved(whole)  # says that it is not finished
    return read_saved(whole, read)


def _read_model(saved: Saved, model: Any, encoder: Any) -> ZeroShotNodeClassifier:
    path, settings = saved.folder, saved.json("model.json")
    if not isinstance(settings, dict) or settings.get("format") != FORMAT:
        found = settings.get("format") if isinstance(settings, dict) else None
        newer = isinstance(found, int) and found > FORMAT
        remedy = "update with pip install --upgrade unseen" if newer else "classify again"
        raise SavedFileError(
            f"{path}: has format {quoted(found) if isinstance(found, str) else found}, but this "
            f"version of unseen reads {FORMAT}; {remedy}"
        )
    check_settings(path / "model.json", settings)
    arrays = _arrays(saved)
    kinds = {name: f"{array.dtype.str} {list(array.shape)}" for name, array in arrays.items()}
    if settings["arrays"] != kinds:
        raise SavedFileError(
            f"{path / 'arrays.safetensors'}: does not hold the arrays that model.json tells of; "
            "save the model again"
        )
    for name in saved.digests:
        saved.bytes(name)  # one that is not used is as it was written, too
    try:
        return _classifier(settings, arrays, model, encoder)
    except SavedFileError as error:
        raise SavedFileError(f"{path}: {error}") from error
    except UnseenError:
        raise
    except Exception as error:  # a state that does not fit its model fails in many ways
        raise SavedFileError(
            f"{path}: is not a complete model ({quoted(error)}); save it again"
        ) from error


def _arrays(saved: Saved) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model: finite numbers, or positions."""
    from safetensors.numpy import load

    path, raw = saved.folder / "arrays.safetensors", saved.bytes("arrays.safetensors")
    try:
        found: dict[str, NDArray[Any]] = load(raw)
    except Exception as error:  # a header can be damaged in many ways
        raise SavedFileError(
            f"{path}: is no safetensors file that can be read ({quoted(error)}); save it again"
        ) from error
    for name, array in found.items():
        if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
            raise SavedFileError(
                f"{path}: {quoted(name)} holds values that are no finite numbers; save it again"
            )
    return {name: array.copy() for name, array in found.items()}  # what is loaded cannot be written


def _classifier(
    settings: dict[str, Any], arrays: dict[str, NDArray[Any]], model: Any, encoder: Any
) -> ZeroShotNodeClassifier:
    from unseen.estimator import ZeroShotNodeClassifier

    state = {**settings["state"], **arrays}
    strange = [name for name in state if not name.startswith(("model.", "preparer.", "classes."))]
    if strange:
        raise SavedFileError(f"model: {quoted(strange[0])} is nothing that unseen has learned")

    def part(prefix: str) -> dict[str, Any]:
        return {n.removeprefix(prefix): v for n, v in state.items() if n.startswith(prefix)}

    if settings["model"] is None and model is None:
        raise InputError("model: the saved one was your own; give an unfitted one as `model=`")
    if settings["encoder"] is None and encoder is None:
        raise InputError("encoder: the saved one was your own; give it as `encoder=`")
    if settings["model"] is not None:
        if settings["model"] not in MODELS:
            raise SavedFileError(f"model: {quoted(settings['model'])} is none that unseen knows")
        model = MODELS[settings["model"]]()
        check_params(model.get_params(), settings["params"])
        model.set_params(**settings["params"])
    encoder = settings["encoder"] if encoder is None else encoder
    found = ZeroShotNodeClassifier(
        encoder=encoder,
        **{name: settings[name] for name in ("among", "abstain", "open_world", "device", "seed")},
    )
    vectors = arrays.get("classes.vectors")
    found.class_texts_ = Classes(settings["classes"], settings["descriptions"], vectors)
    found.classes_ = np.array(found.class_texts_.names, dtype=object)
    found.seen_ = tuple(settings["seen"])
    if not set(found.seen_) <= set(found.class_texts_.names):
        raise SavedFileError("model: a class that was seen is none of its classes; save it again")
    names = settings.get("feature_names")
    found.feature_names_ = None if names is None else tuple(names)
    found.model_ = model.restore(part("model."))
    if settings["model"] is not None:
        check_learned(found.model_, part("model."))
    for name in getattr(model, "by_class", ()):
        rows = getattr(found.model_, name, None)
        if isinstance(rows, np.ndarray) and (rows.ndim == 0 or len(rows) != len(found.classes_)):
            raise SavedFileError(f"model: `{name}` has not one row a class; save it again")
    found.preparer_ = _checked(Preparer(encoder, settings["device"]).restore(part("preparer.")))
    found.calibration_ = Calibration(**settings["calibration"])
    found.choices_ = tuple(Choice(**choice) for choice in settings["choices"])
    found.warnings_ = ()
    return found


def _checked(preparer: Preparer) -> Preparer:
    """Refuse a preparation whose parts are not of the kinds and shapes that belong together."""
    named = all(
        isinstance(getattr(preparer, name), str)
        for name in ("encoder_", "identity_", "class_text_")
    )
    centres = [preparer.node_centre_, *preparer.class_centres_.values()]
    vectors = all(
        isinstance(c, np.ndarray) and c.ndim == 1 and c.dtype.kind == "f" for c in centres
    )
    sound = named and vectors and isinstance(preparer.shared_, bool)
    for read in preparer.word_readers:
        words, width = len(read.words), read.directions.shape[-1]
        sound &= read.directions.shape == (words, width) and read.idf.shape == (words,)
        sound &= read.node_centre.shape == read.class_centre.shape == (width,)
        sound &= read.words.dtype.kind == "i" and bool((np.diff(read.words) > 0).all())
        sound &= words > 0 and read.words[0] >= 0 and read.words[-1] < BUCKETS
    match = preparer.match_
    sound &= match is None or (match.scale.shape == (1,) and bool(match.scale[0] > 0))
    if not sound:
        raise SavedFileError("model: its centres or words do not belong together; save it again")
    return preparer


def _read_graph(classifier: ZeroShotNodeClassifier, saved: Saved) -> None:
    """Take up graph, labels and posterior of a run; one of another graph has no posterior."""
    posterior, kept = "graph/posterior.npy", saved.folder / "graph"
    if posterior not in saved:
        return
    record = saved.json("record.json")
    about = record.get("graph") if isinstance(record, dict) else None
    if not isinstance(about, dict) or not isinstance(about.get("directed"), bool):
        raise SavedFileError(
            f"{saved.folder / 'record.json'}: does not say whether edges are directed; "
            "classify again"
        )
    nodes, edges = (
        parse_table(saved.bytes(f"graph/{name}"), str(kept / name))
        for name in ("nodes.parquet", "edges.parquet")
    )
    features, words, columns = None, None, None
    if "graph/features.npz" in saved:
        features = parse_features(
            saved.bytes("graph/features.npz"),
            str(kept / "features.npz"),
            nodes.frame.height,
            nodes.name,
        )
    if "graph/vocabulary.json" in saved:
        words = parse_vocabulary(
            saved.bytes("graph/vocabulary.json"), str(kept / "vocabulary.json")
        )
    if "graph/columns.json" in saved:
        columns = parse_json(saved.bytes("graph/columns.json"), kept / "columns.json")
        if not is_texts(columns):
            raise SavedFileError(f"{kept / 'columns.json'}: is no list of names; classify again")
    content = node_content(nodes, USUAL, features) | {"feature_names": columns}
    graph = build_graph(content, nodes, edges, about["directed"], USUAL, vocabulary=words)
    classifier.graph_ = graph
    classifier.labels_ = labels_of(nodes, graph, classifier.class_texts_)
    classifier.posterior_ = _posterior(
        saved.bytes(posterior), saved.folder / posterior, (graph.nodes, len(classifier.classes_))
    )


def _posterior(raw: bytes, path: Path, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Return one probability for each node and class. [n, C]"""
    try:
        found = load_array(raw)
    except Exception as error:  # a header can be damaged in many ways
        raise SavedFileError(f"{path}: cannot be read ({quoted(error)}); classify again") from error
    if (
        found.shape != shape
        or found.dtype != np.float32
        or not np.isfinite(found).all()
        or found.min(initial=0) < 0
        or abs(found.sum(axis=1, dtype=np.float64) - 1).max(initial=0) > 0.01  # rounded sums
    ):
        raise SavedFileError(f"{path}: does not fit the graph of the run; classify again")
    return found
