"""Moves, reading and training on a cluster are those of one process, whatever is lost meanwhile."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ray_nodes import Counting, add_node, several_nodes
from unseen.core.arrays import unit
from unseen.core.errors import InputError, SavedFileError, WriteError
from unseen.core.graph import Graph
from unseen.core.task import Task
from unseen.engines import ray_cluster, ray_data
from unseen.engines.memory import MEMORY
from unseen.engines.place import store_in
from unseen.engines.ray import Ray
from unseen.engines.store import Blocks
from unseen.models.dgpn import DGPN

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with several_nodes() as made:
        yield made


def varied(seed: int, nodes: int, directed: bool, weighted: bool) -> Graph:
    """Return a graph with a hub, nodes on their own and edges that are listed twice."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, max(2, nodes - 3), (2, 3 * nodes))
    source[: nodes // 2] = 0
    weight = rng.random(len(source)).astype(np.float32) + np.float32(0.1) if weighted else None
    texts = [f"text {i}" for i in range(nodes)]
    return Graph.from_edges(source, target, weight, nodes=nodes, directed=directed, texts=texts)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 99), st.integers(4, 60), st.booleans(), st.booleans(), st.sampled_from([5, 16])
)
def test_the_graph_as_linear_maps(
    cluster: Any, seed: int, nodes: int, directed: bool, weighted: bool, block: int
) -> None:
    graph = varied(seed, nodes, directed, weighted)
    X = unit(np.random.default_rng(seed).normal(size=(nodes, 11)).astype(np.float32))
    with TemporaryDirectory() as name:
        stored = store_in(Path(name), graph, 2 << 30, block=block, engine="ray")
        engine: Any = stored.engine
        rows = engine.map(lambda X: X, X)
        for move in ("aggregate", "propagate"):
            found = engine.array(getattr(stored.operator, move)(rows))
            np.testing.assert_allclose(found, getattr(graph.operator, move)(X), atol=1e-5)
        operator: Any = stored.operator
        there = Task(rows, X[:3], operator=operator, engine=engine)
        np.testing.assert_allclose(
            engine.array(engine.diffuse(there, 3, 0.5).cosines(X[:3])),
            MEMORY.diffuse(Task(X, X[:3], operator=graph.operator), 3, 0.5).cosines(X[:3]),
            atol=1e-5,
        )


def test_blocks_hold_about_as_many_edges_each(cluster: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    source = (3000 * rng.random(60_000) ** 4).astype(np.int64)  # the first nodes have the most
    graph = Graph.from_edges(
        source, rng.integers(0, 3000, 60_000), nodes=3000, texts=["x"] * 3000, directed=True
    )
    stored = store_in(tmp_path, graph, 2 << 30, block=300, engine="ray")
    spans, ends = stored.engine.spans, stored.operator.graph.indptr
    edges = np.array([ends[cut.stop] - ends[cut.start] for cut in spans])
    even = np.array([ends[min(at + 300, 3000)] - ends[at] for at in range(0, 3000, 300)])
    assert [cut.start for cut in spans[1:]] == [cut.stop for cut in spans[:-1]]
    assert spans[-1].stop == 3000
    assert edges.max() < 2 * edges.mean() < even.max()


def test_parquet_is_read_in_order_and_places_are_told(cluster: Any, tmp_path: Path) -> None:
    for i in range(4):
        rows = [f"n{50 * i + j}" for j in range(50)]
        frame = pl.DataFrame({"id": rows, "text": ["words"] * 50})
        frame.write_parquet(tmp_path / f"{i}.parquet", row_group_size=20)
    tables = list(ray_data.batches(ray, tmp_path))
    assert pl.concat([t.frame for t in tables])["id"].to_list() == [f"n{i}" for i in range(200)]
    assert list(tables[0].frame.columns) == ["id", "text"]
    last = tables[-1]
    assert last.where(last.frame.height - 1) == f"{tmp_path / '3.parquet'} row 50"
    (tmp_path / "2.parquet").write_bytes((tmp_path / "2.parquet").read_bytes()[:-30])
    with pytest.raises(InputError, match=r"2\.parquet: cannot be read .* save it again"):
        list(ray_data.batches(ray, tmp_path))


def test_texts_are_encoded_by_actors_also_when_a_node_is_lost(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_data, "WORTH", 1)  # so that there are several
    texts = ["a" * (i % 7) + "b" * (i % 3) for i in range(120)]
    engine = Ray(tmp_path / "work", 120, 2 << 30, block=10)
    extra = add_node(cluster)

    def remove() -> None:
        while not list(tmp_path.glob("built-*")):
            time.sleep(0.05)
        cluster.remove_node(extra, allow_graceful=False)

    thread = Thread(target=remove)
    thread.start()
    found = engine.map(Counting(tmp_path), texts, keep="vectors")
    thread.join()
    np.testing.assert_array_equal(engine.array(found), Counting(tmp_path)(texts))
    assert len(list((tmp_path / "work" / "vectors").glob("*.npy"))) == 12


def test_a_corrupt_partition_is_named_and_made_again(cluster: Any, tmp_path: Path) -> None:
    X = np.arange(80, dtype=np.float32).reshape(40, 2)
    engine = Ray(tmp_path / "work", 40, 2 << 30, block=10)
    engine.map(lambda X: 2 * X, X, keep="twice")
    path = next((tmp_path / "work" / "twice").glob("00002-*.npy"))
    spoiled = bytearray(path.read_bytes())
    spoiled[-1] ^= 1
    path.write_bytes(spoiled)
    again = Ray(tmp_path / "work", 40, 2 << 30, block=10)
    with pytest.raises(SavedFileError, match=r"00002-.*is not as it was written.*remove this file"):
        again.map(lambda X: 2 * X, X, keep="twice")
    path.unlink()
    found = again.map(lambda X: 2 * X, X, keep="twice")
    np.testing.assert_array_equal(again.array(found), 2 * X)


def test_a_full_disk_is_said_and_finished_blocks_stay(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, write = np.ones((40, 2), np.float32), Blocks.write
    engine = Ray(tmp_path / "work", 40, 2 << 30, block=10)

    def full(self: Blocks, i: int, block: Any) -> None:
        if i == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(self, i, block)

    with monkeypatch.context() as patch:
        patch.setattr(Blocks, "write", full)
        with pytest.raises(WriteError, match=r"work: the disk is full .* make room there"):
            engine.map(lambda X: X + 1, X, keep="more")
    assert len(list((tmp_path / "work" / "more").glob("*.npy"))) == 2
    np.testing.assert_array_equal(engine.array(engine.map(lambda X: X + 1, X, keep="more")), X + 1)


def test_a_machine_with_other_versions_is_refused(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray_cluster.check_versions(ray)
    here = ray_cluster.versions() | {"polars": "0.1"}
    asked = iter([here])
    real = ray_cluster.versions
    monkeypatch.setattr(ray_cluster, "versions", lambda: next(asked))
    monkeypatch.setattr(ray_cluster, "on_each", lambda ray, ask: [("there", real())])
    with pytest.raises(
        InputError, match=r"machine there has other versions .* expected polars 0.1"
    ):
        ray_cluster.check_versions(ray)


def problem(seed: int = 0) -> Task:
    rng = np.random.default_rng(seed)
    X = unit(rng.normal(size=(90, 12)).astype(np.float32))
    labels = np.where(np.arange(90) % 2 == 0, np.arange(90) % 3, -1)
    return Task(X, unit(rng.normal(size=(4, 12)).astype(np.float32)), labels)


def test_dgpn_has_the_losses_of_one_worker(cluster: Any, tmp_path: Path) -> None:
    task = problem()
    alone = DGPN(start="xavier", epochs=30, decay=1e-4).fit(task)
    engine = Ray(tmp_path / "work", 90, 2 << 30, block=20)
    there = Task(engine.map(lambda X: X, task.X), task.S, task.labels, engine=engine)
    team = DGPN(start="xavier", epochs=30, decay=1e-4).fit(there)
    np.testing.assert_allclose(team.losses_, alone.losses_, rtol=0, atol=1e-4)
    assert alone.losses_[-1] < alone.losses_[0] - 0.01  # it does learn
    p = engine.array(team.posterior(there))
    np.testing.assert_allclose(p, alone.posterior(task), rtol=0, atol=1e-4)


def test_a_node_is_removed_while_a_team_trains(cluster: Any, tmp_path: Path) -> None:
    extra = add_node(cluster)
    engine = Ray(tmp_path / "work", 90, 2 << 30, block=20)
    begun, removed = tmp_path / "begun", tmp_path / "removed"

    def job(team: Any) -> tuple[float, int]:
        import torch

        again = torch.full((1,), float(removed.exists()))
        team.total([again])  # all of a team know the same
        begun.touch()
        total = torch.ones(1)
        while not again.item():  # the first team goes on until one of it is lost
            time.sleep(0.1)
            team.total([total.fill_(1)])
        team.total([total])
        return float(total.item()), team.size

    def remove() -> None:
        while not begun.exists():
            time.sleep(0.05)
        removed.touch()
        cluster.remove_node(extra, allow_graceful=False)

    thread = Thread(target=remove, daemon=True)
    thread.start()
    assert engine.train(job) == (2.0, 2)
    thread.join()
