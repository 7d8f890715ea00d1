"""Fit the model that suits a space, and settle how far to trust what.

Where nodes and classes share a space, `Refine`: how much the descriptions weigh, and whether maps
are trained before it, is tried on seen classes that are hidden for a while (`validate.py`). Where
they do not, `Align`, or DGPN where relations between classes say nothing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unseen.models.align import Align
from unseen.models.dgpn import DGPN
from unseen.models.refine import Refine
from unseen.propagate.hops import Hops
from unseen.sureness import Sureness
from unseen.validate import ENOUGH, Choice, Game, choose, games
from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.classes import Labels
    from unseen.encode.space import Space
    from unseen.propagate.operators import Operator
    from unseen.sureness import Judged

WEIGHTS = (0.5, 0.7, 0.9)  # of descriptions against data, the first being the default
NODES_A_CLASS = 10  # below which descriptions alone say what a class is
LARGE = 20_000  # nodes above which one game is played instead of three


@dataclass(frozen=True, eq=False)
class Fitted:
    """The model, maps of own vectors before it, and what its confidences are corrected by."""

    model: Refine | DGPN
    maps: DGPN | None = None
    sureness: Sureness = field(default_factory=Sureness)


def games_of(labels: Labels, allowed: NDArray[np.bool_], nodes: int, seed: int) -> list[Game]:
    """Return the games that choices are made by; none where too few classes are seen."""
    seen = len(labels.seen())
    if seen < ENOUGH:
        return []
    folds = 2 if seen < 6 else 3
    return games(labels.of, allowed, folds, seed)[: 1 if nodes > LARGE else folds]


def fit(
    space: Space,
    hops: Hops,
    labels: NDArray[np.int64],
    S: NDArray[np.float32],
    operator: Operator,
    allowed: NDArray[np.bool_],
    played: list[Game],
    seed: int,
) -> tuple[Fitted, list[Choice]]:
    """Fit the model that suits the space; settle what seen classes can settle."""
    if not space.shared:
        return _fit_apart(hops, labels, S, operator, allowed, seed)
    few_nodes = len(labels) < NODES_A_CLASS * len(S)
    if few_nodes or not played:
        weight = 1.0 if few_nodes else WEIGHTS[0]
        why = (
            f"fewer than {NODES_A_CLASS} nodes a class to learn from"
            if few_nodes
            else f"fewer than {ENOUGH} seen classes to choose by"
        )
        model = Refine(weight, seed=seed).fit(hops, labels, S, operator, allowed)
        chosen = [Choice("weight of descriptions", str(weight), "default", why, {})]
        return Fitted(model), chosen

    judged: dict[tuple[float, bool], list[Judged]] = defaultdict(list)  # of a player, by game
    hidden = len(np.unique(labels[np.concatenate([game.hidden for game in played])]))  # classes

    def play(game: Game, weight: float, trained: bool = False) -> NDArray[np.int64]:
        walked = _mapped(hops, _train_maps(hops, game.labels, S, seed)) if trained else hops
        model = Refine(weight, seed=seed).fit(walked, game.labels, S, operator, game.among)
        told = model.opinions(walked, game.labels, operator, game.among)
        best: NDArray[np.int64] = told.beliefs.argmax(axis=1)
        asked = np.concatenate([game.hidden, game.kept])
        sure = told.confidence[asked, best[asked]]
        judged[weight, trained].append((sure, best[asked] == labels[asked]))
        return best

    players = {str(weight): partial(play, weight=weight) for weight in WEIGHTS}
    by_weight = choose("weight of descriptions", players, labels, played, str(WEIGHTS[0]))
    weight = float(by_weight.chosen)
    if len(labels) > LARGE:
        why = f"with more than {LARGE:,} nodes the trial takes longer than it is worth"
        by_maps = Choice("maps", "identity", "default", why, {})
    else:
        rival = {"trained": partial(play, weight=weight, trained=True)}
        untrained = {"identity": by_weight.candidates[by_weight.chosen]}
        by_maps = choose("maps", rival, labels, played, "identity", untrained)
    maps = _train_maps(hops, labels, S, seed) if by_maps.chosen == "trained" else None
    walked = hops if maps is None else _mapped(hops, maps)
    model = Refine(weight, seed=seed).fit(walked, labels, S, operator, allowed)
    sureness, by_sureness = _sureness(judged[weight, maps is not None], hidden)
    return Fitted(model, maps, sureness), [by_weight, by_maps, by_sureness]


def _sureness(judged: list[Judged], hidden: int) -> tuple[Sureness, Choice]:
    """Correct confidences by how often the chosen player was right about the hidden classes."""
    found = Sureness.fit(judged, hidden)
    said = float(np.mean([sure.mean() for sure, _ in judged]))
    right = float(np.mean([good.mean() for _, good in judged]))
    return found, Choice(
        "confidence",
        f"corrected: {said:.0%} was said, {right:.0%} right",
        f"leaving seen classes out, {len(judged)} games",
        f"log-odds x {found.slope:.2f} {found.shift:+.2f}, towards what came true of hidden nodes",
        {},
    )


def _fit_apart(
    hops: Hops,
    labels: NDArray[np.int64],
    S: NDArray[np.float32],
    operator: Operator,
    allowed: NDArray[np.bool_],
    seed: int,
) -> tuple[Fitted, list[Choice]]:
    """Link two spaces: by how classes relate, or where that says nothing by DGPN's maps."""
    rule, told = "share of clustered nodes that get their right name, by geometry", {}
    why = "there are fewer unlabelled nodes than unseen classes, so maps were trained"
    unseen = np.setdiff1d(np.flatnonzero(allowed), labels)
    if (labels < 0).sum() >= len(unseen):
        aligned = Align(seed=seed).fit(hops, labels, S, operator, allowed)
        told = {"expected": aligned.expected, "guessed": aligned.chance}
        if aligned.certain:
            why = "clusters of nodes relate to each other as class texts do"
            if len(unseen) < 2:
                why = "there is at most one unseen class, so no cluster needs a name"
            return Fitted(aligned), [Choice("link", "clusters named", rule, why, told)]
        why = "clusters relate to each other unlike class texts, so maps were trained"
    linked = DGPN(start="xavier", epochs=300, seed=seed).fit(hops, labels, S)
    return Fitted(linked), [Choice("link", "maps trained", rule, why, told)]


def _train_maps(hops: Hops, labels: NDArray[np.int64], S: NDArray[np.float32], seed: int) -> DGPN:
    """Train maps that start at the identity: a few careful steps, for long training forgets."""
    return DGPN(start="identity", epochs=30, decay=1.0, seed=seed).fit(hops, _few(labels, seed), S)


def _mapped(hops: Hops, maps: DGPN) -> Hops:
    return Hops((unit(maps.vectors(hops.own)),), np.ones(1, np.float32))


def _few(labels: NDArray[np.int64], seed: int, most: int = 1000) -> NDArray[np.int64]:
    """Return labels of at most `most` nodes, drawn at random: enough to train small maps."""
    known = np.flatnonzero(labels >= 0)
    if len(known) <= most:
        return labels
    kept = np.random.default_rng(seed).choice(known, most, replace=False)
    few = np.full_like(labels, -1)
    few[kept] = labels[kept]
    return few
