"""A saved model on another graph: the old one, the old one with new nodes, or one of its kind.

Nothing is trained again. Classes that came up after training are known by their descriptions and
may learn from the unlabelled nodes at hand; all other classes stay as they were.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from unseen.classes import Classes, Labels
from unseen.encode.space import embed
from unseen.errors import InputError
from unseen.pipeline import Steps, allowed_classes, answer, as_labels, check_work
from unseen.prediction import check_abstain
from unseen.propagate.operators import Operator

if TYPE_CHECKING:
    from unseen.classifier import Classifier
    from unseen.encode.base import Progress
    from unseen.graph import Graph
    from unseen.prediction import Prediction


def predict(
    classifier: Classifier,
    graph: Graph,
    classes: Classes | Sequence[str] | None = None,
    labels: Labels | Mapping[str, str] | None = None,
    *,
    among: str = "all",
    abstain: float | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> Prediction:
    """Give every unlabelled node of a graph one of the classes, with a model made earlier.

    Args:
        classifier: from `unseen.load`, or `Prediction.classifier`.
        graph: nodes described as those of the first graph were.
        classes: the classes to choose from; the model's own when left out. Those it does not know
            are added, those it knows but that are not listed are left out.
        labels: what some nodes of this graph are known to be; positions follow `classes`.
        among: "all", or "unseen" for classes without a labelled node, in training or now.
        abstain: as in `classify`.
        device: for encoders that run a network.
        progress: as in `classify`.
    """
    began, steps = time.perf_counter(), Steps(progress, total=3)
    wanted = classifier.classes if classes is None else classes
    wanted = wanted if isinstance(wanted, Classes) else Classes(wanted)
    everything = classifier.classes.joined(wanted)
    abstain = check_abstain(abstain, everything)
    if isinstance(labels, Labels):
        known = _moved(as_labels(labels, graph, wanted), wanted, everything)
    else:  # names may be of any class, asked for or not
        known = as_labels(labels, graph, everything)
    allowed = allowed_classes(among, known, everything)
    allowed &= np.isin(everything.names, wanted.names)
    if among == "unseen":
        allowed &= ~np.isin(everything.names, classifier.seen)
    if not allowed.any():
        raise InputError("among: no class is left to choose from; list other classes or use 'all'")
    check_work(graph, known)
    operator = Operator(graph.adjacency)
    with steps("encode") as step:
        counted = classifier.terms is not None
        space = embed(graph, everything, classifier.encoder, device, progress, count_words=counted)
        step["detail"] = f"{space.encoder}, {space.nodes.shape[1]} dimensions"
    if space.identity != classifier.identity:
        raise InputError(
            f"encoder: {classifier.encoder!r} is not the version that the model was made with, so "
            "its vectors may differ; classify again, or install the version named in the record"
        )
    new = everything.names[len(classifier.classes) :]
    with steps("add classes") as step:
        if new:
            classifier = classifier.with_classes(
                everything,
                classifier.csds_of(space)[len(classifier.classes) :],
                classifier.hops_of(space, operator),
                known.of,
                operator,
                allowed,
            )
        step["detail"] = ", ".join(new) or "none"
    settings = {"encoder": space.encoder, "among": among, "device": device, "saved model": True}
    settings["abstain"] = abstain
    return answer(classifier, graph, known, allowed, space, operator, steps, settings, [], began)


def _moved(labels: Labels, old: Classes, new: Classes) -> Labels:
    """Translate class positions from one list of classes to a longer one."""
    index = new.index()
    place = np.array([*(index[name] for name in old.names), -1], dtype=np.int64)
    return Labels(place[labels.of])
