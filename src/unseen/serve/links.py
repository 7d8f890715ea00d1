"""Text neighbours of all nodes, found once for a version: what classes there are changes none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.models.text_neighbours import LINKS, Links, TextNeighbours
from unseen.models.typicality import own_vectors
from unseen.serve.strings import mapped

if TYPE_CHECKING:
    from pathlib import Path

    from unseen.core.task import Task

NEAREST, WEIGHTS = "links.nearest.npy", "links.weights.npy"


def keep_links(folder: Path, model: Any, task: Task) -> None:
    """Write the text neighbours of a task's nodes, and have the task keep them."""
    if not hasattr(model, "anchors_"):
        return
    found = TextNeighbours(model.anchors_, model.anchor_posteriors_).links(
        np.asarray(own_vectors(task))
    )
    if found is not None:
        np.save(folder / NEAREST, found.nearest)
        np.save(folder / WEIGHTS, found.weights)
        task.memo[LINKS] = found


def stored_links(folder: Path, model: Any) -> Links | None:
    """Return the text neighbours that were written; None where the model asks none."""
    if not (folder / NEAREST).is_file():
        return None
    return Links(model.anchors_, mapped(folder / NEAREST), mapped(folder / WEIGHTS))
