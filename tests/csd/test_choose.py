"""Which text stands for a class: the one that reads the nodes best, by labels or by neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.csd.choose import SILENT, choose_class_texts
from unseen.encode.space import Space
from unseen.propagate.operators import Operator
from unseen.validate import Choice, Game, games
from unseen.vectors import unit

NODES, CLASSES, WIDTH = 240, 6, 12
ALL = np.ones(CLASSES, dtype=bool)
NONE = np.full(NODES, -1)
RNG = np.random.default_rng(0)
TRUTH = np.arange(NODES) % CLASSES
GOOD = unit(RNG.normal(size=(CLASSES, WIDTH)).astype(np.float32))
NOISE = unit(RNG.normal(size=(CLASSES, WIDTH)).astype(np.float32))
X = unit((GOOD[TRUTH] + 0.25 * RNG.normal(size=(NODES, WIDTH))).astype(np.float32))


def ties(level: float) -> Operator:
    rng = np.random.default_rng(1)
    source, target = rng.integers(NODES, size=(2, 900))
    for t in np.flatnonzero(rng.random(900) < level):
        target[t] = rng.choice(np.flatnonzero(TRUTH[source[t]] == TRUTH))
    A = np.zeros((NODES, NODES), dtype=np.float32)
    A[source, target] = A[target, source] = 1
    np.fill_diagonal(A, 0)
    return Operator(A)


def space(**csds: NDArray[np.float32]) -> Space:
    return Space(X, csds, True, "static", "fake")


def chosen(
    where: Space,
    operator: Operator,
    labels: NDArray[np.int64] = NONE,
    played: list[Game] | None = None,
    among: NDArray[np.bool_] = ALL,
) -> Choice:
    return choose_class_texts(X, where, labels, among, operator, played or [], seed=0)


def test_names_alone_are_no_choice() -> None:
    choice = chosen(space(name=GOOD), ties(0.8))
    assert choice == Choice(
        "class texts", "name", "no alternative", "the classes have names only", {}
    )


def test_without_a_common_space_the_first_is_taken() -> None:
    choice = chosen(replace(space(description=NOISE, name=GOOD), shared=False), ties(0.8))
    assert (choice.chosen, choice.rule) == ("description", "default")
    assert "share no space" in choice.why


@pytest.mark.parametrize("order", [("description", "name"), ("name", "description")])
def test_neighbours_tell_which_text_reads_the_nodes(order: tuple[str, str]) -> None:
    kinds = {"description": NOISE, "name": GOOD}
    choice = chosen(space(**{kind: kinds[kind] for kind in order}), ties(0.8))
    assert choice.chosen == "name"
    assert choice.rule == "information between neighbours, nats a tie"
    assert choice.why == "read through the name, a node's text tells most about its neighbours'"
    assert choice.candidates["name"] > choice.candidates["description"] + 0.1


def test_neighbours_that_do_not_agree_leave_the_default() -> None:
    choice = chosen(space(description=NOISE, name=GOOD), ties(0.0))
    assert (choice.chosen, choice.rule) == ("description", "default")
    assert "cannot tell the candidates apart" in choice.why
    assert max(choice.candidates.values()) < SILENT


def test_a_graph_without_ties_leaves_the_default() -> None:
    nobody = Operator(np.zeros((NODES, NODES), dtype=np.float32))
    choice = chosen(space(description=NOISE, name=GOOD), nobody)
    assert (choice.chosen, choice.candidates) == ("description", {})


def test_with_games_the_zero_shot_game_decides() -> None:
    """Descriptions that went to the wrong classes: neighbours cannot tell, seen labels can."""
    swapped = np.roll(GOOD, 1, axis=0)
    assert chosen(space(description=swapped, name=GOOD), ties(0.8)).chosen == "description"
    among = TRUTH.max() == np.arange(CLASSES)
    labels = np.where(TRUTH < 5, TRUTH, -1)
    played = games(labels, among, 2, seed=0)
    choice = chosen(space(description=swapped, name=GOOD), ties(0.8), labels, played, among)
    assert choice.chosen == "name"
    assert choice.rule == "leaving seen classes out, 2 games"
    assert choice.candidates["name"] > 0.8
    assert choice.candidates["description"] < 0.3


def test_with_games_equal_texts_leave_the_first() -> None:
    labels = np.where(TRUTH < 5, TRUTH, -1)
    played = games(labels, np.arange(CLASSES) == 5, 2, seed=0)
    choice = chosen(space(description=GOOD, name=GOOD.copy()), ties(0.8), labels, played)
    assert choice.chosen == "description"


def test_what_all_class_texts_share_does_not_matter() -> None:
    """Class vectors are centred: a phrase that stands in every description tells nothing."""
    common = 3 * np.ones(WIDTH, dtype=np.float32)
    plain = chosen(space(description=NOISE, name=GOOD), ties(0.8))
    shifted = chosen(space(description=NOISE + common, name=GOOD + common), ties(0.8))
    assert plain.chosen == shifted.chosen
    for kind, told in plain.candidates.items():
        assert shifted.candidates[kind] == pytest.approx(told, abs=1e-4)


def test_classes_that_are_not_allowed_have_no_say() -> None:
    among = np.arange(CLASSES) < 3
    other = GOOD.copy()
    other[3:] = other[3:][::-1]  # mixed up, but only where nobody may be
    same = [chosen(space(a=S, b=NOISE), ties(0.8), among=among) for S in (GOOD, other)]
    assert same[0].candidates["a"] == pytest.approx(same[1].candidates["a"], abs=1e-5)
