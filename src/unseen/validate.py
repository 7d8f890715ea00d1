"""Class-wise validation: the zero-shot game, played among *seen* classes to make a choice.

Some seen classes are hidden, their labels taken away, and whoever finds their nodes best is chosen.
Truly unseen classes stay in the game as wrong answers, but no label of theirs exists here. This
room imports no model: it is handed functions to try.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENOUGH = 4  # seen classes below which hiding some leaves too few to tell anything


@dataclass(frozen=True, eq=False)
class Game:
    """What a player is given, and which nodes are looked at afterwards."""

    labels: NDArray[np.int64]  # with the hidden ones at -1 [n]
    among: NDArray[np.bool_]  # classes that an unlabelled node may belong to [C]
    hidden: NDArray[np.int64]  # nodes of the hidden classes
    kept: NDArray[np.int64]  # some nodes of the other seen classes, hidden as well

    def score(self, answer: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
        """Return the accuracy on hidden classes; with `kept` nodes, its harmonic mean with theirs.

        The accuracy is the mean over classes, so that a large class cannot outvote the others.
        """
        unseen = _class_mean(answer[self.hidden], truth[self.hidden])
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


def games(labels: NDArray[np.int64], among: NDArray[np.bool_], folds: int, seed: int) -> list[Game]:
    """Return one game for each fold of the seen classes.

    Where seen classes may be answers too (`among` holds some of them), a fifth of each seen class
    is hidden beside the hidden classes, and both count.
    """
    rng = np.random.default_rng(seed)
    seen = np.unique(labels[labels >= 0])
    generalised = bool(among[seen].any())
    made = []
    for part in np.array_split(rng.permutation(seen), folds):
        hidden = np.flatnonzero(np.isin(labels, part))
        others = np.flatnonzero((labels >= 0) & ~np.isin(labels, part))
        kept = others[rng.random(len(others)) < 0.2] if generalised else others[:0]
        visible = labels.copy()
        visible[hidden] = -1
        visible[kept] = -1
        allowed = among.copy()
        allowed[part] = True
        made.append(Game(visible, allowed, hidden, kept))
    return made


def choose(
    what: str,
    players: Mapping[str, Callable[[Game], NDArray[np.int64]]],
    labels: NDArray[np.int64],
    played: list[Game],
    default: str,
    known: Mapping[str, float] | None = None,
    margin: float = 0.0,
) -> Choice:
    """Let every candidate play every game; the best mean wins, and the default wins ties.

    `known` holds means of candidates that have played these games before; `margin` is what a
    candidate must win by against the default.
    """
    means = dict(known or {}) | {
        name: float(np.mean([game.score(play(game), labels) for game in played]))
        for name, play in players.items()
    }
    chosen = max(means, key=lambda name: means[name] + (margin + 1e-9) * (name == default))
    best = means[chosen] == max(means.values())
    why = f"{chosen} found the nodes of hidden seen classes best"
    if not best:
        why = f"no candidate beat {default} by more than {margin:.0%}"
    return Choice(what, chosen, f"leaving seen classes out, {len(played)} games", why, means)


def _class_mean(answer: NDArray[np.int64], truth: NDArray[np.int64]) -> float:
    if len(truth) == 0:
        return 0.0
    return float(np.mean([(answer[truth == c] == c).mean() for c in np.unique(truth)]))
