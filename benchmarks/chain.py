"""The whole chain as a user types it, from files to answers: `unseen walk`, `unseen classify-walk`.

    python benchmarks/chain.py [--small] [--folder FOLDER]

Five million nodes of 256 numbers, fifty million edges in Parquet, labels of a tenth of the nodes. A
node lies near the vector of its class's name, and half of its edges lead to nodes of the same, so
that there is something to find. Each command is a process of its own, whose anonymous memory is
looked at all the time. Needs 40 GB of disk (not with --small); all files are removed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import cores, keep, memory, power_law_edges, table, versions
from numpy.typing import NDArray

from unseen.core.classes import Classes
from unseen.encode.base import get_encoder
from unseen.encode.class_texts import class_vectors
from unseen.propagate.npy import NpyFile

NODES, EDGES = 5_000_000, 50_000_000
SUBJECTS = (
    "astronomy biology chemistry physics geology medicine surgery dentistry nursing pharmacy law "
    "banking insurance accounting advertising football tennis swimming chess sailing cooking "
    "baking wine gardening farming painting sculpture theatre opera jazz poetry history religion "
    "philosophy psychology railways aviation shipping robotics cryptography"
)
NAMES = SUBJECTS.split()
ENCODER = "static"
LABELLED = 0.1  # share of nodes
NOISE = 8.0  # length of what a node adds to the point of its class, about
LIMIT = "4GB"
PORTION = 100_000  # nodes written at a time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tiny graph: only to see it run")
    parser.add_argument("--folder", help="where the files go; the system's own place unless given")
    chosen = parser.parse_args()
    nodes, edges = (20_000, 200_000) if chosen.small else (NODES, EDGES)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
        folder = Path(name)
        truth, labelled = _write(folder, nodes, edges)
        files = ("edges.parquet", "features.npy", "classes.csv", "walk")
        rows = [
            _measured("walk", *_named(folder, *files), "--memory", LIMIT),
            _measured("classify-walk", *_named(folder, "walk", "classes.csv", "labels.csv", "out")),
        ]
        found = pl.read_parquet(folder / "out" / "predictions" / "*.parquet")
        right = truth[found["id"].cast(pl.Int64).to_numpy()]
        accuracy = float((found["label"].to_numpy() == np.array(NAMES)[right]).mean())
    print(table(rows))
    result = {
        "nodes": nodes,
        "edges": edges,
        "encoder": ENCODER,
        "classes": len(NAMES),
        "labelled": labelled,
        "memory": LIMIT,
        "cores": cores(),
        "versions": versions("unseen", "numpy", "numba", "polars"),
        "commands": rows,
        "answers": len(found),
        "accuracy, per cent": 100 * accuracy,
    }
    print(f"{len(found):,} answers, {100 * accuracy:.1f} % right")
    print(keep("chain", chosen.small, result))


def _named(folder: Path, *files: str) -> list[str]:
    """Return files as options of a command."""
    *given, out = files
    words = [word for file in given for word in (f"--{Path(file).stem}", str(folder / file))]
    return [*words, "--encoder", ENCODER, "--out", str(folder / out)]


def _measured(command: str, *words: str) -> dict[str, Any]:
    """Run a command and return its seconds and the most anonymous memory it had."""
    began, most = time.perf_counter(), 0
    run = subprocess.Popen(
        [sys.executable, "-m", "unseen.cli", command, *words], stdout=subprocess.DEVNULL
    )
    while run.poll() is None:
        most = max(most, memory("RssAnon", run.pid))
        time.sleep(0.02)
    if run.returncode:
        raise SystemExit(f"unseen {command} ended with {run.returncode}")
    seconds = time.perf_counter() - began
    return {"command": f"unseen {command}", "seconds": seconds, "peak, GB": most / 1e9}


def _write(folder: Path, nodes: int, edges: int) -> tuple[NDArray[np.int64], int]:
    """Write the files; return the class of each node and how many of them are told."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, len(NAMES), nodes)
    points = class_vectors(Classes(NAMES), get_encoder(ENCODER))["name"]  # [C, d]
    width = points.shape[1]
    X = NpyFile.create(folder / "features.npy", (nodes, width), np.float32)
    for begin in range(0, nodes, PORTION):
        of = truth[begin : begin + PORTION]
        noise = rng.standard_normal((len(of), width), dtype=np.float32)
        X.write(begin * width, points[of] + np.float32(NOISE / np.sqrt(width)) * noise)
    kin = np.argsort(truth, kind="stable")  # nodes class by class
    first = np.searchsorted(truth[kin], np.arange(len(NAMES) + 1))
    source, target = (
        np.concatenate(ends) for ends in zip(*power_law_edges(nodes, edges), strict=True)
    )
    half = np.flatnonzero(rng.random(edges) < 0.5)
    of = truth[source[half]]
    target[half] = kin[
        (first[of] + rng.random(len(half)) * (first[of + 1] - first[of])).astype(int)
    ]
    pl.DataFrame({"source": source, "target": target}).write_parquet(folder / "edges.parquet")
    shown = np.flatnonzero(rng.random(nodes) < LABELLED)
    pl.DataFrame({"id": shown, "label": pl.Series(NAMES).gather(truth[shown])}).write_csv(
        folder / "labels.csv"
    )
    pl.DataFrame({"name": NAMES}).write_csv(folder / "classes.csv")
    return truth, len(shown)


if __name__ == "__main__":
    main()
