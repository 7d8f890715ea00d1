"""The methods of the paper's tables by name: how each is made, and how often it is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from unseen.models.baselines.cnn import INNER, OnAlexNet
from unseen.models.baselines.dap import DAP
from unseen.models.baselines.eszsl import ESZSL
from unseen.models.baselines.hyperbolic import HyperbolicZSL
from unseen.models.baselines.majority import Majority
from unseen.models.baselines.random_guess import RandomGuess
from unseen.models.baselines.wdvsc import WDVSc
from unseen.models.baselines.zs_gcn import ZSGCN
from unseen.models.dgpn.model import DGPN
from unseen.models.dgpn.settings import VARIANTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unseen.models.base import Model

    Make = Callable[[dict[str, Any], int, NDArray[np.int64]], Any]

SLOW = 3  # runs of a method that trains slowly


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    Args:
        label: what the paper calls it.
        make: from settings, seed and the true class sizes (for the floor alone) to a model.
        seeds: how many runs there are unless the user says otherwise.
        defaults: settings of Class Split I, and those of a data set over those of all.
        space: what a search on validation classes chooses from.
        propagates: whether it uses the graph; the others see a node's own attributes only.
        epochs: of its schedule, where it has one.
    """

    label: str
    make: Make
    seeds: int = 10
    defaults: Mapping[str, Any] = field(default_factory=dict)
    of_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    propagates: bool = False
    epochs: int | None = None

    @property
    def slow(self) -> bool:
        """Whether it trains slowly, and so is run less often."""
        return self.seeds == SLOW

    def settings(self, data: str, **changes: Any) -> dict[str, Any]:
        """Return the settings of Class Split I on a data set, with changes."""
        return {**self.defaults, **self.of_data.get(data, {}), **changes}


def _baseline(label: str, kind: type[Model], seeds: int = 10) -> Method:
    parameters = signature(kind).parameters

    def make(settings: dict[str, Any], seed: int, sizes: NDArray[np.int64]) -> Model:
        return kind(**settings, **({"seed": seed} if "seed" in parameters else {}))

    return Method(label, make, seeds, space=kind.search_space, epochs=_epochs(kind))


def _epochs(kind: type[Model]) -> int | None:
    epochs = signature(kind).parameters.get("epochs")
    return None if epochs is None else int(epochs.default)


def _cnn(
    label: str, inner: Literal["dap", "zs-gcn"], weights: Literal["file", "random"], seeds: int
) -> Method:
    def make(settings: dict[str, Any], seed: int, sizes: NDArray[np.int64]) -> Model:
        return OnAlexNet(inner, weights, seed=seed, settings=settings)

    return Method(label, make, seeds, epochs=_epochs(INNER[inner]))


def _dgpn(label: str, variant: Literal["paper", "official"], **of_data: dict[str, Any]) -> Method:
    def make(settings: dict[str, Any], seed: int, sizes: NDArray[np.int64]) -> Model:
        return DGPN.variant(variant, **settings, seed=seed)

    epochs = VARIANTS[variant]["epochs"]
    defaults = {"hops": 3, "laziness": 0.7, "epochs": epochs}  # of Class Split I, on all data sets
    return Method(label, make, 10, defaults, of_data, DGPN.search_space, True, epochs)


METHODS: Mapping[str, Method] = {
    "majority": Method("Majority (floor)", lambda settings, seed, sizes: Majority(tuple(sizes)), 1),
    "random": _baseline("RandomGuess", RandomGuess),
    "dap": _baseline("DAP", DAP),
    "dap-cnn": _cnn("DAP(CNN)", "dap", "file", 1),
    "dap-cnn-random": _cnn("DAP(CNN), random weights", "dap", "random", SLOW),
    "eszsl": _baseline("ESZSL", ESZSL, 1),
    "zs-gcn": _baseline("ZS-GCN", ZSGCN),
    "zs-gcn-cnn": _cnn("ZS-GCN(CNN)", "zs-gcn", "file", 1),
    "zs-gcn-cnn-random": _cnn("ZS-GCN(CNN), random weights", "zs-gcn", "random", SLOW),
    "wdvsc": _baseline("WDVSc", WDVSc, SLOW),
    "hyperbolic": _baseline("Hyperbolic-ZSL", HyperbolicZSL, SLOW),
    "dgpn": _dgpn(  # alpha and epochs of the published code
        "DGPN, official code", "official", **{"c-m10m": {"local_weight": 0.1, "epochs": 500}}
    ),
    "dgpn-paper": _dgpn("DGPN, as printed", "paper"),
}


def method_of(name: str) -> Method:
    """Return a method of the paper, or one that somebody else wrote (`package.module:Class`)."""
    if ":" not in name:
        return METHODS[name]
    from unseen.paper.own import own_method

    return own_method(name)
