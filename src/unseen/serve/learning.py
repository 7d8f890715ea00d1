"""Learning from what people said: the same fit, of vectors that are in hand, without outsiders.

Nothing of a graph is encoded, centred or counted again as long as its nodes are the same: vectors
and hops are the arrays of the version that people looked at. What labels can choose is chosen anew,
and the model is fitted anew: the answers are those of `fit` with these labels.

Outsiders, of which people said "none of these", are no part of the graph that the model is fitted
on (`outsiders.py`).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from unseen.answer import Case, answer, check_work
from unseen.core.arrays import unit
from unseen.core.errors import UnseenError
from unseen.core.graph import Graph, Repairs
from unseen.core.labels import Labels, allowed_classes
from unseen.core.task import Task
from unseen.engines.base import engine_of
from unseen.estimator import ZeroShotNodeClassifier
from unseen.models.base import infer
from unseen.prepare.encoded import Encoded
from unseen.prepare.preparer import Preparer
from unseen.record import Steps
from unseen.select.cross_validation import folds_of
from unseen.select.fit import fit_prepared
from unseen.select.preparation import Prepared, choose_texts, prepare
from unseen.serve.editing import class_vectors_of, encoded_classes
from unseen.serve.outsiders import cut_off, with_outsiders

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.prediction import Prediction
    from unseen.serve.served import Served

FOLDS = 3  # of the labels that people gave
LEAST = 10  # labels below which nothing can be said about the model that learned from them


@dataclass(frozen=True, eq=False)
class Said:
    """What people said about nodes of a graph.

    Attributes:
        codes: label of each node, those of the run included, -1 where there is none. [n]
        given: positions of nodes whose label people gave. [g]
        outside: positions of nodes that people know to be of no listed class. [o]
    """

    codes: NDArray[np.int64]
    given: NDArray[np.int64]
    outside: NDArray[np.int64]


def learn(
    parent: Any, graph: Graph, said: Said, served: Served | None, among: Any
) -> tuple[Case, Prediction, NDArray[np.int64] | None]:
    """Fit again; return the case, its answers, and those about given labels in turn held out. [g]

    Args:
        parent: the classifier of the version that people looked at.
        graph: its graph, perhaps with nodes that came since.
        said: what people said.
        served: the version, where its nodes are those of the graph; None: all is read again.
        among: which classes may be answered.
    """
    fresh = ZeroShotNodeClassifier(
        encoder=parent.encoder,
        among=among,
        abstain=parent.abstain,
        open_world=parent.open_world,
        device=parent.device,
        seed=parent.seed,
        progress=parent.progress,
    )
    classes, labels, steps = parent.class_texts_, Labels(said.codes), Steps(parent.progress)
    allowed = allowed_classes(among, labels, classes)
    check_work(labels)
    if served is None or classes.vectors is not None:
        preparer = Preparer(parent.encoder, parent.device)
        prepared = prepare(
            *(preparer, graph, classes, labels, allowed),
            **{"seed": parent.seed, "step": steps, "progress": parent.progress},
        )
    else:
        preparer = copy(parent.preparer_)
        encoded, inputs = in_hand(preparer, served, classes), (graph, labels, allowed)
        folds, choice = choose_texts(preparer, encoded, *inputs, parent.seed, steps)
        task = task_in_hand(preparer, served, encoded, *inputs)
        prepared = Prepared(preparer, encoded, task, folds, choice)
    inside = np.setdiff1d(np.arange(graph.nodes), said.outside)
    with steps("fit") as step:
        part = _without(prepared, graph, classes, inside, parent.seed)
        fitted = fit_prepared(*part, None, parent.seed)
        step["detail"] = repr(fitted.model)
    with steps("hold out labels"):
        held_out = _held_out(fitted.model, part[0].task, np.searchsorted(inside, said.given))
    fresh.preparer_, fresh.model_ = prepared.preparer, fitted.model
    fresh.calibration_, fresh.choices_ = fitted.calibration, (prepared.choice, *fitted.choices)
    fresh.class_texts_, fresh.classes_ = classes, np.array(classes.names, dtype=object)
    fresh.warnings_, fresh.seen_ = fitted.warnings, tuple(classes.names[c] for c in labels.seen())
    fresh.graph_, fresh.labels_ = graph, labels
    fresh.feature_names_ = graph.feature_names or graph.vocabulary
    task = cut_off(prepared.task, graph, said.outside)
    case = Case(graph, labels, classes, task, prepared.encoded)
    prediction, fresh.posterior_ = answer(fresh, case, steps)
    fresh.posterior_[said.outside] = allowed / allowed.sum()  # which is to say nothing
    fresh.prediction_ = with_outsiders(prediction, said.outside)
    return case, fresh.prediction_, held_out


def in_hand(preparer: Preparer, served: Served, classes: Classes) -> Encoded:
    """Return nodes and classes as they were encoded, the nodes read from arrays."""
    X, centre = np.asarray(served.vectors), preparer.node_centre_
    nodes = unit(X[:, : len(centre)]) + centre  # up to their length, which centring takes away
    nodes[~X.any(axis=1)] = 0.0
    encoded = encoded_classes(preparer, classes, served.encoder, nodes)
    return replace(encoded, reader=served.encoder if served.reads_texts else None)


def task_in_hand(
    preparer: Preparer,
    served: Served,
    encoded: Encoded,
    graph: Graph,
    labels: Labels,
    allowed: NDArray[np.bool_],
) -> Task:
    """Return the task as the preparer makes it; node vectors and hops are read from arrays."""
    X, S = np.asarray(served.vectors), class_vectors_of(preparer, encoded)
    memo: dict[Any, Any] = {"unit": X}
    if not len(served.outside):  # hops over the very same edges
        memo["around"] = np.asarray(served.around)
    shared = bool(served.meta["shared"])
    return Task(X, S, labels.codes, graph.operator, allowed, shared, memo=memo)


def _without(
    prepared: Prepared, graph: Graph, classes: Classes, inside: NDArray[np.int64], seed: int
) -> tuple[Prepared, Graph, Classes, Labels]:
    """Return everything as if there were only these nodes."""
    task = prepared.task
    if len(inside) == graph.nodes:
        return prepared, graph, classes, Labels(task.labels)
    texts, ids = graph.texts, graph.ids or ()
    smaller = replace(
        graph,
        adjacency=graph.adjacency[inside][:, inside],
        texts=None if texts is None else [texts[i] for i in inside.tolist()],
        features=None if graph.features is None else graph.features[inside],
        ids=[ids[i] for i in inside.tolist()],
        repairs=Repairs(),
    )
    X = task.X[inside]
    memo = {"unit": X} if "unit" in task.memo else {}
    part = replace(task, X=X, labels=task.labels[inside], operator=smaller.operator, memo=memo)
    encoded: Encoded = replace(
        prepared.encoded, nodes=engine_of(task).take(prepared.encoded.nodes, inside)
    )
    found = replace(prepared, encoded=encoded, task=part, folds=folds_of(part, seed))
    return found, smaller, classes, Labels(part.labels)


def _held_out(model: Any, task: Task, given: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return what the model says of each given label that it is not shown, a third at a time. [g]

    None, where there are too few of them, or where the model cannot be fitted without some.
    """
    if len(given) < LEAST:
        return None
    found = np.full(len(given), -1)
    for _, held in KFold(FOLDS, shuffle=True, random_state=0).split(given):
        labels = task.labels.copy()
        labels[given[held]] = -1
        hidden = task.known(labels)
        try:
            posterior = infer(clone(model, safe=False).fit(hidden), hidden).posterior
        except UnseenError:
            return None
        found[held] = np.asarray(posterior)[given[held]].argmax(axis=1)
    return found
