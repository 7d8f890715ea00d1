"""Write the tables and pictures of docs/scale.md from benchmarks/results.

Every block between `<!-- table NAME -->` and `<!-- /table -->` is replaced by that table.

    python benchmarks/page.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.paper.pages import fill, markdown

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "scale.md"
BILLS = {  # nodes, edges that are stored (both directions), width of the features
    "ogbn-products": (2_449_029, 123_718_280, 100),
    "ogbn-papers100M": (111_059_956, 3_231_371_744, 128),
}
HOPS, FLOAT = 3, 4


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


def on_disk() -> str:
    return table(
        [
            {
                "nodes": f"{each['nodes']:,}",
                "non-zeros": f"{each['non-zeros']:,}",
                "graph written, s": f"{each['build, s']:.1f}",
                "propagated, s": f"{each['propagated, s']:.1f}",
                "moved on disk, GB": f"{each['disk, GB']:.1f}",
                "times its traffic": f"{each['over traffic']:.2f}",
                "peak memory, GB": f"{each['peak, GB']:.2f}",
            }
            for each in read("propagate_disk")["graphs"]
        ]
    )


def chain() -> str:
    return table(
        [
            {
                "command": f"`{each['command']}`",
                "seconds": f"{each['seconds']:.0f}",
                "peak memory, GB": f"{each['peak, GB']:.2f}",
            }
            for each in read("chain")["commands"]
        ]
    )


def bill() -> str:
    """Return what the two large graphs of the field would take, by the measured rates.

    K hops move K+1 blocks of n x d numbers (and the graph, once a block of columns) over the disk
    and a row of d numbers for every edge and hop through memory. The largest measured graph gives
    seconds for each number that is gathered; machines share out columns, so that eight of them
    gather an eighth each, and each reads the whole graph.
    """
    largest = read("propagate_disk")["graphs"][-1]
    rate = largest["propagated, s"] / (
        HOPS * largest["non-zeros"] * read("propagate_disk")["width"]
    )
    rows = []
    for name, (nodes, edges, width) in BILLS.items():
        seconds = rate * HOPS * edges * width
        disk = (HOPS + 1) * nodes * width * FLOAT / 1e9 + edges * FLOAT / 1e9
        rows.append(
            {
                "graph": name,
                "nodes": f"{nodes:,}",
                "non-zeros": f"{edges:,}",
                "width": str(width),
                "on disk, GB": f"{disk:.0f}",
                "all columns in memory, GB": f"{nodes * width * FLOAT / 1e9:.0f}",
                "one machine, minutes": f"{seconds / 60:.1f}",
                "eight machines, minutes": f"{seconds / 8 / 60:.1f}",
            }
        )
    return table(rows)


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


TABLES: dict[str, Callable[[], str]] = {
    "serve": serving,
    "training": training,
    "memory": in_memory,
    "disk": on_disk,
    "chain": chain,
    "bill": bill,
}


def filled(page: str) -> str:
    """Return the page with every table as the results have it."""
    return fill(page, {"table": lambda name: TABLES[name]()})


def draw() -> None:
    """Draw time and memory of propagation on disk against the size of the graph."""
    from matplotlib.figure import Figure

    found = read("propagate_disk")
    graphs = found["graphs"]
    edges = [each["non-zeros"] for each in graphs]
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    time, room = figure.subplots(1, 2)
    power = found["seconds grow as non-zeros to the power of"]
    time.loglog(
        edges, [each["propagated, s"] for each in graphs], "o-", label=f"hops (power {power:.2f})"
    )
    time.loglog(edges, [each["build, s"] for each in graphs], "s--", label="graph written")
    time.loglog(edges, [each["disk, s"] for each in graphs], ":", label="its disk traffic alone")
    time.set(xlabel="non-zeros", ylabel="seconds", title="Time grows with the edges")
    time.legend()
    limit = found["memory"] / 1e9
    room.semilogx(edges, [each["peak, GB"] for each in graphs], "o-", label="peak, anonymous")
    hops = [(HOPS + 1) * each["nodes"] * found["width"] * FLOAT / 1e9 for each in graphs]
    room.semilogx(edges, hops, ":", label="hops on disk")
    room.axhline(limit, color="grey", linewidth=1, label="limit asked for")
    room.set(xlabel="non-zeros", ylabel="GB", title="Memory stays under its limit", ylim=(0, 10))
    room.legend()
    for end in ("png", "svg"):
        figure.savefig(PAGE.with_name(f"scale.{end}"), dpi=120)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
    draw()
