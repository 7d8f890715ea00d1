"""Pictures of a `Prediction`, as plotly figures: the map, the confidences, the confusions.

Texts of users are escaped: plotly reads a little HTML of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.classes import NONE_OF_THESE
from unseen.core.errors import InputError
from unseen.io.inputs import as_labels
from unseen.report.layout import MAP_NODES, lay_out, surroundings
from unseen.report.palette import Look, looks, no_class
from unseen.report.safe import clip, plotly_text, wrapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.prediction import Prediction

BINS = 20  # of confidence, from 0 to 1
LONGEST = 30  # characters of a class name on an axis
STYLE: dict[str, Any] = {"template": "plotly_white", "margin": {"l": 8, "r": 8, "t": 40, "b": 56}}


def plot_map(prediction: Prediction, seed: int = 0) -> Any:
    """Return a map on which nodes with similar vectors are near; open markers had a label.

    Args:
        prediction: whose nodes are shown, up to 2,000 of them.
        seed: of the sample and of the placing (t-SNE).
    """
    import plotly.graph_objects as go

    graph, names = prediction.graph, prediction.classes.names
    codes = prediction.labels.codes.copy()  # [n]
    known = prediction.labels.known
    codes[prediction.nodes] = prediction.label
    confidence = np.ones(graph.nodes)
    confidence[prediction.nodes] = prediction.confidence
    vectors = surroundings(prediction.vectors, graph.operator)
    groups = codes[prediction.placed].astype(np.int64)
    chosen, places = lay_out(vectors, MAP_NODES, seed, groups)
    nodes = prediction.placed[chosen]
    figure = go.Figure()
    for look in _looks(prediction):
        code = names.index(look.name) if look.name in names else -1
        for labelled in (False, True):
            rows = np.flatnonzero((codes[nodes] == code) & (known[nodes] == labelled))
            if len(rows):
                figure.add_scatter(
                    x=places[rows, 0],
                    y=places[rows, 1],
                    mode="markers",
                    name=plotly_text(clip(look.name, LONGEST)) + (" (label)" if labelled else ""),
                    marker={
                        "color": look.colour,
                        "symbol": look.shape + ("-open" if labelled else ""),
                        "size": 8,
                    },
                    text=[_hover(prediction, int(i), confidence[i]) for i in nodes[rows]],
                    hovertemplate="%{text}<extra></extra>",
                )
    figure.update_layout(title="Map of the nodes: similar ones are close together", **STYLE)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def _looks(prediction: Prediction) -> list[Look]:
    """Return colour and shape of each class as the report has them, none of these last."""
    drawn = looks(
        [
            {
                "name": name,
                "predicted": int((prediction.label == c).sum()),
                "labelled": int((prediction.labels.codes == c).sum()),
            }
            for c, name in enumerate(prediction.classes.names)
        ]
    )
    return [*drawn, no_class(drawn)]


def _hover(prediction: Prediction, node: int, confidence: float) -> str:
    ids, texts = prediction.graph.ids or (), prediction.graph.texts
    certainty = "label given" if prediction.labels.known[node] else f"confidence {confidence:.2f}"
    lines = [f"<b>{wrapped(clip(ids[node], 120), 46)}</b>", f"<i>{certainty}</i>"]
    return "<br>".join([*lines, *([wrapped(clip(texts[node], 200), 46)] if texts else [])])


def plot_confidence(prediction: Prediction) -> Any:
    """Return how many answers have which confidence, class by class on top of each other."""
    import plotly.graph_objects as go

    names, figure = prediction.classes.names, go.Figure()
    edges = np.linspace(0, 1, BINS + 1)
    for look in _looks(prediction):
        code = names.index(look.name) if look.name in names else -1
        values = prediction.confidence[prediction.label == code]
        if len(values):
            figure.add_bar(
                x=(edges[:-1] + edges[1:]) / 2,
                y=np.histogram(values, edges)[0],
                width=0.92 / BINS,
                name=plotly_text(clip(look.name, LONGEST)),
                marker={"color": look.colour},
            )
    mean = float(prediction.confidence.mean()) if len(prediction) else 0.0
    figure.update_layout(
        barmode="stack", title=f"{len(prediction):,} answers, mean confidence {mean:.2f}", **STYLE
    )
    figure.update_xaxes(title="confidence", range=[0, 1])
    figure.update_yaxes(title="nodes", rangemode="tozero")
    return figure


def confusion(prediction: Prediction, truth: Any) -> NDArray[np.int64]:
    """Return how many nodes of each true class (rows) were given each class. [C, C+1]

    The last column counts "none of these". Only nodes that were answered and are in `truth` count.
    """
    true = as_labels(truth, prediction.graph, prediction.classes).codes[prediction.nodes]
    both = np.flatnonzero(true >= 0)
    if not len(both):
        raise InputError(
            "truth: has a class for none of the nodes that were answered; give a class name by "
            "node id, as a dict, a file or a frame with the columns id and label"
        )
    count = len(prediction.classes)
    counts = np.zeros((count, count + 1), dtype=np.int64)
    np.add.at(counts, (true[both], prediction.label[both]), 1)  # -1 is the last column
    return counts


def plot_confusion(prediction: Prediction, truth: Any) -> Any:
    """Return a heat map of true classes against answers; shares of each true class, counts inside.

    Args:
        prediction: the answers.
        truth: true classes in any form that `fit` takes labels in.
    """
    import plotly.graph_objects as go

    counts = confusion(prediction, truth)
    names = [plotly_text(name) for name in prediction.classes.names]
    given = [*names, NONE_OF_THESE]
    short = [plotly_text(clip(name, LONGEST)) for name in (*prediction.classes.names, given[-1])]
    if not counts[:, -1].any():
        counts, given = counts[:, :-1], given[:-1]
    sizes = counts.sum(axis=1, keepdims=True)
    shares = counts / np.maximum(sizes, 1)
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=given,
            y=names,
            text=np.where(counts > 0, counts.astype(str), ""),
            texttemplate="%{text}",
            colorscale="Blues",
            zmin=0,
            zmax=1,
            hovertemplate="true %{y}<br>given %{x}<br>%{z:.0%} (%{text} nodes)<extra></extra>",
            colorbar={"title": "share", "tickformat": ".0%"},
        )
    )
    right = int(np.trace(counts[:, : len(names)]))
    total = int(counts.sum())
    figure.update_layout(title=f"{right:,} of {total:,} right ({right / total:.0%})", **STYLE)
    ticks = {"automargin": True, "type": "category", "tickvals": given, "ticktext": short}
    figure.update_xaxes(title="predicted class", **ticks)
    figure.update_yaxes(title="true class", autorange="reversed", **ticks)
    return figure
