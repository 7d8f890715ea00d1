"""Write the tables of docs/scale.md from benchmarks/results.

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
    return table(
        [
            {
                "engine": each["engine"],
                "nodes": f"{each['nodes']:,}",
                "edges": f"{each['nodes'] * read('engines')['edges a node']:,}",
                "seconds": f"{each['seconds']:.0f}",
                "processor seconds": f"{each['processor seconds']:.0f}",
                "peak memory, GB": f"{each['peak, GB']:.2f}",
            }
            for each in read("engines")["runs"]
        ]
    )


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
    "engines": engines,
}


def filled(page: str) -> str:
    """Return the page with every table as the results have it."""
    return fill(page, {"table": lambda name: TABLES[name]()})


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text("utf-8")), "utf-8")
