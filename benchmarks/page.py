"""Write the tables of docs/scale.md from benchmarks/results.

Every block between `<!-- table NAME -->` and `<!-- /table -->` is replaced by that table.

    python benchmarks/page.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.engines.plan import USUAL_CLASSES, Plan, plan, readable_size
from unseen.paper.pages import fill, markdown

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "scale.md"
CORE_HOUR, GB_MONTH, MONTH = 0.05, 0.10, 730.0  # USD, USD, hours: list prices of clouds, rounded
CORES = 16
SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000)  # nodes
LARGE = {  # nodes, edges, classes, words a text
    "ogbn-papers100M, titles and abstracts": (111_059_956, 1_615_685_872, 172, 160),
    "a billion edges, short texts": (100_000_000, 1_000_000_000, 40, 8),
}


def read(name: str) -> Any:
    """Return a result as its benchmark left it."""
    return json.loads((HERE / "results" / f"{name}.json").read_text("utf-8"))


def table(rows: Sequence[Mapping[str, str]]) -> str:
    """Return rows of the same keys as Markdown."""
    heads = list(rows[0])
    return markdown(heads, [[row[head] for head in heads] for row in rows])


def in_memory() -> str:
    found = read("propagate_memory")
    best = found["seconds"]["unseen"]
    return table(
        [
            {"route": route, "seconds": f"{s:.2f}", "times as long as unseen": f"{s / best:.2f}"}
            for route, s in found["seconds"].items()
        ]
    )


def engines() -> str:
    """Return the runs from files to answers."""
    found = read("engines")
    return table(
        [
            {
                "engine": each["engine"],
                "nodes": f"{each['nodes']:,}",
                "edges": f"{each['nodes'] * found['edges a node']:,}",
                "`--memory`": "" if each["engine"] == "memory" else each["limit"],
                "seconds": f"{each['seconds']:.0f}",
                "processor seconds": f"{each['processor seconds']:.0f}",
                "peak memory, GB": f"{each['peak, GB']:.2f}",
                "unseen": each["unseen"],
            }
            for each in found["runs"]
        ]
    )


def stages() -> str:
    """Return where the time of the largest run with a record of its stages went."""
    runs = [each for each in read("engines")["runs"] if "stages" in each]
    if not runs:
        return "Not measured yet."
    largest = max(runs, key=lambda each: int(each["nodes"]))
    rows = [
        {
            "until there is": f"`{each['until']}`",
            "processor seconds": f"{each['processor seconds']:.0f}",
            "peak memory, GB": f"{each['peak, GB']:.2f}",
        }
        for each in largest["stages"]
        if each["processor seconds"] >= 0.5
    ]
    return f"{largest['nodes']:,} nodes, {largest['engine']}:\n\n{table(rows)}"


def training() -> str:
    rows = []
    for data, found in read("training")["data"].items():
        for each in found["routes"]:
            rows.append(
                {
                    "data": data,
                    "route": each["route"],
                    "ms an epoch": f"{each['ms']:.1f}",
                    "processor ms": f"{each['processor ms']:.1f}",
                    "times the fastest dense": f"{each['times the fastest dense']:.1f}",
                }
            )
    return table(rows)


def serving() -> str:
    found = read("serve")
    load = [
        {
            "request": f"`{each['request']}`",
            "a second": f"{each['a second']:.0f}",
            "median, ms": f"{each['p50, ms']:.0f}",
            "p99, ms": f"{each['p99, ms']:.0f}",
            "failed": f"{each['failed']} of {each['answered']:,}",
        }
        for each in found["requests"]
    ]
    alone = [
        {
            "request": f"`{request}`, alone",
            "a second": "",
            "median, ms": f"{found[name]:.0f}",
            "p99, ms": "",
            "failed": "",
        }
        for request, name in (
            ("POST /classes/preview", "preview of a class, ms"),
            ("GET /map/arrays", "arrays of the map, ms"),
            ("GET /", "page, ms"),
        )
    ]
    return table([*load, *alone])


def network() -> str:
    """Return what a hop moves between two Ray nodes."""
    if not (HERE / "results" / "network.json").is_file():
        return "Not measured yet."
    return table(
        [
            {
                "graph": each["graph"],
                "order of nodes": each["order"],
                "partitions": str(each["partitions"]),
                "MB a hop": f"{each['MB a hop']:.1f}",
                "blocks a task is given": f"{each['blocks a task is given']:.1f}",
                "largest partition, edges over mean": (
                    f"{each['largest partition, edges over mean']:.2f}"
                ),
            }
            for each in read("network")["runs"]
        ]
    )


def ray() -> str:
    """Return what hops take on two Ray nodes of one machine, beside memory."""
    path = HERE / "results" / "network.json"
    runs = read("network")["against memory"]["runs"] if path.is_file() else []
    if not runs:
        return "Not measured yet."
    return table(
        [
            {
                "engine": each["engine"],
                "seconds": f"{each['seconds']:.2f}",
                "processor seconds": f"{each['processor seconds']:.2f}",
                "times memory": f"{each['times memory']:.1f}",
                "times memory, processor": f"{each['times memory, processor']:.1f}",
            }
            for each in runs
        ]
    )


def sizes() -> str:
    """Return what graphs of ten edges a node take, by the plan."""
    rows = []
    for nodes in SIZES:
        found = plan(nodes, 10 * nodes, USUAL_CLASSES, "disk", "1TB")
        rows.append(
            {
                "nodes": f"{nodes:,}",
                "in memory": readable_size(found.in_memory),
                "least on disk": readable_size(found.least),
                "room on disk": readable_size(found.disk),
                "core hours": f"{found.seconds / 3600:,.2f}",
                "cost, USD": f"{cost(found):,.2f}",
            }
        )
    return table(rows)


def bill() -> str:
    """Return what large graphs would cost, by the plan and the prices at the top."""
    rows = []
    for name, (nodes, edges, classes, words) in LARGE.items():
        found = plan(nodes, edges, classes, "disk", "1TB", words)
        rows.append(
            {
                "graph": name,
                "nodes": f"{nodes:,}",
                "edges": f"{edges:,}",
                "classes": str(classes),
                "words a text": str(words),
                "core hours": f"{found.seconds / 3600:,.0f}",
                "least memory": readable_size(found.least),
                "disk": readable_size(found.disk),
                "to each further machine": readable_size(found.network),
                "cost, USD": f"{cost(found):,.2f}",
            }
        )
    prices = (
        f"Assumed: {CORE_HOUR} USD for an hour of a core with 4 GB, {GB_MONTH} USD for a GB of "
        f"disk in a month, {CORES} cores that are busy all the time, the `static` encoder."
    )
    return f"{table(rows)}\n\n{prices}"


def cost(found: Plan) -> float:
    """Return USD for cores, and for the disk as long as they work."""
    hours = found.seconds / 3600
    return hours * CORE_HOUR + found.disk / 1e9 * hours / CORES / MONTH * GB_MONTH


TABLES: dict[str, Callable[[], str]] = {
    "serve": serving,
    "training": training,
    "memory": in_memory,
    "engines": engines,
    "stages": stages,
    "network": network,
    "ray": ray,
    "sizes": sizes,
    "bill": bill,
}


def filled(page: str) -> str:
    """Return the page with every table as the results have it."""
    return fill(page, {"table": lambda name: TABLES[name]()})


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
