"""Outsiders: nodes of which people said "none of these".

No class may learn from an outsider, by text or by edges, so models are fitted on the graph without
them. Where the others are answered, outsiders have no edges, so that they tell their neighbours
nothing. Their own answer is "none of these", and their background 1. It holds for the classes that
there were: a class that is added or edited later may take them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.operator import Operator
from unseen.io.atomic import read_json

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from unseen.core.graph import Graph
    from unseen.core.task import Task
    from unseen.prediction import Prediction

SAID_SO = "people said that it is none of these"


def outsiders_of(run: Path, graph: Graph) -> NDArray[np.int64]:
    """Return the positions of nodes that a run knows to be of no class."""
    named = read_json(run / "record.json").get("outsiders", [])
    rows = graph.positions() if named else {}
    return np.array([rows[name] for name in named], dtype=np.int64)


def cut_off(task: Task, graph: Graph, outside: NDArray[np.int64]) -> Task:
    """Return a task in which outsiders have no edges."""
    if not len(outside) or task.operator is None:
        return task
    operator = Operator(without_edges(graph.adjacency, outside))
    kept = {name: value for name, value in task.memo.items() if name == "unit"}
    return replace(task, operator=operator, memo=kept)


def without_edges(adjacency: Any, nodes: NDArray[np.int64]) -> Any:
    """Return an adjacency without the edges of some nodes, CSR. [n, n]"""
    kept = np.ones(adjacency.shape[0], dtype=np.float32)
    kept[nodes] = 0.0
    found = sp.csr_array(sp.diags_array(kept) @ adjacency @ sp.diags_array(kept))
    found.eliminate_zeros()
    return found


def with_outsiders(prediction: Prediction, outside: NDArray[np.int64]) -> Prediction:
    """Return answers in which outsiders are none of these; the record names them."""
    rows = np.flatnonzero(np.isin(prediction.nodes, outside))
    if not len(rows):
        return prediction
    label, runner_up = prediction.label.copy(), prediction.runner_up.copy()
    best = prediction.proba[rows].argmax(axis=1)
    label[rows], runner_up[rows] = -1, best
    background = prediction.background
    background = np.zeros(len(label), np.float32) if background is None else background.copy()
    background[rows] = 1.0
    reasons = list(prediction.reasons)
    for i in rows.tolist():
        reasons[i] = SAID_SO
    ids = prediction.graph.ids or ()
    record = prediction.record | {
        "abstained": int((label < 0).sum()),
        "outsiders": [ids[i] for i in prediction.nodes[rows].tolist()],
    }
    return replace(
        prediction,
        label=label,
        runner_up=runner_up,
        background=background,
        reasons=reasons,
        record=record,
    )
