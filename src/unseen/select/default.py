"""The default model: the one that suits the vectors, with what seen classes can settle about it.

Where nodes and classes share a space, `BeliefPropagation`; how much descriptions weigh in it is
chosen by leave-classes-out cross-validation where enough classes are seen. Where they do not,
`ClusterMatching`, or ESZSL's closed form where relations between classes say nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unseen.models.baselines.eszsl import ESZSL
from unseen.models.belief_propagation import BeliefPropagation
from unseen.models.cluster_matching import ClusterMatching
from unseen.select.calibration import Calibration
from unseen.select.cross_validation import ENOUGH, Choice, Fold, choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.models.base import Model
    from unseen.select.calibration import Answers
    from unseen.select.held_out_words import Halves

WEIGHTS = (0.5, 0.7, 0.9)  # of descriptions against data, the first being the default
NODES_A_CLASS = 10  # below which descriptions alone say what a class is
WEIGHT = "weight of descriptions"


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, what its confidences are corrected by, and the choices that led to it."""

    model: Model
    calibration: Calibration = field(default_factory=Calibration)
    choices: tuple[Choice, ...] = ()
    warnings: tuple[str, ...] = ()


def fit_default(
    task: Task,
    folds: list[Fold],
    seed: int,
    words: float = 60.0,
    halves: Callable[[], Halves | None] = lambda: None,
) -> Fitted:
    """Fit the model that suits the task; settle what seen classes can settle."""
    if not task.shared:
        return _fit_apart(task, seed)
    few_nodes = task.nodes < NODES_A_CLASS * task.classes
    if few_nodes or not folds:
        weight = 1.0 if few_nodes else WEIGHTS[0]
        why = (
            f"fewer than {NODES_A_CLASS} nodes a class to learn from"
            if few_nodes
            else f"fewer than {ENOUGH} seen classes to choose by"
        )
        chosen = Choice(WEIGHT, str(weight), "default", why, {})
        return Fitted(BeliefPropagation(weight, seed=seed).fit(task), choices=(chosen,))

    answers: dict[float, list[Answers]] = defaultdict(list)  # of a candidate, by fold

    def answer(fold: Fold, weight: float) -> NDArray[np.int64]:
        given = task.known(fold.labels, fold.allowed)
        found = BeliefPropagation(weight, seed=seed).fit(given).infer(given)
        best: NDArray[np.int64] = found.posterior.argmax(axis=1)
        asked = fold.asked
        answers[weight].append(
            (found.confidence[asked, best[asked]], best[asked] == task.labels[asked])
        )
        return best

    candidates = {str(weight): partial(answer, weight=weight) for weight in WEIGHTS}
    by_weight = choose(WEIGHT, candidates, task.labels, folds, str(WEIGHTS[0]))
    weight = float(by_weight.chosen)
    model = BeliefPropagation(weight, seed=seed).fit(task)
    held_out = len(np.unique(task.labels[np.concatenate([fold.held_out for fold in folds])]))
    calibration, by_calibration = _calibrate(answers[weight], held_out)
    return Fitted(model, calibration, (by_weight, by_calibration))


def _calibrate(answers: list[Answers], held_out: int) -> tuple[Calibration, Choice]:
    """Correct confidences by how often the chosen candidate was right about held-out classes."""
    found = Calibration.fit(answers, held_out)
    said = float(np.mean([sure.mean() for sure, _ in answers]))
    right = float(np.mean([good.mean() for _, good in answers]))
    return found, Choice(
        "confidence",
        f"calibrated: {said:.0%} before, {right:.0%} right",
        f"leave-classes-out, {len(answers)} folds",
        f"log-odds x {found.slope:.2f} {found.shift:+.2f}, towards the accuracy on held-out nodes",
        {},
    )


def _fit_apart(task: Task, seed: int) -> Fitted:
    """Link two spaces: by how classes relate, or where that says nothing by a bilinear map."""
    rule, found = "share of clustered nodes that get their right class, by geometry", {}
    why = "there are fewer unlabelled nodes than unseen classes, so a map was learned"
    if (task.labels < 0).sum() >= len(task.unseen):
        model = ClusterMatching(seed=seed).fit(task)
        found = {"expected": model.expected, "guessed": model.chance}
        if model.certain:
            why = "clusters of nodes relate to each other as class texts do"
            if len(task.unseen) < 2:
                why = "there is at most one unseen class, so no cluster needs a name"
            return Fitted(model, choices=(Choice("link", "clusters matched", rule, why, found),))
        why = "clusters relate to each other unlike class texts, so a map was learned"
    return Fitted(ESZSL().fit(task), choices=(Choice("link", "ESZSL", rule, why, found),))
