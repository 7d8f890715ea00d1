"""Which text stands for a class: the one that reads the nodes best, by labels or by neighbours."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.core.arrays import unit
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.select.class_texts import SILENT, choose_class_texts
from unseen.select.cross_validation import Choice, Fold, leave_classes_out

NODES, CLASSES, WIDTH = 240, 6, 12
ALL = np.ones(CLASSES, dtype=bool)
NONE = np.full(NODES, -1)
RNG = np.random.default_rng(0)
TRUTH = np.arange(NODES) % CLASSES
GOOD = unit(RNG.normal(size=(CLASSES, WIDTH)).astype(np.float32))
NOISE = unit(RNG.normal(size=(CLASSES, WIDTH)).astype(np.float32))
X = unit((GOOD[TRUTH] + 0.25 * RNG.normal(size=(NODES, WIDTH))).astype(np.float32))


def edges(level: float) -> Operator:
    rng = np.random.default_rng(1)
    source, target = rng.integers(NODES, size=(2, 900))
    for t in np.flatnonzero(rng.random(900) < level):
        target[t] = rng.choice(np.flatnonzero(TRUTH[source[t]] == TRUTH))
    A = np.zeros((NODES, NODES), dtype=np.float32)
    A[source, target] = A[target, source] = 1
    np.fill_diagonal(A, 0)
    return Operator(A)


def chosen(
    csds: dict[str, NDArray[np.float32]],
    operator: Operator,
    labels: NDArray[np.int64] = NONE,
    folds: list[Fold] | None = None,
    allowed: NDArray[np.bool_] = ALL,
    shared: bool = True,
) -> Choice:
    tasks = {
        kind: Task(X, unit(S - S.mean(axis=0)), labels, operator, allowed, shared)
        for kind, S in csds.items()
    }
    return choose_class_texts(tasks, folds or [], seed=0)


def test_names_alone_are_no_choice() -> None:
    choice = chosen({"name": GOOD}, edges(0.8))
    assert choice == Choice(
        "class texts", "name", "no alternative", "there is one kind of class text only", {}
    )


def test_without_a_common_space_the_first_is_taken() -> None:
    choice = chosen({"description": NOISE, "name": GOOD}, edges(0.8), shared=False)
    assert (choice.chosen, choice.rule) == ("description", "default")
    assert "share no space" in choice.why


@pytest.mark.parametrize("order", [("description", "name"), ("name", "description")])
def test_neighbours_tell_which_text_reads_the_nodes(order: tuple[str, str]) -> None:
    kinds = {"description": NOISE, "name": GOOD}
    choice = chosen({kind: kinds[kind] for kind in order}, edges(0.8))
    assert choice.chosen == "name"
    assert choice.rule == "it says most about neighbours"
    assert choice.why == "read through the name, a node's text says most about its neighbours'"
    assert choice.candidates["name"] > choice.candidates["description"] + 0.1


def test_neighbours_that_do_not_agree_leave_the_default() -> None:
    choice = chosen({"description": NOISE, "name": GOOD}, edges(0.0))
    assert (choice.chosen, choice.rule) == ("description", "default")
    assert "cannot tell the candidates apart" in choice.why
    assert max(choice.candidates.values()) < SILENT


def test_a_graph_without_edges_leaves_the_default() -> None:
    nobody = Operator(np.zeros((NODES, NODES), dtype=np.float32))
    choice = chosen({"description": NOISE, "name": GOOD}, nobody)
    assert (choice.chosen, choice.candidates) == ("description", {})


def test_with_folds_held_out_classes_decide() -> None:
    """Descriptions that went to the wrong classes: neighbours cannot tell, seen labels can."""
    swapped = np.roll(GOOD, 1, axis=0)
    assert chosen({"description": swapped, "name": GOOD}, edges(0.8)).chosen == "description"
    allowed = TRUTH.max() == np.arange(CLASSES)
    labels = np.where(TRUTH < 5, TRUTH, -1)
    folds = leave_classes_out(labels, allowed, 2, seed=0)
    choice = chosen({"description": swapped, "name": GOOD}, edges(0.8), labels, folds, allowed)
    assert choice.chosen == "name"
    assert choice.rule == "leave-classes-out, 2 folds"
    assert choice.candidates["name"] > 0.8
    assert choice.candidates["description"] < 0.3


def test_with_folds_equal_texts_leave_the_first() -> None:
    labels = np.where(TRUTH < 5, TRUTH, -1)
    folds = leave_classes_out(labels, np.arange(CLASSES) == 5, 2, seed=0)
    choice = chosen({"description": GOOD, "name": GOOD.copy()}, edges(0.8), labels, folds)
    assert choice.chosen == "description"


def test_what_all_class_texts_share_does_not_matter() -> None:
    """Class vectors are centred: a phrase that stands in every description tells nothing."""
    common = 3 * np.ones(WIDTH, dtype=np.float32)
    plain = chosen({"description": NOISE, "name": GOOD}, edges(0.8))
    shifted = chosen({"description": NOISE + common, "name": GOOD + common}, edges(0.8))
    assert plain.chosen == shifted.chosen
    for kind, told in plain.candidates.items():
        assert shifted.candidates[kind] == pytest.approx(told, abs=1e-4)


def test_classes_that_are_not_allowed_have_no_say() -> None:
    allowed = np.arange(CLASSES) < 3
    other = GOOD.copy()
    other[3:] = other[3:][::-1]  # mixed up, but only where nobody may be
    same = [chosen({"a": S, "b": NOISE}, edges(0.8), allowed=allowed) for S in (GOOD, other)]
    assert same[0].candidates["a"] == pytest.approx(same[1].candidates["a"], abs=1e-5)
