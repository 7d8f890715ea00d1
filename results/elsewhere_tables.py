"""Tables of the comparison of 0.8 on eight graphs made from packages (elsewhere.jsonl).

The graphs are part of the zoo now (graphs/, zoo.py); these runs are kept as they were.
"""

from __future__ import annotations

from collections.abc import Callable

from records import NONE, Outcomes, average, floor, lines

from unseen.paper.pages import markdown

FILE = "elsewhere.jsonl"
DESIGN = ("computing", "packages", "verbs", "webster")  # graphs made from packages, and those
FRESH = ("icd10", "motifs", "numerics", "weaknesses")  # that were looked at after all was settled


def pick(row: str, encoder: str, graph: str, kind: str) -> Outcomes:
    """Return the answers on graphs made from packages; an empty graph or kind is any."""
    found = [
        outcome | {"rewired": run["rewired"]}
        for run, outcome in lines(FILE)
        if (run["row"], run["csds"]) == (row, encoder)
        and graph in ("", run["graph"].partition("/")[0])
        and kind in ("", run["graph"].partition("/")[2])
    ]
    runs = 2 if row == "no labels" else 3  # of a graph with one kind of class text
    whole = runs * (1 if graph else len((*DESIGN, *FRESH))) * (1 if kind else 3)
    return found if len(found) == whole else []  # a mean over some of them would mislead


def cells(row: str, encoder: str, graph: str = "", kind: str = "") -> tuple[str, ...]:
    """Return means over graphs made from packages; the least gain is over rewired ones too."""
    every = pick(row, encoder, graph, kind)
    gains = [each["pipeline"]["accuracy"] - each["hops"]["accuracy"] for each in every]
    found = [each for each in every if not each["rewired"]]
    return (
        floor(found),
        average(found, "own text"),
        average(found, "hops"),
        f"**{average(found, 'pipeline')}**",
        average(found, "pipeline", "macro"),
        average(found, "pipeline", "calibration error", 2),
        f"{min(gains):+.1f}" if gains else NONE,
    )


HEAD: tuple[str, ...] = ("majority floor", "own text: inductive", "hops", "defaults: transductive")
HEAD += ("macro", "calibration error", "least gain")


def by_graph(row: str) -> str:
    """Return graphs made from packages, mean over kinds of class text."""
    rows = [
        (f"*{name}*" if name in FRESH else name, encoder, *cells(row, encoder, name))
        for encoder in ("static", "minilm")
        for name in (*DESIGN, *FRESH)
    ]
    return markdown(("graph", "encoder", *HEAD), rows)


def by_texts(row: str) -> str:
    """Return the same by kind of class text, mean over graphs."""
    rows = [
        (kind, encoder, *cells(row, encoder, kind=kind))
        for encoder in ("static", "minilm")
        for kind in ("name", "sentence", "paragraph")
    ]
    return markdown(("class texts", "encoder", *HEAD), rows)


TABLES: dict[str, Callable[[], str]] = {
    "elsewhere none": lambda: by_graph("no labels"),
    "elsewhere half": lambda: by_graph("half"),
    "elsewhere texts none": lambda: by_texts("no labels"),
    "elsewhere texts half": lambda: by_texts("half"),
}
