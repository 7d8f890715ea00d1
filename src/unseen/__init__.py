"""Zero-shot node classification: labels for classes that nobody has labelled.

>>> import unseen
>>> ties = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
>>> texts = ["a purring cat", "a kitten", "the rings of Saturn", "moons around Jupiter"]
>>> graph = unseen.Graph(ties, texts=texts)
>>> unseen.classify(graph, ["pets", "planets"]).to_polars()["label"].to_list()
['pets', 'pets', 'planets', 'planets']
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.8.0"

_HOMES = {  # public name -> the module that holds it; imported when first asked for
    "Classes": "unseen.classes",
    "DGPN": "unseen.models.dgpn",
    "Graph": "unseen.graph",
    "InputError": "unseen.errors",
    "Labels": "unseen.classes",
    "Prediction": "unseen.prediction",
    "Prototype": "unseen.models.prototype",
    "Refine": "unseen.models.refine",
    "UnseenError": "unseen.errors",
    "classify": "unseen.pipeline",
    "from_frames": "unseen.read.objects",
    "from_networkx": "unseen.read.objects",
    "from_pyg": "unseen.read.objects",
    "get_encoder": "unseen.encode.base",
    "load": "unseen.run",
    "load_dataset": "unseen.datasets.registry",
    "predict": "unseen.reuse",
    "read_classes": "unseen.read.files",
    "read_graph": "unseen.read.files",
    "read_labels": "unseen.read.files",
    "save": "unseen.run",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unseen' has no attribute {name!r}")
    attribute = "load" if name == "load_dataset" else name
    return getattr(importlib.import_module(_HOMES[name]), attribute)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
