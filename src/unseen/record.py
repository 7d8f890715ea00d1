"""The record of a run: what went in, what was chosen and why, what came out. Plain JSON."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import distributions, version
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.csd.quality import class_prototypes, informative, quality
from unseen.encode.space import APART, KINDS
from unseen.models.align import Align
from unseen.models.refine import Refine
from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.space import Space
    from unseen.prediction import Prediction
    from unseen.validate import Choice

PACKAGES = ("numpy", "scipy", "scikit-learn", "polars", "torch", "wordllama", "pot")
FEW_LABELS = 5
READ_BETTER = "Class texts alone decide here: --encoder minilm reads them better than the default."
MANY_CLASSES = 200  # above which nobody looks at a table of all pairs
ALIKE = 0.6  # cosine of two centred CSDs above which their classes will be confused


def describe(
    prediction: Prediction,
    space: Space,
    allowed: NDArray[np.bool_],
    settings: dict[str, Any],
    choices: list[Choice],
    steps: list[dict[str, Any]],
    seconds: float,
) -> dict[str, Any]:
    """Return the record of a prediction."""
    classifier, graph = prediction.classifier, prediction.graph
    csds = (
        classifier.class_vectors(space)
        if len(space.csds["name"]) == len(prediction.classes)
        else None
    )
    similarity = None if csds is None or len(csds) > MANY_CLASSES else csds @ csds.T
    record = {
        "unseen": version("unseen"),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 2),
        "settings": settings,
        "versions": versions(),
        "graph": {
            "nodes": graph.nodes,
            "edges": graph.edges,
            "directed": graph.directed,
            **asdict(graph.repairs),
            "labelled": int(prediction.labels.known.sum()),
            "unlabelled": len(prediction),
        },
        "abstained": int((prediction.label < 0).sum()),
        "classes": _classes(prediction),
        "class_similarity": [] if similarity is None else np.round(similarity, 4).tolist(),
        **_quality(prediction, space, csds),
        "choices": [asdict(choice) for choice in choices],
        "steps": steps,
        "agreement": _agreement(prediction),
        "hop_share": _shares(prediction),
    }
    record["warnings"] = _warnings(prediction, similarity, allowed)
    return record


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Return the versions of what a result may depend on; what is not installed is left out."""
    installed = {package.name.lower(): package.version for package in distributions()}
    found = {name: installed[name] for name in packages if name in installed}
    return {"python": platform.python_version(), **found}


def _classes(prediction: Prediction) -> list[dict[str, Any]]:
    rows = []
    for c, name in enumerate(prediction.classes.names):
        given = prediction.label == c
        labelled = int((prediction.labels.of == c).sum())
        rows.append(
            {
                "name": name,
                "description": (prediction.classes.descriptions or ())[c],
                "seen": name in prediction.classifier.seen or labelled > 0,
                "labelled": labelled,
                "predicted": int(given.sum()),
                "confidence": round(float(prediction.confidence[given].mean()), 4)
                if given.any()
                else None,
            }
        )
    return rows


def _quality(
    prediction: Prediction, space: Space, csds: NDArray[np.float32] | None
) -> dict[str, Any]:
    """Eq. 1-3 on labelled classes, where three or more are seen; on predicted ones otherwise."""
    seen = prediction.labels.seen()
    of = prediction.labels.of
    basis = f"labelled nodes of {len(seen)} seen classes"
    if not informative(len(seen)):
        of = prediction.labels.of.copy()
        of[prediction.nodes] = prediction.label
        seen = np.unique(of[of >= 0])
        basis = f"predicted classes ({len(seen)}), since fewer than three have labels"
    if csds is None or not informative(len(seen)):
        note = "needs at least three classes: with two, Eq. 1-3 is constant"
        return {"csd_quality": None, "csd_quality_note": note}
    prototypes = class_prototypes(unit(space.nodes - space.nodes.mean(axis=0)), of, seen)
    measured = {
        measure: round(float(quality(prototypes, csds[seen], measure)), 5)
        for measure in ("kl", "cosine", "euclidean")
    }
    return {"csd_quality": {"basis": basis, **measured}, "csd_quality_note": ""}


def _agreement(prediction: Prediction) -> dict[str, Any]:
    model = prediction.classifier.model
    if not isinstance(model, Refine):
        return {"level": 0.0, "information": 0.0, "control": 0.0, "measured": False, "used": True}
    found = model.agreement_
    return {
        "level": round(found.level, 3),
        "information": round(found.information, 4),
        "control": round(found.control, 4),
        "measured": found.measured,
        "used": found.usable > 0,
    }


def _shares(prediction: Prediction) -> dict[str, Any]:
    shares = prediction.hop_shares
    by_class = {
        name: np.round(shares[prediction.label == c].mean(axis=0), 4).tolist()
        for c, name in enumerate(prediction.classes.names)
        if (prediction.label == c).any()
    }
    return {"hops": np.round(shares.mean(axis=0), 4).tolist(), "by_class": by_class}


def _warnings(
    prediction: Prediction,
    similarity: NDArray[np.float32] | None,
    allowed: NDArray[np.bool_],
) -> list[str]:
    graph, names = prediction.graph, prediction.classes.names
    found = problems(graph.nodes, graph.repairs.isolated_nodes, names, similarity)
    model = prediction.classifier.model
    if isinstance(model, Refine) and graph.edges and not model.agreement_.usable:
        why = (
            "agree less than strangers with similar texts"
            if model.agreement_.misleading
            else ("hardly agree on a class")
        )
        found.append(f"The graph was left aside: neighbours {why}.")
    if isinstance(model, Align) and len(model.shares_) > 1:
        found.append(
            "Features without names: clusters of nodes were named by how classes relate, which is "
            f"expected to be right for {model.expected:.0%} of the nodes that were clustered."
        )
        if prediction.classifier.encoder in APART:
            found.append(READ_BETTER)
    if graph.texts is not None and graph.features is not None:
        used = prediction.classifier.encoder.partition(":")[0]
        left = "texts" if used in KINDS else "features"
        found.append(f"Nodes have texts and features; the {left} were not used.")
    for c in prediction.labels.seen():
        count = int((prediction.labels.of == c).sum())
        if count < FEW_LABELS:
            found.append(f"Class {names[c]!r} has only {count} labelled nodes.")
    given = np.bincount(prediction.label[prediction.label >= 0], minlength=len(names))
    empty = [names[c] for c in np.flatnonzero(allowed & (given == 0)).tolist()]
    if empty:
        found.append(f"No node was given the class {', '.join(map(repr, empty[:5]))}.")
    return found


def problems(
    nodes: int, isolated: int, names: Any, similarity: NDArray[np.float32] | None
) -> list[str]:
    """Return what is likely to cost accuracy, seen from the inputs alone."""
    found = []
    if isolated > 0.3 * nodes:
        found.append(f"{isolated:,} of {nodes:,} nodes have no neighbour: only their texts count.")
    if similarity is not None:
        rows, columns = np.where(np.triu(similarity, 1) > ALIKE)
        for a, b in list(zip(rows.tolist(), columns.tolist(), strict=True))[:5]:
            found.append(
                f"Classes {names[a]!r} and {names[b]!r} read almost alike "
                f"(cosine {similarity[a, b]:.2f}): describe what tells them apart."
            )
    return found
