"""The four moves on disk are those in memory, wherever blocks begin and end."""

from __future__ import annotations

import weakref
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_helpers import on_disk
from unseen.core.arrays import softmax, unit
from unseen.core.errors import InputError, SavedFileError
from unseen.core.graph import Graph
from unseen.core.task import Task
from unseen.engines import disk_operator
from unseen.engines.disk import LANES, NODE, RUNTIME, Disk
from unseen.engines.memory import MEMORY

WIDTH, CLASSES = 11, 3


def random_graph(seed: int, nodes: int, directed: bool, weighted: bool) -> Graph:
    """Return a graph with a hub, isolated nodes and repeated edges."""
    rng = np.random.default_rng(seed)
    linked = max(2, nodes - 3)  # the last ones are on their own
    source, target = rng.integers(0, linked, (2, 3 * nodes))
    source[: nodes // 2] = 0
    weight = rng.random(len(source)).astype(np.float32) + np.float32(0.1) if weighted else None
    texts = [f"text {i}" for i in range(nodes)]
    return Graph.from_edges(source, target, weight, nodes=nodes, directed=directed, texts=texts)


graphs = st.builds(
    random_graph, st.integers(0, 99), st.integers(4, 60), st.booleans(), st.booleans()
)


@settings(max_examples=25, deadline=None)
@given(graphs, st.integers(1, 70), st.integers(0, 9), st.booleans())
def test_the_graph_as_linear_maps(graph: Graph, block: int, seed: int, compiled: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(graph.nodes, WIDTH)).astype(np.float32)
    before = disk_operator.compiled_sums
    if not compiled:  # what there is without the extra
        disk_operator.compiled_sums = lambda: disk_operator.by_scipy
    try:
        with TemporaryDirectory() as name:
            engine, operator = on_disk(Path(name), graph, block)
            known = graph.operator
            for move in ("aggregate", "propagate"):
                found = getattr(operator, move)(engine.map(lambda X: X, X))
                # what is aggregated is summed in float64 and rounded once
                near = {"aggregate": (2e-7, 1e-8), "propagate": (0, 1e-5)}[move]
                np.testing.assert_allclose(
                    found.array, getattr(known, move)(X), rtol=near[0], atol=near[1]
                )
            np.testing.assert_allclose(
                operator.aggregate(X[:, 0].copy()), known.aggregate(X[:, 0]), rtol=2e-7, atol=1e-8
            )
            np.testing.assert_allclose(operator.strength, known.strength, rtol=1e-5)
            assert operator.entries == known.entries
            Z = unit(X)
            task = Task(Z, Z[:CLASSES], operator=known)
            maps: Any = operator
            there = Task(engine.map(lambda Z: Z, Z), Z[:CLASSES], operator=maps, engine=engine)
            np.testing.assert_allclose(
                engine.diffuse(there, 3, 0.5).cosines(Z[:CLASSES]).array,
                MEMORY.diffuse(task, 3, 0.5).cosines(Z[:CLASSES]),
                atol=1e-5,
            )
    finally:
        disk_operator.compiled_sums = before


@settings(max_examples=20, deadline=None)
@given(graphs, st.integers(0, 9))
def test_what_is_sampled_is_the_same(graph: Graph, seed: int) -> None:
    with TemporaryDirectory() as name:
        _, operator = on_disk(Path(name), graph, 7)
        known = graph.operator
        drawn: list[Any] = []
        for each in (known, operator):
            rng = np.random.default_rng(seed)
            edges = each.sample_edges(5, rng)
            ends = each.random_neighbours(edges[1], rng)
            drawn.append((edges, ends, each.has_edges(edges[0], ends)))
        for one, other in zip(*drawn, strict=True):
            np.testing.assert_array_equal(one, other)
        nodes = np.arange(graph.nodes)[::-1].copy()
        pairs: Any = zip(known.edges_of(nodes), operator.edges_of(nodes), strict=True)
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.fixture
def engine(tmp_path: Path) -> Disk:
    return Disk(tmp_path, 50, 2 << 30, block=8)


def test_map_reduce_view_and_take(engine: Disk) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)).astype(np.float32)
    where = rng.random(50) < 0.4
    rows = engine.map(softmax, X)
    np.testing.assert_allclose(engine.array(rows), softmax(X), atol=1e-7)
    np.testing.assert_array_equal(engine.map(lambda p: p.argmax(axis=1), rows), X.argmax(axis=1))
    some = engine.map(lambda X: 2 * X, X, where=where)
    np.testing.assert_array_equal(engine.array(some), 2 * X[where])
    seen = engine.view(lambda X, p: X * p, X, rows)
    nodes = np.array([49, 0, 8, 7, 7])
    np.testing.assert_allclose(engine.take(seen, nodes), (X * softmax(X))[nodes], atol=1e-6)
    total, count = engine.reduce(lambda X: (X.T @ X, len(X)), X)
    np.testing.assert_allclose(total, X.T.astype(float) @ X, rtol=1e-13, atol=1e-13)
    assert count == 50
    alike = MEMORY.reduce(lambda X: (X.T @ X, len(X)), X)
    np.testing.assert_allclose(alike[0], total, rtol=1e-13, atol=1e-13)
    assert alike[1] == 50
    texts = [str(i) for i in range(50)]
    assert engine.take(texts, nodes) == ["49", "0", "8", "7", "7"]
    lengths = engine.map(lambda texts: np.array([len(t) for t in texts]), texts, where=where)
    np.testing.assert_array_equal(lengths, [len(t) for t, w in zip(texts, where, strict=True) if w])


def test_what_has_a_name_is_computed_once(engine: Disk) -> None:
    X, calls = np.arange(100, dtype=np.float32).reshape(50, 2), []

    def double(block: Any) -> Any:
        calls.append(len(block))
        return 2 * block

    first = engine.map(double, X, keep="twice")
    np.testing.assert_array_equal(first.take(np.arange(50)), 2 * X)
    assert sum(calls) == 50
    next((engine.folder / "twice").glob("00003-*.npy")).unlink()
    again = Disk(engine.folder, 50, 2 << 30, block=8).map(double, X, keep="twice")
    assert sum(calls) == 58  # one block more
    np.testing.assert_array_equal(again.block(3), 2 * X[24:32])
    np.testing.assert_array_equal(again.columns(3, slice(1, 2)), 2 * X[24:32, 1:2])


def test_a_block_that_changed_is_named(engine: Disk) -> None:
    rows = engine.map(lambda X: X, np.ones((50, 2), np.float32), keep="ones")
    path = next((engine.folder / "ones").glob("00002-*.npy"))
    spoiled = bytearray(path.read_bytes())
    spoiled[-1] ^= 1
    path.write_bytes(spoiled)
    with pytest.raises(SavedFileError, match=r"00002-.*is not as it was written.*remove this file"):
        rows.block(2)
    path.write_bytes(spoiled[:40])
    with pytest.raises(SavedFileError, match="00002-"):
        rows.block(2)


def test_what_was_learned_is_kept(engine: Disk) -> None:
    state = {"a": np.eye(2, dtype=np.float32), "b": [1, {"c": None}], "d": "text"}
    engine.once("learned", lambda: state)
    found = engine.once("learned", lambda: pytest.fail("made twice"))
    np.testing.assert_array_equal(found.pop("a"), state["a"])
    assert found == {"b": [1, {"c": None}], "d": "text"}


def test_columns_are_as_many_as_fit(tmp_path: Path) -> None:
    nodes = 10_000_000
    engine = Disk(tmp_path, 10, 4 << 30)
    engine.nodes = nodes
    (width,) = {cut.stop - cut.start for cut in engine.columns(384, arrays=2)[:-1]}
    assert width % 8 == 0
    assert 2 * 4 * width * nodes < 4 << 30
    engine.memory = 1 << 30
    with pytest.raises(InputError, match=r"memory: .* too few for 10,000,000 nodes; give at least"):
        engine.columns(384, arrays=2)


def test_files_go_when_nobody_needs_them(engine: Disk) -> None:
    scratch = engine.folder / "scratch"
    rows = engine.map(lambda X: X, np.ones((50, 2), np.float32))
    assert len(list(scratch.iterdir())) == 1
    del rows
    assert list(scratch.iterdir()) == []


def test_sums_over_edges_tell_how_far_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_operator, "ROWS", 8)
    engine, operator = on_disk(tmp_path, random_graph(0, 20, False, False), 7)
    told: list[tuple[str, int, int]] = []
    engine.progress = lambda *said: told.append(said)
    operator.aggregate(engine.map(lambda X: X, np.ones((20, 2), np.float32)))
    assert told == [("sums over edges", done, 20) for done in (8, 16, 20)]


def test_a_sparse_bag_is_a_view(engine: Disk) -> None:
    bags = engine.view(lambda rows: sp.csr_array(rows), np.eye(50, dtype=np.float32))
    assert bags.shape == (50, 50)
    assert engine.take(bags, np.array([3, 4])).nnz == 2


def test_columns_that_are_done_make_room_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No array [n, c] outlives the columns that it was for."""
    graph, width = random_graph(0, 50, directed=False, weighted=False), 4 * LANES
    engine, operator = on_disk(tmp_path, graph, 7)
    array = 4 * graph.nodes * LANES
    rows = engine.map(lambda X: X, np.ones((graph.nodes, width), np.float32))
    made: list[weakref.ref[Any]] = []
    block = operator.block

    def counted(columns: int) -> Any:
        assert all(each() is None for each in made)
        found = block(columns)
        made.append(weakref.ref(found))
        return found

    monkeypatch.setattr(operator, "block", counted)
    engine.memory = RUNTIME + NODE * graph.nodes + 2 * array  # eight columns at a time
    maps: Any = operator
    there = Task(rows, np.ones((width, width), np.float32), operator=maps, engine=engine)
    engine.diffuse(there, 3, 0.5).cosines(np.ones((width, width), np.float32))
    engine.memory -= array
    operator.aggregate(rows)
    operator.propagate(rows)
    assert len(made) == 4 * 4
