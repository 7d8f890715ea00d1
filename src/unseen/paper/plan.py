"""`Plan` and `Cell`: what a user asked for, and one number of a table with the runs behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal

from unseen.core.errors import InputError, shortlist
from unseen.io.atomic import read_json
from unseen.paper.methods import METHODS, method_of
from unseen.paper.trial import Trial

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.work import Stream

QUICK_SEEDS, QUICK_SHARE = 2, 10  # runs, and the part of the epochs that a quick run takes
CHOSEN = "chosen.json"


@dataclass(frozen=True)
class Summary:
    """Mean and deviation over the runs of a cell."""

    accuracy: float
    deviation: float
    macro: float
    floor: float
    runs: int
    constant: int  # runs that gave every node the same class
    stopped: tuple[int, ...]  # epochs of the runs that ended before their schedule


@dataclass(frozen=True)
class Cell:
    """The trials behind one number; they differ in their seeds alone."""

    trials: tuple[Trial, ...]

    def stream(self) -> Stream:
        """Ask for every trial."""
        for trial in self.trials:  # noqa: UP028  outcomes are sent, which a tuple does not take
            yield trial

    def summary(self, ledger: Ledger) -> Summary | str | None:
        """Return what came out, why nothing can, or None while runs are missing."""
        found = [ledger[trial] for trial in self.trials if trial in ledger]
        if len(found) < len(self.trials):
            return None
        for outcome in found:
            if "missing" in outcome:
                return str(outcome["missing"])
        values = [outcome["accuracy"] for outcome in found]
        return Summary(
            accuracy=fmean(values),
            deviation=stdev(values) if len(values) > 1 else 0.0,
            macro=fmean(outcome["macro"] for outcome in found),
            floor=found[0]["floor"],
            runs=len(found),
            constant=sum(outcome["classes given"] == 1 for outcome in found),
            stopped=tuple(o["stopped after"] for o in found if "stopped after" in o),
        )


@dataclass(frozen=True)
class Plan:
    """What a user asked for.

    Args:
        seeds: runs of each cell; None = ten, or as many as the method says: one for what is fixed.
        slow_seeds: the same for methods that train slowly; None = three.
        methods: rows of the tables, of the paper or `package.module:Class`; None = all.
        quick: two runs and a tenth of every schedule, said so on every row.
        chosen: settings of Class Split II, by method and data set.
        trials: of a search.
    """

    seeds: int | None = None
    methods: tuple[str, ...] | None = None
    quick: bool = False
    chosen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    trials: int = 60
    slow_seeds: int | None = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.methods or () if name not in METHODS and ":" not in name]
        if unknown:
            raise InputError(
                f"--methods: there is no {shortlist(unknown)}; those known: {', '.join(METHODS)}, "
                "and package.module:Class for a model of your own"
            )
        for name in self.own:
            method_of(name)  # says what is wrong with it

    def asked(self) -> dict[str, Any]:
        """Return what the user said, for the record; settings of Split II have their own file."""
        names = ("seeds", "methods", "quick", "trials", "slow_seeds")
        return {name: getattr(self, name) for name in names}

    @property
    def own(self) -> tuple[str, ...]:
        """The methods that are not of the paper."""
        return tuple(name for name in self.methods or () if ":" in name)

    def rows(self, of: tuple[str, ...]) -> tuple[str, ...]:
        """Return the methods of a table that were asked for; the floor is always there."""
        wanted = of if self.methods is None else ("majority", *self.methods)
        return tuple(name for name in of if name in wanted)

    def cell(
        self,
        method: str,
        data: str,
        split: str = "I",
        csds: Literal["text", "label"] = "text",
        attributes: Literal["features", "adjacency"] = "features",
        **changes: Any,
    ) -> Cell:
        """Return the runs of a method with its settings, or with some of them changed."""
        about = method_of(method)
        settings = about.settings(data, **changes)
        if split == "II":
            settings = {**about.defaults, **self.chosen.get(method, {}).get(data, {}), **changes}
        asked = (self.slow_seeds if about.slow else None) or self.seeds
        seeds = asked or (min(QUICK_SEEDS, about.seeds) if self.quick else about.seeds)
        if about.seeds == 1:
            seeds = 1
        if self.quick:
            settings = shortened(method, settings)
        return Cell(
            tuple(
                Trial(data, split, method, settings, seed, csds, attributes)
                for seed in range(seeds)
            )
        )


def shortened(method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with a tenth of the epochs."""
    epochs = settings.get("epochs", method_of(method).epochs)
    cut = {} if epochs is None else {"epochs": max(1, epochs // QUICK_SHARE)}
    return {**settings, **cut}


def read_chosen(folder: Path, shipped: bool = True) -> dict[str, dict[str, Any]]:
    """Return the settings of Class Split II: of a search in this folder, over those that ship."""
    known = json.loads(files("unseen.paper").joinpath(CHOSEN).read_text("utf-8")) if shipped else {}
    own = folder / CHOSEN
    return {**known, **(read_json(own) if own.exists() else {})}
