"""The main job: a class, a confidence and a reason for every node without a label.

Read `classify` from top to bottom: encode, choose the class texts, centre, read the words of the
graph beside, walk, choose how far to trust what, fit, answer. Every choice is made with labels of
seen classes only, or with none, and the record says by which rule.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.classes import Classes, Labels
from unseen.classifier import Classifier
from unseen.csd.choose import choose_class_texts
from unseen.encode.space import APART, KINDS, Space, embed
from unseen.encode.terms import Terms
from unseen.errors import InputError
from unseen.explain import hop_shares, reasons
from unseen.fitting import fit, games_of
from unseen.prediction import Prediction, abstaining, check_abstain
from unseen.propagate.hops import decompose
from unseen.propagate.operators import Operator
from unseen.record import describe
from unseen.vectors import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from unseen.encode.base import Progress
    from unseen.graph import Graph
    from unseen.validate import Choice

HOPS, LAZINESS = 3, 0.5  # of the walk that scores candidates and feeds trained maps
PAPER_HOPS, PAPER_LAZINESS = 3, 0.7  # Sec. 6.1: where only a trained model can link the two spaces
FEW_NODES = 5  # that the class texts weigh as much as, when nodes are centred


@dataclass
class Steps:
    """What was done and how long it took, told to the user as it happens."""

    progress: Progress | None = None
    done: list[dict[str, Any]] = field(default_factory=list)
    total: int = 6

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


def classify(
    graph: Graph,
    classes: Classes | Sequence[str],
    labels: Labels | Mapping[str, str] | None = None,
    *,
    encoder: str = "auto",
    among: str = "all",
    abstain: float | None = None,
    device: str = "cpu",
    seed: int = 0,
    progress: Progress | None = None,
) -> Prediction:
    """Give every unlabelled node one of the classes.

    Args:
        graph: nodes with texts and/or features, and their ties.
        classes: names and, better, descriptions of all classes.
        labels: what some nodes are known to be (`Labels`, or class names by node id), if anything.
        encoder: "auto", or a name that `unseen.get_encoder` knows, or what nodes are read from:
            "words", "counts" or "features", perhaps with a reader of class texts, "counts:minilm".
        among: "all" lets a node be of any class; "unseen" only of one without a labelled node.
        abstain: answer "none of these" where the confidence is below this, from 0 to 1; None
            gives every node a class.
        device: "cpu", "cuda" or "auto", for encoders that run a network.
        seed: of every random choice; the same seed gives the same answer.
        progress: called with what is being done, how much is done, and of how much.
    """
    began = time.perf_counter()
    classes = classes if isinstance(classes, Classes) else Classes(classes)
    known = as_labels(labels, graph, classes)
    allowed = allowed_classes(among, known, classes)
    abstain = check_abstain(abstain, classes)
    check_work(graph, known)
    steps, operator = Steps(progress), Operator(graph.adjacency)

    with steps("encode") as step:
        space = embed(graph, classes, encoder, device, progress, count_words=True)
        step["detail"] = f"{space.encoder}, {space.nodes.shape[1]} dimensions"
    if not space.shared and len(known.seen()) < 2:
        raise InputError(
            "graph: its features have no names and there are too few labels (of "
            f"{len(known.seen())} classes) to learn how features and classes relate; "
            "give texts, a vocabulary for the columns, or labels of at least two classes"
        )

    played = games_of(known, allowed, graph.nodes, seed)
    choices = []
    with steps("choose class texts") as step:
        node_centre = centre_of(space)
        X = unit(space.nodes - node_centre)  # [n, d]
        choice = choose_class_texts(X, space, known.of, allowed, operator, played, seed)
        choices.append(choice)
        class_centre = space.csds[choice.chosen].mean(axis=0)
        S = unit(space.csds[choice.chosen] - class_centre)  # [C, d_s]
        step["detail"] = choice.chosen

    with steps("read words") as step:
        terms = None if space.bags is None else Terms.fit(*space.bags)
        step["detail"] = "left to the encoder"
        if terms is not None and space.bags is not None:
            X, S = terms.beside_nodes(X, space.bags[0]), terms.beside_classes(S, space.bags[1])
            step["detail"] = "{1} dimensions of how {0:,} words go together".format(
                *terms.directions.shape
            )

    with steps("walk") as step:
        K, beta = (HOPS, LAZINESS) if space.shared else (PAPER_HOPS, PAPER_LAZINESS)
        hops = decompose(X, operator, K, beta)
        step["detail"] = f"{K} hops, laziness {beta}"

    with steps("fit") as step:
        fitted, made = fit(space, hops, known.of, S, operator, allowed, played, seed)
        choices += made
        step["detail"] = repr(fitted.model)
    classifier = Classifier(
        classes=classes,
        seen=tuple(classes.names[c] for c in known.seen()),
        encoder=space.encoder,
        identity=space.identity,
        kind=choice.chosen,
        node_centre=node_centre,
        class_centre=class_centre,
        hops=K,
        laziness=beta,
        maps=fitted.maps,
        model=fitted.model,
        terms=terms,
        sureness=fitted.sureness,
    )
    settings = {"encoder": space.encoder, "among": among, "device": device, "seed": seed}
    settings["directed"] = graph.directed
    settings["abstain"] = abstain
    return answer(
        classifier, graph, known, allowed, space, operator, steps, settings, choices, began
    )


def centre_of(space: Space) -> NDArray[np.float32]:
    """Return the mean node vector; a few nodes lean on the mean of the class texts. [d]"""
    if not space.shared:
        return np.asarray(space.nodes.mean(axis=0), dtype=np.float32)
    texts = next(iter(space.csds.values()))
    total = space.nodes.sum(axis=0) + FEW_NODES * texts.mean(axis=0)
    return np.asarray(total / (len(space.nodes) + FEW_NODES), dtype=np.float32)


def answer(
    classifier: Classifier,
    graph: Graph,
    labels: Labels,
    allowed: NDArray[np.bool_],
    space: Space,
    operator: Operator,
    steps: Steps,
    settings: dict[str, Any],
    choices: list[Choice],
    began: float,
) -> Prediction:
    """Ask a fitted classifier about every unlabelled node, and say why it answers as it does."""
    with steps("answer"):
        hops = classifier.hops_of(space, operator)
        told = classifier.opinions(hops, labels.of, operator, allowed)
        winner = np.where(labels.known, labels.of, told.beliefs.argmax(axis=1))  # [n]
        second = _second(told.beliefs, winner, allowed)
        nodes = np.flatnonzero(~labels.known)  # [m]
        sure = told.confidence[nodes, winner[nodes]]
        if allowed.sum() > 1:  # the only possible answer is certain
            sure = classifier.sureness(sure)
        shares = hop_shares([q[nodes] for q in told.hops], winner[nodes], second[nodes])
        kind = space.encoder.partition(":")[0]
        own = "features" if kind in APART else kind if kind in KINDS else "text"
        because = reasons(nodes, winner, shares, operator, graph.ids or (), own)
    prediction = Prediction(
        graph=graph,
        classes=classifier.classes,
        labels=labels,
        classifier=classifier,
        nodes=nodes,
        label=winner[nodes],
        runner_up=np.where(second[nodes] == winner[nodes], -1, second[nodes]),
        confidence=sure,
        hop_shares=shares,
        reasons=because,
        vectors=hops.composed() if len(told.hops) > 1 else hops.own,
        record={},
    )
    prediction = abstaining(prediction, settings.get("abstain"))
    prediction.record.update(
        describe(
            prediction, space, allowed, settings, choices, steps.done, time.perf_counter() - began
        )
    )
    return prediction


def as_labels(given: Labels | Mapping[str, str] | None, graph: Graph, classes: Classes) -> Labels:
    if given is None:
        return Labels.none(graph.nodes)
    if not isinstance(given, Labels):
        return Labels.from_mapping(given, graph, classes)
    if len(given.of) != graph.nodes:
        raise InputError(f"labels: {len(given.of):,} for a graph of {graph.nodes:,} nodes")
    return given


def allowed_classes(among: str, labels: Labels, classes: Classes) -> NDArray[np.bool_]:
    """Return which classes an unlabelled node may belong to. [C]"""
    if among not in ("all", "unseen"):
        raise InputError(f"among: expected 'all' or 'unseen', found {among!r}")
    allowed = np.ones(len(classes), dtype=bool)
    if among == "unseen":
        allowed[labels.seen()] = False
        if not allowed.any():
            raise InputError(
                "among: 'unseen' was asked for, but every class has a labelled node; "
                "add classes without labels or use 'all'"
            )
    return allowed


def check_work(graph: Graph, labels: Labels) -> None:
    if labels.known.all():
        raise InputError(
            f"labels: all {graph.nodes:,} nodes have one, so nothing is left to label; "
            "leave the label of the nodes in question empty"
        )


def _second(
    beliefs: NDArray[np.float32], winner: NDArray[np.int64], allowed: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the best class after the winner; the winner itself where there is no other. [n]"""
    if allowed.sum() < 2:
        return winner
    rest = np.where(allowed, beliefs, -1.0)
    rest[np.arange(len(rest)), winner] = -2.0
    best: NDArray[np.int64] = rest.argmax(axis=1)
    return best
