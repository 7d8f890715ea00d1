"""`Trial`: one model, trained once and measured once; whatever the paper's tables are made of.

A trial is a plain value that says everything about itself, so that its outcome can be kept in a
ledger and never has to be computed again. This is the only place of the room that fits a model.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from unseen.core.arrays import unit
from unseen.core.errors import MissingDataError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.datasets.class_vectors import class_vectors
from unseen.datasets.registry import Dataset, load
from unseen.evaluate.metrics import accuracy, macro_accuracy, majority_floor
from unseen.evaluate.protocol import hold_out, of_classes
from unseen.models.base import infer
from unseen.models.baselines.alexnet import WeightsMissing
from unseen.paper.methods import method_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Outcome = dict[str, Any]
WEIGHTS = "put AlexNet's checkpoint into torch.hub's folder, or name it by UNSEEN_ALEXNET"


@dataclass(frozen=True)
class Trial:
    """A method with its settings and seed, on a split of a data set.

    Args:
        data, split: as `datasets.load` knows them.
        method: a name that `method_of` knows.
        settings: of the model; also `rows` ("sum" scales the attributes of a node to sum 1, "raw"
            leaves them) and `csd_rows` ("unit" scales CSDs to length 1, "centred" takes their mean
            away before, "raw" leaves them).
        csds: which of the published class vectors, by kind.
        attributes: the data set's features, or the rows of the adjacency matrix.
        on: the classes that are measured; no trial on test classes decides anything.
    """

    data: str
    split: str
    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    csds: Literal["text", "label"] = "text"
    attributes: Literal["features", "adjacency"] = "features"
    on: Literal["test", "validation"] = "test"

    def key(self) -> str:
        """Return the trial as a line of text, the same for equal trials."""
        return json.dumps(asdict(self), sort_keys=True)


def run(trial: Trial) -> Outcome:
    """Fit, predict and measure; raises nothing that the trial itself explains."""
    try:
        return _run_standard(trial) if trial.split == "standard" else _run_zero_shot(trial)
    except WeightsMissing:
        return {"missing": "weights not available", "why": WEIGHTS}
    except MissingDataError:
        return {
            "missing": "data not here",
            "why": f"see `unseen datasets get {trial.data}` and `csds`",
        }


def _run_zero_shot(trial: Trial) -> Outcome:
    began = time.perf_counter()
    settings = dict(trial.settings)
    data, X, operator = _graph(trial.data, trial.attributes, settings.pop("rows", "sum"))
    S = _csds(trial.data, trial.csds, settings.pop("csd_rows", "unit"))
    split, truth, method = data.splits[trial.split], data.truth.codes, method_of(trial.method)
    wanted = split.unseen if trial.on == "test" else split.validation
    model = method.make(settings, trial.seed, np.bincount(truth, minlength=len(S)))
    labels, allowed = hold_out(data.truth, split).codes, np.isin(np.arange(len(S)), wanted)
    if not method.propagates:  # nodes of classes that are not asked for are kept out of sight
        kept = of_classes(truth, (*split.seen, *wanted))
        X, operator, labels, truth = X[kept], None, labels[kept], truth[kept]
    foreign = ":" in trial.method
    task = Task(X.toarray() if foreign else X, S, labels, operator, allowed, shared=False)
    model.fit(task)
    every = infer(model, task).posterior.argmax(axis=1) if foreign else model.predict(task)
    nodes = of_classes(truth, wanted)
    answer = every[nodes]
    outcome = {
        "accuracy": 100 * accuracy(truth[nodes], answer),
        "macro": 100 * macro_accuracy(truth[nodes], answer),
        "floor": 100 * majority_floor(truth[nodes]),
        "classes given": len(np.unique(answer)),  # 1: a constant answer
        "seconds": round(time.perf_counter() - began, 2),
    }
    trained: Any = getattr(model, "inner_", model)  # of a CNN row
    taken, asked = getattr(trained, "epochs_", 0), getattr(trained, "epochs", 0)
    if 0 < taken < asked and not foreign:
        outcome["stopped after"] = int(taken)
    return outcome


def _run_standard(trial: Trial) -> Outcome:
    """Table 6: all classes are seen, and the method is a network of `standard.py`."""
    from unseen.paper.standard import standard_data, train_standard

    kind: Any = trial.method.removeprefix("standard ")
    return train_standard(standard_data(trial.data), kind, trial.seed)


@lru_cache(maxsize=4)
def _graph(name: str, attributes: str, rows: str) -> tuple[Dataset, Any, Operator | None]:
    data = load(name)
    given = data.graph.adjacency if attributes == "adjacency" else data.graph.features
    X = sp.csr_array(given, dtype=np.float32)
    if rows == "sum":
        sums = np.asarray(X.sum(axis=1)).ravel()
        scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
        X = sp.csr_array(sp.diags_array(scale) @ X, dtype=np.float32)
    return data, X, Operator(data.graph.adjacency)


@lru_cache(maxsize=16)
def _csds(name: str, kind: Literal["text", "label"], rows: str) -> NDArray[np.float32]:
    S = class_vectors(name, kind)
    if rows == "centred":
        S = unit(S)
        S = S - S.mean(axis=0)
    return S if rows == "raw" else unit(S)
