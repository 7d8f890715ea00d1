"""An epoch of DGPN on sparse attributes against the dense one, by turns in one process.

    UNSEEN_DATA=... python benchmarks/training.py [--small]

Class Split I, K = 3, 128 latent columns, the losses of the published code. Both sides run with one
thread and with as many as there are cores, and the fastest of each side counts. Times are the least
of many epochs. Beside those on the wall there are those that the processor worked: while other
programs run, these tell more, and threads gain nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import numpy as np
import torch
from common import cores, keep, table, versions
from dense_dgpn import DenseDGPN
from threadpoolctl import threadpool_limits

from unseen.core.arrays import unit
from unseen.core.errors import MissingDataError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.datasets.class_vectors import class_vectors
from unseen.datasets.registry import load
from unseen.evaluate.protocol import hold_out
from unseen.models.dgpn.maps import BIAS, COMPOSED, LOCAL, PSI
from unseen.models.dgpn.model import DGPN
from unseen.paper import clock
from unseen.propagate.hops import hops_of

HOPS, LAZINESS = 3, 0.7
EQUAL = 5  # epochs whose losses are compared
NAMES = tuple(name + end for name in (PSI, LOCAL, COMPOSED) for end in ("", BIAS))
MANY = 1_000_000  # epochs, of which as many are taken as are wanted
DENSE, OURS = "dense", "unseen"
BOTH = "seeds side by side"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tiny graph: only to see it run")
    parser.add_argument("--repeats", type=int, default=30, help="turns of each route")
    chosen = parser.parse_args()
    names = ("random",) if chosen.small else ("cora", "citeseer")
    found = {}
    for name in names:
        try:
            found[name] = measure(name, 2 if chosen.small else chosen.repeats)
        except MissingDataError as error:
            print(f"left out: {error}")
    if not found:
        return
    kept = {"cores": cores(), "versions": versions("numpy", "numba", "torch"), "data": found}
    print(keep("training", chosen.small, kept))


def measure(name: str, repeats: int) -> dict[str, Any]:
    """Return milliseconds of an epoch by route, and ratios; print them."""
    task = random_problem() if name == "random" else problem(name)
    hops = hops_of(task, HOPS, LAZINESS)
    apart = difference(task)
    routes: dict[str, tuple[int, int, Callable[[int], None]]] = {}  # threads, epochs a turn, work
    for threads in sorted({1, cores()}):
        network = DenseDGPN(hops, task.labels, task.S)
        routes[f"{DENSE}, threads: {threads}"] = threads, 2, repeated(network.epoch)
        torch.set_num_threads(threads)
        steps = training(task, 0)
        routes[f"{OURS}, threads: {threads}"] = threads, 20, repeated(steps.__next__)
    torch.set_num_threads(1)
    seeds = [repeated(training(task, seed).__next__) for seed in range(cores())]
    routes[f"{OURS}, {BOTH}: {len(seeds)}"] = 1, 20, lambda epochs: together(seeds, epochs)

    wall: dict[str, list[float]] = {route: [] for route in routes}
    worked: dict[str, list[float]] = {route: [] for route in routes}
    with threadpool_limits(1, user_api="blas"):
        for _ in range(repeats):
            for route, (threads, epochs, work) in routes.items():
                torch.set_num_threads(threads)
                many = len(seeds) if BOTH in route else 1
                rounds = (epochs,) if many > 1 else (1,) * epochs  # threads start once a turn
                for count in rounds:
                    begin, cpu = time.perf_counter(), time.process_time()
                    work(count)
                    wall[route].append(1000 * (time.perf_counter() - begin) / count / many)
                    worked[route].append(1000 * (time.process_time() - cpu) / count / many)
    return summary(name, wall, worked, apart)


def summary(
    name: str, wall: dict[str, list[float]], worked: dict[str, list[float]], apart: float
) -> dict[str, Any]:
    """Print a table and return what is kept."""
    rows = [
        {
            "route": route,
            "ms": min(wall[route]),
            "median ms": float(np.median(wall[route])),
            "processor ms": min(worked[route]),
            "times the fastest dense": _fastest(wall, DENSE) / min(wall[route]),
        }
        for route in wall
    ]
    one = [min(worked[f"{side}, threads: 1"]) for side in (DENSE, OURS)]
    alone = {route: times for route, times in wall.items() if BOTH not in route}
    ratio = _fastest(wall, DENSE) / _fastest(alone, OURS)
    print(f"\n{name}, Class Split I: an epoch for one seed")
    print(table(rows))
    ratios = {
        "times the speed of the fastest dense route": ratio,
        "times the speed in processor time, one thread each": one[0] / one[1],
        "the same, had the dense route shared its work out to all cores": one[0] / one[1] / cores(),
        "relative difference of losses without dropout": apart,
    }
    for what, value in ratios.items():
        print(f"{what}: {value:.3g}")
    return {"routes": rows, **ratios}


def problem(name: str) -> Task:
    """Return Class Split I of a data set, prepared as the paper's tables are."""
    data = load(name)
    X: Any = data.graph.features
    X = X.multiply(1 / np.maximum(X.sum(axis=1), 1e-12)[:, None]).tocsr()
    labels = hold_out(data.truth, data.splits["I"]).codes
    return Task(X, unit(class_vectors(name, "text")), labels, data.graph.operator, shared=False)


def random_problem() -> Task:
    """Return a small graph, all of whose nodes are labelled."""
    sizes = clock.Sizes(200, 4, 300, HOPS, 0.05)
    operator = Operator(clock.random_regular(sizes.nodes, sizes.degree))
    S = unit(np.random.default_rng(0).normal(size=(7, 128)).astype(np.float32))
    labels = np.arange(sizes.nodes) % len(S)
    return Task(clock.attributes(sizes), S, labels, operator, shared=False)


def training(task: Task, seed: int, start: Any = None, **settings: Any) -> Iterator[float]:
    """Return the epochs of a fit."""
    given = {"seed": seed, "epochs": MANY, "hops": HOPS, "laziness": LAZINESS, **settings}
    model, rng = DGPN.variant("official", **given), torch.Generator().manual_seed(seed)
    labelled, maps = np.flatnonzero(task.labels >= 0), start or model._start(task, rng)
    hops = hops_of(task, HOPS, LAZINESS)
    return model._train(maps, hops, labelled, task.labels[labelled], task.S, rng)


def difference(task: Task) -> float:
    """Return how far the first losses of both sides are apart when nothing drops out."""
    network = DenseDGPN(hops_of(task, HOPS, LAZINESS), task.labels, task.S, drop=0.0)
    start = [each.detach().t().contiguous().clone() for each in network.maps]
    maps = dict(zip(NAMES, start, strict=True))
    ours = np.array(list(training(task, 0, maps, dropout=0.0, epochs=EQUAL)))
    theirs = np.array([network.epoch() for _ in range(EQUAL)])
    return float(np.abs(ours / theirs - 1).max())


def repeated(epoch: Callable[[], Any]) -> Callable[[int], None]:
    """Return a function that takes some epochs."""

    def run(epochs: int) -> None:
        for _ in range(epochs):
            epoch()

    return run


def together(works: list[Callable[[int], None]], epochs: int) -> None:
    """Run all works at once, a thread for each."""
    threads = [Thread(target=work, args=(epochs,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _fastest(times: dict[str, list[float]], side: str) -> float:
    return min(min(each) for route, each in times.items() if route.startswith(side))


if __name__ == "__main__":
    main()
