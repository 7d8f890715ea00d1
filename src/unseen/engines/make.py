"""An engine by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unseen.engines.disk import Disk

if TYPE_CHECKING:
    from unseen.encode.base import Progress


def make_engine(
    name: str,
    folder: Path,
    nodes: int,
    memory: int,
    block: int | None = None,
    progress: Progress | None = None,
    address: str | None = None,
) -> Disk:
    """Return the engine of that name, with a folder of its own; Ray is looked for when asked.

    The folder holds the graph already, whose edges say where blocks of a cluster begin.
    """
    if name == "ray":
        from unseen.engines.ray import Ray

        ends = np.load(folder / "graph" / "indptr.npy", mmap_mode="r", allow_pickle=False)
        return Ray(folder, nodes, memory, block, progress, address, ends)
    return Disk(folder, nodes, memory, block, progress)
