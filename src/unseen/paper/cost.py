"""Measured cost against K, |E| and d, beside the complexity that the paper gives.

One size grows at a time. The exponent of a cost is the slope of its logarithm against that of the
size, by least squares; beside it stand the slopes, at the same sizes, of the paper's formula
(Sec. 5.2.3 and the last line of 5.3.4) and of the operations that the code does, forwards and
backwards. Sizes are such that these outweigh calls, random numbers and the writing of results.

Paper: https://doi.org/10.1145/3447548.3467230
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.paper import clock
from unseen.paper.clock import CLASSES, LATENT, SEMANTIC, Sizes
from unseen.paper.figures import Curve, curves
from unseen.paper.sheet import Sheet

if TYPE_CHECKING:
    from unseen.paper.ledger import Ledger
    from unseen.paper.plan import Plan

Cost = Callable[[Sizes], float]


@dataclass(frozen=True)
class Route:
    """One of the things that are clocked, with two formulas of its cost, each in words first."""

    seconds: Cost
    paper: tuple[str, Cost]
    operations: tuple[str, Cost]


def _printed(s: Sizes) -> float:
    return s.hops * LATENT * (s.edges * s.width + s.nodes * SEMANTIC)


def _dense(s: Sizes) -> float:
    return s.nodes * LATENT * (2 * (s.hops + 1) * s.width + 3 * (s.hops + 2) * SEMANTIC)


def _sparse(s: Sizes) -> float:
    heads = 3 * s.nodes * ((s.hops + 1) * CLASSES + SEMANTIC)
    return LATENT * (4 * s.hops * s.edges + 2 * s.words + heads)


LOSS = "K|E|d d_h + Kn d_h d_s"
ROUTES: Mapping[str, Route] = {
    "decomposition": Route(
        clock.decomposition,
        ("K|E|d", lambda s: s.hops * s.edges * s.width),
        ("2K|E|d", lambda s: 2 * s.hops * s.edges * s.width),
    ),
    "dense epoch": Route(clock.epoch, (LOSS, _printed), ("2(K+1)nd d_h + 3(K+2)n d_h d_s", _dense)),
    "sparse epoch": Route(
        clock.epoch,
        (LOSS, _printed),
        ("4K|E|d_h + 2|X|d_h + 3(K+1)n d_h C + 3n d_h d_s", _sparse),
    ),
}
AXES = {"K": "hops K", "|E|": "edges |E|", "d": "attributes d"}
GROWS = {"K": "hops", "|E|": "degree", "d": "width"}  # the field of `Sizes` that an axis changes
HOPS = (1, 2, 3, 4, 5, 6)
WIDE = (1024, 2048, 4096, 8192, 16384)
SWEEPS: Mapping[tuple[str, str], tuple[Sizes, tuple[int, ...]]] = {
    ("decomposition", "K"): (Sizes(10_000, 100, 64, 2), HOPS),
    ("decomposition", "|E|"): (Sizes(5000, 8, 64, 2), (8, 24, 80, 240, 800)),
    ("decomposition", "d"): (Sizes(5000, 100, 32, 2), (32, 64, 128, 256, 512)),
    ("dense epoch", "K"): (Sizes(500, 20, 4096, 2), HOPS),
    ("dense epoch", "|E|"): (Sizes(1800, 8, 1024, 2), (8, 24, 80, 240, 800)),
    ("dense epoch", "d"): (Sizes(300, 20, 2048, 2), tuple(2 * d for d in WIDE)),
    ("sparse epoch", "K"): (Sizes(2000, 200, 512, 2, 0.01), HOPS),
    ("sparse epoch", "|E|"): (Sizes(3600, 16, 512, 2, 0.01), (16, 50, 160, 500, 1600)),
    ("sparse epoch", "d"): (Sizes(2000, 4, 1024, 1, 0.1), WIDE),
}


@dataclass(frozen=True)
class Sweep:
    """What came out while one size grew."""

    route: str
    axis: str
    sizes: tuple[Sizes, ...]
    seconds: tuple[float, ...]

    @property
    def x(self) -> list[int]:
        """The size that grew."""
        return [_size(each, self.axis) for each in self.sizes]

    def of(self, cost: Cost) -> list[float]:
        """Return a formula at these sizes."""
        return [cost(each) for each in self.sizes]

    def exponents(self) -> list[float]:
        """Return those of the seconds, of the paper's formula and of the operations."""
        route = ROUTES[self.route]
        costs = (self.seconds, self.of(route.paper[1]), self.of(route.operations[1]))
        return [round(slope(self.x, cost), 2) + 0.0 for cost in costs]  # no -0.0


def slope(sizes: Any, costs: Any) -> float:
    """Return the exponent by which costs grow.

    >>> round(slope([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


@cache
def measured(quick: bool) -> tuple[Sweep, ...]:
    """Clock everything, once in a process; quick: half the nodes, three of the sizes."""
    found = []
    with clock.alone():
        for (route, axis), (base, values) in SWEEPS.items():
            start = replace(base, nodes=base.nodes // 2) if quick else base
            every = values[1:4] if quick else values
            sizes = tuple(replace(start, **{GROWS[axis]: value}) for value in every)
            seconds = tuple(ROUTES[route].seconds(each) for each in sizes)
            found.append(Sweep(route, axis, sizes, seconds))
    return tuple(found)


def sheets(plan: Plan, ledger: Ledger) -> list[Sheet]:
    """Return the exponents, and what was measured of each route."""
    found = measured(plan.quick)
    cut = " (quick: half the nodes, three sizes)" if plan.quick else ""
    exponents = [
        (sweep.route, sweep.axis, *(f"{value:.2f}" for value in sweep.exponents()))
        for sweep in found
    ]
    columns = ("cost", "against", "measured", "paper's formula", "operations")
    raw = [
        Sheet(
            f"{name.capitalize()}: seconds against K, |E| and d{cut}",
            ("growing", "K", "n", "|E|", "d", "|X|", "seconds", "ns an operation"),
            [row for sweep in found if sweep.route == name for row in _rows(sweep)],
            [f"Paper: {route.paper[0]}. Operations: {route.operations[0]}."],
        )
        for name, route in ROUTES.items()
    ]
    return [Sheet(f"Exponents of the cost{cut}", columns, exponents, NOTES), *raw]


def draw(plan: Plan, ledger: Ledger, folder: Path) -> list[Path]:
    """Draw seconds against each size."""
    panels: dict[str, list[Curve]] = {}
    for sweep in measured(plan.quick):
        route, (ours, paper, done) = ROUTES[sweep.route], sweep.exponents()
        title = f"{sweep.route}: exponent {ours:.2f}\noperations {done:.2f}, paper {paper:.2f}"
        expected = {
            "operations of the code": sweep.of(route.operations[1]),
            "the paper's formula": sweep.of(route.paper[1]),
        }
        curve = Curve(title, AXES[sweep.axis], sweep.x, sweep.seconds, expected)
        panels.setdefault(sweep.route, []).append(curve)
    title = "Seconds of one core against hops, edges and attributes"
    return curves(list(panels.values()), folder / "cost", title + (" (quick)" * plan.quick))


def _size(sizes: Sizes, axis: str) -> int:
    return {"K": sizes.hops, "|E|": sizes.edges, "d": sizes.width}[axis]


def _rows(sweep: Sweep) -> list[tuple[str, ...]]:
    operations = sweep.of(ROUTES[sweep.route].operations[1])
    return [
        (
            sweep.axis,
            *(f"{value:,}" for value in (s.hops, s.nodes, s.edges, s.width, s.words)),
            f"{seconds:.4f}",
            f"{1e9 * seconds / count:.3f}",
        )
        for s, seconds, count in zip(sweep.sizes, sweep.seconds, operations, strict=True)
    ]


NOTES = [
    f"Random regular graphs, d_h = {LATENT}, d_s = {SEMANTIC}, C = {CLASSES} classes, all nodes "
    f"labelled. Seconds of one core, median of {clock.REPEATS} repetitions or more after a first. "
    "|X| counts the attributes that are not zero; their share stays as d grows.",
    "The paper's formula of an epoch is the last line of Sec. 5.3.4, K|E|d d_h + Kn d_h d_s. It is "
    "not the sum of the parts that the section names before: K|E|d + (K+1)nd d_h + Kn d_h "
    "+ (K+2)n d_h d_s. Hops are propagated first and mapped then, so nothing costs |E| times "
    "d d_h.",
    "Dense: the hops are made once, before training, and an epoch never looks at an edge, hence 0 "
    "against |E|. It maps K+1 blocks, so it grows with K+1 and not with K.",
    "Sparse: the map goes first, and every epoch propagates d_h numbers a node, forwards and back. "
    "What |E| costs and what d costs are added, not multiplied, and so is what n costs: each is "
    "linear, and where one grows the others keep the exponent below 1.",
]
