"""The contract of a model: the one that the estimator, the run folder and the tables use.

A constructor only stores what it is given; `fit` checks and learns; what was learned ends in `_`. A
model meets a `Task`: vectors, labels as class positions, the graph as an operator; never ids, files
or edge lists. Any object with `fit(task)` and `posterior(task)` can be used; the rest of what is
here is optional, and what each part is for:

=================== ==============================================================================
`infer`             how the posterior came about, hop by hop, and how far it may be trusted
`state`, `restore`  a saved run that can be loaded again
`add_classes`       classes that come up after fitting
`take_classes`      classes that are dropped or put in another order after fitting
`redescribe`        classes whose texts are edited after fitting
`readings`          what a posterior is pooled of, and which of it is linear in the vectors
`own_weights`       the words of a text that speak for a class
`describe`          what was found out, for record and report
`get_params`        scikit-learn's `clone`, and a readable record
=================== ==============================================================================
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from unseen.core.arrays import masked, real_numbers, unit
from unseen.core.errors import InputError, SavedFileError
from unseen.engines.base import engine_of
from unseen.models.blocks import clamp, read, winners

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.engines.base import Rows

State = dict[str, Any]  # arrays, numbers and texts by name: what safetensors and JSON can hold


class ZeroShotModel(Protocol):
    """What the estimator needs of a model, whoever wrote it."""

    def fit(self, task: Task) -> Any:
        """Learn from the labels of seen classes, and from unlabelled nodes; return the model."""

    def posterior(self, task: Task) -> NDArray[np.float32]:
        """Return the probability of each class for each node; rows sum to one. [n, C]"""


@dataclass(frozen=True, eq=False)
class Inference:
    """How a posterior came about."""

    by_hop: tuple[Rows, ...]  # K+1 times [n, C]; k: with messages from k hops away
    confidence: Rows  # probabilities as far as they may be trusted [n, C]
    background: NDArray[np.float32] | None = None  # probability of none of the classes [n]

    @property
    def posterior(self) -> Rows:
        """With messages from all hops: what decides the label. [n, C]"""
        return self.by_hop[-1]


@dataclass(frozen=True, eq=False)
class Reading:
    r"""One way of reading every node, of those that a model brings together.

    Where it is linear, the score of class c for node i is :math:`u_i^\top w_c + b_c`, with
    :math:`u_i` the node's own vector or, where there are `hops`, :math:`\sum_k \omega_k (P^k X)_i`,
    scaled to length one; and the posterior is the softmax of scores over `temperature`.

    Attributes:
        name: for people.
        pool: its weight in the posterior that decides; None where that is no weighted mean.
        posterior: what it says by itself. [n, C]
        weights, bias: w and b, where it is linear. [C, d], [C]
        temperature: of its softmax.
        hops: omega, where it reads the nodes around as well. [K+1]
    """

    name: str
    pool: float | None
    posterior: NDArray[np.float32]
    weights: NDArray[np.float32] | None = None
    bias: NDArray[np.float32] | None = None
    temperature: float = 1.0
    hops: NDArray[np.float32] | None = None


def infer(model: Any, task: Task) -> Inference:
    """Ask any model; one that cannot tell how it came to its posterior just gives it."""
    if hasattr(model, "infer"):
        found: Inference = model.infer(task)
        return found
    p = real_numbers(model.posterior(task), f"model: what {type(model).__name__} returns")
    if p.shape != (task.nodes, task.classes) or not np.isfinite(p).all() or (p < 0).any():
        raise InputError(
            f"model: {type(model).__name__}.posterior has to return probabilities of shape "
            f"{(task.nodes, task.classes)}, found {p.shape} from {p.min():.3g} to {p.max():.3g}"
        )
    if not p.any(axis=1).all():
        raise InputError(
            f"model: {type(model).__name__}.posterior gives a node no probability for any class; "
            "expected rows that sum to one"
        )
    p = np.where(task.allowed, p, np.float32(0))
    p[~p.any(axis=1)] = task.allowed  # it is sure of a class that is not asked for: anything goes
    p = p / p.sum(axis=1, keepdims=True)
    clamp(p, task.labels)
    return Inference((p,), p)


class Model(ABC):
    """A zero-shot node classifier; the base of all models here."""

    needs_labels = False  # whether `fit` can learn anything without a labelled node
    adds_classes = False  # whether `add_classes` is more than a refusal
    csds_: NDArray[np.float32]
    centres_: NDArray[np.float32]
    means_: NDArray[np.float32]
    precision_: NDArray[np.float32]
    bias_: NDArray[np.float32]
    adds_nodes = False  # whether posteriors of neighbours are all that a new node needs of a graph
    by_class: ClassVar[tuple[str, ...]] = ()  # what was learned with one row a class, by name
    any_engine = False  # whether it is written against the moves of `engines/base.py`
    search_space: ClassVar[Mapping[str, tuple[Any, ...]]] = {}  # settings worth trying, by name

    @abstractmethod
    def fit(self, task: Task) -> Self:
        """Learn from the labels of seen classes and, if transductive, from unlabelled nodes."""

    @abstractmethod
    def infer(self, task: Task) -> Inference:
        """Apply what was learned; nothing is learned any more."""

    def posterior(self, task: Task) -> Rows:
        """Return the probability of each class for each node; rows sum to one. [n, C]"""
        return self.infer(task).posterior

    def predict(self, task: Task) -> NDArray[np.int64]:
        """Return the best of the allowed classes for each node. [n]"""
        best: NDArray[np.int64] = engine_of(task).map(winners, self.posterior(task))
        return best

    def add_classes(self, task: Task) -> Self:
        """Return a copy that knows more classes; the old ones stay as they were fitted.

        The task holds the nodes at hand and all classes, the old ones first.
        """
        raise InputError(
            f"classes: {type(self).__name__} cannot take up classes after it was fitted; "
            "fit again with all of them"
        )

    def take_classes(self, which: NDArray[np.int64]) -> Self:
        """Return a copy that knows the classes at these positions only, in this order."""
        if not self.by_class:
            raise InputError(
                f"classes: {type(self).__name__} cannot drop or edit a class after it was fitted; "
                "fit again with the classes that are wanted"
            )
        twin = type(self)(**self.get_params())
        twin.__dict__.update(self.__dict__)
        twin.__dict__.update({name: getattr(self, name)[which] for name in self.by_class})
        return twin

    def redescribe(self, which: NDArray[np.int64], S: NDArray[np.float32]) -> Self:
        r"""Return a copy whose classes at these positions have other class vectors S. [k, d]

        What was learned from nodes stays: a centre moves by :math:`\lambda (s' - s)`, and a mean by
        as much of it as it lies along s.
        """
        twin = self.take_classes(np.arange(len(self.csds_)))
        old, new = self.csds_[which], unit(np.asarray(S, dtype=np.float32))
        shift = np.float32(getattr(self, "description_weight", 1.0)) * (new - old)
        twin.csds_[which] = new
        if hasattr(self, "centres_"):
            twin.centres_[which] = unit(self.centres_[which] + shift)
        if hasattr(self, "means_"):
            reach = np.maximum((self.means_[which] * old).sum(axis=1), 0)[:, None]
            twin.means_[which] += reach * shift
        if getattr(self, "bias_", np.zeros(1)).any():
            means = twin.means_[which]
            twin.bias_[which] = -0.5 * ((means @ twin.precision_) * means).sum(axis=1)
        return twin

    def readings(self, task: Task) -> tuple[Reading, ...]:
        """Return what the posterior is made of; nothing where a model cannot tell."""
        return ()

    def own_weights(self) -> NDArray[np.float32] | None:
        """Return w, where a node's own vector x speaks for class c by x w_c + b_c. [C, d]"""
        return self.means_ @ self.precision_ if hasattr(self, "precision_") else None

    def describe(self) -> dict[str, Any]:
        """Return what was found out about the graph, and `warnings` as a list of sentences."""
        return {}

    def state(self) -> State:
        """Return what was learned, by name, for a file."""
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def restore(self, state: State) -> Self:
        """Take up what `state` returned, in place of `fit`."""
        for name, value in state.items():
            if not name.endswith("_"):
                raise SavedFileError(f"{type(self).__name__}: {name!r} is nothing that was learned")
            setattr(self, name, value)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor as they stand."""
        names = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"{type(self).__name__}: no setting {name!r}; there are {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"


class ScoreModel(Model):
    """A model that scores classes; its posterior is the softmax of the scores."""

    temperature: float = 1.0

    @abstractmethod
    def scores(self, task: Task) -> Rows:
        """Return how well each class fits each node, higher is better. [n, C]"""

    def infer(self, task: Task) -> Inference:
        """Return the softmax over allowed classes, labelled nodes at certainty."""
        heat, allowed = float(np.float32(self.temperature)), task.allowed
        p = engine_of(task).map(
            lambda scores, y: read(masked(scores, allowed), y, heat), self.scores(task), task.labels
        )
        return Inference((p,), p)

    def predict(self, task: Task) -> NDArray[np.int64]:
        """Return the class of the highest score, label or not. [n]"""
        allowed = task.allowed
        best: NDArray[np.int64] = engine_of(task).map(
            lambda scores: winners(masked(scores, allowed)), self.scores(task)
        )
        return best


def check_shared(model: str, task: Task) -> None:
    """Refuse two spaces where a model compares node vectors with class vectors."""
    if not task.shared:
        raise InputError(
            f"csds: {model} compares node vectors with class vectors, which lie in two spaces here "
            f"({task.X.shape[1]} and {task.S.shape[1]} dimensions); encode both with the same "
            "encoder"
        )


def seen_classes(model: str, task: Task, least: int) -> NDArray[np.int64]:
    """Return the classes that have a label, refusing fewer than a model can learn from. [C_s]"""
    seen = task.seen
    if len(seen) < least:
        raise InputError(
            f"labels: {model} learns from labelled nodes of {least} or more classes, found those "
            f"of {len(seen)}; label nodes of more classes"
        )
    return seen


def check_widths(task: Task, width: int, semantic: int) -> None:
    """Refuse nodes or classes of other widths than those trained on."""
    if task.X.shape[1] != width:
        raise InputError(
            f"nodes: expected vectors of {width} dimensions as in training, found "
            f"{task.X.shape[1]}; encode them as in training"
        )
    if task.S.shape[1] != semantic:
        raise InputError(
            f"csds: expected {semantic} dimensions as in training, found {task.S.shape[1]}; encode "
            "added classes as the first ones were"
        )
