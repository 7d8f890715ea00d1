"""From Parquet to predictions on the memory and the disk engine: time, growth, memory, a kill.

    python benchmarks/engines.py [--small] [--sizes 100000 1000000] [--folder FOLDER] [--memory 6GB]
                                 [--only disk]

Nodes with texts of eight words, ten edges a node, forty classes, no labels. Each run is the command
that a user types, in a process of its own whose anonymous memory is looked at all the time. Graphs
that memory does not hold are run once: killed while texts are encoded and again while the model is
fitted, and gone on with; all three processes count. The largest graph that memory holds is run in
both ways, and the answers are compared. Needs 5 GB of disk for each million nodes; all files are
removed. Rows of the record that are not made again stay as they are.
A graph of `--folder` is used again where a benchmark that was stopped left it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import RESULTS, cores, keep, memory, processor_seconds, table, versions
from numpy.typing import NDArray
from topic_files import DEGREE, TOPICS, WORDS, write

from unseen.engines.disk import BLOCK
from unseen.engines.plan import free_memory, plan

SIZES, SMALL = (100_000, 1_000_000, 10_000_000), (5_000, 20_000)
IN_MEMORY = 1_000_000  # nodes, up to which the memory engine is run as well


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny graphs: only to see it run")
    parser.add_argument("--sizes", type=int, nargs="+", help="nodes of each graph")
    parser.add_argument("--folder", help="where the files go; the system's own place unless given")
    parser.add_argument("--in-memory", type=int, default=IN_MEMORY, help="nodes, at most")
    parser.add_argument("--memory", default="6GB", help="limit of the disk engine")
    parser.add_argument("--only", choices=("memory", "disk"), help="this engine and no other")
    chosen = parser.parse_args()
    sizes = chosen.sizes or (SMALL if chosen.small else SIZES)
    for nodes in sizes:
        with graph(chosen.folder, nodes) as (folder, truth):
            for engine, kills in _runs(nodes, chosen.in_memory):
                if chosen.only not in (None, engine):
                    continue
                row = measured(folder, engine, nodes, chosen.memory, kills)
                out = folder / (f"{engine}-killed" if kills else engine)
                row["accuracy, per cent"] = _accuracy(out, engine, truth)
                if engine == "disk" and (folder / "memory").exists():
                    row["labels unlike memory"] = _differing(folder / "memory", out)
                if kills and (folder / "disk").exists():
                    row["largest difference"] = _apart(folder / "disk", out)
                rows = [each for each in _kept(chosen.small) if _which(each) != _which(row)]
                rows.append(row)
                print(table([{k: v for k, v in row.items() if k != "stages"}]), flush=True)
                place = keep("engines", chosen.small, _record(rows, chosen.memory))
    print(f"exponent of processor time: {_exponent(rows)}")
    print(place)


@contextmanager
def graph(place: str | None, nodes: int) -> Iterator[tuple[Path, NDArray[np.int64]]]:
    """Give the folder of a graph and the class of each node; remove it when all has been run."""
    folder = Path(place) / f"{nodes}" if place else Path(tempfile.mkdtemp())
    kept = folder / "truth.npy"
    if not kept.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        np.save(kept, write(folder, nodes))
    yield folder, np.load(kept)
    shutil.rmtree(folder)


def _kept(small: bool) -> list[dict[str, Any]]:
    """Return the rows of the record that there is."""
    path = RESULTS / f"engines{'.small' if small else ''}.json"
    found: list[dict[str, Any]] = (
        json.loads(path.read_text("utf-8"))["runs"] if path.is_file() else []
    )
    return found


def _which(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["nodes"], row["engine"]


def _record(rows: list[dict[str, Any]], limit: str) -> dict[str, Any]:
    return {
        "edges a node": DEGREE,
        "classes": len(TOPICS),
        "words": WORDS,
        "memory": limit,
        "cores": cores(),
        "versions": versions("unseen", "numpy", "numba", "polars", "scipy"),
        "runs": sorted(rows, key=_which),
        "exponent": _exponent(rows),
    }


def _runs(nodes: int, in_memory: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield engines, and what the folder of a run holds when it is killed."""
    fits = 1.3 * plan(nodes, DEGREE * nodes, len(TOPICS)).in_memory < free_memory()
    if nodes <= in_memory:
        yield from [("memory", ())] if fits else []
        yield "disk", ()
    if nodes >= min(in_memory, SIZES[1]) or nodes == SMALL[-1]:
        half = nodes // BLOCK // 2
        yield "disk", (f"vectors-*/{half:05d}-*", "lengths-*")


def _exponent(rows: list[dict[str, Any]]) -> float | None:
    """Return the exponent of processor time over nodes on disk, killed where there is no other."""
    seconds: dict[int, float] = {}
    for row in rows:
        if row["engine"].startswith("disk"):
            seconds.setdefault(row["nodes"], row["processor seconds"])
    if len(seconds) < 2:
        return None
    at, took = (np.log(np.array(list(each), dtype=float)) for each in (seconds, seconds.values()))
    return float(np.polyfit(at, took, 1)[0])


def measured(
    folder: Path, engine: str, nodes: int, limit: str, kills: tuple[str, ...]
) -> dict[str, Any]:
    """Run the command; return its seconds and the most anonymous memory it had."""
    began, out = time.perf_counter(), folder / (f"{engine}-killed" if kills else engine)
    processor, stages = 0.0, Stages(out.with_name(f"{out.name}.work"))
    for until in (*kills, ""):
        processor += _watched(_start(folder, engine, limit, out), stages, until)
    row = {
        "engine": f"{engine}, killed {len(kills)} times" if kills else engine,
        "nodes": nodes,
        "limit": limit,
        "unseen": version("unseen"),
        "seconds": time.perf_counter() - began,
        "processor seconds": processor,
        "peak, GB": max(each["peak, GB"] for each in stages.found),
        "stages": stages.found,
    }
    return row | ({"killed at": list(kills)} if kills else {})


class Stages:
    """What a run takes until something that it keeps is there, by what lies in its folder."""

    def __init__(self, work: Path) -> None:
        self.work, self.seen, self.found = work, {"scratch", "lock"}, [self._next()]

    def look(self, process: int) -> None:
        """Note memory and time; begin another stage where one has ended."""
        now = self.found[-1]
        now["peak, GB"] = max(now["peak, GB"], memory("RssAnon", process) / 1e9)
        names = {path.name for path in self.work.iterdir()} if self.work.is_dir() else set()
        new = sorted(name for name in names - self.seen if not name.startswith("."))
        if new:
            self.seen |= names
            self.end(" and ".join(new), processor_seconds(process))

    def end(self, name: str, used: float) -> None:
        """End a stage, when its process has used so many processor seconds."""
        now = self.found[-1]
        now["until"], now["seconds"] = name, time.perf_counter() - self.began
        now["processor seconds"] = used - self.used
        self.found.append(self._next(used))

    def _next(self, used: float = 0.0) -> dict[str, Any]:
        self.began, self.used = time.perf_counter(), used
        return {"until": "", "seconds": 0.0, "processor seconds": 0.0, "peak, GB": 0.0}


def _watched(run: subprocess.Popen[bytes], stages: Stages, until: str) -> float:
    """Wait for a process, or kill it; return its processor seconds."""
    stages.used = 0.0
    while True:
        pid, status, usage = os.wait4(run.pid, os.WNOHANG)
        if pid:
            break
        stages.look(run.pid)
        if until and any(stages.work.glob(until)):
            run.send_signal(signal.SIGKILL)
        time.sleep(0.05)
    run.returncode = os.waitstatus_to_exitcode(status)
    used = usage.ru_utime + usage.ru_stime
    stages.end("killed" if until else "answers", used)
    if run.returncode != (-signal.SIGKILL if until else 0):
        raise SystemExit(f"{run.args!r} ended with {run.returncode}, before or after {until!r}")
    return used


def _apart(one: Path, other: Path) -> float:
    """Return the largest difference of two probabilities of two runs on disk."""
    left, right = (
        pl.scan_parquet(place / "probabilities" / "*.parquet").collect() for place in (one, other)
    )
    return max(float((left[c] - right[c]).abs().max()) for c in left.columns[1:])  # type: ignore[arg-type]


def _start(folder: Path, engine: str, limit: str, out: Path) -> subprocess.Popen[bytes]:
    words = ["classify", "--engine", engine, "--out", str(out)]
    words += ["--memory", limit] if engine == "disk" else []
    for name, file in (("nodes", "nodes"), ("edges", "edges"), ("classes", "classes.csv")):
        words += [f"--{name}", str(folder / file)]
    environment = os.environ | {"UNSEEN_CACHE": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-m", "unseen.cli", *words], stdout=subprocess.DEVNULL, env=environment
    )


def _accuracy(run: Path, engine: str, truth: NDArray[np.int64]) -> float:
    files = run / ("predictions.parquet" if engine == "memory" else "predictions/*.parquet")
    found = pl.scan_parquet(files).select("id", "label").collect()
    rows = found["id"].str.strip_prefix("item-").cast(pl.Int64).to_numpy()
    names = pl.Series(list(TOPICS)).gather(truth[rows])
    return 100 * float((found["label"] == names).mean())  # type: ignore[arg-type]


def _differing(memory: Path, disk: Path) -> int:
    """Return how many labels of the disk engine are not those of the memory engine."""
    one = pl.read_parquet(memory / "predictions.parquet")["label"]
    other = pl.scan_parquet(disk / "predictions" / "*.parquet").collect()["label"]
    return int((one != other).sum())


if __name__ == "__main__":
    main()
