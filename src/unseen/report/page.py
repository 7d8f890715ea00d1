"""`render`: a record, its predictions and its map as one HTML page that needs nothing else.

The page loads nothing: plotly, style, scripts and data are inside it. Its content security policy
names the two scripts by their hashes, so that no other script can run, whatever a text contains.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.report import figures, results, search, workings
from unseen.report.bundle import plotly_code
from unseen.report.palette import looks
from unseen.report.safe import number, text
from unseen.report.truth import accuracy

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLOSEST = 3  # pairs of classes named beside the heat map
ALIKE = 0.1  # cosine from which a pair is named
FEWEST_COMPARED = 3  # with two classes, similarity from the common centre says nothing
HEAT_ROW, HEAT_LEAST, HEAT_MOST = 18, 300, 1_260  # pixels


def render(
    record: dict[str, Any],
    predictions: pl.DataFrame,
    map: pl.DataFrame,
    nodes: pl.DataFrame | None = None,
) -> str:
    """Return the report as one self-contained HTML page.

    Args:
        record: what happened, as JSON: counts, classes, choices, steps, warnings.
        predictions: id, label, confidence, runner_up, reason; one row a node without a label.
        map: id, x, y, label, confidence, known, text; a sample of the nodes in two dimensions.
        nodes: every node, as `search.all_nodes` returns them, for the search of the page.
    """
    drawn = looks(record["classes"])
    names = [str(entry["name"]) for entry in record["classes"]]
    similarity = np.array(record["class_similarity"], dtype=np.float64)  # [C, C]
    compared = names if similarity.size else []  # the record leaves it out for hundreds of classes
    similarity = similarity.reshape(len(compared), len(compared))
    mean, _ = results.certainty(predictions)
    counts = figures.confidence_counts(predictions["confidence"])
    own = _part("figures.js", "table.js", "nodes.js")
    code = {"plotly": _script(plotly_code()), "script": _script(own)}
    index = "" if nodes is None else search.index(nodes, drawn)
    headline = text(results.headline(record, predictions))
    return Template(_part("page.html")).substitute(
        code,
        policy=" ".join(_digest(script) for script in code.values()),
        style=_part("style.css"),
        headline=headline,
        headline_parts=headline.replace("; ", "; <wbr>"),
        made=text(workings.made(record)),
        cards=results.figures_in_short(record, predictions),
        warnings=workings.warnings(record),
        accuracy=accuracy(record, drawn),
        nodes=_part("nodes.html") if index else "",
        index=index or '""',
        map_nodes=f"{map.height:,}",
        any_known="" if bool(map["known"].any()) else "hidden",
        legend=results.legend(record, drawn),
        map=figures.map_figure(map, drawn),
        confidence=figures.confidence_figure(counts, mean),
        classes=results.class_rows(record, predictions, drawn, bool(index)),
        similarity=figures.similarity_figure(compared, similarity),
        heat_height=min(max(HEAT_LEAST, HEAT_ROW * len(compared) + 180), HEAT_MOST),
        heat_hidden="hidden" if len(compared) < FEWEST_COMPARED else "",
        closest=_closest(compared, similarity),
        csd_quality=workings.csd_quality(record),
        hops=results.hop_rows(record, drawn),
        homophily=workings.homophily(record),
        choices=workings.choices(record),
        rows=results.least_certain(predictions, drawn),
        row_count=min(predictions.height, results.LEAST_CERTAIN),
        steps=workings.steps(record),
        graph=workings.graph_facts(record),
        settings=workings.settings(record),
    )


def _closest(names: list[str], similarity: NDArray[np.float64]) -> str:
    if len(names) < FEWEST_COMPARED:
        return '<p class="note">Two classes are always opposites, seen from their centre.</p>'
    items = "".join(
        f"<li><b>{number(value)}</b><p><span>{text(one)}</span> and "
        f"<span>{text(other)}</span></p></li>"
        for one, other, value in figures.closest_pairs(names, similarity, CLOSEST)
        if value >= ALIKE
    )
    if not items:
        return '<p class="note">No two classes are described alike.</p>'
    return f'<ul class="closest">{items}</ul>'


def _part(*names: str) -> str:
    """Return files of this package, joined."""
    room = files("unseen.report")
    return "\n".join(room.joinpath(name).read_text(encoding="utf-8") for name in names)


def _script(code: str) -> str:
    """Return code as a browser will read it: line ends are what its hash depends on."""
    return code.replace("\r\n", "\n").replace("\r", "\n")


def _digest(code: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"
