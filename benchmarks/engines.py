"""From Parquet to predictions on the memory and the disk engine: time, growth, memory, a kill.

    python benchmarks/engines.py [--small] [--sizes 100000 1000000] [--folder FOLDER] [--memory 6GB]

Nodes with texts of eight words, ten edges a node, forty classes, no labels. Each run is the command
that a user types, in a process of its own whose anonymous memory is looked at all the time. Graphs
that memory does not hold are run once: killed while texts are encoded and again while the model is
fitted, and gone on with; all three processes count. The largest graph that memory holds is run in
both ways, and the answers are compared. Needs 5 GB of disk for each million nodes; all files are
removed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import cores, keep, memory, processor_seconds, table, versions
from numpy.typing import NDArray

from unseen.engines.disk import BLOCK
from unseen.engines.plan import free_memory, plan

SIZES, SMALL = (100_000, 1_000_000, 10_000_000), (5_000, 20_000)
IN_MEMORY = 1_000_000  # nodes, up to which the memory engine is run as well
DEGREE, WORDS, OWN, ALIKE = 10, 8, 1, 0.5  # edges a node, words, of them from its class, homophily
PORTION = 500_000  # nodes written at a time
TOPICS = {
    "astronomy": "stars planets telescope galaxy orbit comet",
    "biology": "cells genes organisms evolution species proteins",
    "chemistry": "molecules reaction acid polymer catalyst solvent",
    "physics": "particles energy quantum gravity field momentum",
    "geology": "rocks minerals volcano sediment earthquake fossil",
    "medicine": "patients disease treatment symptoms diagnosis therapy",
    "dentistry": "teeth gums enamel cavity crown orthodontic",
    "law": "court judge contract statute attorney verdict",
    "banking": "loans deposits interest credit account lender",
    "insurance": "policy premium claim coverage risk underwriter",
    "advertising": "brand campaign audience slogan commercial agency",
    "football": "goal striker referee penalty league midfield",
    "tennis": "racket serve court volley backhand tournament",
    "swimming": "pool stroke freestyle butterfly lap diving",
    "chess": "pawn bishop knight checkmate opening gambit",
    "sailing": "yacht mast rudder regatta wind harbour",
    "cooking": "recipe pan sauce onion roast garlic",
    "baking": "bread dough flour yeast pastry oven",
    "wine": "grapes vineyard vintage cellar tannin bottle",
    "gardening": "plants soil seeds pruning compost flowers",
    "farming": "crops tractor harvest livestock wheat barn",
    "painting": "canvas brush portrait pigment gallery watercolour",
    "sculpture": "marble statue carving bronze clay chisel",
    "theatre": "stage actor playwright drama rehearsal scene",
    "opera": "soprano aria libretto orchestra tenor overture",
    "jazz": "saxophone improvisation swing trumpet quartet rhythm",
    "poetry": "verse rhyme stanza poet sonnet metaphor",
    "religion": "church prayer faith scripture temple priest",
    "philosophy": "ethics logic metaphysics reason epistemology virtue",
    "psychology": "behaviour cognition emotion memory perception anxiety",
    "railways": "train locomotive track station carriage signal",
    "aviation": "aircraft pilot runway cockpit altitude airline",
    "shipping": "cargo container port freight vessel dock",
    "robotics": "robot actuator sensor gripper autonomous arm",
    "cryptography": "cipher key encryption hash signature protocol",
    "networking": "router packet bandwidth switch ethernet firewall",
    "databases": "query index transaction table schema relational",
    "compilers": "parser syntax optimisation bytecode lexer grammar",
    "photography": "camera lens exposure shutter aperture focus",
    "fashion": "dress fabric designer runway tailor silk",
}
FILLER = [
    *("new", "report", "people", "year", "first", "part", "long", "general", "work", "place"),
    *("known", "group", "side", "public", "small", "early", "number", "open", "local", "great"),
    *("common", "present", "later", "real", "main", "short", "final", "young", "level", "large"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny graphs: only to see it run")
    parser.add_argument("--sizes", type=int, nargs="+", help="nodes of each graph")
    parser.add_argument("--folder", help="where the files go; the system's own place unless given")
    parser.add_argument("--in-memory", type=int, default=IN_MEMORY, help="nodes, at most")
    parser.add_argument("--memory", default="6GB", help="limit of the disk engine")
    chosen = parser.parse_args()
    sizes = chosen.sizes or (SMALL if chosen.small else SIZES)
    rows: list[dict[str, Any]] = []
    for nodes in sizes:
        with tempfile.TemporaryDirectory(dir=chosen.folder) as name:
            folder = Path(name)
            truth = write(folder, nodes)
            for engine, kills in _runs(nodes, chosen.in_memory, sizes):
                row = measured(folder, engine, nodes, chosen.memory, kills)
                out = folder / (f"{engine}-killed" if kills else engine)
                row["accuracy, per cent"] = _accuracy(out, engine, truth)
                if engine == "disk" and (folder / "memory").exists():
                    row["labels unlike memory"] = _differing(folder / "memory", out)
                if kills and (folder / "disk").exists():
                    row["largest difference"] = _apart(folder / "disk", out)
                rows.append(row)
                print(table([{k: v for k, v in row.items() if k != "stages"}]), flush=True)
        result = {
            "edges a node": DEGREE,
            "classes": len(TOPICS),
            "words": WORDS,
            "memory": chosen.memory,
            "cores": cores(),
            "versions": versions("unseen", "numpy", "numba", "polars", "scipy"),
            "runs": rows,
            "exponent": _exponent(rows),
        }
        place = keep("engines", chosen.small or bool(chosen.sizes), result)
    print(f"exponent of processor time: {result['exponent']}")
    print(place)


def write(folder: Path, nodes: int) -> NDArray[np.int64]:
    """Write nodes, edges and classes; return the class of each node."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, len(TOPICS), nodes)
    own = pl.Series([word for words in TOPICS.values() for word in words.split()])
    filler, each = pl.Series(FILLER), len(own) // len(TOPICS)
    (folder / "nodes").mkdir()
    (folder / "edges").mkdir()
    kin = np.argsort(truth, kind="stable")  # nodes class by class
    first = np.searchsorted(truth[kin], np.arange(len(TOPICS) + 1))
    for part, begin in enumerate(range(0, nodes, PORTION)):
        of = truth[begin : begin + PORTION]
        at = np.arange(begin, begin + len(of))
        words = [own.gather(each * of + rng.integers(0, each, len(of))) for _ in range(OWN)]
        words += [filler.gather(rng.integers(0, len(filler), len(of))) for _ in range(WORDS - OWN)]
        frame = pl.DataFrame({f"w{i}": column for i, column in enumerate(words)})
        texts = frame.select(pl.concat_str(pl.all(), separator=" ").alias("text"))["text"]
        ids = pl.Series("id", at).cast(pl.String)
        pl.DataFrame([("item-" + ids).rename("id"), texts]).write_parquet(
            folder / "nodes" / f"{part:03d}.parquet"
        )
        source = np.repeat(at, DEGREE)
        u = rng.random(len(source)) ** 2  # some are named much more often than others
        span = first[truth[source] + 1] - first[truth[source]]
        near = kin[first[truth[source]] + (u * span).astype(np.int64)]
        target = np.where(rng.random(len(source)) < ALIKE, near, (u * nodes).astype(np.int64))
        ends = {
            name: "item-" + pl.Series(name, end).cast(pl.String)
            for name, end in (("source", source), ("target", target))
        }
        pl.DataFrame(ends).write_parquet(folder / "edges" / f"{part:03d}.parquet")
    pl.DataFrame({"name": list(TOPICS), "description": list(TOPICS.values())}).write_csv(
        folder / "classes.csv"
    )
    return truth


def _runs(
    nodes: int, in_memory: int, sizes: Sequence[int]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield engines, and what the folder of a run holds when it is killed."""
    fits = 1.3 * plan(nodes, DEGREE * nodes, len(TOPICS)).in_memory < free_memory()
    if nodes <= in_memory:
        yield from [("memory", ())] if fits else []
        yield "disk", ()
    if nodes >= max((size for size in sizes if size <= in_memory), default=0):
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
