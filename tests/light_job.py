"""The default route as a job of its own, in which some packages are not to be found.

python light_job.py FOLDER [TOP-LEVEL MODULE TO HIDE ...]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any


class Without(MetaPathFinder):
    """A finder that looks as if some packages were not installed."""

    def __init__(self, finder: Any, hidden: set[str]) -> None:
        self._finder, self._hidden = finder, hidden

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None for what is hidden; for the rest, what the real finder says."""
        if name.partition(".")[0] in self._hidden:
            return None
        found: ModuleSpec | None = self._finder.find_spec(name, path, target)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


def run(folder: Path) -> None:
    """Classify a graph without labels, with labels, and by features without names."""
    import numpy as np

    import unseen
    from topic_graph import bag_of_words, sample

    given = sample()
    texts, labels = given.graph, given.labels(0, 1, 2)
    features = unseen.Graph(texts.adjacency, features=bag_of_words(texts)[0])
    answers: dict[str, Any] = {}
    for name, graph, known in (
        ("no labels", texts, None),
        ("labels", texts, labels),
        ("features", features, labels),
    ):
        found = unseen.classify(graph, given.classes, known)
        answers |= {f"{name} label": found.label, f"{name} proba": found.proba}
    np.savez(folder / "answers.npz", **answers)
    loaded = sorted({name.partition(".")[0] for name in sys.modules})
    (folder / "loaded.txt").write_text("\n".join(loaded))
    for name in unseen.__all__:
        getattr(unseen, name)
    found.save(folder / "run")
    unseen.load(folder / "run")


if __name__ == "__main__":
    sys.meta_path[:] = [Without(finder, set(sys.argv[2:])) for finder in sys.meta_path]
    run(Path(sys.argv[1]))
