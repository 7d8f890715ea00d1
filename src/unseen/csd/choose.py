"""Which text should stand for a class: its name, its description, or both?

With enough seen classes the candidates play the zero-shot game among them. With fewer, the
information that node texts, read through a candidate, carry about their neighbours' decides
(`models/agreement.py`): Eq. 1-3 of the paper cannot, being constant for two classes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unseen.models.agreement import TIES, sharpen
from unseen.models.prototype import Prototype
from unseen.propagate.hops import Hops, decompose
from unseen.validate import Choice, Game, choose
from unseen.vectors import masked, unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.space import Space
    from unseen.propagate.operators import Operator

MARGIN = 0.02  # names are noisier than descriptions, so a small win of theirs is luck
SILENT = 0.01  # nats a tie below which neighbours cannot tell candidates apart


def choose_class_texts(
    X: NDArray[np.float32],
    space: Space,
    labels: NDArray[np.int64],
    among: NDArray[np.bool_],
    operator: Operator,
    played: list[Game],
    seed: int,
) -> Choice:
    """Return the chosen kind of class text.

    Args:
        X: node vectors, centred and of unit length. [n, d]
        space: where the candidates come from.
        labels: of seen classes, -1 elsewhere. [n]
        among: classes that an unlabelled node may belong to. [C]
        operator: the graph.
        played: games among seen classes; none where too few are seen.
        seed: for sampling ties.
    """
    what, default = "class texts", next(iter(space.csds))
    centred = {kind: unit(S - S.mean(axis=0)) for kind, S in space.csds.items()}
    if len(centred) == 1:
        return Choice(what, default, "no alternative", "the classes have names only", {})
    if not space.shared:
        why = "features and class texts share no space to compare candidates in"
        return Choice(what, default, "default", why, {})
    if played:
        hops = decompose(X, operator, 2, 0.5)
        players = {kind: partial(_play, hops=hops, S=S) for kind, S in centred.items()}
        return choose(what, players, labels, played, default, margin=MARGIN)
    ties = operator.ties(TIES, np.random.default_rng(seed))
    told = {}
    if ties.shape[1]:
        told = {
            kind: sharpen(masked(X @ S.T, among), ties, labels)[2] for kind, S in centred.items()
        }
    best = max(told, key=lambda kind: told[kind], default=default)
    if told.get(best, 0.0) < SILENT:
        why = "neighbours hardly agree, so they cannot tell the candidates apart"
        return Choice(what, default, "default", why, told)
    why = f"read through the {best}, a node's text tells most about its neighbours'"
    return Choice(what, best, "information between neighbours, nats a tie", why, told)


def _play(game: Game, hops: Hops, S: NDArray[np.float32]) -> NDArray[np.int64]:
    return Prototype().fit(hops, game.labels, S).predict(hops, game.among)
