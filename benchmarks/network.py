"""Bytes between two Ray nodes in one hop, against the number of partitions and the order of nodes.

    python benchmarks/network.py [--small]

Two Ray nodes on this machine, each with a store of its own, so that blocks travel between them over
loopback. Where this may be (root), all of it runs in a network of its own, whose loopback carries
nothing else. A hop is Y = (I + P) X / 2 with 40 columns. Two graphs of ten edges a node: one
without neighbourhoods (a power law), and one with them (a ring lattice, a twentieth of its edges
led elsewhere), nodes of both numbered at random, by degree, and in Cuthill and McKee's order. Then
hops of a large graph, in memory and on the two nodes.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from common import cores, keep, power_law_graph, processor_seconds, table, versions
from scipy.sparse.csgraph import reverse_cuthill_mckee

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from ray_nodes import several_nodes
from unseen.core.graph import Graph
from unseen.engines.place import store_in

STORE = 1 << 30  # bytes of the object store of a node
REPEATS = 3
COLUMNS, HOPS, DEGREE = 40, 3, 10
ALONE = "UNSEEN_OWN_NETWORK"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny graphs: only to see it run")
    chosen = parser.parse_args()
    alone = own_network()
    nodes, counts = (5_000, (2, 4)) if chosen.small else (100_000, (2, 8, 32))
    large = (5_000, 50_000) if chosen.small else (1_000_000, 20_000_000)
    rows: list[dict[str, Any]] = []
    result: dict[str, Any] = {
        "nodes": nodes,
        "edges a node": DEGREE,
        "columns": COLUMNS,
        "Ray nodes": 2,
        "block of all nodes, MB": 4 * COLUMNS * nodes / 1e6,
        "network of its own": alone,
        "cores": cores(),
        "versions": versions("unseen", "numpy", "scipy", "ray"),
        "runs": rows,
        "against memory": {"nodes": large[0], "edges": large[1], "hops": HOPS, "runs": []},
    }
    with several_nodes(STORE):
        idle = bytes_a_second()
        for name, A in (("power law", power_law(nodes)), ("ring lattice", ring(nodes))):
            for order, at in orders(A).items():
                graph = Graph(sp.csr_array(A[at][:, at]), texts=["x"] * nodes)
                rows += [
                    {"graph": name, "order": order, **measured(graph, count, idle)}
                    for count in counts
                ]
                print(table(rows[-len(counts) :]), flush=True)
        keep("network", chosen.small, result)  # the next takes much more memory
        result["against memory"]["runs"] += against_memory(*large)
    print(table(result["against memory"]["runs"]))
    print(keep("network", chosen.small, result))


def own_network() -> bool:
    """Go on in a network of this process's own; return whether that is so."""
    if os.environ.get(ALONE):
        request = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
        with socket.socket() as any_socket:
            fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS
        return True
    if shutil.which("unshare") and not subprocess.run(["unshare", "--net", "true"]).returncode:
        os.environ[ALONE] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    return False


def power_law(nodes: int) -> Any:
    return power_law_graph(nodes, 2 * DEGREE * nodes)


def ring(nodes: int) -> Any:
    """Return a ring lattice with some edges led elsewhere (Watts and Strogatz, 1998). [n, n]"""
    rng = np.random.default_rng(0)
    name = rng.permutation(nodes)
    source = np.repeat(np.arange(nodes), DEGREE)
    target = (source + np.tile(np.arange(1, DEGREE + 1), nodes)) % nodes
    led = rng.random(len(target)) < 0.05
    target[led] = rng.integers(0, nodes, int(led.sum()))
    apart = source != target
    ends = name[source[apart]], name[target[apart]]
    both = (np.r_[ends[0], ends[1]], np.r_[ends[1], ends[0]])
    A = sp.csr_array((np.ones(len(both[0]), np.float32), both), shape=(nodes, nodes))
    A.sum_duplicates()
    A.data[:] = 1
    return A


def orders(A: Any) -> dict[str, Any]:
    degrees = np.diff(A.indptr)
    return {
        "at random": np.arange(A.shape[0]),
        "by degree": np.argsort(-degrees, kind="stable"),
        "Cuthill-McKee": reverse_cuthill_mckee(A, symmetric_mode=True),
    }


def measured(graph: Graph, partitions: int, idle: float) -> dict[str, Any]:
    """Return what a hop moves and takes."""
    X = np.random.default_rng(0).random((graph.nodes, COLUMNS), dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        block = -(-graph.nodes // partitions)
        stored = store_in(Path(folder), graph, 4 << 30, block=block, engine="ray")
        engine: Any = stored.engine
        operator: Any = stored.operator
        rows = operator.lazy(engine.map(lambda X: X, X), 0.5)  # the graph itself travels once
        before, began = received(), time.perf_counter()
        for _ in range(HOPS):
            rows = operator.lazy(rows, 0.5)
        seconds = time.perf_counter() - began
        moved = received() - before - idle * seconds
        given = [len(touched) for _, touched in operator.parts]
        edges = [
            operator.graph.indptr[c.stop] - operator.graph.indptr[c.start] for c in engine.spans
        ]
    return {
        "partitions": len(engine.spans),
        "MB a hop": moved / HOPS / 1e6,
        "blocks a task is given": float(np.mean(given)),
        "largest partition, edges over mean": float(np.max(edges) / np.mean(edges)),
        "seconds a hop": seconds / HOPS,
    }


def received() -> int:
    """Return the bytes that loopback has carried."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.strip().startswith("lo:"))


def bytes_a_second() -> float:
    """Return what two Ray nodes say to each other while nothing is done."""
    before, began = received(), time.perf_counter()
    time.sleep(3)
    return (received() - before) / (time.perf_counter() - began)


def against_memory(nodes: int, edges: int) -> list[dict[str, Any]]:
    """Return what hops take in memory and on two Ray nodes, by turns; the best of each."""
    graph = Graph(power_law_graph(nodes, 2 * edges), texts=["x"] * nodes)
    X = np.random.default_rng(0).random((nodes, COLUMNS), dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        stored = store_in(Path(folder), graph, 1 << 30, engine="ray")
        engine: Any = stored.engine
        there: Any = stored.operator
        rows = engine.map(lambda X: X, X)
        works = {"memory": (graph.operator, X), "ray": (there, rows)}
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
        for _ in range(1 + REPEATS):  # the first time compiles, and moves the graph
            for name, (operator, hop) in works.items():
                began, used = time.perf_counter(), all_seconds()
                for _ in range(HOPS):
                    hop = operator.propagate(hop)
                spent = all_seconds() - used
                found[name].append((time.perf_counter() - began, spent))
        np.testing.assert_allclose(
            engine.array(there.propagate(rows)), graph.operator.propagate(X), rtol=1e-4
        )
    best = {name: np.min(times[1:], axis=0) for name, times in found.items()}
    return [
        {
            "engine": name,
            "seconds": float(took[0]),
            "processor seconds": float(took[1]),
            "times memory": float(took[0] / best["memory"][0]),
            "times memory, processor": float(took[1] / max(best["memory"][1], 0.01)),
        }
        for name, took in best.items()
    ]


def all_seconds() -> float:
    """Return the processor seconds of this process and all that it started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(path.parent.name)] = int(fields[1])
    mine, total = os.getpid(), 0.0
    for pid in parents:
        at = pid
        while at not in (mine, 0, 1):
            at = parents.get(at, 0)
        total += processor_seconds(pid) if at == mine else 0
    return total


if __name__ == "__main__":
    main()
