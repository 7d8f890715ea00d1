"""Which text should stand for a class: its name, its description, or both?

With enough seen classes, leave-classes-out cross-validation decides. With fewer, the information
that node texts, read through a candidate, carry about their neighbours' (`models/homophily.py`):
Eq. 1-3 of the paper cannot decide, being constant for two classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import masked
from unseen.engines.base import engine_of
from unseen.models.homophily import EDGES, sharpen
from unseen.models.prototype import Prototype
from unseen.select.cross_validation import Choice, Fold, choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task

WHAT = "class texts"
HOPS = 2  # that candidates are compared with
MARGIN = 0.02  # names are noisier than descriptions, so a small win of theirs is luck
SILENT = 0.01  # nats an edge below which neighbours cannot tell candidates apart


def choose_class_texts(tasks: Mapping[str, Task], folds: list[Fold], seed: int) -> Choice:
    """Return the chosen kind of class text.

    Args:
        tasks: the same nodes with each kind of class text, best liked first.
        folds: of seen classes; none where too few are seen.
        seed: for sampling edges.
    """
    default, task = next(iter(tasks.items()))
    if len(tasks) == 1:
        return Choice(WHAT, default, "no alternative", "there is one kind of class text only", {})
    if not task.shared:
        why = "features and class texts share no space to compare candidates in"
        return Choice(WHAT, default, "default", why, {})
    if folds:
        candidates = {kind: partial(_answer, task=each) for kind, each in tasks.items()}
        return choose(WHAT, candidates, task.labels, folds, default, MARGIN)
    information = {}
    if task.operator is not None and task.operator.entries:
        edges = task.operator.sample_edges(EDGES, np.random.default_rng(seed))
        information = {kind: _information(each, edges) for kind, each in tasks.items()}
    best = max(information, key=lambda kind: information[kind], default=default)
    if information.get(best, 0.0) < SILENT:
        why = "neighbours hardly agree, so they cannot tell the candidates apart"
        return Choice(WHAT, default, "default", why, information)
    why = f"read through the {best}, a node's text says most about its neighbours'"
    return Choice(WHAT, best, "it says most about neighbours", why, information)


def _information(task: Task, edges: NDArray[np.int64]) -> float:
    """Return what texts, read through the class texts of a task, say about their neighbours'."""
    engine, S, allowed = engine_of(task), task.S, task.allowed
    scores = engine.map(lambda X: masked(X @ S.T, allowed), task.X)
    return sharpen(scores, edges, task.labels, engine)[2]


def _answer(fold: Fold, task: Task) -> NDArray[np.int64]:
    given = task.known(fold.labels, fold.allowed)
    return Prototype(HOPS).fit(given).predict(given)
