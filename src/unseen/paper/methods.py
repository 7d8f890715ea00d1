"""The methods of the paper's tables by name: how each is made, and how often it is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

from unseen.models.baselines.cnn import OnAlexNet
from unseen.models.baselines.dap import DAP
from unseen.models.baselines.eszsl import ESZSL
from unseen.models.baselines.hyperbolic import HyperbolicZSL
from unseen.models.baselines.majority import Majority
from unseen.models.baselines.random_guess import RandomGuess
from unseen.models.baselines.wdvsc import WDVSc
from unseen.models.baselines.zs_gcn import ZSGCN
from unseen.models.dgpn import DGPN
from unseen.models.dgpn_settings import VARIANTS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from unseen.models.base import Model

    Make = Callable[[dict[str, Any], int, NDArray[np.int64]], Model]

SLOW = 3  # runs of a method that trains slowly
WALK: dict[str, tuple[Any, ...]] = {
    "hops": (1, 2, 3, 4, 5),
    "laziness": (0.1, 0.3, 0.5, 0.7, 0.9),
}  # Table 8: K and beta


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    Args:
        label: what the paper calls it.
        make: from settings, seed and the true class sizes (for the floor alone) to a model.
        seeds: how many runs there are unless the user says otherwise.
        defaults: settings of Class Split I, and those of a data set over those of all.
        space: what a search on validation classes chooses from.
        walks: whether it walks the graph; the others see a node's own attributes only.
        epochs: of its schedule, where it has one.
    """

    label: str
    make: Make
    seeds: int = 10
    defaults: Mapping[str, Any] = field(default_factory=dict)
    of_data: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    space: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    walks: bool = False
    epochs: int | None = None

    @property
    def slow(self) -> bool:
        """Whether it trains slowly, and so is run less often."""
        return self.seeds == SLOW

    def settings(self, data: str, **changes: Any) -> dict[str, Any]:
        """Return the settings of Class Split I on a data set, with changes."""
        return {**self.defaults, **self.of_data.get(data, {}), **changes}


def _epochs(kind: Callable[..., Model]) -> int:
    return int(signature(kind).parameters["epochs"].default)


def _seeded(kind: Callable[..., Model], **fixed: Any) -> Make:
    return lambda settings, seed, sizes: kind(**fixed, **settings, seed=seed)


def _cnn(inner: Literal["dap", "zs-gcn"], weights: Literal["file", "random"]) -> Make:
    def make(settings: dict[str, Any], seed: int, sizes: NDArray[np.int64]) -> Model:
        return OnAlexNet(inner, weights, seed=seed, settings=settings)

    return make


LAZY = {"hops": 3, "laziness": 0.7}  # of Class Split I, on all data sets
RELEASED = {"c-m10m": {"local_weight": 0.1, "epochs": 500}}  # of the published code

METHODS: Mapping[str, Method] = {
    "majority": Method("Majority (floor)", lambda settings, seed, sizes: Majority(tuple(sizes)), 1),
    "random": Method("RandomGuess", _seeded(RandomGuess)),
    "dap": Method("DAP", _seeded(DAP), space=DAP.search_space, epochs=_epochs(DAP)),
    "dap-cnn": Method("DAP(CNN)", _cnn("dap", "file"), 1, epochs=_epochs(DAP)),
    "dap-cnn-random": Method(
        "DAP(CNN), random weights", _cnn("dap", "random"), SLOW, epochs=_epochs(DAP)
    ),
    "eszsl": Method(
        "ESZSL", lambda settings, seed, sizes: ESZSL(**settings), 1, space=ESZSL.search_space
    ),
    "zs-gcn": Method("ZS-GCN", _seeded(ZSGCN), space=ZSGCN.search_space, epochs=_epochs(ZSGCN)),
    "zs-gcn-cnn": Method("ZS-GCN(CNN)", _cnn("zs-gcn", "file"), 1, epochs=_epochs(ZSGCN)),
    "zs-gcn-cnn-random": Method(
        "ZS-GCN(CNN), random weights", _cnn("zs-gcn", "random"), SLOW, epochs=_epochs(ZSGCN)
    ),
    "wdvsc": Method("WDVSc", _seeded(WDVSc), SLOW, space=WDVSc.search_space, epochs=_epochs(WDVSc)),
    "hyperbolic": Method(
        "Hyperbolic-ZSL",
        _seeded(HyperbolicZSL),
        SLOW,
        space=HyperbolicZSL.search_space,
        epochs=_epochs(HyperbolicZSL),
    ),
    "dgpn": Method(
        "DGPN, official code",
        _seeded(DGPN.variant, name="official"),
        defaults={**LAZY, "epochs": VARIANTS["official"]["epochs"]},
        of_data=RELEASED,
        space={**DGPN.search_space, **WALK},
        walks=True,
        epochs=VARIANTS["official"]["epochs"],
    ),
    "dgpn-paper": Method(
        "DGPN, as printed",
        _seeded(DGPN.variant, name="paper"),
        defaults={**LAZY, "epochs": VARIANTS["paper"]["epochs"]},
        space={**DGPN.search_space, **WALK},
        walks=True,
        epochs=VARIANTS["paper"]["epochs"],
    ),
}
CNN = tuple(name for name in METHODS if "-cnn" in name)
BASELINES = ("dap", "eszsl", "zs-gcn", "wdvsc", "hyperbolic")  # of Tables 4 and 5
