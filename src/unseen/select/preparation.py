"""From inputs to a task: encode, centre, LSA, choose the class texts. The one way there is."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unseen.engines.base import engine_of
from unseen.select.class_texts import choose_class_texts
from unseen.select.cross_validation import Choice, Fold, folds_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.core.graph import Graph
    from unseen.core.labels import Labels
    from unseen.core.task import Task
    from unseen.encode.base import Progress
    from unseen.prepare.encoded import Encoded
    from unseen.prepare.preparer import Preparer

Step = Callable[[str], AbstractContextManager[dict[str, Any]]]  # notes what is done, and how long


@dataclass(frozen=True, eq=False)
class Prepared:
    """A task, what it was made from, and the choice of class texts."""

    preparer: Preparer
    encoded: Encoded
    task: Task
    folds: list[Fold]
    choice: Choice


def prepare(
    preparer: Preparer,
    graph: Graph,
    classes: Classes,
    labels: Labels,
    allowed: NDArray[np.bool_],
    *,
    seed: int,
    step: Step,
    progress: Progress | None = None,
) -> Prepared:
    """Fit the preparer and return the task that models are given."""
    with step("encode") as note:
        encoded = preparer.encode(graph, classes, progress)
        note["detail"] = f"{encoded.encoder}, {encoded.nodes.shape[1]} dimensions"
    with step("prepare") as note:
        engine = engine_of(encoded)
        preparer.restore(engine.once("preparer", lambda: preparer.fit(encoded).state()))
        said = []
        if preparer.match_ is not None:
            said.append(f"{len(preparer.match_.words):,} words matched with class texts")
        if preparer.lsa_ is not None:
            words, width = preparer.lsa_.directions.shape
            said.append(f"LSA of {words:,} words, {width} dimensions")
        note["detail"] = "; ".join(said) or "no words"
    folds, choice = choose_texts(preparer, encoded, graph, labels, allowed, seed, step)
    task = preparer.task(encoded, graph, labels, allowed)
    return Prepared(preparer, encoded, task, folds, choice)


def choose_texts(
    preparer: Preparer,
    encoded: Encoded,
    graph: Graph,
    labels: Labels,
    allowed: NDArray[np.bool_],
    seed: int,
    step: Step,
) -> tuple[list[Fold], Choice]:
    """Choose which text stands for a class; return the folds of seen classes and the choice."""
    with step("choose class texts") as note:
        plain = preparer.plain_task(encoded, graph, labels, allowed)
        tasks = {
            kind: replace(plain, S=preparer.class_vectors(encoded, kind)) for kind in encoded.csds
        }
        folds = folds_of(plain, seed)
        choose = engine_of(encoded).once
        choice = Choice(
            **choose("class-texts", lambda: vars(choose_class_texts(tasks, folds, seed)))
        )
        note["detail"] = preparer.class_text_ = choice.chosen
    return folds, choice
