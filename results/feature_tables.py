"""Tables of the comparison on features without names (runs.jsonl), and of the protocols."""

from __future__ import annotations

from collections.abc import Callable

from records import (
    BEFORE,
    ENCODERS,
    FEATURE_ROWS,
    K_MEANS,
    NAMES,
    NONE,
    READ_BY,
    RUNS,
    SPLITS,
    WHOLE_TEXTS,
    Outcomes,
    average,
    floor,
    mean,
    over_time,
    pick,
    row_name,
)

from unseen.paper.pages import markdown

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
    ("dgpn", "published"): ("DGPN, official code", "propagates over unlabelled nodes"),
    ("dgpn", "minilm"): ("DGPN, official code", "propagates over unlabelled nodes"),
    ("align", "published"): ("Cluster matching", "transductive"),
    ("pipeline", "static"): ("**Cluster matching**, defaults", "transductive"),
    ("pipeline", "minilm"): ("**Cluster matching**, `--encoder minilm`", "transductive"),
}
STRICT = "II, training labels only"


def nameless(value: str = "accuracy") -> str:
    """Return every method on features without names, beside the published figures."""
    columns = [f"{NAMES[graph]} {part}" for graph, part in FEATURE_ROWS]
    rows: list[tuple[str, ...]] = []
    if value == "accuracy":
        floors = [
            floor(pick(graph=graph, row=part, nodes="features", method="random", csds="published"))
            for graph, part in FEATURE_ROWS
        ]
        rows.append(("majority floor", NONE, "", *floors))
        for name, figures in CITED.items():
            spread = [f for i in range(3) for f in (figures[2 * i], figures[2 * i + 1], NONE)]
            rows.append((name, "published", kind_of(name), *spread))
    for (method, csds), (name, kind) in METHODS.items():
        asked = {"nodes": "features", "method": method, "csds": csds}
        cells = [
            mean(pick(graph=graph, row=part, **asked), method, value)
            for graph, part in FEATURE_ROWS
        ]
        rows.append((name, read_by(method, csds), kind, *cells))
    return markdown(("method", "CSDs", "kind", *columns), rows)


def read_by(method: str, csds: str) -> str:
    """Return how class texts were read: those of the paper's methods by both readers at once."""
    return "open, minilm" if (method, csds) == ("pipeline", "minilm") else READ_BY[csds]


def kind_of(cited: str) -> str:
    return "propagates over unlabelled nodes" if cited.startswith("DGPN") else "transductive"


def nameless_macro() -> str:
    """Return macro accuracy and calibration of the defaults on features without names."""
    rows = []
    for graph, part in FEATURE_ROWS:
        for csds in ("static", "minilm"):
            found = pick(graph=graph, row=part, nodes="features", method="pipeline", csds=csds)
            rows.append(
                (
                    row_name(graph, part),
                    csds,
                    floor(found),
                    mean(found, "pipeline", "accuracy"),
                    mean(found, "pipeline", "macro"),
                    average(found, "pipeline", "confidence"),
                    mean(found, "pipeline", "calibration error", 2),
                )
            )
    head = ("graph", "class texts read by", "majority floor", "accuracy", "macro")
    return markdown((*head, "mean confidence", "calibration error"), rows)


def nameless_over_time() -> str:
    """Return accuracies by version: longer class texts, over-clustering, more evidence."""
    files = (BEFORE, K_MEANS, WHOLE_TEXTS, RUNS)
    rows = [
        (
            row_name(graph, row),
            csds,
            *over_time(files, graph, row, "features", csds),
        )
        for csds in ("static", "minilm")
        for graph, row in FEATURE_ROWS
    ]
    head = ("graph", "class texts read by", "one sentence", "longer texts", "and over-clustering")
    return markdown((*head, "and more evidence: now"), rows)


def generalised() -> str:
    """Return the generalised protocol, Split I."""
    rows: list[tuple[str, ...]] = [
        (name, graph, "features", NONE, NONE, figure)
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
                        f"{name}, {csds}",
                        NAMES[graph],
                        nodes,
                        mean(found, part, "seen"),
                        mean(found, part, "accuracy"),
                        mean(found, part, "harmonic"),
                    )
                )
    return markdown(("method", "graph", "nodes", "seen", "unseen", "harmonic mean"), rows)


def strict() -> str:
    """Return Split II with the labels of validation classes and without them."""
    cases = [("c-m10m", "texts", encoder) for encoder in ENCODERS]
    cases += [(graph, "features", csds) for graph in SPLITS for csds in ("static", "minilm")]
    rows = []
    for graph, nodes, csds in cases:
        asked = {"graph": graph, "nodes": nodes, "csds": csds, "method": "pipeline"}
        found = [pick(row=row, **asked) for row in ("II", STRICT)]
        cells = [mean(each, "pipeline", value) for each in found for value in ("accuracy", "macro")]
        rows.append((NAMES[graph], nodes, csds, floor(found[0]), *cells))
    head = ("graph", "nodes", "class texts read by", "majority floor", "all labels", "macro")
    return markdown((*head, "training classes only", "macro"), rows)


def strict_methods() -> str:
    """Return Split II as it was published: labels of training classes only, features."""
    found = pick_strict("random", "published")
    floors = [cell for each in found for cell in (floor(each), NONE)]
    rows: list[tuple[str, ...]] = [("majority floor", NONE, "", *floors)]
    for name, figures in CITED.items():
        cells = [cell for figure in figures[1::2] for cell in (figure, NONE)]
        rows.append((name, "published", kind_of(name), *cells))
    for (method, csds), (name, kind) in METHODS.items():
        found = pick_strict(method, csds)
        cells = [mean(each, method, value) for each in found for value in ("accuracy", "macro")]
        rows.append((name, read_by(method, csds), kind, *cells))
    columns = [column for graph in SPLITS for column in (NAMES[graph], "macro")]
    return markdown(("method", "CSDs", "kind", *columns), rows)


def pick_strict(method: str, csds: str) -> list[Outcomes]:
    asked = {"row": STRICT, "nodes": "features", "method": method, "csds": csds}
    return [pick(graph=graph, **asked) for graph in SPLITS]


TABLES: dict[str, Callable[[], str]] = {
    "nameless": nameless,
    "nameless all macro": lambda: nameless("macro"),
    "nameless macro": nameless_macro,
    "nameless over time": nameless_over_time,
    "generalised": generalised,
    "strict": strict,
    "strict methods": strict_methods,
}
