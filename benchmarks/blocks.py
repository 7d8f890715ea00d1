"""Training and predicting from a walk on disk: memory and speed against the number of nodes.

    python benchmarks/blocks.py [--small] [--folder FOLDER]

Each job runs in a process of its own that looks at its own anonymous memory all the time, with the
hops out of the system's cache when it begins. The peer is the same model on the same hops in
memory; where these take more than `MOST` bytes, it is not run. Its hops are read before its
training is timed, but as a part of its predicting. Needs 27 GB of disk (not with --small); all
files are removed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import cores, keep, memory, power_law_edges, table, versions

from unseen.big.predict import answers, predict_from_blocks
from unseen.big.train import BATCH, train_from_blocks
from unseen.models.dgpn import DGPN
from unseen.propagate.disk import DiskGraph, DiskHops, walk_on_disk
from unseen.propagate.hops import Hops
from unseen.propagate.npy import NpyFile
from unseen.propagate.operators import hop_weights
from unseen.vectors import unit

HOPS, WIDTH, CLASSES, SEMANTIC, DEGREE = 3, 128, 40, 256, 6
SIZES = (100_000, 1_000_000, 10_000_000)  # nodes
SMALL = (2_000, 20_000)
LABELLED = 0.1  # share of nodes
STEPS = {"train, blocks": 60, "train, memory": 4}  # a step in memory is over all labelled nodes
MOST = 3 << 30  # bytes of hops that the peer gets
NAMES = [f"class {c}" for c in range(CLASSES)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny graphs: only to see it run")
    parser.add_argument("--folder", help="where the files go; the system's own place unless given")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        print(json.dumps(_child(Path(chosen.child), chosen.job)))
        return
    rows: list[dict[str, Any]] = []
    sizes = SMALL if chosen.small else SIZES
    for nodes in sizes:
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            rows += _one(Path(folder), nodes)
        print(table(rows[-2:]), flush=True)
    print(table(rows))
    summary = {"nodes, largest over smallest": sizes[-1] / sizes[0]}
    for first, last in zip(rows[:2], rows[-2:], strict=True):
        name = f"peak of {first['job']}, largest over smallest"
        summary[name] = last["peak, MB"] / first["peak, MB"]
    for name, value in summary.items():
        print(f"{name}: {value:.3g}")
    result = {
        "hops": HOPS,
        "width": WIDTH,
        "classes": CLASSES,
        "labelled": LABELLED,
        "batch": BATCH,
        "steps": STEPS,
        "cores": cores(),
        "versions": versions("numpy", "torch", "polars"),
        "graphs": rows,
        **summary,
    }
    print(keep("blocks", chosen.small, result))


def _one(folder: Path, nodes: int) -> list[dict[str, Any]]:
    """Walk a graph of that many nodes; train and predict in processes of their own."""
    _walk(folder, nodes)
    size, rows = 4 * (HOPS + 1) * nodes * WIDTH, []
    for job in ("train", "predict"):
        disk = _told(folder, f"{job}, blocks")
        row = {
            "job": job,
            "nodes": nodes,
            "hops, GB": size / 1e9,
            "seconds": disk["seconds"],
            "nodes/s": disk["rows"] / disk["seconds"],
            "peak, MB": disk["peak"] / 1e6,
        }
        names = ("peer, nodes/s", "speed over peer", "peer, peak MB", "memory over peer")
        if size > MOST:
            rows.append(row | dict.fromkeys(names, "not run"))
            continue
        peer = _told(folder, f"{job}, memory")
        speed = peer["rows"] / peer["seconds"]
        values = (speed, row["nodes/s"] / speed, peer["peak"] / 1e6, disk["peak"] / peer["peak"])
        rows.append(row | dict(zip(names, values, strict=True)))
    return rows


def _told(folder: Path, job: str) -> dict[str, Any]:
    """Return what another process tells about a job."""
    run = subprocess.run(
        [sys.executable, __file__, "--child", str(folder), "--job", job],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def _walk(folder: Path, nodes: int) -> None:
    """Leave a walk over random features, a few labels and CSDs in `folder`."""
    rng = np.random.default_rng(0)
    X = NpyFile.create(folder / "X.npy", (nodes, WIDTH), np.float32)
    for begin in range(0, nodes, 100_000):
        count = min(100_000, nodes - begin)
        X.write(begin * WIDTH, rng.random((count, WIDTH), dtype=np.float32) - np.float32(0.5))
    source, target = (
        np.concatenate(ends)
        for ends in zip(*power_law_edges(nodes, nodes * DEGREE // 2), strict=True)
    )
    limit = 4 << 30
    graph = DiskGraph.from_edges(folder / "graph", source, target, nodes=nodes, memory=limit // 2)
    walk_on_disk(graph, folder / "X.npy", folder / "hops", HOPS, memory=limit)
    (folder / "X.npy").unlink()
    shown = rng.random(nodes) < LABELLED
    of = np.where(shown, rng.integers(0, CLASSES - 10, nodes), -1).astype(np.int32)
    np.save(folder / "labels.npy", of)
    np.save(folder / "csds.npy", unit(rng.normal(size=(CLASSES, SEMANTIC)).astype(np.float32)))


def _child(folder: Path, job: str) -> dict[str, Any]:
    """Do one job and tell its time, the rows it went through and the most memory it held."""
    hops = DiskHops.open(folder / "hops")
    labels, S = np.load(folder / "labels.npy"), np.load(folder / "csds.npy")
    model = DGPN(start="xavier", epochs=STEPS.get(job, 0))
    nodes, weights = hops.shape[1], hop_weights(HOPS, 0.5)
    few = np.full(nodes, -1, dtype=np.int32)
    few[:2] = (0, 1)
    warm = train_from_blocks(hops, few, S, DGPN(start="xavier", epochs=1))  # imports, too
    if job.startswith("predict"):  # what the maps are does not matter here
        model = warm

    def all_hops() -> Hops:
        return Hops(tuple(hops.rows(np.arange(nodes))), weights)

    loaded = all_hops() if job == "train, memory" else None
    works: dict[str, Callable[[], Any]] = {
        "train, blocks": lambda: train_from_blocks(hops, labels, S, model),
        "train, memory": lambda: model.fit(loaded, labels.astype(np.int64), S),
        "predict, blocks": lambda: predict_from_blocks(model, hops, folder / "out", NAMES),
        "predict, memory": lambda: answers(model, all_hops(), S, None, NAMES).write_parquet(
            folder / "predictions.parquet"
        ),
    }
    _forget(hops)
    most, over = memory("RssAnon"), threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.01):
            most = max(most, memory("RssAnon"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    try:
        works[job]()
    finally:
        seconds = time.perf_counter() - begin
        over.set()
        watcher.join()
    m = int((labels >= 0).sum())
    step = min(m, BATCH) if job == "train, blocks" else m
    rows = STEPS[job] * step if job in STEPS else nodes
    return {"seconds": seconds, "rows": rows, "peak": most}


def _forget(hops: DiskHops) -> None:
    """Ask the system to drop what it holds of the hops, so that the disk is read."""
    for file in hops.files:
        if hasattr(os, "posix_fadvise"):
            with file.path.open("rb") as stream:
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    main()
