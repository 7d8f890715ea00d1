"""Measured cost: what is counted, what is clocked, how it is told. No timing is asserted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.models.dgpn.model import DGPN
from unseen.paper import clock, cost
from unseen.paper.clock import Sizes, attributes, random_regular
from unseen.paper.cost import ROUTES, SWEEPS, Sweep, draw, measured, sheets
from unseen.paper.plan import Plan

NO_LEDGER: Any = {}
DENSE, SPARSE = Sizes(40, 4, 6, 2), Sizes(40, 4, 8, 2, 0.25)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sizes that take no time."""
    small = {
        (route, axis): (
            SPARSE if route == "sparse epoch" else DENSE,
            {"K": (1, 2, 3, 4), "|E|": (2, 4, 6, 8), "d": (4, 8, 16, 32)}[axis],
        )
        for route, axis in SWEEPS
    }
    monkeypatch.setattr(cost, "SWEEPS", small)
    monkeypatch.setattr(clock, "LEAST", 0.0)
    measured.cache_clear()
    yield
    measured.cache_clear()


@pytest.mark.parametrize(("nodes", "degree"), [(7, 2), (10, 8), (101, 20)])
def test_the_random_graph_is_regular(nodes: int, degree: int) -> None:
    A = random_regular(nodes, degree).toarray()
    assert (A == A.T).all()
    assert (A.sum(axis=1) == degree).all()
    assert set(np.unique(A)) == {0.0, 1.0}
    assert (np.diag(A) == 0).all()
    assert A.sum() == 2 * Sizes(nodes, degree, 1, 1).edges
    assert (random_regular(nodes, degree) != random_regular(nodes, degree)).nnz == 0


def test_attributes_are_as_many_as_they_say() -> None:
    assert attributes(DENSE).shape == (40, 6)
    X = attributes(SPARSE)
    assert sp.issparse(X)
    assert X.shape == (40, 8)
    assert X.nnz == SPARSE.words == 80
    assert (X.toarray().sum(axis=1) == 2).all()
    assert len(np.unique(X.toarray(), axis=0)) > 1


def test_the_clock_leaves_out_the_first_and_takes_the_median() -> None:
    assert clock._between([0.0, 100.0, 101.0, 103.0, 106.0]) == 2.0


def test_the_clocks_run(tiny: None) -> None:
    with clock.alone():
        for route in ROUTES:
            assert ROUTES[route].seconds(SPARSE if route == "sparse epoch" else DENSE) > 0


@pytest.mark.parametrize("sizes", [DENSE, SPARSE])
def test_the_clock_ticks_once_an_epoch(sizes: Sizes, monkeypatch: pytest.MonkeyPatch) -> None:
    task = clock.task_of(sizes)
    model = clock.Clocked.variant("official", epochs=6, hops=2).fit(task)
    assert len(model.ticks_) == 1 + 6  # also before it begins
    assert model.ticks_ == sorted(model.ticks_)
    plain = DGPN.variant("official", epochs=6, hops=2).fit(task)
    np.testing.assert_array_equal(model.losses_, plain.losses_)  # and changes nothing
    monkeypatch.setattr(clock, "LEAST", 0.0)
    model = clock.Clocked.variant("official", epochs=clock.MOST, hops=2).fit(task)
    assert len(model.losses_) == clock.REPEATS + 1 < clock.MOST  # and ends when it has enough


def test_the_formulas_by_hand() -> None:
    s = Sizes(10, 4, 3, 2, 0.34)  # |E| = 20, |X| = 10; d_h = 128, d_s = 16, C = 8
    assert ROUTES["decomposition"].paper[1](s) == 2 * 20 * 3
    assert ROUTES["decomposition"].operations[1](s) == 2 * 40 * 3
    for route in ("dense epoch", "sparse epoch"):
        assert ROUTES[route].paper[1](s) == 2 * 20 * 3 * 128 + 2 * 10 * 128 * 16
    # psi has no gradient to hand on: forwards and its own; each head has one more
    dense = 2 * (3 * 10 * 3 * 128) + 3 * (4 * 10 * 128 * 16)
    assert ROUTES["dense epoch"].operations[1](s) == dense
    walked, mapped = 2 * (2 * 40 * 128), 2 * (10 * 128)
    heads = 3 * (3 * 10 * 128 * 8) + 3 * (10 * 128 * 16)
    assert ROUTES["sparse epoch"].operations[1](s) == walked + mapped + heads


def test_exponents_of_costs_that_are_known() -> None:
    sizes = tuple(replace(DENSE, hops=k) for k in (1, 2, 4))
    found = Sweep("decomposition", "K", sizes, (3.0, 12.0, 48.0))
    assert found.exponents() == [2.0, 1.0, 1.0]
    flat = Sweep("dense epoch", "|E|", tuple(replace(DENSE, degree=k) for k in (2, 20)), (5.0, 5.0))
    assert str(flat.exponents()[0]) == str(flat.exponents()[2]) == "0.0"  # and not -0.0
    assert flat.x == [40, 400]


def test_the_sizes_span_what_they_should() -> None:
    assert {route for route, _ in SWEEPS} == set(ROUTES)
    for (route, axis), (base, values) in SWEEPS.items():
        ends = {"K": (1, 6), "|E|": (1, 100), "d": (1, 16)}[axis]
        assert values[-1] / values[0] == ends[1]
        assert (base.filled < 1) == (route == "sparse epoch")
        if axis == "|E|":  # also of half the nodes, as a quick run takes
            assert max(values[1:4]) < base.nodes // 2
            assert all(value % 2 == 0 for value in values)


def test_measured_once(tiny: None, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Sizes] = []

    def seconds(sizes: Sizes) -> float:
        calls.append(sizes)
        return float(sizes.hops * sizes.edges * sizes.width)

    routes = {name: replace(route, seconds=seconds) for name, route in ROUTES.items()}
    monkeypatch.setattr(cost, "ROUTES", routes)
    found = sheets(Plan(), NO_LEDGER)
    assert len(calls) == 9 * 4
    assert sheets(Plan(), NO_LEDGER) == found
    assert len(calls) == 9 * 4
    first = found[0]
    assert [row[:2] for row in first.rows] == list(SWEEPS)
    assert {row[2] for row in first.rows} == {"1.00"}  # what this clock says of all three
    assert [row[3] for row in first.rows if row[0] == "decomposition"] == ["1.00"] * 3
    assert found[1].rows[0] == ("K", "1", "40", "80", "6", "240", "480.0000", "500000000.000")
    sheets(Plan(quick=True), NO_LEDGER)
    assert len(calls) == 9 * 4 + 9 * 3
    assert calls[-1].nodes == 40 // 2


@pytest.mark.parametrize("quick", [False, True])
def test_tables_and_picture(quick: bool, tiny: None, tmp_path: Path) -> None:
    plan = Plan(quick=quick)
    first, *raw = sheets(plan, NO_LEDGER)
    assert first.columns == ("cost", "against", "measured", "paper's formula", "operations")
    assert len(first.rows) == 9
    assert [sheet.title.split(":")[0] for sheet in raw] == [
        "Decomposition",
        "Dense epoch",
        "Sparse epoch",
    ]
    for sheet in (first, *raw):
        assert ("(quick" in sheet.title) == quick
        assert {len(row) for row in sheet.rows} == {len(sheet.columns)}
        assert all(isinstance(cell, str) for row in sheet.rows for cell in row)
    assert [len(sheet.rows) for sheet in raw] == [3 * (3 if quick else 4)] * 3
    assert any("not the sum of the parts" in note for note in first.notes)
    paths = draw(plan, NO_LEDGER, tmp_path)
    assert [path.name for path in paths] == ["cost.png", "cost.svg"]
    texts = paths[1].read_text("utf-8")
    for text in ("hops K", "edges |E|", "attributes d", "measured", "the paper's formula"):
        assert f">{text}<" in texts
    assert texts.count("sparse epoch: exponent") == 3
    assert ("(quick)" in texts) == quick
