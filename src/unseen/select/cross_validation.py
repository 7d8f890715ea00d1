"""Leave-classes-out cross-validation: the zero-shot task, set among *seen* classes.

The labels of some seen classes are taken away, and the candidate that finds their nodes best is
chosen. Truly unseen classes stay in the running as wrong answers, but no label of theirs exists
here. This file imports no model: it is handed functions to try.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task

ENOUGH = 4  # seen classes below which holding some out leaves too few to tell anything
LABELS = 4  # labelled nodes of a seen class, on average, below which a fold is a matter of luck
MANY, SMALL_PART = 20, 0.25  # the same for the choice of a model; of the nodes, all labelled ones
LARGE = 20_000  # nodes above which one fold is used instead of three
KEPT = 0.2  # share of each other seen class that is held out too, where seen classes are answers


@dataclass(frozen=True, eq=False)
class Fold:
    """What a candidate is given, and which nodes are looked at afterwards."""

    labels: NDArray[np.int64]  # with those held out at -1 [n]
    allowed: NDArray[np.bool_]  # classes that an unlabelled node may belong to [C]
    held_out: NDArray[np.int64]  # nodes of the held-out classes
    kept: NDArray[np.int64]  # some nodes of the other seen classes, held out as well

    @property
    def asked(self) -> NDArray[np.int64]:
        """All nodes that are looked at."""
        return np.concatenate([self.held_out, self.kept])

    def score(self, answer: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
        """Return accuracy on held-out classes; with `kept` nodes, its harmonic mean with theirs.

        The accuracy is the mean over classes, so that a large class cannot outvote the others.
        """
        unseen = _class_mean(answer[self.held_out], truth[self.held_out])
        if len(self.kept) == 0:
            return unseen
        seen = _class_mean(answer[self.kept], truth[self.kept])
        return 2 * seen * unseen / (seen + unseen) if seen + unseen else 0.0


@dataclass(frozen=True)
class Choice:
    """What was chosen, by which rule, and how the candidates did."""

    what: str
    chosen: str
    rule: str
    why: str
    candidates: Mapping[str, float]


def folds_of(task: Task, seed: int) -> list[Fold]:
    """Return the folds that choices are made by; none where too little is labelled."""
    seen = len(task.seen)
    if seen < ENOUGH or not well_labelled(task):
        return []
    count = 2 if seen < 6 else 3
    return leave_classes_out(task.labels, task.allowed, count, seed)[
        : 1 if task.nodes > LARGE else count
    ]


def well_labelled(task: Task) -> bool:
    """Tell whether seen classes have enough labelled nodes to measure anything on them."""
    seen = len(task.seen)
    return seen > 0 and int((task.labels >= 0).sum()) >= LABELS * seen


def few_labels(task: Task) -> bool:
    """Tell whether it is a matter of luck which model finds the labelled nodes of held-out classes.

    They are a small part of the nodes then, and few of each class.
    """
    known = int((task.labels >= 0).sum())
    few = known < MANY * len(task.seen) and known < SMALL_PART * task.nodes
    return few or not well_labelled(task)


def leave_classes_out(
    labels: NDArray[np.int64], allowed: NDArray[np.bool_], folds: int, seed: int
) -> list[Fold]:
    """Divide the seen classes into folds.

    Where seen classes may be answers too (`allowed` holds some of them), a fifth of each seen class
    is held out beside the held-out classes, and both count.
    """
    rng = np.random.default_rng(seed)
    seen = np.unique(labels[labels >= 0])
    generalised = bool(allowed[seen].any())
    made = []
    for part in np.array_split(rng.permutation(seen), folds):
        held_out = np.flatnonzero(np.isin(labels, part))
        others = np.flatnonzero((labels >= 0) & ~np.isin(labels, part))
        kept = others[rng.random(len(others)) < KEPT] if generalised else others[:0]
        visible = labels.copy()
        visible[held_out] = -1
        visible[kept] = -1
        possible = allowed.copy()
        possible[part] = True
        made.append(Fold(visible, possible, held_out, kept))
    return made


def leave_nodes_out(
    labels: NDArray[np.int64], allowed: NDArray[np.bool_], seed: int, folds: int
) -> list[Fold]:
    """Divide the labelled nodes of each possible answer into folds; no class is held out."""
    rng = np.random.default_rng(seed)
    nodes = rng.permutation(np.flatnonzero(labels >= 0))
    nodes = nodes[allowed[labels[nodes]]]
    nodes = nodes[np.argsort(labels[nodes], kind="stable")]  # class by class, in random order
    made = []
    for kept in (nodes[at::folds] for at in range(folds)):
        visible = labels.copy()
        visible[kept] = -1
        made.append(Fold(visible, allowed, kept[:0], np.sort(kept)))
    return made


def choose(
    what: str,
    candidates: Mapping[str, Callable[[Fold], NDArray[np.int64]]],
    labels: NDArray[np.int64],
    folds: list[Fold],
    default: str,
    margin: float = 0.0,
) -> Choice:
    """Try every candidate on every fold; the best mean wins, and the default wins ties.

    `margin` is what a candidate must win by against the default.
    """
    means = {
        name: float(np.mean([fold.score(answer(fold), labels) for fold in folds]))
        for name, answer in candidates.items()
    }
    chosen = max(means, key=lambda name: means[name] + (margin + 1e-9) * (name == default))
    best = means[chosen] == max(means.values())
    why = f"{chosen} found the nodes of held-out seen classes best"
    if not best:
        why = f"no candidate beat {default} by more than {margin:.0%}"
    return Choice(what, chosen, f"leave-classes-out, {len(folds)} folds", why, means)


def _class_mean(answer: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    if len(truth) == 0:
        return 0.0
    return float(np.mean([(answer[truth == c] == c).mean() for c in np.unique(truth)]))
