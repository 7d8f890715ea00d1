"""Inference with a fitted classifier: other graphs, more classes, new nodes."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.abstain import check_abstain
from unseen.answer import Case, answer, check_work
from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.labels import Labels, allowed_classes
from unseen.core.operator import Operator
from unseen.io.build import aligned
from unseen.io.inputs import as_labels
from unseen.io.join import neighbourhood
from unseen.io.read import read_classes, read_inputs
from unseen.models.blocks import clamp
from unseen.prepare.encoded import APART
from unseen.record import Steps, record_of_both
from unseen.run import load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.graph import Graph
    from unseen.prediction import Prediction
    from unseen.prepare.encoded import Encoded


def with_classes(
    classifier: Any,
    graph: Graph,
    classes: Classes,
    labels: Labels,
    allowed: NDArray[np.bool_],
    nodes: NDArray[np.int64] | None = None,
) -> Prediction:
    """Answer with classes of which some may be new: the classifier of the answer knows them all.

    New classes are known by their descriptions and learn from the unlabelled nodes at hand; the
    others stay as they were fitted.
    """
    steps = Steps(classifier.progress)
    encoded = _encode(classifier, graph, classes, steps)
    task = classifier.preparer_.task(encoded, graph, labels, allowed)
    new = classes.names[len(classifier.class_texts_) :]
    twin = copy(classifier)
    with steps("add classes") as step:
        if new:
            if not hasattr(classifier.model_, "add_classes"):
                raise InputError(
                    f"classes: {type(classifier.model_).__name__} cannot take up classes after it "
                    "was fitted; fit again with all of them"
                )
            twin.model_ = classifier.model_.add_classes(task)
            twin.class_texts_ = classes
            twin.classes_ = np.array(classes.names, dtype=object)
        step["detail"] = ", ".join(new) or "none"
    twin.graph_, twin.labels_ = graph, labels  # what it is asked next is about this graph
    found, twin.posterior_ = answer(twin, Case(graph, labels, classes, task, encoded, nodes), steps)
    vars(twin).pop("prediction_", None)
    if nodes is None:
        twin.prediction_ = found
    return found


def explain(
    classifier: Any,
    graph: Graph,
    wanted: Classes,
    given: Any,
    among: str,
    nodes: NDArray[np.int64] | None = None,
) -> Prediction:
    """Answer about a graph, with one of the classes that are wanted for each node.

    Args:
        given: labels; positions follow `wanted`, names may be of any class that was fitted.
        nodes: which nodes to answer; all without a label when left out.
    """
    wanted.check_choice()
    graph = _with_columns(classifier, graph)
    classes = classifier.class_texts_.joined(wanted)
    check_abstain(classifier.abstain, classes, classifier.open_world)
    labels = labels_among(given, graph, wanted, classes)
    allowed = allowed_classes(among, labels, classes) & np.isin(classes.names, wanted.names)
    if among == "unseen":
        allowed &= ~np.isin(classes.names, classifier.seen_)
    if not allowed.any():
        raise InputError("among: no class is left to choose from; list other classes or use 'all'")
    check_work(labels)
    return with_classes(classifier, graph, classes, labels, allowed, nodes)


def _with_columns(classifier: Any, graph: Graph) -> Graph:
    """Return the graph with the feature columns that were fitted, found by name."""
    names = getattr(classifier, "feature_names_", None)
    if graph.features is None or classifier.preparer_.encoder_.partition(":")[0] not in APART:
        return graph
    had = {"features": graph.features, "feature_names": graph.feature_names or graph.vocabulary}
    found = aligned(had, names, "nodes", "the model")
    if found["features"] is graph.features:
        return graph
    return replace(graph, **found, vocabulary=None)  # columns are named, and not read as words


def labels_among(given: Any, graph: Graph, wanted: Classes, everything: Classes) -> Labels:
    """Read labels whose positions follow `wanted`, and whose names may be of any class."""
    rest = [name for name in everything.names if name not in wanted.names]
    ordered, index = Classes([*wanted.names, *rest]), everything.index()
    place = np.array([*(index[name] for name in ordered.names), -1], dtype=np.int64)
    return Labels(place[as_labels(given, graph, ordered).codes])


def with_nodes(
    classifier: Any, graph: Graph, given: Labels
) -> tuple[Prediction, NDArray[np.float32]]:
    """Answer nodes that are new in the fitted graph; the posterior is that of these nodes alone.

    Args:
        graph: the fitted one, followed by the new nodes.
        given: what new nodes are known to be; the old ones keep the labels they were fitted with.
    """
    old, classes = classifier.graph_.nodes, classifier.class_texts_
    labels = Labels(np.append(classifier.labels_.codes, given.codes[old:]))
    check_work(labels, old)
    new, steps = np.arange(old, graph.nodes), Steps(classifier.progress)
    asked = new[~labels.known[new]]
    allowed = allowed_classes(classifier.among, labels, classes)
    if not getattr(classifier.model_, "adds_nodes", False):
        encoded = _encode(classifier, graph, classes, steps)
        task = classifier.preparer_.task(encoded, graph, labels, allowed)
        found, posterior = answer(
            classifier, Case(graph, labels, classes, task, encoded, asked), steps
        )
        return found, posterior[new]
    part, halo = neighbourhood(graph, asked)  # neighbours speak through their posteriors
    posterior = np.zeros((graph.nodes, len(classes)), dtype=np.float32)
    posterior[:old] = classifier.posterior_
    clamp(posterior, labels.codes)
    encoded = _encode(classifier, part, classes, steps)
    task = replace(
        classifier.preparer_.task(encoded, part, Labels.none(part.nodes), allowed),
        operator=Operator(part.adjacency, (graph.operator, np.append(asked, halo))),
        fixed_nodes=np.arange(len(asked), part.nodes),
        fixed=posterior[halo],
    )
    found, inferred = answer(
        classifier, Case(graph, labels, classes, task, encoded, asked, halo), steps
    )
    posterior[asked] = inferred[: len(asked)]
    return found, posterior[new]


def _encode(classifier: Any, graph: Graph, classes: Classes, steps: Steps) -> Encoded:
    with steps("encode") as step:
        found: Encoded = classifier.preparer_.encode(graph, classes, steps.progress)
        step["detail"] = f"{found.encoder}, {found.nodes.shape[1]} dimensions"
    return found


def predict_files(
    model: Path,
    nodes: Path,
    edges: Path | None,
    class_file: Path | None,
    *,
    with_run: Path | None,
    everything: bool,
    settings: dict[str, Any],
    reading: dict[str, Any],
) -> Prediction:
    """Answer files with a saved classifier: `unseen predict`.

    Args:
        with_run: a run whose graph the nodes join; only they are answered, unless `everything`.
        settings: `among`, `abstain`, `device` and `progress`, as in `ZeroShotNodeClassifier`.
        reading: of the files, as in `read_graph`.
    """
    if everything and with_run is None:
        raise InputError("all: answers all nodes of a run; name it with --with-run, or leave --all")
    classifier = load(model)
    classifier.set_params(**settings)
    classifier.preparer_.device = settings["device"]
    beside = None
    if with_run is not None:
        beside = load(with_run)
        if not hasattr(beside, "graph_"):
            raise InputError(f"{with_run}: holds no graph to join; give the folder of a run")
    classes = classifier.class_texts_ if class_file is None else read_classes(class_file)
    known = classifier.class_texts_.joined(classes)  # labels may name a class not asked for
    old = None if beside is None else beside.graph_
    graph, _, labels = read_inputs(nodes, edges, known, beside=old, **reading)
    if beside is None or old is None:
        return explain(classifier, graph, classes, labels.named(known, graph), settings["among"])
    before = beside.labels_.named(beside.class_texts_, old)
    labels.codes[: old.nodes] = Labels.from_mapping(before, old, known).codes
    first = 0 if everything else old.nodes
    check_work(labels, first)
    asked = first + np.flatnonzero(~labels.known[first:])
    same = classes.names == classifier.class_texts_.names == beside.class_texts_.names
    if everything or not same:
        named = labels.named(known, graph)
        return explain(classifier, graph, classes, named, settings["among"], asked)
    for name in ("graph_", "labels_", "posterior_"):
        setattr(classifier, name, getattr(beside, name))
    found, posterior = with_nodes(classifier, graph, labels)
    classifier.graph_, classifier.labels_ = graph, found.labels
    classifier.posterior_ = np.concatenate([classifier.posterior_, posterior])
    return found


def followed(earlier: Prediction, later: Prediction) -> Prediction:
    """Return answers, and those about nodes that were added since, with a record of both."""
    both = earlier.followed_by(later)
    return replace(both, record=record_of_both(both, earlier.record))
