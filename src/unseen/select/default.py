"""The default model: the one that suits the vectors, chosen by what the data can tell.

Where nodes and classes share a space, `PooledEM` or `BeliefPropagation`: the first never strays far
from what texts say, the second goes far where neighbours agree. Where enough of the possible
answers have labels, these teach the first of them. Otherwise, with enough labels of enough classes,
leave-classes-out cross-validation chooses; without, the words of the nodes do (`held_out_words`).
Where nodes and classes share no space, `ClusterMatching`, or ESZSL's closed form where relations
between classes say nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unseen.engines.base import engine_of
from unseen.models.baselines.eszsl import ESZSL
from unseen.models.belief_propagation import BeliefPropagation
from unseen.models.blocks import winners
from unseen.models.cluster_matching import ClusterMatching
from unseen.models.pooled_em import PooledEM
from unseen.models.typicality import hops_around
from unseen.select.calibration import Calibration
from unseen.select.cross_validation import (
    LARGE,
    Choice,
    Fold,
    choose,
    few_labels,
    leave_nodes_out,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.task import Task
    from unseen.models.base import Model
    from unseen.select.calibration import Answers
    from unseen.select.held_out_words import Halves

WHAT, POOLED, REFINED, ALONE = "model", "pooled", "refined", "class texts alone"
WEIGHTS = (0.5, 0.7, 0.9)  # of descriptions in `BeliefPropagation`
NODES_A_CLASS = 10  # below which descriptions alone say what a class is
LONG_TEXT = 60  # words of a class text at which it is trusted most
CONFIRMED = 0.3  # kappa that `refined` has to reach where nothing is labelled
LABELLED_MARGIN = 0.03  # by which `pooled` has to win where many nodes are labelled
SOME, NEARLY_ALL = 0.3, 0.8  # of the possible answers, with a few labels, or with any number
HELD_OUT = 30  # labelled nodes that tell how right answers are
FOLD_MARGIN = 0.02  # the same for accuracy on held-out classes
EXPECTED = (-1.28, 1.46, 0.2, 0.58)  # of the accuracy that mean confidences stand for
EXPECTED_BY_WORDS = (-1.94, 1.03, 0.23, 0.43, 1.92)  # the same where held-out words tell kappa
POOR_FIT = 0.25  # kappa below which class texts hardly fit the graph
HARDLY_FIT = (
    "Class texts hardly fit this graph: answers agree with words they have not seen little "
    "better than by chance (kappa {:.2f}). Take them as guesses, and describe the classes in the "
    "words of the nodes."
)


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
    words: float = LONG_TEXT,
    halves: Callable[[], Halves | None] = lambda: None,
) -> Fitted:
    """Fit the model that suits the task; settle what the data can settle.

    Args:
        task: nodes and classes.
        folds: of seen classes; none where too few are seen.
        seed: of every random choice.
        words: of a class text, in the middle: a longer one is trusted more.
        halves: gives the nodes by halves of their words, if there are any.
    """
    if not task.shared:
        return _fit_apart(task, seed)
    make_pooled = _pooled(words, seed)
    hops_around(task)  # formed once, with all labels in view
    taught = len(np.intersect1d(task.seen, np.flatnonzero(task.allowed))) / task.allowed.sum()
    by_chance = taught > 0 and few_labels(task)
    if taught > NEARLY_ALL or (taught > SOME and by_chance):
        return _by_labels(task, make_pooled, words, seed)
    candidates = _candidates(make_pooled, seed)
    few = task.nodes < NODES_A_CLASS * task.classes
    if folds and not by_chance:
        tried = {name: make for name, make in candidates.items() if few or name != ALONE}
        return _by_folds(task, folds, tried)
    if few:
        model = candidates[ALONE]().fit(task)
        why = f"fewer than {NODES_A_CLASS} nodes a class to learn from"
        return Fitted(
            model, _capped(model, task, words), (Choice(WHAT, ALONE, "default", why, {}),)
        )
    pooled = make_pooled().fit(task)
    view = halves()
    if view is None:
        why = "too few classes have labels to choose by, and too few or too many nodes have words"
        return Fitted(
            pooled, _capped(pooled, task, words), (Choice(WHAT, POOLED, "default", why, {}),)
        )
    return _by_words(task, view, candidates, pooled, words)


def fit_to_words(view: Halves, words: float, seed: int) -> float:
    """Return how well `PooledEM` agrees with words it has not seen (kappa), before any choice."""
    weigh = PooledEM().fit(view.task).typical(view.task)
    return view.kappas({POOLED: _pooled(words, seed)()}, weigh)[POOLED]


def _pooled(words: float, seed: int) -> Callable[[], PooledEM]:
    """Return how `PooledEM` is made for class texts of so many words."""
    trust = min(words / LONG_TEXT, 1.0)
    return partial(PooledEM, 0.7 + 0.2 * trust, 5 + 45 * trust, seed=seed)


def _candidates(pooled: Callable[[], Model], seed: int) -> Mapping[str, Callable[[], Model]]:
    """Return how each candidate is made."""
    made: dict[str, Callable[[], Model]] = {POOLED: pooled}
    made[ALONE] = partial(PooledEM, rounds=0, seed=seed)
    for weight in WEIGHTS:
        name = REFINED if weight == WEIGHTS[0] else f"{REFINED}, description weight {weight}"
        made[name] = partial(BeliefPropagation, weight, seed=seed)
    return made


def _by_labels(task: Task, make: Callable[[], Model], words: float, seed: int) -> Fitted:
    """Learn from labels of the possible answers; calibrate by answers about some of them."""
    model, why = make().fit(task), "labels of possible answers teach it"
    folds = leave_nodes_out(task.labels, task.allowed, seed, 4 if task.nodes <= LARGE else 2)
    if sum(len(fold.kept) for fold in folds) < HELD_OUT:
        chosen = Choice(WHAT, POOLED, "labels", why, {})
        return Fitted(model, _capped(model, task, words), (chosen,))
    answers = [_answers(make(), task, fold)[1] for fold in folds]
    right = float(np.mean(np.concatenate([good for _, good in answers])))
    calibration, by_calibration = _calibrate(answers, len(task.seen), "leave-nodes-out")
    chosen = Choice(WHAT, POOLED, f"leave-nodes-out, {len(folds)} folds", why, {POOLED: right})
    return Fitted(model, calibration, (chosen, by_calibration))


def _by_words(
    task: Task,
    view: Halves,
    candidates: Mapping[str, Callable[[], Model]],
    pooled: PooledEM,
    words: float,
) -> Fitted:
    """Choose by held-out words; cap confidences by how well these agree."""
    tried = {name: candidates[name]() for name in (POOLED, REFINED)}
    weigh = PooledEM().fit(view.task) if view.task is not task else pooled
    kappas = view.kappas(tried, weigh.typical(view.task))
    lead, chosen = kappas[REFINED] - kappas[POOLED], POOLED
    if not few_labels(task):  # labels show how far edges go
        chosen = REFINED if lead > -LABELLED_MARGIN else POOLED
    elif lead > 0 and kappas[REFINED] >= CONFIRMED:
        chosen = REFINED
    best = max(kappas[chosen], 0.0)
    model = pooled if chosen == POOLED else candidates[REFINED]().fit(task)
    poor = best < POOR_FIT
    if poor and not len(task.seen):  # what would be learned from answers that nothing confirms?
        model = candidates[ALONE]().fit(task)
    calibration = _capped(model, task, words, best)
    other = POOLED if chosen == REFINED else REFINED
    why = (
        f"{chosen} answers agree with words they have not seen by a kappa of {kappas[chosen]:.3f}, "
        f"{other} ones by {kappas[other]:.3f}"
    )
    warnings = (HARDLY_FIT.format(best),) if poor else ()
    if poor and not len(task.seen):
        chosen, why = ALONE, f"{why}: too little to learn from"
    return Fitted(
        model, calibration, (Choice(WHAT, chosen, "held-out words, kappa", why, kappas),), warnings
    )


def _capped(model: Model, task: Task, words: float, kappa: float | None = None) -> Calibration:
    r"""Lower the mean confidence to what such answers were worth on other graphs.

    With the mean confidence r, C possible classes and the words of their texts,

    .. math:: \operatorname{logit} e = a + b \operatorname{logit} r + c \ln C
        + d \min(\text{words} / 60, 1) + f \kappa

    is the accuracy to expect, by regression over the design graphs of the zoo
    (`results/confidence.py`), the last term where held-out words tell kappa.
    """
    found = model.infer(task)
    free = task.labels < 0
    sure = engine_of(task).map(
        lambda sure, p: sure[np.arange(len(p)), winners(p)],
        found.confidence,
        found.posterior,
        where=free,
    )
    possible = int(task.allowed.sum())
    if not free.any() or possible < 2:
        return Calibration()
    mean = float(np.clip(sure.mean(dtype=np.float64), 0.02, 0.98))
    factors = [1.0, np.log(mean / (1 - mean)), np.log(possible), min(words / LONG_TEXT, 1)]
    odds = (
        np.dot(EXPECTED, factors) if kappa is None else np.dot(EXPECTED_BY_WORDS, [*factors, kappa])
    )
    return Calibration.capped(sure, max(float(1 / (1 + np.exp(-odds))), 1.5 / possible))


def _by_folds(
    task: Task, folds: list[Fold], candidates: Mapping[str, Callable[[], Model]]
) -> Fitted:
    """Choose by leave-classes-out cross-validation; calibrate by its answers."""
    answers: dict[str, list[Answers]] = defaultdict(list)  # of a candidate, by fold

    def answer(fold: Fold, name: str) -> NDArray[np.int64]:
        best, answered = _answers(candidates[name](), task, fold)
        answers[name].append(answered)
        return best

    tried = {name: partial(answer, name=name) for name in candidates}
    means = choose(WHAT, tried, task.labels, folds, POOLED).candidates
    cautious = max((name for name in means if name in (POOLED, ALONE)), key=means.__getitem__)
    chosen = max((name for name in means if name.startswith(REFINED)), key=means.__getitem__)
    why = f"{cautious} did not find held-out classes better by {FOLD_MARGIN:.0%}"
    if means[cautious] > means[chosen] + FOLD_MARGIN:
        chosen, why = cautious, f"{cautious} found the nodes of held-out seen classes best"
    by_folds = Choice(WHAT, chosen, f"leave-classes-out, {len(folds)} folds", why, means)
    held_out = len(np.unique(task.labels[np.concatenate([fold.held_out for fold in folds])]))
    calibration, by_calibration = _calibrate(answers[by_folds.chosen], held_out)
    model = candidates[by_folds.chosen]().fit(task)
    return Fitted(model, calibration, (by_folds, by_calibration))


def _answers(model: Model, task: Task, fold: Fold) -> tuple[NDArray[np.int64], Answers]:
    """Return the answers of a model to a fold, and how sure and how right those asked for are."""
    given = task.known(fold.labels, fold.allowed)
    found = model.fit(given).infer(given)
    engine, asked = engine_of(task), fold.asked
    best: NDArray[np.int64] = engine.map(winners, found.posterior)
    sure = engine.take(found.confidence, asked)[np.arange(len(asked)), best[asked]]
    return best, (sure, best[asked] == task.labels[asked])


def _calibrate(
    answers: list[Answers], held_out: int, rule: str = "leave-classes-out"
) -> tuple[Calibration, Choice]:
    """Correct confidences by how often the chosen candidate was right about what was held out."""
    found = Calibration.fit(answers, held_out)
    said = float(np.mean([sure.mean() for sure, _ in answers]))
    right = float(np.mean([good.mean() for _, good in answers]))
    return found, Choice(
        "confidence",
        f"calibrated: {said:.0%} before, {right:.0%} right",
        f"{rule}, {len(answers)} folds",
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
