"""Zero-shot node classification: labels for classes that nobody has labelled.

>>> import unseen
>>> edges = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
>>> texts = ["a purring cat", "a kitten", "the rings of Saturn", "moons around Jupiter"]
>>> graph = unseen.Graph(edges, texts=texts)
>>> unseen.classify(graph, ["pets", "planets"]).to_polars()["label"].to_list()
['pets', 'pets', 'planets', 'planets']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the names as type checkers see them; at run time each waits until it is used
    from unseen.core.classes import Classes as Classes
    from unseen.core.errors import InputError as InputError
    from unseen.core.errors import UnseenError as UnseenError
    from unseen.core.graph import Graph as Graph
    from unseen.core.labels import Labels as Labels
    from unseen.core.task import Task as Task
    from unseen.datasets.registry import load as load_dataset
    from unseen.encode.base import get_encoder as get_encoder
    from unseen.estimator import ZeroShotNodeClassifier as ZeroShotNodeClassifier
    from unseen.estimator import classify as classify
    from unseen.io.objects import from_frames as from_frames
    from unseen.io.objects import from_networkx as from_networkx
    from unseen.io.objects import from_pyg as from_pyg
    from unseen.io.objects import pyg_labels as pyg_labels
    from unseen.io.read import read_classes as read_classes
    from unseen.io.read import read_graph as read_graph
    from unseen.io.read import read_labels as read_labels
    from unseen.models.base import Model as Model
    from unseen.models.belief_propagation import BeliefPropagation as BeliefPropagation
    from unseen.models.cluster_matching import ClusterMatching as ClusterMatching
    from unseen.models.dgpn import DGPN as DGPN
    from unseen.models.pooled_em import PooledEM as PooledEM
    from unseen.models.prototype import Prototype as Prototype
    from unseen.prediction import Prediction as Prediction
    from unseen.prepare.preparer import Preparer as Preparer
    from unseen.run import load as load
    from unseen.run import save as save

__version__ = "1.0.0"
__all__ = [
    "DGPN",
    "BeliefPropagation",
    "Classes",
    "ClusterMatching",
    "Graph",
    "InputError",
    "Labels",
    "Model",
    "PooledEM",
    "Prediction",
    "Preparer",
    "Prototype",
    "Task",
    "UnseenError",
    "ZeroShotNodeClassifier",
    "classify",
    "from_frames",
    "from_networkx",
    "from_pyg",
    "get_encoder",
    "load",
    "load_dataset",
    "pyg_labels",
    "read_classes",
    "read_graph",
    "read_labels",
    "save",
]

_HOMES = {  # public name -> the module that holds it; imported when first asked for
    "DGPN": "unseen.models.dgpn",
    "BeliefPropagation": "unseen.models.belief_propagation",
    "Classes": "unseen.core.classes",
    "ClusterMatching": "unseen.models.cluster_matching",
    "Graph": "unseen.core.graph",
    "InputError": "unseen.core.errors",
    "Labels": "unseen.core.labels",
    "Model": "unseen.models.base",
    "Prediction": "unseen.prediction",
    "PooledEM": "unseen.models.pooled_em",
    "Preparer": "unseen.prepare.preparer",
    "Prototype": "unseen.models.prototype",
    "Task": "unseen.core.task",
    "UnseenError": "unseen.core.errors",
    "ZeroShotNodeClassifier": "unseen.estimator",
    "classify": "unseen.estimator",
    "from_frames": "unseen.io.objects",
    "from_networkx": "unseen.io.objects",
    "from_pyg": "unseen.io.objects",
    "get_encoder": "unseen.encode.base",
    "load": "unseen.run",
    "load_dataset": "unseen.datasets.registry",
    "pyg_labels": "unseen.io.objects",
    "read_classes": "unseen.io.read",
    "read_graph": "unseen.io.read",
    "read_labels": "unseen.io.read",
    "save": "unseen.run",
}
_RENAMED = {
    "Refine": "BeliefPropagation, which takes a Task",
    "predict": "ZeroShotNodeClassifier.explain(graph, classes, labels)",
}

if not TYPE_CHECKING:

    def __getattr__(name):
        import importlib

        if name in _RENAMED:
            raise AttributeError(f"unseen.{name} is unseen.{_RENAMED[name]} since 0.9")
        if name not in _HOMES:
            raise AttributeError(f"module 'unseen' has no attribute {name!r}")
        home = importlib.import_module(_HOMES[name])
        return getattr(home, "load" if name == "load_dataset" else name)


def __dir__() -> list[str]:
    return __all__
