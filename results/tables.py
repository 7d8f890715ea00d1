"""Write the tables of docs/results.md and the README from the records beside this file.

Every block between `<!-- table NAME -->` and `<!-- /table -->` is replaced by that table.

    python results/tables.py
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

HERE = Path(__file__).parent
PAGES = (HERE.parent / "docs" / "results.md", HERE.parent / "README.md")
BLOCK = re.compile(r"(<!-- table ([\w ]+) -->\n).*?(<!-- /table -->)", re.DOTALL)
NAMES = {"c-m10m": "C-M10M", "stdlib": "stdlib", "cora": "Cora", "citeseer": "Citeseer"}
SPLITS = {"cora": 35, "citeseer": 15, "c-m10m": 20}  # ways to choose as many seen classes as I has
CITED = {  # of other papers: Cora I, II; Citeseer I, II; C-M10M I, II
    "DGPN, as published (KDD 2021)": ("33.8", "46.4", "38.0", "61.9", "42.0", "62.5"),
    "DBiGCN (KDD 2022)": ("45.1", "49.2", "41.0", "60.1", "45.5", "71.9"),
    "GraphCEN (TMLR 2023)": ("48.4", "50.6", "40.8", "60.5", "44.2", "70.8"),
    "SpeAr (NeurIPS 2024)": ("60.5", "58.2", "59.7", "75.1", "54.2", "79.0"),
}
CITED_GENERALISED = {  # harmonic means: Cora, Citeseer, C-M10M
    "DGPN, by SpeAr's authors": ("0.0", "0.0", "0.0"),
    "DBiGCN, by SpeAr's authors": ("2.5", "8.5", "7.5"),
    "SpeAr (NeurIPS 2024)": ("30.0", "26.5", "22.2"),
}
METHODS = {  # method, CSDs -> name of the row, and whether unlabelled nodes are learned from
    ("random", "published"): ("RandomGuess", ""),
    ("dap", "published"): ("DAP", "inductive"),
    ("dap", "minilm"): ("DAP", "inductive"),
    ("eszsl", "published"): ("ESZSL", "inductive"),
    ("eszsl", "minilm"): ("ESZSL", "inductive"),
    ("zs-gcn", "published"): ("ZS-GCN", "inductive"),
    ("zs-gcn", "minilm"): ("ZS-GCN", "inductive"),
    ("wdvsc", "published"): ("WDVSc", "transductive"),
    ("wdvsc", "minilm"): ("WDVSc", "transductive"),
    ("hyperbolic", "published"): ("Hyperbolic-ZSL", "inductive"),
    ("hyperbolic", "minilm"): ("Hyperbolic-ZSL", "inductive"),
    ("dgpn", "published"): ("DGPN, official code", "walks over unlabelled nodes"),
    ("dgpn", "minilm"): ("DGPN, official code", "walks over unlabelled nodes"),
    ("align", "published"): ("Align", "transductive"),
    ("pipeline", "static"): ("**Align**, defaults", "transductive"),
    ("pipeline", "minilm"): ("**Align**, `--encoder minilm`", "transductive"),
}
READ_BY = {"published": "published", "static": "open, static", "minilm": "open, minilm+static"}
BEFORE = "one_sentence.jsonl"  # runs of 0.4.0, when a class had one sentence
UNCORRECTED = "uncorrected.jsonl"  # runs of 0.5.0, when no game corrected confidences
STRICT = "II, training labels only"
K_MEANS = "one_cluster_a_class.jsonl"  # runs of 0.5.0, when k-means made the cuts of `Align`

DESIGN = ("computing", "packages", "verbs", "webster")  # graphs made from packages, and those
FRESH = ("icd10", "motifs", "numerics", "weaknesses")  # that were looked at after all was settled

Line = dict[str, Any]


@cache
def lines(file: str = "runs.jsonl") -> list[Line]:
    """Return every run with its answer."""
    return [json.loads(line) for line in (HERE / file).read_text("utf-8").splitlines()]


def pick(file: str = "runs.jsonl", **asked: Any) -> list[Line]:
    """Return the answers of the runs that have these settings."""
    plain: dict[str, Any] = {"generalised": False, "rewired": False}
    wanted = plain | asked
    found = [
        each["answer"]
        for each in lines(file)
        if all(each["run"][name] == value for name, value in wanted.items())
    ]
    whole = {"all splits": SPLITS.get(asked["graph"], 0), "10 draws of 8": 10}
    # a mean over some of the splits would mislead
    return found if len(found) >= whole.get(asked.get("row", ""), 0) else []


def mean(found: list[Line], part: str, value: str, digits: int = 1) -> str:
    """Return the mean, with the deviation where the runs differ; a dash where there is none."""
    values = [each[part][value] for each in found if part in each]
    if not values:
        return "–"
    spread = f" ± {pstdev(values):.{digits}f}" if pstdev(values) >= 0.5 * 10**-digits else ""
    return f"{fmean(values):.{digits}f}{spread}"


def floor(found: list[Line]) -> str:
    return f"{fmean(each['floor'] for each in found):.1f}" if found else "–"


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    parts = [columns, ("---",) * len(columns), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in parts) + "\n"


def row_name(graph: str, row: str) -> str:
    words = {
        "no labels": "all classes, no labels",
        "all splits": "mean over all splits of I's sizes",
    }
    return f"{NAMES[graph]}: {words.get(row, f'split {row}' if len(row) < 5 else row)}"


TEXT_ROWS = [
    ("c-m10m", "I"),
    ("c-m10m", "II"),
    ("c-m10m", "no labels"),
    ("c-m10m", "all splits"),
    ("stdlib", "demo"),
    ("stdlib", "10 draws of 8"),
    ("stdlib", "no labels"),
]
FEATURE_ROWS = [(graph, part) for graph in SPLITS for part in ("I", "II", "all splits")]
ENCODERS = ("static", "minilm", "static+minilm")


def texts(encoder: str) -> str:
    """Return the table of text graphs with one encoder."""
    rows = []
    for graph, row in TEXT_ROWS:
        found = pick(graph=graph, row=row, nodes="texts", csds=encoder)
        if not found:
            continue
        rows.append(
            (
                row_name(graph, row),
                floor(found),
                mean(found, "own text", "accuracy"),
                mean(found, "hops", "accuracy"),
                f"**{mean(found, 'pipeline', 'accuracy')}**",
                mean(found, "pipeline", "macro"),
                mean(found, "pipeline", "calibration error", 2),
            )
        )
    head = ("graph", "majority floor", "own text: inductive", "hops, nothing learned")
    return table((*head, "defaults: transductive", "macro", "calibration error"), rows)


def rewired() -> str:
    """Return what refinement does when half of the ties lead elsewhere."""
    rows = []
    for encoder in ("static", "minilm"):
        for graph, row in TEXT_ROWS:
            for moved in (False, True):
                found = pick(graph=graph, row=row, nodes="texts", csds=encoder, rewired=moved)
                if not found or (moved is False and len(found) > 10) or "draws" in row:
                    continue
                rows.append(
                    (
                        row_name(graph, row),
                        encoder,
                        "half rewired" if moved else "as they are",
                        mean(found, "own text", "accuracy"),
                        mean(found, "hops", "accuracy"),
                        mean(found, "pipeline", "accuracy"),
                    )
                )
    return table(
        ("graph", "encoder", "ties", "own text", "hops, nothing learned", "defaults"), rows
    )


def nameless(value: str = "accuracy") -> str:
    """Return every method on features without names, beside the published figures."""
    columns = [f"{NAMES[graph]} {part}" for graph, part in FEATURE_ROWS]
    rows: list[tuple[str, ...]] = []
    if value == "accuracy":
        floors = [
            floor(pick(graph=graph, row=part, nodes="features", method="random", csds="published"))
            for graph, part in FEATURE_ROWS
        ]
        rows.append(("majority floor", "–", "", *floors))
        for name, figures in CITED.items():
            spread = [f for i in range(3) for f in (figures[2 * i], figures[2 * i + 1], "–")]
            rows.append((name, "published", kind_of(name), *spread))
    for (method, csds), (name, kind) in METHODS.items():
        asked = {"nodes": "features", "method": method, "csds": csds}
        cells = [
            mean(pick(graph=graph, row=part, **asked), method, value)
            for graph, part in FEATURE_ROWS
        ]
        rows.append((name, READ_BY[csds], kind, *cells))
    return table(("method", "CSDs", "kind", *columns), rows)


def kind_of(cited: str) -> str:
    return "walks over unlabelled nodes" if cited.startswith("DGPN") else "transductive"


def nameless_macro() -> str:
    """Return macro accuracy and calibration of the defaults on features without names."""
    rows = []
    for graph, part in FEATURE_ROWS:
        for csds in ("static", "minilm"):
            found = pick(graph=graph, row=part, nodes="features", method="pipeline", csds=csds)
            rows.append(
                (
                    row_name(graph, part),
                    READ_BY[csds].removeprefix("open, "),
                    floor(found),
                    mean(found, "pipeline", "accuracy"),
                    mean(found, "pipeline", "macro"),
                    mean(found, "pipeline", "calibration error", 2),
                )
            )
    head = ("graph", "class texts read by", "majority floor", "accuracy", "macro")
    return table((*head, "calibration error"), rows)


def generalised() -> str:
    """Return the generalised protocol, Split I."""
    rows: list[tuple[str, ...]] = [
        (name, graph, "features", "–", "–", figure)
        for name, figures in CITED_GENERALISED.items()
        for graph, figure in zip(("Cora", "Citeseer", "C-M10M"), figures, strict=True)
    ]
    asked = [(graph, "features", "minilm") for graph in ("cora", "citeseer", "c-m10m")]
    for graph, nodes, csds in [
        *asked,
        ("c-m10m", "texts", "static"),
        ("c-m10m", "texts", "minilm"),
    ]:
        found = pick(graph=graph, nodes=nodes, csds=csds, generalised=True)
        for part, name in (("pipeline", "**unseen**"), ("hops", "hops, nothing learned")):
            if any(part in each for each in found):
                rows.append(
                    (
                        f"{name}, {csds if nodes == 'texts' else 'minilm+static'}",
                        NAMES[graph],
                        nodes,
                        mean(found, part, "seen"),
                        mean(found, part, "accuracy"),
                        mean(found, part, "harmonic"),
                    )
                )
    return table(("method", "graph", "nodes", "seen", "unseen", "harmonic mean"), rows)


def lengths() -> str:
    """Return text graphs with class texts of one sentence (0.4.0) and with those of now."""
    rows = [
        (row_name(graph, row), encoder, *found)
        for encoder in ENCODERS
        for graph, row in TEXT_ROWS
        if "–" not in (found := over_time((BEFORE, "runs.jsonl"), graph, row, "texts", encoder))
    ]
    return table(("graph", "class texts read by", "one sentence", "now"), rows)


def nameless_over_time() -> str:
    """Return features without names: longer class texts came with 0.5.0, finer cuts with 0.6.0."""
    files = (BEFORE, K_MEANS, "runs.jsonl")
    rows = [
        (
            row_name(graph, row),
            READ_BY[csds].removeprefix("open, "),
            *over_time(files, graph, row, "features", csds),
        )
        for csds in ("static", "minilm")
        for graph, row in FEATURE_ROWS
    ]
    head = ("graph", "class texts read by", "one sentence", "longer texts")
    return table((*head, "and finer cuts: now"), rows)


def strict() -> str:
    """Return Split II with the labels of validation classes and without them."""
    cases = [("c-m10m", "texts", encoder) for encoder in ENCODERS]
    cases += [(graph, "features", csds) for graph in SPLITS for csds in ("static", "minilm")]
    rows = []
    for graph, nodes, csds in cases:
        asked = {"graph": graph, "nodes": nodes, "csds": csds, "method": "pipeline"}
        found = [pick(row=row, **asked) for row in ("II", STRICT)]
        reader = csds if nodes == "texts" else READ_BY[csds].removeprefix("open, ")
        cells = [mean(each, "pipeline", value) for each in found for value in ("accuracy", "macro")]
        rows.append((NAMES[graph], nodes, reader, floor(found[0]), *cells))
    head = ("graph", "nodes", "class texts read by", "majority floor", "all labels", "macro")
    return table((*head, "training classes only", "macro"), rows)


def sureness() -> str:
    """Return calibration errors before games corrected confidences, and now."""
    rows = []
    for graph, row in (("c-m10m", "II"), ("stdlib", "demo"), ("stdlib", "10 draws of 8")):
        for csds in ENCODERS:
            asked = {"graph": graph, "row": row, "nodes": "texts", "csds": csds}
            found = [pick(file, **asked) for file in (UNCORRECTED, "runs.jsonl")]
            cells = (mean(each, "pipeline", "calibration error", 2) for each in found)
            rows.append((row_name(graph, row), csds, *cells))
    return table(("graph", "encoder", "up to 0.6.0", "now"), rows)


def strict_methods() -> str:
    """Return Split II as it was published: labels of training classes only, features."""
    found = pick_strict("random", "published")
    floors = [cell for each in found for cell in (floor(each), "–")]
    rows: list[tuple[str, ...]] = [("majority floor", "–", "", *floors)]
    for name, figures in CITED.items():
        cells = [cell for figure in figures[1::2] for cell in (figure, "–")]
        rows.append((name, "published", kind_of(name), *cells))
    for (method, csds), (name, kind) in METHODS.items():
        found = pick_strict(method, csds)
        cells = [mean(each, method, value) for each in found for value in ("accuracy", "macro")]
        rows.append((name, READ_BY[csds], kind, *cells))
    columns = [column for graph in SPLITS for column in (NAMES[graph], "macro")]
    return table(("method", "CSDs", "kind", *columns), rows)


def pick_strict(method: str, csds: str) -> list[list[Line]]:
    asked = {"row": STRICT, "nodes": "features", "method": method, "csds": csds}
    return [pick(graph=graph, **asked) for graph in SPLITS]


def over_time(files: tuple[str, ...], graph: str, row: str, nodes: str, csds: str) -> list[str]:
    """Return the accuracies of the defaults by the file that has the runs."""
    asked = {"graph": graph, "row": row, "nodes": nodes, "csds": csds, "method": "pipeline"}
    return [mean(pick(file, **asked), "pipeline", "accuracy") for file in files]


def elsewhere_runs(row: str, encoder: str, graph: str, kind: str) -> list[Line]:
    """Return the answers on graphs made from packages; an empty graph or kind is any."""
    found = [
        each["answer"] | {"rewired": each["run"]["rewired"]}
        for each in lines("elsewhere.jsonl")
        if (each["run"]["row"], each["run"]["csds"]) == (row, encoder)
        and graph in ("", each["run"]["graph"].partition("/")[0])
        and kind in ("", each["run"]["graph"].partition("/")[2])
    ]
    runs = 2 if row == "no labels" else 3  # of a graph with one kind of class text
    whole = runs * (1 if graph else len((*DESIGN, *FRESH))) * (1 if kind else 3)
    return found if len(found) == whole else []  # a mean over some of them would mislead


def elsewhere_cells(row: str, encoder: str, graph: str = "", kind: str = "") -> tuple[str, ...]:
    """Return means over graphs made from packages; the least gain is over rewired ones too."""
    every = elsewhere_runs(row, encoder, graph, kind)
    gains = [each["pipeline"]["accuracy"] - each["hops"]["accuracy"] for each in every]
    found = [each for each in every if not each["rewired"]]
    return (
        floor(found),
        average(found, "own text"),
        average(found, "hops"),
        f"**{average(found, 'pipeline')}**",
        average(found, "pipeline", "macro"),
        average(found, "pipeline", "calibration error", 2),
        f"{min(gains):+.1f}" if gains else "–",
    )


def average(found: list[Line], part: str, value: str = "accuracy", digits: int = 1) -> str:
    return f"{fmean(each[part][value] for each in found):.{digits}f}" if found else "–"


ELSEWHERE_HEAD = ("majority floor", "own text: inductive", "hops", "defaults: transductive")
ELSEWHERE_HEAD += ("macro", "calibration error", "least gain")


def elsewhere(row: str) -> str:
    """Return graphs made from packages, mean over kinds of class text."""
    rows = [
        (f"*{name}*" if name in FRESH else name, encoder, *elsewhere_cells(row, encoder, name))
        for encoder in ("static", "minilm")
        for name in (*DESIGN, *FRESH)
    ]
    return table(("graph", "encoder", *ELSEWHERE_HEAD), rows)


def elsewhere_texts(row: str) -> str:
    """Return the same by kind of class text, mean over graphs."""
    rows = [
        (kind, encoder, *elsewhere_cells(row, encoder, kind=kind))
        for encoder in ("static", "minilm")
        for kind in ("name", "sentence", "paragraph")
    ]
    return table(("class texts", "encoder", *ELSEWHERE_HEAD), rows)


TABLES: dict[str, Callable[[], str]] = {
    "texts static": lambda: texts("static"),
    "texts minilm": lambda: texts("minilm"),
    "texts both": lambda: texts("static+minilm"),
    "rewired": rewired,
    "nameless": nameless,
    "nameless all macro": lambda: nameless("macro"),
    "nameless macro": nameless_macro,
    "generalised": generalised,
    "lengths": lengths,
    "nameless over time": nameless_over_time,
    "sureness": sureness,
    "elsewhere none": lambda: elsewhere("no labels"),
    "elsewhere half": lambda: elsewhere("half"),
    "elsewhere texts none": lambda: elsewhere_texts("no labels"),
    "elsewhere texts half": lambda: elsewhere_texts("half"),
    "strict": strict,
    "strict methods": strict_methods,
}


def filled(page: str) -> str:
    """Return a page with every table as the runs have it."""
    return BLOCK.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", page)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(filled(path.read_text("utf-8")), "utf-8")
