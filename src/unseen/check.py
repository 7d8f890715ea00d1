"""`check`: what a graph, its classes and its labels look like before anything is trained."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.csd.quality import class_prototypes, informative, quality
from unseen.encode.space import APART, embed
from unseen.models.agreement import judge_ties
from unseen.propagate.operators import Operator
from unseen.record import FEW_LABELS, READ_BETTER, problems
from unseen.vectors import unit

if TYPE_CHECKING:
    from unseen.classes import Classes, Labels
    from unseen.encode.base import Progress
    from unseen.graph import Graph

LONG_TEXT = 512  # words after which most encoders stop reading
SHORT_TEXT = 40  # words of a class description below which more of them helped on most graphs


def check(
    graph: Graph,
    classes: Classes,
    labels: Labels,
    *,
    encoder: str = "auto",
    device: str = "cpu",
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return counts, repairs, class balance, CSD quality, agreement of ties, likely problems."""
    space = embed(graph, classes, encoder, device, progress)
    X = unit(space.nodes - space.nodes.mean(axis=0))
    seen = labels.seen()
    found: dict[str, Any] = {
        "graph": {
            "nodes": graph.nodes,
            "edges": graph.edges,
            "directed": graph.directed,
            "described_by": space.encoder,
        },
        "repaired": asdict(graph.repairs),
        "classes": {name: int((labels.of == c).sum()) for c, name in enumerate(classes.names)},
        "labelled": int(labels.known.sum()),
        "csd_quality": {},
    }
    if informative(len(seen)):
        prototypes = class_prototypes(X, labels.of, seen)
        for kind, vectors in space.csds.items():
            S = unit(vectors - vectors.mean(axis=0))[seen]
            found["csd_quality"][kind] = {
                measure: round(float(quality(prototypes, S, measure)), 5)
                for measure in ("kl", "cosine", "euclidean")
            }
    kind = next(iter(space.csds))
    S = unit(space.csds[kind] - space.csds[kind].mean(axis=0))
    likely = problems(graph.nodes, graph.repairs.isolated_nodes, classes.names, S @ S.T)
    if space.shared:
        rng = np.random.default_rng(seed)
        ties = judge_ties(X, X @ S.T, labels.of, Operator(graph.adjacency), rng)
        found["agreement"] = {
            "level": round(ties.level, 3),
            "measured_on_labels": ties.measured,
            "usable": ties.usable > 0,
        }
        if graph.edges and not ties.usable:
            likely.append("Neighbours hardly agree on a class: the graph will be left aside.")
    elif len(seen) < 2:
        likely.append(
            "Features have no names and fewer than two classes have labels: "
            "classify will refuse; give texts, a vocabulary or more labels."
        )
    else:
        likely.append(
            "Features have no names: clusters of nodes get theirs by how class texts relate, which "
            "is right or wrong for many nodes at once; texts or a vocabulary are far better."
        )
        if space.encoder in APART:
            likely.append(READ_BETTER)
    likely += _label_problems(classes, labels) + _text_problems(graph, classes)
    found["problems"] = likely
    return found


def _label_problems(classes: Classes, labels: Labels) -> list[str]:
    few = [
        f"Class {classes.names[c]!r} has only {count} labelled nodes."
        for c, count in zip(*np.unique(labels.of[labels.known], return_counts=True), strict=True)
        if count < FEW_LABELS
    ]
    if labels.known.all():
        few.append("Every node has a label: nothing is left to classify.")
    return few


def _text_problems(graph: Graph, classes: Classes) -> list[str]:
    found = []
    if not any(classes.descriptions or ()):
        found.append("Classes have names only; a paragraph about each usually helps.")
    elif (words := _median_words(classes)) < SHORT_TEXT:
        found.append(
            f"Class descriptions are short ({words} words); a paragraph and typical terms of each "
            "usually help."
        )
    if graph.texts is not None:
        shared = graph.nodes - len(set(graph.texts))
        if shared > 0.2 * graph.nodes:
            found.append(f"{shared:,} nodes share their text with an earlier node.")
        long = sum(text.count(" ") > LONG_TEXT for text in graph.texts)
        if long:
            found.append(f"{long:,} texts are longer than {LONG_TEXT} words; the gist may drown.")
    return found


def _median_words(classes: Classes) -> int:
    return int(np.median([len((about or "").split()) for about in classes.descriptions or ()]))
