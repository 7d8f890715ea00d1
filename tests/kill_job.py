"""A run on disk that ends itself, as SIGKILL does, when it reaches a stage.

python kill_job.py STAGE NODES EDGES CLASSES OUT [ENGINE [ADDRESS]]; no stage ("-") runs to the end.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from unseen import parts
from unseen.engines import disk, stored_graph
from unseen.engines.disk_graph import DiskGraph
from unseen.engines.ids import Ids
from unseen.engines.state import write_state
from unseen.engines.store import Blocks
from unseen.files import classify_files, plan_run
from unseen.io import digests
from unseen.io.atomic import replacing
from unseen.io.read import read_classes


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(stage: str) -> None:
    """Have the process end in the middle of a stage."""
    if stage == "nodes":
        put(stored_graph, "_join_ids", lambda *given: end())
    elif stage == "edges":
        put(Ids, "rows", lambda *given: end())
    elif stage == "graph":
        put(DiskGraph, "from_edges", lambda *given, **more: end())
    elif stage in ("vectors", "prepared"):
        write = Blocks.write

        def second(self: Blocks, i: int, block: Any) -> None:
            if self.name.startswith(stage) and i == 1:
                end()
            write(self, i, block)

        put(Blocks, "write", second)
    elif stage == "parts":
        calls: list[Path] = []

        def third(path: Path) -> Any:
            calls.append(path)
            if len(calls) == 3:
                end()
            return replacing(path)

        put(digests, "replacing", third)
    elif stage != "-":

        def learned(folder: Path, state: dict[str, Any]) -> None:
            if folder.name.startswith(stage):
                end()
            write_state(folder, state)

        put(disk, "write_state", learned)


def put(owner: Any, name: str, value: Any) -> None:
    setattr(owner, name, value)


if __name__ == "__main__":
    stage, nodes, edges, class_file, out = sys.argv[1:6]
    engine, address = (*sys.argv[6:], *("disk", None)[len(sys.argv[6:]) :])[:2]
    for module in (disk, stored_graph):
        put(module, "BLOCK", 100)
    parts.PART, parts.STEP = 120, 50
    arm(stage)
    classes = read_classes(class_file)
    chosen = plan_run(nodes, edges, classes, engine=str(engine), memory="2GB")
    settings = {"address": address}
    classify_files(nodes, edges, classes, out, plan=chosen, settings=settings)
