"""How much a run needs, where it would be done, and how long it would take. Estimates."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError, quoted
from unseen.engines import sources
from unseen.engines.disk import BLOCK, LANES, NODE, RUNTIME

ENGINES = ("auto", "memory", "disk", "ray")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
WIDTH = 384  # of a node vector: `static` and LSA; another encoder changes it by a little
VECTORS = 6.5  # copies of the node vectors that the memory engine holds: X, its hops, their sum
BLOCKS = 14  # of arrays [n, C] at the same time
ENTRY = 40  # bytes of the memory engine for each non-zero of the graph
SHARE = 0.8  # of the free memory that the memory engine may take
NODE_SECONDS, ENTRY_SECONDS = 2.6e-4, 3.5e-6  # of a processor, on disk (benchmarks/engines.py)
FIXED_SECONDS = 20  # whatever the size: imports, LSA, the report
MEMORY_SECONDS = (6e-5, 2.0e-6)  # the same in memory
EXTENSION = 2**30
MOST = 1 << 60  # bytes that anybody can mean
USUAL_CLASSES, USUAL_WORDS = 40, 8  # of the graphs that seconds were measured on
WORD_SECONDS = 3e-6  # of a word, to encode it (benchmarks/encoding.py)
HOPS, WIDE = 70, 3  # hops of [n, C] and of node vectors in the default route, without labels
WORKER = 400 << 20  # bytes of a Ray worker with its libraries


@dataclass(frozen=True)
class Plan:
    """What a run would take, before anything is done."""

    engine: str
    why: str
    nodes: int
    edges: int  # as they are listed
    classes: int
    memory: int  # bytes that the run may take
    in_memory: int  # bytes that the memory engine would take
    least: int  # bytes that the disk engine needs at least
    disk: int  # bytes that it writes for as long as it runs
    partitions: int
    seconds: float

    def rows(self) -> list[tuple[str, str]]:
        """Return what a user is shown, line by line."""
        shown = [
            ("engine", f"{self.engine} ({self.why})"),
            ("nodes, edges, classes", f"{self.nodes:,}, {self.edges:,}, {self.classes:,}"),
            ("memory the run may take", readable_size(self.memory)),
            ("memory the memory engine would take", readable_size(self.in_memory)),
            ("partitions", f"{self.partitions:,}"),
        ]
        if self.engine == "disk":
            shown += [("least memory of the disk engine", readable_size(self.least))]
        if self.engine == "ray":
            shown += [("memory of a worker, about", readable_size(self.worker))]
        if self.engine != "memory":
            shown += [("room on disk while it runs", readable_size(self.disk))]
        over = f"{readable_size(self.network)} to every machine beside the first, at most"
        return [
            *shown,
            ("over the network", over if self.engine == "ray" else "nothing"),
            ("time on two cores, about", f"{self.seconds / 60:,.1f} minutes"),
        ]

    @property
    def worker(self) -> int:
        """Bytes of a Ray worker: a block of vectors, and the rows that the edges of one lead to."""
        rows = -(-self.nodes // max(self.partitions, 1))
        reached = min(self.nodes, rows + 2 * self.edges // max(self.partitions, 1))
        return WORKER + 8 * WIDTH * rows + 8 * self.classes * reached

    @property
    def network(self) -> int:
        """Bytes of all hops to one more machine: its store holds a block once, whoever reads it."""
        return 4 * self.nodes * (HOPS * self.classes + WIDE * WIDTH)


def plan(
    nodes: int,
    edges: int,
    classes: int,
    engine: str = "auto",
    memory: str | int | None = None,
    words: int = USUAL_WORDS,
) -> Plan:
    """Choose an engine by what a graph of this size needs, with so many words a text."""
    if engine not in ENGINES:
        raise InputError(f"engine: expected one of {', '.join(ENGINES)}, found {engine!r}")
    free = free_memory()
    limit = size(memory) if memory is not None else int(SHARE * free)
    entries = 2 * edges
    in_memory = RUNTIME + round(
        nodes * (4 * WIDTH * VECTORS + 4 * classes * BLOCKS) + ENTRY * entries
    )
    least = RUNTIME + (NODE + 8 * LANES) * nodes
    disk = nodes * (4 * (WIDTH + 256) + 4 * classes * 8 + 200) + 16 * entries
    why = "asked for"
    if engine == "auto":
        engine = "memory" if in_memory <= limit else "disk"
        why = f"{readable_size(in_memory)} in memory, of {readable_size(limit)} that it may take"
    per_node, per_entry = MEMORY_SECONDS if engine == "memory" else (NODE_SECONDS, ENTRY_SECONDS)
    columns = (HOPS * classes + WIDE * WIDTH) / (HOPS * USUAL_CLASSES + WIDE * WIDTH)
    per_node *= max(1.0, classes / USUAL_CLASSES)
    per_node += WORD_SECONDS * max(0, words - USUAL_WORDS)
    return Plan(
        engine,
        why,
        nodes,
        edges,
        classes,
        limit,
        in_memory,
        least,
        disk,
        1 if engine == "memory" else -(-nodes // BLOCK),
        FIXED_SECONDS + per_node * nodes + per_entry * max(1.0, columns) * entries,
    )


def plan_files(
    nodes: Path | str,
    edges: Path | str | None,
    classes: int,
    engine: str = "auto",
    memory: str | int | None = None,
) -> Plan:
    """Choose an engine by the sizes of files; the rows of text files are estimated."""
    count = sources.rows_of(nodes)
    listed = 0 if edges is None else sources.rows_of(edges)
    return plan(count, listed, classes, engine, memory)


def free_memory() -> int:
    """Return the bytes that are free for this process, as far as the system tells."""
    found = []
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            found += [int(x.split()[1]) * 1024 for x in lines if x.startswith("MemAvailable:")]
    except OSError:
        pass
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdecimal():
            found.append(int(text))
    if not found and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(found, default=8 * EXTENSION)


def size(given: str | int) -> int:
    """Return the number of bytes that a user wrote.

    >>> size("4GB"), size("500 MB"), size("1.5g"), size(1024)
    (4294967296, 524288000, 1610612736, 1024)
    """
    text = str(given)
    found: Any = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)I?B?\s*", text.upper())
    count = float(found[1]) * UNITS[found[2]] if found is not None else math.inf
    if count > MOST:
        raise InputError(f"memory: expected a size such as 4GB or 500MB, found {quoted(text)}")
    return int(count)


def readable_size(count: int) -> str:
    """Return a number of bytes for people.

    >>> readable_size(3 << 30), readable_size(5 << 20)
    ('3.0 GB', '5 MB')
    """
    return f"{count / (1 << 30):,.1f} GB" if count >= 1 << 30 else f"{count / (1 << 20):,.0f} MB"
