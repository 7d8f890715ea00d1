"""Tables of the comparison on text graphs (runs.jsonl)."""

from __future__ import annotations

from collections.abc import Callable

from records import (
    BEFORE,
    ENCODERS,
    NONE,
    RUNS,
    TEXT_ROWS,
    UNCORRECTED,
    floor,
    mean,
    over_time,
    pick,
    row_name,
)

from unseen.paper.pages import markdown


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
    return markdown((*head, "defaults: transductive", "macro", "calibration error"), rows)


def rewired() -> str:
    """Return what refinement does when half of the edges lead elsewhere."""
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
    return markdown(
        ("graph", "encoder", "edges", "own text", "hops, nothing learned", "defaults"), rows
    )


def lengths() -> str:
    """Return text graphs with class texts of one sentence (0.4.0) and with those of now."""
    rows = [
        (row_name(graph, row), encoder, *found)
        for encoder in ENCODERS
        for graph, row in TEXT_ROWS
        if NONE not in (found := over_time((BEFORE, RUNS), graph, row, "texts", encoder))
    ]
    return markdown(("graph", "class texts read by", "one sentence", "now"), rows)


def calibration() -> str:
    """Return calibration errors before held-out classes corrected confidences, and now."""
    rows = []
    for graph, row in (("c-m10m", "II"), ("stdlib", "demo"), ("stdlib", "10 draws of 8")):
        for csds in ENCODERS:
            asked = {"graph": graph, "row": row, "nodes": "texts", "csds": csds}
            found = [pick(file, **asked) for file in (UNCORRECTED, RUNS)]
            cells = (mean(each, "pipeline", "calibration error", 2) for each in found)
            rows.append((row_name(graph, row), csds, *cells))
    return markdown(("graph", "encoder", "up to 0.6.0", "now"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "texts static": lambda: texts("static"),
    "texts minilm": lambda: texts("minilm"),
    "texts both": lambda: texts("static+minilm"),
    "rewired": rewired,
    "lengths": lengths,
    "calibration": calibration,
}
