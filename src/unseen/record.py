"""The record of a run: what went in, what was chosen and why, what came out. Plain JSON."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.abstain import check_abstain
from unseen.core.errors import SavedFileError
from unseen.csd.quality import class_sums, informative, quality
from unseen.engines.base import engine_of
from unseen.io.saved import read_json
from unseen.prepare.encoded import APART, KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.answer import Case
    from unseen.core.graph import Graph
    from unseen.encode.base import Progress
    from unseen.prediction import Prediction

PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "torch", "wordllama")
FEW_LABELS = 5
FEW_NODES = 300  # of a graph, below which outsiders are hardly told
READ_BETTER = "Class texts alone decide here: --encoder minilm reads them better than the default."
MANY_CLASSES = 200  # above which nobody looks at a table of all pairs
MOSTLY = 0.5  # share of answers that are labelled classes above which --among is worth a thought
ALIKE = 0.6  # cosine of two centred CSDs above which their classes will be confused


@dataclass
class Steps:
    """What was done and how long it took, reported to the user as it happens."""

    progress: Progress | None = None
    done: list[dict[str, Any]] = field(default_factory=list)
    total: int = 6
    began: float = field(default_factory=time.perf_counter)

    @contextmanager
    def __call__(self, name: str) -> Iterator[dict[str, Any]]:
        if self.progress is not None:
            self.progress(name, len(self.done), self.total)
        entry: dict[str, Any] = {"step": name, "seconds": 0.0, "detail": ""}
        start = time.perf_counter()
        threads = None if name == "encode" else 1  # thin products gain nothing from a second one
        with threadpool_limits(limits=threads, user_api="blas"):
            yield entry
        entry["seconds"] = round(time.perf_counter() - start, 3)
        self.done.append(entry)


def describe(prediction: Prediction, case: Case, steps: Steps) -> dict[str, Any]:
    """Return the record of a prediction."""
    classifier, graph = prediction.classifier, prediction.graph
    csds = classifier.preparer_.class_vectors(case.encoded)
    similarity = None if len(csds) > MANY_CLASSES else csds @ csds.T
    found = classifier.model_.describe() if hasattr(classifier.model_, "describe") else {}
    warnings = found.pop("warnings", [])
    return {
        "unseen": version("unseen"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - steps.began, 2),
        "settings": {
            "encoder": classifier.preparer_.encoder_,
            "among": classifier.among,
            "abstain": check_abstain(classifier.abstain, prediction.classes),
            "open_world": classifier.open_world,
            "device": classifier.device,
            "engine": engine_of(case.task).name,
            "seed": int(classifier.seed),
            "directed": graph.directed,
            "model": repr(classifier.model_)[:500],
        },
        "versions": versions(),
        "graph": {
            "nodes": graph.nodes,
            "edges": graph.edges,
            "directed": graph.directed,
            **repaired(graph),
            "labelled": int(prediction.labels.known.sum()),
            "unlabelled": len(prediction),
        },
        "abstained": int((prediction.label < 0).sum()),
        "classes": _classes(prediction),
        "class_similarity": [] if similarity is None else np.round(similarity, 4).tolist(),
        **_quality(prediction, case, csds),
        "choices": [asdict(choice) for choice in classifier.choices_],
        "steps": steps.done,
        "homophily": None,
        **found,
        "hop_share": _shares(prediction),
        "background": None
        if prediction.background is None
        else round(float(prediction.background.mean()), 4),
        "warnings": [
            *classifier.warnings_,
            *_warnings(prediction, case, similarity),
            *warnings,
        ],
    }


def record_of_both(prediction: Prediction, earlier: dict[str, Any]) -> dict[str, Any]:
    """Return the record of answers of which the last are about nodes that were added."""
    last = prediction.record
    return earlier | {
        "graph": last["graph"] | {"unlabelled": len(prediction)},
        "abstained": int((prediction.label < 0).sum()),
        "classes": _classes(prediction),
        "hop_share": _shares(prediction),
        "steps": earlier["steps"] + last["steps"],
    }


def read_record(run: Path) -> dict[str, Any]:
    """Return the record of a run; one that holds what `describe` never writes is refused."""
    found = read_json(run / "record.json")
    kinds = {"graph": dict, "classes": list, "warnings": list, "choices": list, "created": str}
    sound = isinstance(found, dict) and all(
        isinstance(found.get(name), kind) for name, kind in kinds.items()
    )
    sound = sound and type(found["graph"].get("labelled")) is int
    sound = sound and all(isinstance(each, str) for each in found["warnings"])
    if not sound or not all(isinstance(each, dict) for each in found["choices"]):
        raise SavedFileError(f"{run / 'record.json'}: is not the record of a run; classify again")
    return dict(found)


def repaired(graph: Graph) -> dict[str, Any]:
    """Return what was put right or left out while the graph was built, as JSON has it."""
    return asdict(graph.repairs) | {"unused_columns": list(graph.repairs.unused_columns)}


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Return the versions of what a result may depend on; what is not installed is left out."""
    found = {name: _installed()[name] for name in packages if name in _installed()}
    return {"python": platform.python_version(), **found}


@cache
def _installed() -> dict[str, str]:
    """Return the version of every package; looking through all of them takes 0.1 s."""
    return {package.name.lower(): package.version for package in distributions()}


def _classes(prediction: Prediction) -> list[dict[str, Any]]:
    rows = []
    for c, name in enumerate(prediction.classes.names):
        given = prediction.label == c
        labelled = int((prediction.labels.codes == c).sum())
        rows.append(
            {
                "name": name,
                "description": (prediction.classes.descriptions or ())[c],
                "seen": name in prediction.classifier.seen_ or labelled > 0,
                "labelled": labelled,
                "predicted": int(given.sum()),
                "confidence": round(float(prediction.confidence[given].mean()), 4)
                if given.any()
                else None,
            }
        )
    return rows


def _quality(prediction: Prediction, case: Case, csds: NDArray[np.float32]) -> dict[str, Any]:
    """Eq. 1-3 on labelled nodes, where three or more classes are seen.

    On answers it would be circular: they were made from the descriptions.
    """
    codes, seen = prediction.labels.codes, prediction.labels.seen()
    basis = f"labelled nodes of {len(seen)} seen classes"
    if case.halo is not None or not informative(len(seen)):
        note = "needs labelled nodes of three or more classes"
        return {"csd_quality": None, "csd_quality_note": note if case.halo is None else ""}
    X = prediction.classifier.preparer_.centred(case.encoded)
    total, count = engine_of(case.task).reduce(lambda X, y: class_sums(X, y, seen), X, codes)
    prototypes = total / count[:, None]
    measured = {
        measure: round(float(quality(prototypes, csds[seen], measure)), 5)
        for measure in ("kl", "cosine", "euclidean")
    }
    return {"csd_quality": {"basis": basis, **measured}, "csd_quality_note": ""}


def _shares(prediction: Prediction) -> dict[str, Any]:
    shares = prediction.hop_shares
    by_class = {
        name: np.round(shares[prediction.label == c].mean(axis=0), 4).tolist()
        for c, name in enumerate(prediction.classes.names)
        if (prediction.label == c).any()
    }
    return {"hops": np.round(shares.mean(axis=0), 4).tolist(), "by_class": by_class}


def _warnings(
    prediction: Prediction, case: Case, similarity: NDArray[np.float32] | None
) -> list[str]:
    graph, names = prediction.graph, prediction.classes.names
    found = input_problems(graph, names, similarity)
    if case.encoded.encoder in APART:
        found.append(READ_BETTER)
    if graph.texts is not None and graph.features is not None:
        used = case.encoded.encoder.partition(":")[0]
        left = "texts" if used in KINDS else "features"
        found.append(f"Nodes have texts and features; the {left} were not used.")
    labelled = prediction.labels.seen()
    for c in labelled:
        count = int((prediction.labels.codes == c).sum())
        if count < FEW_LABELS:
            found.append(few_labels_warning(names[c], count))
    given = np.bincount(prediction.label[prediction.label >= 0], minlength=len(names))
    seen = np.isin(names, (*prediction.classifier.seen_, *(names[c] for c in labelled)))
    known = int(given[seen].sum())
    if (case.task.allowed & ~seen).any() and known > MOSTLY * given.sum():
        found.append(
            f"{known:,} of {int(given.sum()):,} answers are classes that have labelled nodes. If "
            "the other nodes are of unseen classes only, say so: --among unseen."
        )
    empty = [names[c] for c in np.flatnonzero(case.task.allowed & (given == 0)).tolist()]
    if empty:
        found.append(f"No node was given the class {', '.join(map(repr, empty[:5]))}.")
    if prediction.classifier.open_world and graph.nodes < FEW_NODES:
        none = int((prediction.label < 0).sum())
        found.append(
            f'{none:,} of {len(prediction):,} nodes were answered "none of these": with fewer than '
            f"{FEW_NODES} nodes, --open gives up far too many."
        )
    return found


def few_labels_warning(name: str, count: int) -> str:
    """Warn of a class with few labelled nodes."""
    return f"Class {name!r} has only {count} labelled node{'' if count == 1 else 's'}."


def input_problems(
    graph: Graph, names: Sequence[str], similarity: NDArray[np.float32] | None
) -> list[str]:
    """Return what is likely to cost accuracy, seen from the inputs alone."""
    found, repairs = [], graph.repairs
    if graph.edges == 0:
        found.append("There are no edges: texts alone answer.")
    elif repairs.isolated_nodes > 0.3 * graph.nodes:
        found.append(
            f"{repairs.isolated_nodes:,} of {graph.nodes:,} nodes have no neighbour: only their "
            "texts count."
        )
    if repairs.nodes_without_text:
        found.append(
            f"{repairs.nodes_without_text:,} nodes have no text: their neighbours answer for them."
        )
    if repairs.unused_columns:
        found.append(f"Columns that were not used: {', '.join(repairs.unused_columns)}.")
    if similarity is not None:
        rows, columns = np.where(np.triu(similarity, 1) > ALIKE)
        for a, b in list(zip(rows.tolist(), columns.tolist(), strict=True))[:5]:
            found.append(
                f"Classes {names[a]!r} and {names[b]!r} read almost alike "
                f"(cosine {similarity[a, b]:.2f}): describe what tells them apart."
            )
    return found
