"""The search: what it asks for, that it can be played again, and that it finds a good point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unseen.paper.search import search

SPACE = {"rate": (0.001, 0.01, 0.1), "hops": (1, 2, 3, 4, 5), "share": (0.1, 0.3, 0.5, 0.7, 0.9)}


def play(
    score: Callable[[dict[str, Any]], float], trials: int, first: dict[str, Any], space: Any = SPACE
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    finder = search(space, trials, first)
    asked = [next(finder)]
    while True:
        try:
            asked.append(finder.send(score(asked[-1])))
        except StopIteration as end:
            return asked, end.value


def height(settings: dict[str, Any]) -> float:
    return float(-abs(settings["hops"] - 4) - 10 * abs(settings["share"] - 0.3) - settings["rate"])


def test_asks_for_the_defaults_first_and_for_nothing_twice() -> None:
    first = {"rate": 0.01, "hops": 3, "share": 0.7}
    asked, best = play(height, 30, first)
    assert asked[0] == first
    assert len(asked) == 30
    assert len({tuple(sorted(each.items())) for each in asked}) == 30
    assert all(value in SPACE[name] for each in asked for name, value in each.items())
    assert height(best) == max(map(height, asked))


def test_finds_the_top_of_a_smooth_hill() -> None:
    _, best = play(height, 40, {"rate": 0.1, "hops": 1, "share": 0.9})
    assert (best["hops"], best["share"]) == (4, 0.3)


def test_the_same_scores_lead_to_the_same_questions() -> None:
    first = {"rate": 0.1, "hops": 1, "share": 0.9}
    assert play(height, 25, first) == play(height, 25, first)


def test_a_small_grid_is_tried_whole() -> None:
    space = {"a": (1, 2), "b": (3, 4, 5)}
    asked, best = play(lambda s: s["a"] * s["b"], 60, {"a": 1, "b": 3}, space)
    assert len(asked) == 6
    assert best == {"a": 2, "b": 5}


def test_defaults_outside_the_grid_can_win() -> None:
    _, best = play(lambda s: 1.0 if not s else 0.0, 10, {})
    assert best == {}


def test_of_equals_the_earlier_one_is_kept() -> None:
    first = {"rate": 0.1, "hops": 1, "share": 0.9}
    assert play(lambda s: 0.5, 10, first)[1] == first


def test_a_missing_optuna_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(ImportError, match=r'pip install "unseen\[paper\]"'):
        next(search(SPACE, 3, {}))
