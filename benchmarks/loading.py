"""Reading a graph from files against a plain Polars script that reads them and joins the ids.

    python benchmarks/loading.py [--small]

The peer reads nodes and edges and joins both ends of every edge to the positions of the nodes, once
with data frames and once with a lazy query; the faster of the two counts. `read_graph` also checks
ids, texts, features and edges, drops loops and repeats, and builds a symmetric adjacency. Each run
is a process of its own, so that its peak of memory is known; they take turns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import cores, keep, memory, table, versions

from unseen.io.build import build_graph, node_content
from unseen.io.tables import read_table

ROUTES = ("read_graph", "Polars", "Polars, lazy")
WIDTH = 4  # features of a node with an integer id
WORDS = ("graph", "node", "edge", "class", "label", "text", "seen", "unseen", "hop", "walk")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny files: only to see it run")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--one", nargs=3, metavar=("ROUTE", "FOLDER", "FORMAT"))
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(_measured(*chosen.one)))
        return
    k = 1_000 if chosen.small else 1_000_000
    cases = [  # name, format, nodes, edges
        ("integers, Parquet", "parquet", 5 * k, 100 * k),
        ("integers far apart, Parquet", "parquet", k, 10 * k),
        ("strings, CSV", "csv", k, 10 * k),
    ]
    rows = []
    for name, kind, nodes, edges in cases:
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), kind, nodes, edges, far="far apart" in name)
            rows += _compared(name, edges, folder, kind, chosen.repeats)
    print(table(rows))
    result = {
        "cores": cores(),
        "versions": versions("unseen", "polars", "numpy", "scipy"),
        "rows": rows,
    }
    print(f"\nwritten to {keep('loading', chosen.small, result)}")


def _compared(name: str, edges: int, folder: str, kind: str, repeats: int) -> list[dict[str, Any]]:
    runs: dict[str, list[dict[str, float]]] = {route: [] for route in ROUTES}
    for _ in range(repeats):
        for route in ROUTES:
            command = [sys.executable, __file__, "--one", route, folder, kind]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            runs[route].append(json.loads(done.stdout))
    best = {route: min(found, key=lambda run: run["seconds"]) for route, found in runs.items()}
    peer = min(best[route]["seconds"] for route in ROUTES[1:])
    return [
        {
            "ids": name,
            "edges": edges,
            "route": route,
            "seconds": run["seconds"],
            "of it for edges": run["edges"],
            "CPU seconds": run["cpu"],
            "ratio": run["seconds"] / peer,
            "peak GB": run["peak GB"],
        }
        for route, run in best.items()
    ]


def _measured(route: str, folder: str, kind: str) -> dict[str, float]:
    nodes, edges = (Path(folder) / f"{name}.{kind}" for name in ("nodes", "edges"))
    begin = time.perf_counter()
    between = (_ours if route == ROUTES[0] else _joined)(nodes, edges, "lazy" in route)
    end = time.perf_counter()
    return {
        "seconds": end - begin,
        "edges": end - between,
        "cpu": time.process_time(),
        "peak GB": memory("VmHWM") / 1e9,
    }


def _ours(nodes: Path, edges: Path, _lazy: bool) -> float:
    """Do what `read_graph` does, and return when the nodes were done."""
    read = read_table(nodes)
    content = node_content(read)
    between = time.perf_counter()
    build_graph(content, read, read_table(edges), directed=False)
    return between


def _joined(nodes: Path, edges: Path, lazy: bool) -> float:
    kind = nodes.suffix[1:]
    read = getattr(pl, f"{'scan' if lazy else 'read'}_{kind}")
    places = read(nodes).with_row_index("place").select("id", "place")
    between = time.perf_counter()
    found = read(edges)
    for end in ("source", "target"):
        found = found.join(places.rename({"place": f"{end}_place"}), left_on=end, right_on="id")
    found = found.select("source_place", "target_place")
    if lazy:
        found = found.collect()
    return between


def _write(folder: Path, kind: str, nodes: int, edges: int, far: bool) -> None:
    rng = np.random.default_rng(0)
    if kind == "csv":
        ids = pl.Series([f"paper-{number}" for number in rng.permutation(10 * nodes)[:nodes]])
        picked = np.array(WORDS)[rng.integers(len(WORDS), size=(nodes, 5))]
        given = pl.DataFrame({"id": ids, "text": [" ".join(row) for row in picked.tolist()]})
        given.write_csv(folder / "nodes.csv")
    else:
        ids = pl.Series(rng.permutation(2 * nodes)[:nodes] * (2**40 + 1 if far else 1))
        features = rng.standard_normal((nodes, WIDTH), dtype=np.float32)
        given = pl.DataFrame({"id": ids, **{f"x{j}": features[:, j] for j in range(WIDTH)}})
        given.write_parquet(folder / "nodes.parquet")
    ends = {
        end: ids.gather(pl.Series(rng.integers(nodes, size=edges, dtype=np.uint32)))
        for end in ("source", "target")
    }
    getattr(pl.DataFrame(ends), f"write_{kind}")(folder / f"edges.{kind}")


if __name__ == "__main__":
    main()
