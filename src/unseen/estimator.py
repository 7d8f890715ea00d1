"""`ZeroShotNodeClassifier`: a class, probabilities and a reason for every node without a label.

Read `fit` from top to bottom: encode, prepare, choose the class texts, fit, infer. Every choice is
made with labels of seen classes only, or with none, and the record says by which rule.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from unseen.abstain import check_abstain
from unseen.answer import Case, answer, check_seed, check_work
from unseen.core.classes import NONE_OF_THESE
from unseen.core.errors import InputError
from unseen.core.labels import allowed_classes
from unseen.engines.place import place
from unseen.inference import explain, followed, with_classes, with_nodes
from unseen.io.inputs import as_classes, as_graph, as_labels
from unseen.io.join import join_graph
from unseen.prediction import Prediction
from unseen.prepare.preparer import Preparer
from unseen.record import Steps
from unseen.select.fit import fit_prepared
from unseen.select.preparation import prepare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.graph import Graph
    from unseen.encode.base import Progress
    from unseen.models.base import ZeroShotModel


class ZeroShotNodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify nodes into classes that may have no labels; a scikit-learn estimator.

    Args:
        encoder: "auto", a name that `unseen.get_encoder` knows, what nodes are read from ("words",
            "counts", "features", perhaps with a reader of class texts, "counts:minilm"), or an
            object with `encode(list of texts)`, or a function.
        among: "all": a node may be of any class; "unseen": of one without a label; or names.
        abstain: answer "none of these" where the confidence is below this, from 0 to 1; None
            gives every node a class.
        open_world: answer "none of these" where a node most likely belongs to no listed class.
        model: any object with `fit(task)` and `posterior(task)` (see `unseen.models.base`); None
            takes the one that suits the data.
        device: "cpu", "cuda" or "auto", for encoders that run a network.
        seed: seed of every random choice; the same seed gives the same answer.
        engine: "memory", "disk", "ray", or "auto": memory where it suffices, else disk.
        address: address of a Ray cluster; None: one on this machine.
        memory: how much the run may use, such as "8GB"; None: most of what is free.
        progress: called with what is being done, how much is done, and of how much.

    Attributes:
        classes_: names of the classes, in the order of the columns of `predict_proba`. [C]
        model_: the fitted model.
        preparer_: the fitted `Preparer`: how nodes and classes become vectors.
        calibration_: what confidences are corrected by.
        choices_: what was chosen while fitting, by which rule.
        warnings_: what the user should know about them.
        class_texts_: the classes with their descriptions (`Classes`).
        seen_, feature_names_: names of the classes with labelled nodes, and of feature columns.
        graph_, labels_: the graph that was fitted, with nodes that were added since.
        posterior_: the posterior of each of its nodes. [n, C]
        prediction_: the answers about its unlabelled nodes (`Prediction`).

    >>> import unseen
    >>> edges = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    >>> texts = ["a purring cat", "a kitten", "the rings of Saturn", "moons around Jupiter"]
    >>> fitted = ZeroShotNodeClassifier().fit(unseen.Graph(edges, texts=texts), ["pets", "planets"])
    >>> fitted.predict().tolist()
    ['pets', 'pets', 'planets', 'planets']
    """

    prediction_: Prediction

    def __init__(
        self,
        *,
        encoder: Any = "auto",
        among: Any = "all",
        abstain: float | None = None,
        open_world: bool = False,
        model: Any = None,
        device: str = "cpu",
        seed: int = 0,
        engine: str = "auto",
        memory: str | int | None = None,
        address: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.encoder = encoder
        self.among = among
        self.abstain = abstain
        self.open_world = open_world
        self.model = model
        self.device = device
        self.seed = seed
        self.engine = engine
        self.memory = memory
        self.address = address
        self.progress = progress

    def fit(self, graph: Any, classes: Any, labels: Any = None) -> Self:
        """Learn from a graph, its classes and whatever labels there are.

        Args:
            graph: a `Graph`, a PyG `Data`, a NetworkX graph, or frames of nodes and edges.
            classes: `Classes`, names, descriptions by name, a frame or a file.
            labels: `Labels`, class names by node id, an array of names or of class positions (-1
                or None where there is none), a Series, a frame or a file; None if nothing is known.
        """
        steps = Steps(self.progress)
        graph = graph if hasattr(graph, "engine") else as_graph(graph)
        classes = as_classes(classes)
        classes.check_choice()
        known = as_labels(labels, graph, classes)
        allowed = allowed_classes(self.among, known, classes)
        check_abstain(self.abstain, classes, self.open_world)
        check_seed(self.seed)
        check_work(known)
        where = (self.engine, self.memory, self.address)
        placed = place(graph, len(classes), *where, self.progress)
        prepared = prepare(
            Preparer(self.encoder, self.device),
            placed,
            classes,
            known,
            allowed,
            seed=self.seed,
            step=steps,
            progress=self.progress,
        )
        with steps("fit") as step:
            fitted = fit_prepared(prepared, placed, classes, known, self.model, self.seed)
            step["detail"] = repr(fitted.model)

        self.preparer_, self.model_ = prepared.preparer, fitted.model
        self.calibration_, self.choices_ = fitted.calibration, (prepared.choice, *fitted.choices)
        self.class_texts_, self.classes_ = classes, np.array(classes.names, dtype=object)
        self.warnings_, self.seen_ = fitted.warnings, tuple(classes.names[c] for c in known.seen())
        self.graph_, self.labels_ = graph, known
        self.feature_names_ = graph.feature_names or graph.vocabulary
        case = Case(graph, known, classes, prepared.task, prepared.encoded)
        self.prediction_, self.posterior_ = answer(self, case, steps)
        return self

    def predict(self, graph: Any = None) -> NDArray[Any]:
        """Return the class name of every node; labelled ones keep their label. [n]"""
        found = self.explain(graph)
        codes = found.labels.codes.copy()
        codes[found.nodes] = found.label
        return np.array([*found.classes.names, NONE_OF_THESE], dtype=object)[codes]

    def predict_proba(self, graph: Any = None) -> NDArray[np.float32]:
        """Return the probability of every class for every node; rows sum to one. [n, C]

        With `open_world`, a last column is the probability of none of them. [n, C+1]
        """
        return self.explain(graph).of_all_nodes(background=self.open_world)

    def explain(
        self, graph: Any = None, classes: Any = None, labels: Any = None, *, among: str = "all"
    ) -> Prediction:
        """Return label, probabilities, runner-up and reason of every unlabelled node.

        Nothing is learned about classes that were fitted; those that come up here are known by
        their descriptions and may learn from the nodes at hand.

        Args:
            graph: another one, its nodes described as those of the first; None: the one fitted.
            classes: the classes to choose from; the fitted ones when left out.
            labels: what some nodes of this graph are known to be; positions follow `classes`.
            among: "unseen" leaves out classes with a labelled node, in training or now.
        """
        self._check_fitted()
        if graph is None and classes is None and labels is None:
            return self._own_prediction()
        if graph is None:
            graph = self._own_graph()
            labels = self.labels_.named(self.class_texts_, graph) if labels is None else labels
        wanted = self.class_texts_ if classes is None else as_classes(classes)
        return explain(self, as_graph(graph), wanted, labels, among)

    def add_classes(self, classes: Any) -> Self:
        """Take up classes that came up after fitting; the old ones stay as they were fitted."""
        self._check_fitted()
        everything = self.class_texts_.joined(as_classes(classes))
        check_abstain(self.abstain, everything, self.open_world)
        graph, known = self._own_graph(), self.labels_
        allowed = allowed_classes(self.among, known, everything)
        found = with_classes(self, graph, everything, known, allowed)
        self.__dict__.update(vars(found.classifier))
        self.prediction_ = replace(found, classifier=self)
        return self

    def add_nodes(self, nodes: Any, edges: Any = None) -> Prediction:
        """Answer new nodes of the fitted graph, and only these; what was answered before stays.

        Args:
            nodes: a frame or a file with the columns that the first nodes had; a `label` is kept.
            edges: a frame or a file; edges may name old and new nodes. None: no edge.
        """
        self._check_fitted()
        graph, labels = join_graph(self._own_graph(), self.class_texts_, nodes, edges)
        found, posterior = with_nodes(self, graph, labels)
        if hasattr(self, "prediction_"):
            self.prediction_ = followed(self.prediction_, found)
        else:  # what a loaded run answered is asked for when it is needed
            self._added = [*getattr(self, "_added", ()), (self.graph_, self.labels_, found)]
        self.graph_, self.labels_ = found.graph, found.labels
        self.posterior_ = np.concatenate([self.posterior_, posterior])
        return found

    def save(self, folder: Path | str) -> Path:
        """Write the fitted classifier, as the folder that `load` takes; the graph stays out."""
        from unseen.run import save

        self._check_fitted()
        return save(self, folder)

    @classmethod
    def load(
        cls, folder: Path | str, *, model: Any = None, encoder: Any = None
    ) -> ZeroShotNodeClassifier:
        """Read a classifier from a model folder, or from a run with its graph and answers.

        Args:
            folder: written by `save`, by `Prediction.save` or by `unseen classify --out`.
            model, encoder: of your own, where the saved one had one: no code is ever loaded from
                a file. The model is given what was learned.
        """
        from unseen.run import load

        return load(folder, model=model, encoder=encoder)

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise InputError("classifier: is not fitted yet; call fit(graph, classes) first")

    def _own_graph(self) -> Graph:
        if not hasattr(self, "graph_"):
            raise InputError(
                "graph: the classifier was saved without one; give the graph to answer about, or "
                "load a run folder"
            )
        graph: Graph = self.graph_
        return graph

    def _own_prediction(self) -> Prediction:
        """Return the answers about the fitted graph, with nodes that were added since."""
        if not hasattr(self, "prediction_"):  # of a run that was loaded
            added = getattr(self, "_added", [])
            graph, labels = added[0][:2] if added else (self._own_graph(), self.labels_)
            self.prediction_ = self.explain(graph, labels=labels, among=self.among)
            for *_, later in added:
                self.prediction_ = followed(self.prediction_, later)
        return self.prediction_


def classify(
    graph: Any,
    classes: Any,
    labels: Any = None,
    *,
    encoder: Any = "auto",
    among: Literal["all", "unseen"] = "all",
    abstain: float | None = None,
    open_world: bool = False,
    model: ZeroShotModel | None = None,
    device: str = "cpu",
    seed: int = 0,
    engine: str = "auto",
    memory: str | int | None = None,
    address: str | None = None,
    progress: Progress | None = None,
) -> Prediction:
    """Give every unlabelled node one of the classes: `ZeroShotNodeClassifier` in one call.

    The arguments are those of its constructor and of `fit`.
    """
    classifier = ZeroShotNodeClassifier(
        encoder=encoder,
        among=among,
        abstain=abstain,
        open_world=open_world,
        model=model,
        device=device,
        seed=seed,
        engine=engine,
        memory=memory,
        address=address,
        progress=progress,
    )
    return classifier.fit(graph, classes, labels).prediction_
