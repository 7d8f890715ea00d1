"""Hops on disk against hops in memory, and what happens when it is disturbed."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("numba")

from unseen.core.errors import InputError, SavedFileError
from unseen.core.graph import Graph
from unseen.io.atomic import read_json
from unseen.propagate import disk, disk_graph, memory, npy
from unseen.propagate.disk import DiskGraph, DiskHops, propagate_on_disk
from unseen.propagate.disk_hops import NOTES
from unseen.propagate.npy import NpyFile

NODES, WIDTH, HOPS = 300, 20, 3
PLENTY = 1 << 30


class KilledError(Exception):
    """Stands for the end of the process."""


def edges(seed: int = 0, count: int = 900) -> tuple[Any, Any, Any]:
    """Edges with loops and some that are listed twice, either way round."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, NODES - 5, (2, count))  # the last nodes have no edges
    source[:50], target[:50] = source[50:100], target[50:100]
    source[100:150], target[100:150] = target[150:200], source[150:200]
    return source, target, rng.random(count).astype(np.float32) + np.float32(0.1)


def adjacency(weighted: bool, directed: bool) -> Any:
    source, target, weight = edges()
    return Graph.from_edges(
        source,
        target,
        weight if weighted else None,
        nodes=NODES,
        directed=directed,
        features=np.ones((NODES, 1)),
    ).adjacency


def on_disk(folder: Path, A: Any) -> DiskGraph:
    ends = sp.coo_array(A)
    weight = None if (ends.data == ends.data[0]).all() else ends.data
    return DiskGraph.from_edges(
        folder, ends.row, ends.col, weight, nodes=NODES, memory=PLENTY, directed=True
    )


@pytest.fixture
def features(tmp_path: Path) -> Path:
    path = tmp_path / "X.npy"
    np.save(path, np.random.default_rng(1).normal(size=(NODES, WIDTH)).astype(np.float32))
    return path


@pytest.fixture
def graph(tmp_path: Path) -> DiskGraph:
    return on_disk(tmp_path / "graph", adjacency(True, True))


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 8 columns, stretches of 40 rows, features laid 64 rows at a time."""
    monkeypatch.setattr(memory, "WIDEST", 8)
    monkeypatch.setattr(disk, "ROOM", 40 * 8 * 4)
    monkeypatch.setattr(disk, "LAYING", 64 * WIDTH * 4)
    monkeypatch.setattr(disk, "PIECE", 2)
    monkeypatch.setattr(npy, "LONG", 1)  # every whole page past the cache


def in_memory(A: Any, features: Path, **options: Any) -> Any:
    return np.stack(memory.propagate(A, np.load(features), HOPS, **options)[1:])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.usefixtures("narrow")
def test_the_same_bits_as_in_memory(
    tmp_path: Path, features: Path, weighted: bool, directed: bool
) -> None:
    A = adjacency(weighted, directed)
    graph = on_disk(tmp_path / "graph", A)
    hops = propagate_on_disk(graph, features, tmp_path / "hops", HOPS, memory=PLENTY)
    assert hops.shape == (HOPS + 1, NODES, WIDTH)
    assert hops.files[0].shape == (3, NODES, 7)  # 20 columns as 7 + 7 + 6
    found = hops.rows(np.arange(NODES))
    assert (found[0] == np.load(features)).all()
    assert (found[1:] == in_memory(A, features)).all()
    assert not found[1:, -5:].any()  # no edges
    assert (graph.weights is not None) == weighted


def test_one_wide_block(tmp_path: Path, features: Path, graph: DiskGraph) -> None:
    hops = propagate_on_disk(graph, features, tmp_path / "hops", HOPS, memory=PLENTY)
    assert hops.files[0].shape == (1, NODES, WIDTH)
    expected = in_memory(adjacency(True, True), features)
    assert (hops.rows(range(NODES))[1:] == expected).all()
    assert (np.load(tmp_path / "hops" / "hop-2.npy")[0] == expected[1]).all()  # as documented


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_edges_in_any_order_become_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weighted: bool, directed: bool
) -> None:
    monkeypatch.setattr(disk_graph, "CHUNK", 100)
    monkeypatch.setattr(disk_graph, "_sort_edges", _with_small_buckets(disk_graph._sort_edges))
    source, target, weight = edges()
    found = DiskGraph.from_edges(
        tmp_path / "edges",
        source,
        target,
        weight if weighted else None,
        nodes=NODES,
        memory=1 << 20,
        directed=directed,
    )
    expected = memory.parts_of(adjacency(weighted, directed))
    names = ["indptr", "indices", "left", "right", *(["weights"] if weighted else [])]
    for name in names:
        assert (found.load(name) == getattr(expected, name)).all(), name
    assert found.load("indptr").dtype == np.int64
    assert found.load("indices").dtype == np.int32
    assert found.edges == len(expected.indices)
    assert sorted(path.stem for path in found.folder.iterdir()) == sorted([*names, "manifest"])


def _with_small_buckets(sort: Any) -> Any:
    return lambda folder, edges, most: sort(folder, edges, 60)


def test_a_graph_without_edges(tmp_path: Path, features: Path) -> None:
    none = np.zeros(0, dtype=np.int64)
    graph = DiskGraph.from_edges(tmp_path / "g", none, none, nodes=NODES, memory=PLENTY)
    hops = propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=PLENTY)
    assert not hops.rows(range(NODES))[1].any()


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("after", [1, 3, 5, 11])
def test_a_killed_run_goes_on_where_it_was(
    tmp_path: Path, features: Path, graph: DiskGraph, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(done: int, pieces: int) -> None:
        assert pieces == 3 + 3 * HOPS  # rows of X; blocks and hops
        if done == after:
            raise KilledError

    folder = tmp_path / "hops"
    with pytest.raises(KilledError):
        propagate_on_disk(graph, features, folder, HOPS, memory=PLENTY, progress=kill)
    with pytest.raises(
        InputError, match="its hops are not finished; call `propagate_on_disk` again"
    ):
        DiskHops.open(folder)
    finished = read_json(folder / NOTES)["done"]
    assert len(finished) == after

    written: list[int] = []
    write = NpyFile.write

    def counting(file: NpyFile, at: int, array: Any) -> None:
        written.append(at)
        write(file, at, array)

    monkeypatch.setattr(NpyFile, "write", counting)
    seen: list[int] = []
    hops = propagate_on_disk(
        graph, features, folder, HOPS, memory=PLENTY, progress=lambda done, _: seen.append(done)
    )
    assert seen == list(range(after + 1, 13))
    left = [piece for piece in read_json(folder / NOTES)["done"] if piece not in finished]
    rows = [piece for piece in left if piece.startswith("rows")]
    portions = 2 * len(rows) - ("rows 256" in rows)  # of 5 portions, two a piece
    assert len(written) == 3 * portions + 8 * (len(left) - len(rows))  # 300 rows by 40
    assert (hops.rows(range(NODES))[1:] == in_memory(adjacency(True, True), features)).all()


def test_killed_within_a_piece(
    tmp_path: Path, features: Path, graph: DiskGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "ROOM", 40 * 24 * 4)
    store, calls = memory.store, [0]

    def killing(total: Any, place: Any) -> None:
        calls[0] += 1
        if calls[0] == 6:
            raise KilledError
        store(total, place)

    with monkeypatch.context() as patch:
        patch.setattr(memory, "store", killing)
        with pytest.raises(KilledError):
            propagate_on_disk(graph, features, tmp_path / "hops", HOPS, memory=PLENTY)
    hops = propagate_on_disk(graph, features, tmp_path / "hops", HOPS, memory=PLENTY)
    assert (hops.rows(range(NODES))[1:] == in_memory(adjacency(True, True), features)).all()


def test_more_hops_are_added_to_those_that_are_there(
    tmp_path: Path, features: Path, graph: DiskGraph
) -> None:
    propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=PLENTY)
    seen: list[int] = []
    hops = propagate_on_disk(
        graph,
        features,
        tmp_path / "hops",
        HOPS,
        memory=PLENTY,
        progress=lambda done, _: seen.append(done),
    )
    assert seen == [3, 4]  # X and the first hop were there
    assert (hops.rows(range(NODES))[1:] == in_memory(adjacency(True, True), features)).all()
    assert propagate_on_disk(graph, features, tmp_path / "hops", 0, memory=PLENTY).shape[0] == 1


def test_a_hop_that_was_lost_is_propagated_again(
    tmp_path: Path, features: Path, graph: DiskGraph
) -> None:
    folder = tmp_path / "hops"
    expected = propagate_on_disk(graph, features, folder, HOPS, memory=PLENTY).rows(range(NODES))
    for name in ("hop-0.npy", "hop-2.npy"):
        (folder / name).unlink()
    seen: list[int] = []
    hops = propagate_on_disk(
        graph, features, folder, HOPS, memory=PLENTY, progress=lambda done, _: seen.append(done)
    )
    assert seen == [1, 3]
    assert (hops.rows(range(NODES)) == expected).all()


def test_a_changed_graph_is_refused_and_nothing_is_lost(
    tmp_path: Path, features: Path, graph: DiskGraph
) -> None:
    folder = tmp_path / "hops"
    propagate_on_disk(graph, features, folder, 1, memory=PLENTY)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = on_disk(tmp_path / "other", adjacency(True, False))
    with pytest.raises(InputError, match=r"another graph .* \(its graph changed since\)"):
        propagate_on_disk(other, features, folder, 1, memory=PLENTY)
    np.save(features, np.load(features) + 1)
    with pytest.raises(InputError, match=r"other features \(its features changed since\)"):
        propagate_on_disk(graph, features, folder, 1, memory=PLENTY)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_file_of_the_graph_that_was_changed_is_noticed(graph: DiskGraph) -> None:
    NpyFile.open(graph.folder / "indices.npy").write(0, np.array([7], dtype=np.int32))
    with pytest.raises(SavedFileError, match=r"indices\.npy: was changed"):
        DiskGraph.open(graph.folder)


def test_too_little_memory_is_refused_with_the_number_that_would_do(
    tmp_path: Path, features: Path, graph: DiskGraph
) -> None:
    with pytest.raises(InputError, match="1,000,000 bytes are too few for one block") as error:
        propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=1_000_000)
    enough = int(str(error.value).split()[-1].replace(",", ""))
    with pytest.raises(InputError, match="give at least"):
        propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=enough - 1)
    propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=enough)


def test_less_memory_means_narrower_blocks(
    tmp_path: Path, features: Path, graph: DiskGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "LAYING", 1)
    monkeypatch.setattr(disk, "ROOM", 1)
    monkeypatch.setattr(memory, "EDGES", 1)
    with pytest.raises(InputError, match="one block of 8 columns") as error:
        propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=1, threads=1)
    enough = int(str(error.value).split()[-1].replace(",", ""))
    hops = propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=enough, threads=1)
    assert hops.files[0].shape[0] == 3
    expected = in_memory(adjacency(True, True), features)
    assert (hops.rows(range(NODES))[1] == expected[0]).all()
    folder = tmp_path / "wide"
    assert propagate_on_disk(graph, features, folder, 1, memory=enough * 2).files[0].shape[0] == 1
    with pytest.raises(InputError, match="one block of 24 columns"):  # as it was laid out
        propagate_on_disk(graph, features, folder, 1, memory=enough, threads=1)


def test_sorting_edges_needs_some_memory(tmp_path: Path) -> None:
    source, target, _ = edges()
    with pytest.raises(InputError, match="1,000 bytes are too few to sort the edges") as error:
        DiskGraph.from_edges(tmp_path / "g", source, target, nodes=NODES, memory=1000)
    enough = int(str(error.value).split()[-1].replace(",", ""))
    DiskGraph.from_edges(tmp_path / "g", source, target, nodes=NODES, memory=enough)


def test_a_full_disk_is_told_and_finished_pieces_are_kept(
    tmp_path: Path, features: Path, graph: DiskGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, folder = NpyFile.write, tmp_path / "hops"

    def full(file: NpyFile, at: int, array: Any) -> None:
        if file.path.name == "hop-2.npy":
            raise OSError(errno.ENOSPC, "No space left on device")
        write(file, at, array)

    with monkeypatch.context() as patch:
        patch.setattr(NpyFile, "write", full)
        with pytest.raises(InputError, match=r"hops: the disk is full \([\d,]+ bytes are free\)"):
            propagate_on_disk(graph, features, folder, HOPS, memory=PLENTY)
    assert read_json(folder / NOTES)["done"] == ["rows 0", "block 0 hop 1"]
    hops = propagate_on_disk(graph, features, folder, HOPS, memory=PLENTY)
    assert (hops.rows(range(NODES))[1:] == in_memory(adjacency(True, True), features)).all()


def test_a_disk_without_room_is_told_before_anything_is_done(
    tmp_path: Path, features: Path, graph: DiskGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 5

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    needed = f"{(HOPS + 1) * NODES * WIDTH * 4:,}"
    with pytest.raises(InputError, match=f"the hops take {needed} bytes, but the disk has 5 free"):
        propagate_on_disk(graph, features, tmp_path / "hops", HOPS, memory=PLENTY)
    assert list((tmp_path / "hops").iterdir()) == []


def test_a_full_disk_while_the_graph_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(NpyFile, "write", full)
    with pytest.raises(InputError, match="graph: the disk is full"):
        on_disk(tmp_path / "graph", adjacency(False, False))
    assert list(tmp_path.iterdir()) == []


def test_rows_come_in_the_order_that_is_asked_for(
    tmp_path: Path, features: Path, graph: DiskGraph
) -> None:
    hops = propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=PLENTY)
    everything = hops.rows(range(NODES))
    assert (hops.rows([9, 3, 3, 250]) == everything[:, [9, 3, 3, 250]]).all()
    assert hops.rows([]).shape == (2, 0, WIDTH)
    assert (hops.stretch(slice(37, 291)) == everything[:, 37:291]).all()
    for wrong in (-1, NODES):
        with pytest.raises(InputError, match=r"positions from 0 to 299, found"):
            hops.rows([0, wrong])


def test_wrong_input_is_told(tmp_path: Path, features: Path, graph: DiskGraph) -> None:
    X, wrong = np.load(features), tmp_path / "wrong.npy"
    for array, words in (
        (X[:9], r"each of the 300 nodes, found shape \(9, 20\)"),
        (X.astype(int), "floating-point numbers"),
        (np.asfortranarray(X), r"in Fortran order; save np\.ascontiguousarray"),
        (np.where(np.arange(NODES)[:, None] == 77, np.nan, X), "row 77 holds NaN or infinity"),
    ):
        np.save(wrong, array)
        with pytest.raises(InputError, match=words):
            propagate_on_disk(graph, wrong, tmp_path / "hops", 1, memory=PLENTY)
    wrong.write_bytes(features.read_bytes()[:-8])
    with pytest.raises(InputError, match="is cut off: expected 24,128 bytes, found 24,120"):
        propagate_on_disk(graph, wrong, tmp_path / "hops", 1, memory=PLENTY)
    with pytest.raises(InputError, match=r"expected a \.npy file"):
        propagate_on_disk(graph, tmp_path / "absent.npy", tmp_path / "hops", 1, memory=PLENTY)
    with pytest.raises(InputError, match="expected 0 or more steps"):
        propagate_on_disk(graph, features, tmp_path / "hops", -1, memory=PLENTY)
    with pytest.raises(InputError, match="holds no graph"):
        DiskGraph.open(tmp_path)
    (tmp_path / "hops" / "walk.json").write_text("[]")
    with pytest.raises(InputError, match="notes no propagation"):
        propagate_on_disk(graph, features, tmp_path / "hops", 1, memory=PLENTY)
    with pytest.raises(InputError, match=r"has no walk\.json"):
        DiskHops.open(tmp_path)


def test_wrong_edges_are_told(tmp_path: Path) -> None:
    source, target, weight = edges()

    def build(*columns: Any) -> None:
        DiskGraph.from_edges(tmp_path / "g", *columns, nodes=NODES, memory=PLENTY)

    with pytest.raises(InputError, match=r"equally many, found \[899, 900\]"):
        build(source[1:], target)
    with pytest.raises(InputError, match="expected node positions, found float64"):
        build(source * 1.0, target)
    with pytest.raises(InputError, match="from 0 to 299, found 0 to 300 among edges 0 to 899"):
        build(np.where(source == source.max(), 300, source) * (source > 9), target)
    with pytest.raises(InputError, match="finite weights of at least 0"):
        build(source, target, -weight)
    assert not (tmp_path / "g").exists()


def test_pieces_of_a_file_at_any_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "LONG", 1)
    file = NpyFile.create(tmp_path / "a.npy", (40_000,), np.float32)
    expected, rng = np.zeros(40_000, dtype=np.float32), np.random.default_rng(2)
    for _ in range(30):
        at = int(rng.integers(0, 30_000))
        piece = rng.random(int(rng.integers(0, 10_000)), dtype=np.float32)
        file.write(at, piece)
        expected[at : at + len(piece)] = piece
        found = np.empty(5000, dtype=np.float32)
        file.read(at, found)
        assert (found == expected[at : at + 5000]).all()
    assert (np.load(file.path) == expected).all()
