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

from unseen.datasets.class_vectors import class_vectors
from unseen.datasets.registry import Dataset, load
from unseen.errors import MissingDataError
from unseen.evaluate.metrics import accuracy, macro_accuracy, majority_floor
from unseen.evaluate.protocol import hold_out, of_classes
from unseen.models.baselines.alexnet import WeightsMissing
from unseen.paper.methods import METHODS
from unseen.propagate.hops import Hops, decompose
from unseen.propagate.operators import Operator
from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

Outcome = dict[str, Any]
WEIGHTS = "put AlexNet's checkpoint into torch.hub's folder, or name it by UNSEEN_ALEXNET"
PREPARATION = ("rows", "csd_rows", "hops", "laziness")  # settings that are not the model's


@dataclass(frozen=True)
class Trial:
    """A method with its settings and seed, on a split of a data set.

    Args:
        data, split: as `datasets.load` knows them.
        method: a name in `METHODS`.
        settings: of the model; also `hops` (K) and `laziness` (beta), `rows` ("sum" scales the
            attributes of a node to sum 1, "raw" leaves them) and `csd_rows` ("unit" scales CSDs to
            length 1, "centred" takes their mean away before, "raw" leaves them).
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
    prepared = {name: settings.pop(name) for name in PREPARATION if name in settings}
    data, X, operator = _graph(trial.data, trial.attributes, prepared.get("rows", "sum"))
    S = _csds(trial.data, trial.csds, prepared.get("csd_rows", "unit"))
    hops = _hops(X, operator, prepared.get("hops", 0), prepared.get("laziness", 0.7))
    split, truth = data.splits[trial.split], data.truth.of
    wanted = split.unseen if trial.on == "test" else split.validation
    labels, among = hold_out(data.truth, split).of, np.isin(np.arange(len(S)), wanted)
    nodes = of_classes(truth, wanted)
    method = METHODS[trial.method]
    floor = majority_floor(truth[nodes])
    model = method.make(settings, trial.seed, np.bincount(truth, minlength=len(S)))
    if not method.walks:  # nodes of classes that are not asked for are kept out of sight
        kept = of_classes(truth, (*split.seen, *wanted))
        hops, labels = Hops((hops.own[kept],), hops.weights[:1]), labels[kept]
        nodes = np.searchsorted(kept, nodes)
        truth = truth[kept]
    model.fit(hops, labels, S, operator if method.walks else None, among)
    answer = model.predict(hops, among)[nodes]
    outcome = {
        "accuracy": 100 * accuracy(truth[nodes], answer),
        "macro": 100 * macro_accuracy(truth[nodes], answer),
        "floor": 100 * floor,
        "classes given": len(np.unique(answer)),  # 1: a constant answer
        "seconds": round(time.perf_counter() - began, 2),
    }
    trained_model = getattr(model, "inner_", model)  # of a CNN row
    trained = getattr(trained_model, "epochs_", None)
    if trained is not None and trained < trained_model.get_params().get("epochs", 0):
        outcome["stopped after"] = int(trained)
    return outcome


def _run_standard(trial: Trial) -> Outcome:
    """Table 6: all classes are seen, and the method is a network of `standard.py`."""
    from unseen.paper.standard import standard_data, train_standard

    data = standard_data(trial.data)
    kind: Any = trial.method.removeprefix("standard ")
    found = train_standard(data, kind, trial.seed)
    return {
        "accuracy": 100 * found.test_accuracy,
        "macro": 100 * found.test_macro_accuracy,
        "floor": 100 * majority_floor(data.labels[data.test]),
        "classes given": 0,
        "epochs": found.epochs,
        "seconds": round(found.seconds, 2),
    }


@lru_cache(maxsize=4)
def _graph(name: str, attributes: str, rows: str) -> tuple[Dataset, Any, Operator]:
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


_last: dict[str, Any] = {}  # hops of the latest graph, so that ten seeds form them once


def _hops(X: Any, operator: Operator, hops: int, laziness: float) -> Hops:
    key = (id(X), hops, laziness)
    if _last.get("key") != key:
        _last.update(key=key, X=X, hops=decompose(X, operator, hops, laziness))
    found: Hops = _last["hops"]
    return found
