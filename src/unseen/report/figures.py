"""The three interactive pictures: the map, the confidences, the similarity of classes.

Colours that depend on the reader's light or dark setting are filled in by `figures.js`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
import polars as pl
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

from unseen.core.classes import NONE_OF_THESE
from unseen.report.palette import Look, no_class
from unseen.report.safe import clip, number, plotly_text, script_json, wrapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

BINS = 20  # of confidence, from 0 to 1
HOVER_WIDTH = 46  # characters a line
MAP_LABELS = 12  # classes named on the map itself
NAMED_CLASSES = 60  # more than these have no tick labels: hovering names them
SMALL_FROM = 30  # more than these have small tick labels
MAP_PIXELS = np.array([800.0, 560.0])  # what labels assume about the size of the map
LABEL_PIXELS = np.array([6.2, 18.0])  # width of a letter, height of a line


def confidence_counts(confidence: pl.Series) -> NDArray[np.int64]:
    """Return how many confidences fall into each bin. [BINS]"""
    values = confidence.drop_nulls().drop_nans().cast(pl.Float64).to_numpy()
    bins = np.floor(np.clip(values, 0.0, 1.0) * BINS + 1e-9).astype(np.int64)
    return np.bincount(np.minimum(bins, BINS - 1), minlength=BINS)


def map_figure(nodes: pl.DataFrame, looks: Sequence[Look]) -> str:
    """Return the map as JSON: for each class one trace of predicted nodes and one of known ones."""
    drawn = looks if NONE_OF_THESE in {look.name for look in looks} else [*looks, no_class(looks)]
    parts = nodes.with_columns(pl.col("label").fill_null(NONE_OF_THESE)).partition_by(
        ["known", "label"], as_dict=True, maintain_order=True
    )
    size = float(np.clip(260 / np.sqrt(max(nodes.height, 1)), 5.5, 11.0))
    traces = []
    for known, look in itertools.product((True, False), reversed(drawn)):
        part = parts.get((known, look.name))
        if part is not None:
            traces.append(_dots(part, look, known, size))
    figure = go.Figure(traces)
    figure.update_layout(
        template="none",
        showlegend=False,
        hovermode="closest",
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        annotations=_map_labels(nodes, looks[:MAP_LABELS]),
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return script_json(str(figure.to_json()))


def _dots(part: pl.DataFrame, look: Look, known: bool, size: float) -> Any:
    marker: dict[str, Any] = {"size": size, "color": look.colour, "symbol": look.shape}
    if known:
        marker |= {"symbol": f"{look.shape}-open", "size": size + 1.5, "line": {"width": 1.4}}
    return go.Scatter(
        x=part["x"].to_list(),
        y=part["y"].to_list(),
        mode="markers",
        marker=marker,
        opacity=0.75 if known else 0.85,
        text=[_hover(row, known) for row in part.iter_rows(named=True)],
        hovertemplate="%{text}<extra></extra>",
        meta={"rank": look.rank, "known": known},
    )


def _hover(row: dict[str, Any], known: bool) -> str:
    certainty = "label given" if known else f"confidence {number(row['confidence'])}"
    lines = [f"<b>{wrapped(clip(row['id'], 120), HOVER_WIDTH)}</b>"]
    lines += [f"{wrapped(clip(row['label'], 120), HOVER_WIDTH)}", f"<i>{certainty}</i>"]
    return "<br>".join([*lines, *filter(None, [wrapped(row["text"] or "", HOVER_WIDTH)])])


def _map_labels(nodes: pl.DataFrame, looks: Sequence[Look]) -> list[dict[str, Any]]:
    """Name large classes where they are densest, leaving out names that would overlap."""
    places = nodes.select("x", "y").to_numpy().astype(np.float64)
    if len(places) < 2:
        return []
    low = places.min(axis=0)
    scale = MAP_PIXELS / np.maximum(places.max(axis=0) - low, 1e-9)
    labels: list[dict[str, Any]] = []
    taken: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []  # centre, half size
    for look in looks:
        own = places[(nodes["label"] == look.name).fill_null(False).to_numpy()]
        if len(own) < max(3, 0.004 * len(places)):
            continue
        name = clip(look.name, 30)
        spot = _densest(own)
        centre = (spot - low) * scale
        half = LABEL_PIXELS * (len(name) + 2, 1) / 2
        centre[0] = np.clip(centre[0], half[0], max(MAP_PIXELS[0] - half[0], half[0]))
        if any((np.abs(centre - c) < half + h).all() for c, h in taken):
            continue
        taken.append((centre, half))
        x, y = centre / scale + low
        labels.append(
            {
                "x": float(x),
                "y": float(y),
                "text": plotly_text(name),
                "name": str(look.rank),
                "showarrow": False,
                "font": {"size": 11},
                "borderpad": 2,
                "yshift": 14,
            }
        )
    return labels


def _densest(places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the place with the smallest distance to its k-th neighbour, k a fifth of all."""
    k = max(1, len(places) // 5)
    distance = np.linalg.norm(places[:, None, :] - places[None, :, :], axis=2)
    return np.asarray(places[np.partition(distance, k, axis=1)[:, k].argmin()])


def confidence_figure(counts: NDArray[np.int64], mean: float | None) -> str:
    """Return the histogram of all confidences as JSON."""
    edges = np.linspace(0.0, 1.0, BINS + 1)
    figure = go.Figure(
        go.Bar(
            x=((edges[:-1] + edges[1:]) / 2).tolist(),
            y=counts.tolist(),
            width=0.92 / BINS,
            customdata=[f"{a:.2f} to {b:.2f}" for a, b in itertools.pairwise(edges)],
            hovertemplate="confidence %{customdata}<br>%{y:,} nodes<extra></extra>",
            meta={"low": [bool(edge < 0.5 - 1e-9) for edge in edges[:-1]]},
        )
    )
    figure.update_layout(
        template="none",
        bargap=0,
        margin={"l": 52, "r": 12, "t": 28, "b": 44},
        xaxis={"range": [0, 1], "dtick": 0.25, "title": {"text": "confidence"}},
        yaxis={"title": {"text": "nodes"}, "rangemode": "tozero", "nticks": 5},
    )
    figure.update_xaxes(fixedrange=True, tickformat=".2~f")
    figure.update_yaxes(fixedrange=True, tickformat=",d")
    if counts.max(initial=0) <= 5:
        figure.update_yaxes(dtick=1)
    if mean is not None:
        figure.add_vline(
            x=mean,
            line={"width": 1.5, "dash": "dot"},
            annotation={"text": f"mean {mean:.2f}", "yanchor": "bottom", "yref": "paper", "y": 1},
            annotation_position="top",
        )
    return script_json(str(figure.to_json()))


def similarity_order(S: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the classes in an order that puts similar ones next to each other. [C]"""
    if len(S) < 3:
        return np.arange(len(S))
    apart = 1.0 - np.clip(np.nan_to_num((S + S.T) / 2), -1.0, 1.0)
    condensed = apart[np.triu_indices(len(S), k=1)]
    tree = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
    return np.asarray(leaves_list(tree), dtype=np.int64)


def similarity_figure(names: Sequence[str], S: NDArray[np.float64]) -> str:
    """Return the heat map of the classes as JSON; the diagonal, which is always 1, is left out."""
    order = similarity_order(S)
    z = S[np.ix_(order, order)].copy()
    np.fill_diagonal(z, np.nan)
    most = float(np.nanmax(np.abs(z), initial=0.0)) or 1.0
    full = [plotly_text(names[i]) for i in order]
    short = [plotly_text(clip(names[i], 30)) for i in order]
    figure = go.Figure(
        go.Heatmap(
            z=[[None if np.isnan(v) else round(float(v), 3) for v in row] for row in z],
            x=full,
            y=full,
            zmin=-most,
            zmax=most,
            xgap=1 if len(names) <= NAMED_CLASSES else 0,
            ygap=1 if len(names) <= NAMED_CLASSES else 0,
            hovertemplate="%{y}<br>%{x}<br><b>%{z:.2f}</b><extra></extra>",
            hoverongaps=False,
            colorbar={"thickness": 10, "len": 0.6, "outlinewidth": 0, "nticks": 5},
        )
    )
    ticks = {"ticks": "", "tickvals": list(range(len(full))), "ticktext": short, "type": "category"}
    size = {"tickfont": {"size": 10}} if len(names) > SMALL_FROM else {}
    figure.update_layout(template="none", margin={"l": 8, "r": 8, "t": 8, "b": 8})
    figure.update_xaxes(**ticks, **size, tickangle=-45, automargin=True, fixedrange=True)
    figure.update_yaxes(**ticks, **size, autorange="reversed", automargin=True, fixedrange=True)
    if len(names) > NAMED_CLASSES:
        figure.update_xaxes(showticklabels=False)
        figure.update_yaxes(showticklabels=False)
    return script_json(str(figure.to_json()))


def closest_pairs(
    names: Sequence[str], S: NDArray[np.float64], most: int
) -> list[tuple[str, str, float]]:
    """Return the pairs of classes that are most alike, best first."""
    rows, columns = np.triu_indices(len(names), k=1)
    values = np.nan_to_num(S[rows, columns], nan=-2.0)
    best = np.argsort(-values, kind="stable")[:most]
    return [(names[rows[i]], names[columns[i]], float(values[i])) for i in best]
