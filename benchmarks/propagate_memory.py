"""K hops in memory against scipy, torch CSR and PyG's SIGN transform, by turns in one process.

    python benchmarks/propagate_memory.py [--small]

Peers get P ready made; ours gets the adjacency and counts the degrees within its time.
"""

from __future__ import annotations

import argparse
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from common import alternate, cores, keep, memory, power_law_graph, table, versions

from unseen.core.operator import Operator
from unseen.propagate.memory import propagate

HOPS, WIDTH = 3, 128
OURS = "unseen"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tiny graph: only to see it run")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    nodes, edges = (20_000, 200_000) if chosen.small else (1_000_000, 20_000_000)
    A = power_law_graph(nodes, edges)
    X = np.random.default_rng(0).standard_normal((nodes, WIDTH), dtype=np.float32)
    P = Operator(A).matrix
    hops = np.full((HOPS, *X.shape), np.nan, dtype=np.float32)  # so that the room is taken
    half = np.full(hops.shape, np.nan, dtype=np.float16)
    propagate(A, X, 1, out=hops[:1])  # compiles
    peak = _peak(lambda: propagate(A, X, HOPS, out=hops))
    errors = _errors(P, X, hops)

    works: dict[str, Callable[[], Any]] = {
        OURS: lambda: propagate(A, X, HOPS, out=hops),
        "unseen, one thread": lambda: propagate(A, X, HOPS, out=hops, threads=1),
        "unseen, float16": lambda: propagate(A, X, HOPS, out=half),
        "scipy": lambda: _by_products(lambda B: P @ B, X),
    }
    missing = [*_torch(works, P, X), *_sign(works, A, X)]
    seconds = {name: min(times) for name, times in alternate(works, chosen.repeats).items()}
    rows = [
        {"route": name, "seconds": value, "times as long as unseen": value / seconds[OURS]}
        for name, value in seconds.items()
    ]
    best = min((name for name in seconds if not name.startswith(OURS)), key=seconds.__getitem__)
    result = {
        "nodes": nodes,
        "non-zeros": int(A.nnz),
        "width": WIDTH,
        "hops": HOPS,
        "cores": cores(),
        "versions": versions("numpy", "scipy", "numba", "torch", "torch-geometric"),
        "seconds": seconds,
        "not installed": missing,
        "fastest peer": best,
        "times the speed of the fastest peer": seconds[best] / seconds[OURS],
        "largest error of a hop relative to scipy": max(errors),
        "memory beside inputs and outputs, in blocks [n, d]": peak / X.nbytes,
    }
    print(table(rows))
    for key in list(result)[-4:]:
        print(f"{key}: {result[key]}")
    for name in missing:
        print(f"{name}: not installed")
    print(keep("propagate_memory", chosen.small, result))


def _by_products(step: Callable[[Any], Any], X: Any) -> list[Any]:
    blocks = [X]
    for _ in range(HOPS):
        blocks.append(step(blocks[-1]))
    return blocks


def _errors(P: Any, X: Any, hops: Any) -> list[float]:
    """Return |ours - scipy| / |scipy| of each hop, in Frobenius norms."""
    found, block = [], X
    for hop in hops:
        block = P @ block
        found.append(float(np.linalg.norm(hop - block) / np.linalg.norm(block)))
    return found


def _torch(works: dict[str, Callable[[], Any]], P: Any, X: Any) -> list[str]:
    try:
        import torch
    except ImportError:
        return ["torch"]
    warnings.filterwarnings("ignore", message="Sparse")
    torch.set_num_threads(cores())
    block, values = torch.from_numpy(X), torch.from_numpy(P.data)
    for bits in (np.int32, np.int64):
        indptr, indices = (torch.from_numpy(a.astype(bits)) for a in (P.indptr, P.indices))
        T = torch.sparse_csr_tensor(indptr, indices, values, P.shape, check_invariants=False)
        name = f"torch CSR, {np.dtype(bits).name}"
        works[name] = lambda T=T: _by_products(lambda B: T @ B, block)  # type: ignore[misc]
    return []


def _sign(works: dict[str, Callable[[], Any]], A: Any, X: Any) -> list[str]:
    try:
        import torch
        from torch_geometric.data import Data
        from torch_geometric.transforms import SIGN
    except ImportError:
        return ["torch_geometric"]
    listed = A.tocoo()
    ends = torch.from_numpy(np.stack([listed.row, listed.col]).astype(np.int64))
    data = Data(x=torch.from_numpy(X), edge_index=ends, num_nodes=len(X))

    def run() -> Any:
        return SIGN(HOPS)(data.clone() if len(X) < 100_000 else Data(**data.to_dict()))

    works["PyG SIGN"] = run
    return []


def _peak(work: Callable[[], Any]) -> int:
    """Return by how much anonymous memory rises at most while `work` runs."""
    most: int = 0
    before, over = memory("RssAnon"), threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.is_set():
            most = max(most, memory("RssAnon"))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    over.set()
    watcher.join()
    return most - before


if __name__ == "__main__":
    main()
