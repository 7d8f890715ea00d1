"""What the benchmarks share: graphs, clocks, and the way results are told and kept."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results"
HUBS = 10  # added to a node's rank: keeps the largest hub to a small share of the graph


def versions(*packages: str) -> dict[str, str]:
    """Return the version of each package, or "not installed"."""
    found = {"python": platform.python_version()}
    for name in packages:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def alternate(works: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[float]]:
    """Return the seconds of each work, run by turns, so that a busy moment hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            begin = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - begin)
    return seconds


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows of the same keys as a table in plain text."""
    heads = list(rows[0])
    lines = [heads] + [[_told(row[head]) for head in heads] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    return "\n".join(
        "  ".join(cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(pairs))
        for pairs in (list(zip(line, widths, strict=True)) for line in lines)
    )


def _told(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def keep(name: str, small: bool, result: Mapping[str, Any]) -> Path:
    """Write a result to benchmarks/results/NAME.json (NAME.small.json for a small run)."""
    path = RESULTS / f"{name}{'.small' if small else ''}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return path


def power_law_edges(
    nodes: int, edges: int, exponent: float = 2.5, seed: int = 0, chunk: int = 1 << 22
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    """Yield both ends of `edges` random edges, chunk by chunk; a few are loops or twice there.

    The expected degree of the node of rank i is proportional to (i + 10)^(-1 / (exponent - 1)), and
    ranks are given to nodes at random. Chung and Lu, https://doi.org/10.1073/pnas.252631999
    """
    rng = np.random.default_rng(seed)
    rank = rng.permutation(nodes).astype(np.int32)
    power = 1 - 1 / (exponent - 1)
    low, high = HUBS**power, (nodes + HUBS) ** power
    for begin in range(0, edges, chunk):
        u = rng.random((2, min(chunk, edges - begin)))
        at = (low + u * (high - low)) ** (1 / power) - HUBS
        source, target = rank[np.minimum(at.astype(np.int32), nodes - 1)]
        yield source, target


def power_law_graph(nodes: int, edges: int, seed: int = 0) -> Any:
    """Return an undirected graph of about `edges` non-zeros, all 1, as float32 CSR. [n, n]"""
    source, target = (
        np.concatenate(ends)
        for ends in zip(*power_law_edges(nodes, round(edges / 2 * 1.01), seed=seed), strict=True)
    )
    apart = source != target
    source, target = source[apart], target[apart]
    both = (np.r_[source, target], np.r_[target, source])
    A = sp.csr_array((np.ones(2 * len(source), np.float32), both), shape=(nodes, nodes))
    A.sum_duplicates()
    A.data[:] = 1
    return A


def memory(field: str, process: int | str = "self") -> int:
    """Return a field of a process's memory in bytes: "RssAnon", "VmRSS" (Linux; else 0).

    RssAnon is "Anonymous" of smaps_rollup, but counted already: that one goes through all page
    tables, and looking at it often slows down what is looked at.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    found = (int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))
    return next(found, 0)  # one that has just ended has no memory


def processor_seconds(process: int | str = "self") -> float:
    """Return what a process has used so far (Linux; else 0)."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:  # it has just ended
        return 0.0
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
