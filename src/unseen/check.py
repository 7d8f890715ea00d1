r"""`check`: what a graph, its classes and its labels look like before anything is fitted.

Which class text to improve first: with :math:`p_{ic}`, what the texts of node i and of class c
alone say, class c is told apart from the others by

.. math:: t_c = \frac{\sum_i p_{ic}^2}{\sum_i p_{ic}}, \qquad 1 / C \le t_c \le 1 ,

and most confused with the class b whose :math:`\sum_i p_{ic} p_{ib}` is largest. p [n, C], t [C].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.answer import check_seed
from unseen.core.arrays import masked, softmax, unit
from unseen.core.labels import allowed_classes
from unseen.csd.quality import class_prototypes, informative, quality
from unseen.encode.class_texts import class_text_words
from unseen.io.inputs import as_classes, as_graph, as_labels
from unseen.models.homophily import estimate_homophily
from unseen.prepare.encoded import APART
from unseen.prepare.preparer import Preparer
from unseen.record import (
    FEW_LABELS,
    READ_BETTER,
    Steps,
    few_labels_warning,
    input_problems,
    repaired,
)
from unseen.select.default import HARDLY_FIT, POOR_FIT, fit_to_words
from unseen.select.held_out_words import halve
from unseen.select.preparation import prepare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.core.graph import Graph
    from unseen.core.labels import Labels
    from unseen.encode.base import Progress

LONG_TEXT = 512  # words after which most encoders stop reading
SHORT_TEXT = 40  # words of a class description below which more of them helped on most graphs


def check(
    graph: Any,
    classes: Any,
    labels: Any = None,
    *,
    encoder: Any = "auto",
    among: str = "all",
    device: str = "cpu",
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return counts, repairs, class balance, CSD quality, edge homophily and likely problems.

    Nodes and classes are prepared as `classify` prepares them, so the homophily is the one that it
    works with.
    """
    check_seed(seed)
    graph, classes = as_graph(graph), as_classes(classes)
    classes.check_choice()
    known = as_labels(labels, graph, classes)
    allowed = allowed_classes(among, known, classes)
    preparer, steps = Preparer(encoder, device), Steps(progress)
    prepared = prepare(
        preparer, graph, classes, known, allowed, seed=seed, step=steps, progress=progress
    )
    task, encoded, seen = prepared.task, prepared.encoded, known.seen()
    found: dict[str, Any] = {
        "graph": {
            "nodes": graph.nodes,
            "edges": graph.edges,
            "directed": graph.directed,
            "described_by": encoded.encoder,
        },
        "repaired": repaired(graph),
        "classes": {name: int((known.codes == c).sum()) for c, name in enumerate(classes.names)},
        "labelled": int(known.known.sum()),
        "class_texts": prepared.choice.chosen,
        "csd_quality": {},
    }
    if informative(len(seen)):
        prototypes = class_prototypes(preparer.centred(encoded), known.codes, seen)
        for kind in encoded.csds:
            S = preparer.class_vectors(encoded, kind)[seen]
            found["csd_quality"][kind] = {
                measure: round(float(quality(prototypes, S, measure)), 5)
                for measure in ("kl", "cosine", "euclidean")
            }
    S = preparer.class_vectors(encoded)
    problems = input_problems(graph, classes.names, S @ S.T)
    if task.shared:
        X, rng = unit(task.X), np.random.default_rng(seed)
        scores = masked(X @ unit(task.S).T, allowed)
        homophily = estimate_homophily(X, scores, known.codes, graph.operator, rng)
        found["homophily"] = {
            "level": round(homophily.level, 3),
            "measured_on_labels": homophily.measured,
            "usable": homophily.usable > 0,
        }
        found["told_apart"] = told_apart(
            softmax(scores[X.any(axis=1)] / np.float32(homophily.temperature)), classes, allowed
        )
        if graph.edges and not homophily.usable:
            problems.append("Neighbours hardly agree on a class: they will have little say.")
        view = None if prepared.folds else halve(prepared, graph, classes, known, seed)
        if view is not None:
            words = class_text_words(classes, preparer.class_text_)
            kappa = fit_to_words(view, words, seed)
            found["fit_to_words"] = round(kappa, 3)
            if kappa < POOR_FIT:
                problems.append(HARDLY_FIT.format(max(kappa, 0.0)))
    elif len(seen) < 2:
        problems.append(
            "Features have no names and fewer than two classes have labels: "
            "classify will refuse; give texts, a vocabulary or more labels."
        )
    else:
        problems.append(
            "Features have no names: clusters of nodes are matched to classes by how class texts "
            "relate, which is right or wrong for many nodes at once; texts or a vocabulary are far "
            "better."
        )
        if encoded.encoder in APART:
            problems.append(READ_BETTER)
    found["problems"] = problems + _label_problems(classes, known) + _text_problems(graph, classes)
    return found


def told_apart(
    p: NDArray[np.float32], classes: Classes, allowed: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Return the classes, those least told apart by their texts first.

    Args:
        p: what texts alone say of each node. [n, C]
        classes: their names and texts.
        allowed: which of them a node may have. [C]
    """
    both = p.T.astype(np.float64) @ p  # [C, C]
    mass = np.maximum(p.sum(axis=0, dtype=np.float64), 1e-12)
    share = np.diag(both) / mass
    np.fill_diagonal(both, -1.0)
    texts = classes.descriptions or [""] * len(classes)
    order = [c for c in np.argsort(share, kind="stable").tolist() if allowed[c]]
    return [
        {
            "class": classes.names[c],
            "told_apart": round(float(share[c]), 3),
            "confused_with": classes.names[int(both[c].argmax())] if len(order) > 1 else "",
            "words": len((texts[c] or "").split()),
        }
        for c in order
    ]


def _label_problems(classes: Classes, labels: Labels) -> list[str]:
    few = [
        few_labels_warning(classes.names[c], int(count))
        for c, count in zip(*np.unique(labels.codes[labels.known], return_counts=True), strict=True)
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
