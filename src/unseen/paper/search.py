"""Hyper-parameter search: what to try next, given how well what was tried did (Optuna's TPE).

The search is a generator: it yields settings, is sent their score, and returns the best. It knows
neither models nor data. With the same seed and scores it asks for the same settings again, so one
that was interrupted goes on where it was once the known scores are sent to it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from itertools import product
from math import prod
from typing import Any

from unseen.core.errors import require

Settings = dict[str, Any]


def search(
    space: Mapping[str, tuple[Any, ...]], trials: int, first: Settings, seed: int = 0
) -> Generator[Settings, float, Settings]:
    """Ask for the scores of up to `trials` settings of a grid; return the best, earlier in ties.

    Args:
        space: the values of each setting. A grid of no more points than `trials` is tried whole.
        trials: how many settings are tried.
        first: settings that are tried before any others; they need not lie in the grid.
        seed: of the sampler.
    """
    optuna = require("optuna", "paper", "the search")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed, n_startup_trials=15)
    )
    best, top = first, (yield first)
    if prod(len(values) for values in space.values()) <= trials:
        for point in product(*space.values()):
            settings = dict(zip(space, point, strict=True))
            if settings != first and (score := (yield settings)) > top:
                best, top = settings, score
        return best
    tried = {_key(first)}
    while len(tried) < trials:
        asked = study.ask()
        # by position: optuna keeps categories as text in places
        settings = {
            name: values[asked.suggest_categorical(name, list(range(len(values))))]
            for name, values in space.items()
        }
        if _key(settings) in tried:  # the sampler may ask for the same again
            study.tell(asked, state=optuna.trial.TrialState.PRUNED)
            continue
        tried.add(_key(settings))
        score = yield settings
        study.tell(asked, score)
        if score > top:
            best, top = settings, score
    return best


def _key(settings: Settings) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(settings.items()))
