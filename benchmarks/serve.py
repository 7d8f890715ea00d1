"""`unseen serve` under load: 64 connections for 30 seconds on a graph of 100,000 nodes, loopback.

    python benchmarks/serve.py [--small] [--run RUN]

Every connection asks as soon as it was answered, at most `MOST` times in all: three look-ups of a
node, then a text to classify. Beside it, one at a time on an idle server: previews of a new class,
the arrays of the map, the page. Server and client share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from common import cores, keep, memory, table, versions

import unseen

CONNECTIONS, SECONDS, MOST = 64, 30.0, 200_000
NODES, EDGES, WORKERS = 100_000, 3, 2
DIFFERENT = 20_000  # requests, that are then repeated
START = 600.0  # seconds that the server has to come up
TOPICS = {
    "astronomy": "star planet telescope galaxy orbit moon comet nebula solar eclipse asteroid",
    "biology": "cell gene protein species enzyme organism tissue membrane bacteria mutation",
    "chemistry": "molecule reaction acid catalyst compound bond polymer solvent oxide ion",
    "medicine": "patient therapy disease clinical drug symptom surgery hospital vaccine dose",
    "law": "court contract judge statute appeal plaintiff liability verdict clause jury",
    "finance": "bank loan interest stock market inflation credit portfolio dividend equity",
    "sports": "football match goal team league coach player tennis score referee stadium",
    "cooking": "recipe oven flour butter sauce bake garlic onion dough roast spice broth",
    "music": "melody violin orchestra chord rhythm jazz opera piano concert singer tempo",
    "computing": "software algorithm compiler database network server code processor query",
    "farming": "crop soil harvest tractor wheat irrigation cattle barn seed pasture orchard",
    "travel": "hotel flight passport tourist luggage beach museum airport cruise visa resort",
}
COMMON = "the a study of new result shows in with method large small group year work found using"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tiny graph: only to see it run")
    parser.add_argument("--run", type=Path, help="a run of this benchmark, made if not there")
    chosen = parser.parse_args()
    nodes, seconds = (2_000, 3.0) if chosen.small else (NODES, SECONDS)
    with tempfile.TemporaryDirectory() as name:
        run = chosen.run or Path(name) / "run"
        if not run.is_dir():
            _classify(nodes).save(run)
        result = _measure(run, nodes, seconds)
    print(table(result["requests"]))
    print(json.dumps({name: value for name, value in result.items() if name != "requests"}))
    print(keep("serve", chosen.small, result))


def _classify(n: int) -> Any:
    """Return answers about texts on twelve topics, of which 70 in 100 edges stay within one."""
    rng = np.random.default_rng(0)
    words, common = [text.split() for text in TOPICS.values()], COMMON.split()
    topic = rng.integers(0, len(words), n)
    texts = [
        " ".join([*rng.choice(words[c], 4), *rng.choice(words[o], 2), *rng.choice(common, 12)])
        for c, o in zip(topic, rng.integers(0, len(words), n), strict=True)
    ]
    source = rng.integers(0, n, EDGES * n)
    order, sizes = np.argsort(topic, kind="stable"), np.bincount(topic)
    own = topic[source]
    within = (np.cumsum(sizes) - sizes)[own] + (rng.random(len(source)) * sizes[own]).astype(int)
    target = np.where(rng.random(len(source)) < 0.7, order[within], rng.integers(0, n, len(source)))
    graph = unseen.Graph.from_edges(source, target, nodes=n, texts=texts)
    described = [f"About {', '.join(each[:4])}." for each in words]
    labels = np.where(rng.random(n) < 0.002, topic, -1)
    return unseen.classify(graph, unseen.Classes(list(TOPICS), described), labels)


def _measure(run: Path, nodes: int, seconds: float) -> dict[str, Any]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "unseen.cli", "serve", str(run), "--port", str(port)]
    began = time.perf_counter()
    server = subprocess.Popen(
        [*command, "--workers", str(WORKERS), "--rate", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    base = f"http://127.0.0.1:{port}"
    try:
        _wait(base, server)
        ready = time.perf_counter() - began
        previews = [_preview(base, k) for k in range(6)]
        page = [_fetch(f"{base}{path}") for path in ("/", "/api/v1/map/arrays") for _ in range(5)]
        rows = asyncio.run(_load(port, nodes, seconds))
        workers = _children(server.pid)
        private = [memory("RssAnon", pid) / 1e6 for pid in workers]
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(60)
    return {
        "nodes": nodes,
        "connections": CONNECTIONS,
        "seconds": seconds,
        "workers": WORKERS,
        "cores": cores(),
        "load average": round(os.getloadavg()[0], 1),
        "ready, s": ready,
        "preview of a class, ms": float(np.median(previews[1:])),
        "page, ms": 1000 * float(np.median(page[:5])),
        "arrays of the map, ms": 1000 * float(np.median(page[5:])),
        "private memory of a worker, MB": max(private, default=0.0),
        "versions": versions("unseen", "numpy", "fastapi", "uvicorn"),
        "requests": rows,
    }


def _wait(base: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{base}/api/v1/ready", timeout=5) as found:
                if found.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not come up")


def _children(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(each) for each in path.read_text("ascii").split()] if path.is_file() else []


def _fetch(url: str) -> float:
    began = time.perf_counter()
    with urllib.request.urlopen(url, timeout=30) as found:
        found.read()
    return time.perf_counter() - began


def _preview(base: str, k: int) -> float:
    """Return the milliseconds of a preview, as the client sees them."""
    body = {"changes": [{"name": f"gardening {k}", "description": "Flowers, soil and pruning."}]}
    request = urllib.request.Request(
        f"{base}/api/v1/classes/preview",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60) as found:
        found.read()
    return 1000 * (time.perf_counter() - began)


async def _load(port: int, nodes: int, seconds: float) -> list[dict[str, Any]]:
    """Keep all connections busy; return one row for each kind of request."""
    times: dict[str, list[float]] = {"GET /nodes/{id}": [], "POST /classify": []}
    failed = dict.fromkeys(times, 0)
    until = time.perf_counter() + seconds
    left = MOST

    asked = _requests(nodes)  # made before: the client shares the machine

    async def connection(number: int) -> None:
        nonlocal left
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        k = 997 * number
        while time.perf_counter() < until and left > 0:
            left, k = left - 1, k + 1
            kind, request = asked[k % len(asked)]
            began = time.perf_counter()
            writer.write(request)
            status = await _response(reader)
            times[kind].append(time.perf_counter() - began)
            failed[kind] += status != 200
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(connection(number) for number in range(CONNECTIONS)))
    took = time.perf_counter() - began
    return [
        {
            "request": kind,
            "answered": len(each),
            "failed": failed[kind],
            "a second": len(each) / took,
            **{f"p{q}, ms": 1000 * float(np.quantile(each, q / 100)) for q in (50, 95, 99)},
            "longest, ms": 1000 * max(each),
        }
        for kind, each in times.items()
    ]


def _requests(nodes: int) -> list[tuple[str, bytes]]:
    """Return requests of both kinds, three to one, each another node or text."""
    rng, words = np.random.default_rng(0), [text.split() for text in TOPICS.values()]
    found = []
    for k in range(DIFFERENT):
        if k % 4:
            path = f"/api/v1/nodes/{rng.integers(0, nodes)}"
            found.append(("GET /nodes/{id}", _request("GET", path, b"")))
        else:
            text = " ".join(rng.choice(words[k % len(words)], 6))
            body = json.dumps({"texts": [f"A study of {text}"]}).encode()
            found.append(("POST /classify", _request("POST", "/api/v1/classify", body)))
    return found


def _request(method: str, path: str, body: bytes) -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n"
    return f"{head}content-type: application/json\r\n\r\n".encode() + body


async def _response(reader: asyncio.StreamReader) -> int:
    """Read an answer to its end; return its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    at = head.index(b"content-length: ") + 16
    await reader.readexactly(int(head[at : head.index(b"\r", at)]))
    return int(head[9:12])


if __name__ == "__main__":
    main()
