"""From Parquet to predictions on the memory and the disk engine: time, growth, memory, a kill.

    python benchmarks/engines.py [--small] [--sizes 100000 1000000] [--folder FOLDER] [--memory 6GB]

Nodes with texts of eight words, ten edges a node, forty classes, no labels. Each run is the command
that a user types, in a process of its own whose anonymous memory is looked at all the time. The
largest graph, and the largest that is run in memory, are killed half-way as well, gone on with, and
compared with the run that nothing stopped. Needs 5 GB of disk for each million nodes; all files
are removed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import cores, keep, memory, table, versions
from numpy.typing import NDArray

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
            fits = 1.3 * plan(nodes, DEGREE * nodes, len(TOPICS)).in_memory < free_memory()
            engines = ["memory", "disk"] if nodes <= chosen.in_memory and fits else ["disk"]
            for engine in engines:
                rows.append(measured(folder, engine, nodes, chosen.memory))
                rows[-1]["accuracy, per cent"] = _accuracy(folder / engine, engine, truth)
                print(table([rows[-1]]), flush=True)
            if engines[0] == "memory":
                rows[-1]["labels unlike memory"] = _differing(folder)
            if nodes in (sizes[-1], IN_MEMORY):
                rows.append(killed(folder, nodes, chosen.memory, rows[-1]["seconds"] / 2))
                print(table([rows[-1]]), flush=True)
    disk = [row for row in rows if row["engine"] == "disk"]
    names = ("nodes", "processor seconds")
    count, seconds = (np.log([float(row[name]) for row in disk]) for name in names)
    result = {
        "edges a node": DEGREE,
        "classes": len(TOPICS),
        "words": WORDS,
        "memory": chosen.memory,
        "cores": cores(),
        "versions": versions("unseen", "numpy", "numba", "polars", "scipy"),
        "runs": rows,
        "exponent": float(np.polyfit(count, seconds, 1)[0]) if len(disk) > 1 else None,
    }
    print(f"exponent of processor time: {result['exponent']}")
    print(keep("engines", chosen.small or bool(chosen.sizes), result))


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


def measured(folder: Path, engine: str, nodes: int, limit: str) -> dict[str, Any]:
    """Run the command and return its seconds and the most anonymous memory it had."""
    began = time.perf_counter()
    most, processor = _watched(_start(folder, engine, limit, folder / engine))
    seconds = time.perf_counter() - began
    return {
        "engine": engine,
        "nodes": nodes,
        "seconds": seconds,
        "processor seconds": processor,
        "peak, GB": most / 1e9,
    }


def _watched(run: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait for a process; return its most anonymous memory, and the seconds of its processors."""
    most = 0
    while True:
        pid, status, usage = os.wait4(run.pid, os.WNOHANG)
        if pid:
            break
        most = max(most, memory("RssAnon", run.pid))
        time.sleep(0.05)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(f"{' '.join(map(str, run.args))} ended with {run.returncode}")  # type: ignore[arg-type]
    return most, usage.ru_utime + usage.ru_stime


def killed(folder: Path, nodes: int, limit: str, after: float) -> dict[str, Any]:
    """Kill a run on its way, go on with it, and count answers that are not those of a whole run."""
    out, began = folder / "killed", time.perf_counter()
    run = _start(folder, "disk", limit, out)
    time.sleep(after)
    run.send_signal(signal.SIGKILL)
    run.wait()
    left = sorted(path.name for path in (folder / "killed.work").iterdir() if path.is_dir())
    most, processor = _watched(_start(folder, "disk", limit, out))
    seconds = time.perf_counter() - began
    whole, parts = (
        pl.scan_parquet(place / "probabilities" / "*.parquet").collect()
        for place in (folder / "disk", out)
    )
    apart = max(float((whole[c] - parts[c]).abs().max()) for c in whole.columns[1:])  # type: ignore[arg-type]
    return {
        "engine": "disk, killed once",
        "nodes": nodes,
        "seconds": seconds,
        "processor seconds": processor,
        "peak, GB": most / 1e9,
        "killed after": after,
        "stages then": ", ".join(left),
        "largest difference": apart,
    }


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


def _differing(folder: Path) -> int:
    """Return how many labels of the disk engine are not those of the memory engine."""
    one = pl.read_parquet(folder / "memory" / "predictions.parquet")["label"]
    other = pl.scan_parquet(folder / "disk" / "predictions" / "*.parquet").collect()["label"]
    return int((one != other).sum())


if __name__ == "__main__":
    main()
