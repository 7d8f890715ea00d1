"""K hops on disk: time against the traffic that it causes, growth with the graph, and memory.

    python benchmarks/propagate_disk.py [--small] [--folder FOLDER]

Each run is a process of its own whose address space is limited, and which looks at its own
anonymous memory all the time. Needs 30 GB of disk (not with --small); all files are removed.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from common import cores, keep, memory, power_law_edges, table, versions

from unseen.propagate.disk import DiskGraph, propagate_on_disk
from unseen.propagate.memory import sums
from unseen.propagate.npy import NpyFile

HOPS, WIDTH, DEGREE = 3, 128, 20
SIZES = (2_000_000, 20_000_000, 200_000_000)  # non-zeros
SMALL = (20_000, 200_000)
LIMIT = 4 << 30  # resident
ADDRESSES = 6 << 30  # RLIMIT_AS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny graphs: only to see it run")
    parser.add_argument("--folder", help="where the files go; the system's own place unless given")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        print(json.dumps(_child(Path(chosen.child))))
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        result = _run(Path(folder), SMALL if chosen.small else SIZES, chosen.small)
    print(keep("propagate_disk", chosen.small, result))


def _run(folder: Path, sizes: tuple[int, ...], small: bool) -> dict[str, Any]:
    probe, rows = (1 << 24) if small else (1 << 31), []
    for edges in sizes:
        row = _one(folder, edges, probe)
        rows.append(row)
        print(table([row]), flush=True)
        for path in (*folder.glob("hops/*"), *folder.glob("*.npy")):
            path.unlink()
    logs = np.log([[row["non-zeros"], row["propagated, s"]] for row in rows])
    exponent = float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
    last = rows[-1]
    summary = {
        "seconds grow as non-zeros to the power of": exponent,
        "seconds over those of the traffic, largest graph": last["over traffic"],
        "peak anonymous memory, GB, largest graph": last["peak, GB"],
    }
    print(table(rows))
    for key, value in summary.items():
        print(f"{key}: {value:.3g}")
    return {
        "width": WIDTH,
        "hops": HOPS,
        "memory": LIMIT,
        "limit of address space": ADDRESSES,
        "cores": cores(),
        "versions": versions("numpy", "scipy", "numba"),
        "graphs": rows,
        **summary,
    }


def _one(folder: Path, nonzeros: int, probe: int) -> dict[str, Any]:
    """Build a graph of about so many non-zeros, propagate in another process, and sum up."""
    nodes, edges = nonzeros // DEGREE, round(nonzeros / 2 * 1.01)
    ends = [NpyFile.create(folder / f"{end}.npy", (edges,), np.int32) for end in ("from", "to")]
    at = 0
    for pair in power_law_edges(nodes, edges):
        for file, end in zip(ends, pair, strict=True):
            file.write(at, end)
        at += len(pair[0])
    X, rng = NpyFile.create(folder / "X.npy", (nodes, WIDTH), np.float32), np.random.default_rng(0)
    for begin in range(0, nodes, 100_000):
        count = min(100_000, nodes - begin)
        X.write(begin * WIDTH, rng.random((count, WIDTH), dtype=np.float32) - np.float32(0.5))
    before = _speeds(folder, probe)
    told = subprocess.run(
        [sys.executable, __file__, "--child", str(folder)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        env=os.environ | {"NODES": str(nodes)},
    )
    child = json.loads(told.stdout)
    after = _speeds(folder, probe)
    speeds = {name: (before[name] + after[name]) / 2 for name in before}
    disk, moved = _traffic(nodes, child["edges"], child["blocks"])
    on_disk = disk["read"] / speeds["disk read"] + disk["written"] / speeds["disk write"]
    in_memory = moved / speeds["memory copy"]
    return {
        "non-zeros": child["edges"],
        "nodes": nodes,
        "build, s": child["build"],
        "propagated, s": child["propagated"],
        "blocks": child["blocks"],
        "disk, GB": sum(disk.values()) / 1e9,
        "disk, s": on_disk,
        "memory, GB": moved / 1e9,
        "memory, s": in_memory,
        "over traffic": child["propagated"] / max(on_disk, in_memory),
        **{f"{name}, GB/s": speed / 1e9 for name, speed in speeds.items()},
        "CPU, s": child["cpu"],
        "peak, GB": child["peak"] / 1e9,
        "build peak, GB": child["build peak"] / 1e9,
    }


def _traffic(nodes: int, edges: int, blocks: int) -> tuple[dict[str, int], int]:
    """Return the bytes that K hops read and write on disk, and those moved in memory."""
    hop, graph = 4 * nodes * WIDTH, 4 * edges
    disk = {"read": hop + HOPS * (hop + blocks * graph), "written": hop + HOPS * hop}
    summed = 4 * edges * WIDTH  # rows of Z, once for each edge
    return disk, HOPS * (3 * hop + summed + blocks * graph)


def _child(folder: Path) -> dict[str, Any]:
    """Build and propagate, inside a limited address space."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    except (ImportError, ValueError):
        print("no limit of address space could be set", file=sys.stderr)
    most, over = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.05):
            most = max(most, memory("RssAnon"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        begin = time.perf_counter()
        source, target = (np.load(folder / f"{end}.npy", mmap_mode="r") for end in ("from", "to"))
        nodes = int(os.environ["NODES"])
        graph = DiskGraph.from_edges(
            folder / "graph", source, target, nodes=nodes, memory=LIMIT // 2
        )
        del source, target
        for width in (64, 128):  # compiles
            Z, ones = np.ones((1, width), dtype=np.float32), np.ones(1, dtype=np.float32)
            sums(np.array([0, 1]), np.zeros(1, dtype=np.int32), None, Z, ones)
        build, build_peak = time.perf_counter() - begin, most
        most, begin, cpu = 0, time.perf_counter(), time.process_time()
        hops = propagate_on_disk(graph, folder / "X.npy", folder / "hops", HOPS, memory=LIMIT)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    finally:
        over.set()
        watcher.join()
    blocks = hops.files[0].shape[0]
    return {
        "edges": graph.edges,
        "blocks": blocks,
        "build": build,
        "propagated": seconds,
        "cpu": cpu,
        "peak": most,
        "build peak": build_peak,
    }


def _speeds(folder: Path, size: int) -> dict[str, float]:
    """Return bytes a second of writing and reading a file in order, and of copying memory."""
    block, path, write = mmap.mmap(-1, 1 << 22), folder / "speed", 0.0
    for past_the_cache in (0, getattr(os, "O_DIRECT", 0)):  # the faster of two ways
        begin = time.perf_counter()
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | past_the_cache)
        for _ in range(0, size, len(block)):
            os.write(file, block)
        os.fsync(file)
        write = max(write, size / (time.perf_counter() - begin))
        if hasattr(os, "posix_fadvise"):  # out of the system's memory, so that the disk is read
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
    begin = time.perf_counter()
    with path.open("rb", buffering=0) as stream:
        while stream.readinto(block):
            pass
    read = size / (time.perf_counter() - begin)
    path.unlink()
    here, there = (np.ones((cores(), size // 8), dtype=np.uint8) for _ in range(2))
    begin, times = time.perf_counter(), 10
    with ThreadPoolExecutor(cores()) as pool:
        for _ in range(times):
            list(pool.map(np.copyto, there, here))
    copy = 2 * here.nbytes * times / (time.perf_counter() - begin)
    return {"disk write": write, "disk read": read, "memory copy": copy}


if __name__ == "__main__":
    main()
