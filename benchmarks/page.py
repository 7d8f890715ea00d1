"""Write the tables and pictures of docs/scale.md from benchmarks/results.

Every block between `<!-- table NAME -->` and `<!-- /table -->` is replaced by that table.

    python benchmarks/page.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "scale.md"
BLOCK = re.compile(r"(<!-- table ([\w ]+) -->\n).*?(<!-- /table -->)", re.DOTALL)
BILLS = {  # nodes, ties that are stored (both directions), width of the features
    "ogbn-products": (2_449_029, 123_718_280, 100),
    "ogbn-papers100M": (111_059_956, 3_231_371_744, 128),
}
HOPS, FLOAT = 3, 4


def read(name: str) -> Any:
    """Return a result as its benchmark left it."""
    return json.loads((HERE / "results" / f"{name}.json").read_text("utf-8"))


def table(rows: list[Mapping[str, str]]) -> str:
    """Return rows of the same keys as Markdown."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([row[head] for head in heads] for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def in_memory() -> str:
    found = read("propagate_memory")
    best = found["seconds"]["walk"]
    return table(
        [
            {"route": route, "seconds": f"{s:.2f}", "times as long as walk": f"{s / best:.2f}"}
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
                "walk, s": f"{each['walk, s']:.1f}",
                "moved on disk, GB": f"{each['disk, GB']:.1f}",
                "times its traffic": f"{each['over traffic']:.2f}",
                "peak memory, GB": f"{each['peak, GB']:.2f}",
            }
            for each in read("propagate_disk")["graphs"]
        ]
    )


def blocks() -> str:
    return table(
        [
            {
                "job": each["job"],
                "nodes": f"{each['nodes']:,}",
                "hops on disk, GB": f"{each['hops, GB']:.1f}",
                "nodes a second": f"{each['nodes/s']:,.0f}",
                "peak memory, MB": f"{each['peak, MB']:,.0f}",
                "the same in memory, MB": f"{each['peer, peak MB']:,.0f}"
                if isinstance(each.get("peer, peak MB"), float)
                else "not run",
            }
            for each in read("blocks")["graphs"]
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

    A walk moves K+1 hops of n x d numbers (and the graph, once a block of columns) over the disk
    and a row of d numbers for every tie and hop through memory. The largest measured graph gives
    seconds for each number that is gathered; machines share out columns, so that eight of them
    gather an eighth each, and each reads the whole graph.
    """
    largest = read("propagate_disk")["graphs"][-1]
    rate = largest["walk, s"] / (HOPS * largest["non-zeros"] * read("propagate_disk")["width"])
    rows = []
    for name, (nodes, ties, width) in BILLS.items():
        seconds = rate * HOPS * ties * width
        disk = (HOPS + 1) * nodes * width * FLOAT / 1e9 + ties * FLOAT / 1e9
        rows.append(
            {
                "graph": name,
                "nodes": f"{nodes:,}",
                "non-zeros": f"{ties:,}",
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


TABLES: dict[str, Callable[[], str]] = {
    "training": training,
    "memory": in_memory,
    "disk": on_disk,
    "blocks": blocks,
    "chain": chain,
    "bill": bill,
}


def filled(page: str) -> str:
    """Return the page with every table as the results have it."""
    return BLOCK.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", page)


def draw() -> None:
    """Draw time and memory of the walk on disk against the size of the graph."""
    from matplotlib.figure import Figure

    found = read("propagate_disk")
    graphs = found["graphs"]
    ties = [each["non-zeros"] for each in graphs]
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    time, room = figure.subplots(1, 2)
    power = found["seconds grow as non-zeros to the power of"]
    time.loglog(ties, [each["walk, s"] for each in graphs], "o-", label=f"walk (power {power:.2f})")
    time.loglog(ties, [each["build, s"] for each in graphs], "s--", label="graph written")
    time.loglog(ties, [each["disk, s"] for each in graphs], ":", label="its disk traffic alone")
    time.set(xlabel="non-zeros", ylabel="seconds", title="Time grows with the ties")
    time.legend()
    limit = found["memory"] / 1e9
    room.semilogx(ties, [each["peak, GB"] for each in graphs], "o-", label="peak, anonymous")
    hops = [(HOPS + 1) * each["nodes"] * found["width"] * FLOAT / 1e9 for each in graphs]
    room.semilogx(ties, hops, ":", label="hops on disk")
    room.axhline(limit, color="grey", linewidth=1, label="limit asked for")
    room.set(xlabel="non-zeros", ylabel="GB", title="Memory stays under its limit", ylim=(0, 10))
    room.legend()
    for end in ("png", "svg"):
        figure.savefig(PAGE.with_name(f"scale.{end}"), dpi=120)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
    draw()
