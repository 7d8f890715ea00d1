"""The citation graphs: counts, classes, splits, and a checksum that notices what changes."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.core.labels import NodeSplit, Split
from unseen.datasets import load
from unseen.datasets.catalogue import CATALOGUE, descriptions
from unseen.datasets.citation import difference, folder_of, read_checked
from unseen.datasets.class_vectors import class_vectors
from unseen.datasets.layout import Layout


def small() -> Layout:
    """Four nodes, two of them twins; five lines with a duplicate, a loop and a dangling one."""
    return Layout(
        edges=np.array([[0, 1], [1, 0], [2, 2], [2, 3], [0, 3]]),
        features=sp.csr_array([[1, 0, 0], [0, 1, 0.5], [0, 0, 1], [0, 0, 1]], dtype=np.float32),
        labels=np.array([0, 1, 1, 1]),
        classes=("a", "b"),
        splits={"I": Split((0,), (), (1,))},
        texts=("one", "two", "three", "three"),
        vocabulary=("x", "y", "z"),
        dangling=np.array([4]),
        standard=NodeSplit(np.array([3]), np.array([], dtype=np.int64), np.array([2, 0])),
    )


def test_a_layout_survives_its_folder(tmp_path: Path) -> None:
    small().write(tmp_path)
    back = Layout.read(tmp_path)
    assert back.checksum() == small().checksum()
    assert back.edges.tolist() == small().edges.tolist()
    assert (back.classes, dict(back.splits)) == (("a", "b"), {"I": Split((0,), (), (1,))})
    assert (back.texts, back.vocabulary) == (small().texts, small().vocabulary)
    assert back.dangling.tolist() == [4]
    assert back.standard is not None
    assert back.standard.train.tolist() == [3]
    assert back.standard.validation.tolist() == []
    assert back.standard.test.tolist() == [0, 2]
    none = replace(small(), standard=None)
    none.write(tmp_path)
    assert Layout.read(tmp_path).standard is None


def test_the_checksum_is_blind_to_numbering_alone() -> None:
    order = np.array([2, 0, 3, 1])  # new node i was node order[i]
    new = np.argsort(order)
    given = small()
    renumbered = replace(
        given,
        edges=new[given.edges][:, ::-1][[4, 0, 1, 2, 3]],
        features=given.features[order],
        labels=given.labels[order],
        texts=tuple(np.array(given.texts)[order].tolist()),
        dangling=np.array([0]),
    )
    assert renumbered.checksum() == given.checksum()


@pytest.mark.parametrize(
    "change",
    [
        {"edges": np.array([[0, 1], [1, 0], [2, 2], [1, 3], [0, 3]])},
        {"edges": np.array([[0, 1], [2, 2], [2, 3], [0, 3]]), "dangling": np.array([3])},
        {"features": sp.csr_array([[1, 0, 0], [0, 1, 0.5001], [0, 0, 1], [0, 0, 1]])},
        {"features": sp.csr_array([[0, 1, 0], [0, 1, 0.5], [0, 0, 1], [0, 0, 1]])},
        {"labels": np.array([1, 0, 1, 1])},
        {"texts": ("one", "two", "three", "tree")},
        {"vocabulary": ("x", "y", "w")},
        {"dangling": np.array([3])},
    ],
    ids=lambda change: "+".join(change),
)
def test_the_checksum_notices_any_other_change(change: dict[str, object]) -> None:
    assert replace(small(), **change).checksum() != small().checksum()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": np.array([[0, 4]]), "dangling": np.array([0])}, "edges: expected .* 0 to 3"),
        ({"labels": np.array([0, 1, 2, 1])}, "labels: expected numbers from -1 to 1, found 0 to 2"),
        ({"texts": ("one",)}, "texts: expected 4"),
        ({"vocabulary": ("x",)}, "vocabulary: expected 3 words, found 1"),
        (
            {"standard": NodeSplit(np.array([4]), np.array([1]), np.array([2]))},
            "standard split: expected numbers from 0 to 3, found 1 to 4",
        ),
    ],
)
def test_a_layout_at_odds_with_itself_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(small(), **change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "loops", "isolated", "largest_degree"),
    [
        ("cora", 2708, 5278, 1433, 0, 0, 168),
        ("citeseer", 3312, 4551, 3703, 124, 48, 99),
        ("c-m10m", 4464, 5580, 1927, 165, 62, 86),
        ("pubmed", 19717, 44324, 500, 3, 0, 171),
    ],
)
@pytest.mark.usefixtures("paper_data")
def test_published_counts(
    name: str, nodes: int, edges: int, features: int, loops: int, isolated: int, largest_degree: int
) -> None:
    data = load(name)
    graph = data.graph
    assert (graph.nodes, graph.edges, graph.features.shape[1]) == (nodes, edges, features)
    assert (graph.repairs.self_loops, graph.repairs.isolated_nodes) == (loops, isolated)
    assert graph.adjacency.sum(axis=1).max() == largest_degree  # every edge weighs 1
    assert np.bincount(data.truth.codes).tolist() == list(CATALOGUE[name].class_counts)
    assert len(data.classes) == len(CATALOGUE[name].class_counts)
    assert all(data.classes.descriptions or [None])
    assert data.notes


@pytest.mark.usefixtures("paper_data")
def test_split_sizes_are_those_of_the_paper() -> None:
    """Nodes of seen / validation / unseen classes, summed from the paper's appendix table."""
    found = {}
    for name in ("cora", "citeseer", "c-m10m"):
        data = load(name)
        for which, split in data.splits.items():
            parts = (split.seen, split.validation, split.unseen)
            assert sorted(sum(parts, ())) == list(range(len(data.classes)))
            found[name, which] = tuple(int(np.isin(data.truth.codes, p).sum()) for p in parts)
    assert found == {
        ("cora", "I"): (1215, 0, 1493),
        ("cora", "II"): (998, 643, 1067),
        ("citeseer", "I"): (1264, 0, 2048),
        ("citeseer", "II"): (1264, 950, 1098),
        ("c-m10m", "I"): (2277, 0, 2187),
        ("c-m10m", "II"): (1677, 1330, 1457),
    }
    assert load("pubmed").splits == {}


@pytest.mark.usefixtures("paper_data")
def test_the_standard_split_is_planetoid_s() -> None:
    """Table 9 of the paper: 20 nodes of each class train, 500 validate, 1,000 test."""
    for name, train in (("cora", 140), ("citeseer", 120), ("pubmed", 60)):
        data = load(name)
        split = data.standard
        assert split is not None
        sizes = (len(split.train), len(split.validation), len(split.test))
        assert sizes == (train, 500, 1000)
        assert set(np.bincount(data.truth.codes[split.train]).tolist()) == {20}
        assert len(set(split.nodes.tolist())) == train + 1500
        assert split.train.dtype == split.validation.dtype == split.test.dtype == np.int64
    assert load("c-m10m").standard is None
    assert load("citeseer", variant="clean").standard is not None


@pytest.mark.usefixtures("paper_data")
def test_majority_floors_follow_from_labels_and_splits() -> None:
    """The share of the largest unseen class, as the literature's constant predictors print it."""
    floors = {"cora": (28.53, 39.18), "citeseer": (34.23, 53.73), "c-m10m": (35.80, 53.74)}
    for name, expected in floors.items():
        data = load(name)
        for which, floor in zip(("I", "II"), expected, strict=True):
            counts = np.bincount(data.truth.codes)[list(data.splits[which].unseen)]
            largest = 100 * float(counts.max()) / float(counts.sum())
            assert largest == pytest.approx(floor, abs=0.011)


@pytest.mark.usefixtures("paper_data")
def test_clean_citeseer_lacks_the_spurious_ties_at_node_0() -> None:
    official, clean = load("citeseer").graph, load("citeseer", variant="clean").graph
    extra = sp.coo_array(official.adjacency - clean.adjacency)
    assert official.edges - clean.edges == extra.nnz / 2 == 15
    assert (np.minimum(*extra.coords) == 0).all()
    with pytest.raises(InputError, match="cora: has no variant 'clean'; there is official"):
        load("cora", variant="clean")


@pytest.mark.usefixtures("paper_data")
def test_c_m10m_has_titles_and_named_words() -> None:
    graph = load("c-m10m").graph
    assert graph.texts is not None
    assert graph.vocabulary is not None
    assert graph.texts[2] == "Finding composite regulatory patterns in DNA sequences"
    words = {graph.vocabulary[j] for j in graph.features[[2]].indices}
    assert {"finding", "regulatory", "patterns", "dna", "sequences"} <= words
    assert not {"in", "composites"} & words


@pytest.mark.parametrize("name", ["cora", "c-m10m"])
def test_one_changed_byte_is_noticed(name: str, paper_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(paper_data / name, folder, copy_function=shutil.copyfile)
    read_checked(name, folder)
    edges = dict(np.load(folder / "edges.npz"))
    edges["edges"][7, 0] += 1
    np.savez(folder / "edges.npz", **edges)
    with pytest.raises(InputError, match=rf"checksum: expected .*`unseen datasets get {name}"):
        read_checked(name, folder)


def test_what_differs_is_named(paper_data: Path) -> None:
    cora = Layout.read(paper_data / "cora")
    assert difference("cora", cora) is None
    fewer = replace(cora, edges=cora.edges[1:])
    assert difference("cora", fewer) == "edge lines: expected 5429, found 5428"
    other = replace(cora, splits={})
    assert (difference("cora", other) or "").startswith("splits: expected {'I'")
    renamed = replace(cora, classes=cora.classes[::-1])
    assert (difference("cora", renamed) or "").startswith("classes: expected ('Neural Network'")


def test_another_standard_split_is_refused(paper_data: Path, tmp_path: Path) -> None:
    cora = Layout.read(paper_data / "cora")
    split = cora.standard
    assert split is not None
    rest = np.setdiff1d(np.arange(2708), split.nodes)
    others = rest[cora.labels[rest] != cora.labels[split.train[0]]]
    uneven = NodeSplit(np.append(split.train[1:], others[0]), split.validation, split.test)
    shorter = NodeSplit(split.train, split.validation, split.test[1:])
    for wrong in (uneven, shorter):
        found = difference("cora", replace(cora, standard=wrong)) or ""
        assert found.startswith(
            "standard split: expected ((20, 20, 20, 20, 20, 20, 20), 500, 1000)"
        )
    assert difference("cora", replace(cora, standard=None)) is None  # an older copy
    c_m10m = Layout.read(paper_data / "c-m10m")
    extra = replace(c_m10m, standard=NodeSplit(np.array([0]), np.array([1]), np.array([2])))
    assert (difference("c-m10m", extra) or "").startswith("standard split: expected none, found")
    shutil.copytree(paper_data / "cora", tmp_path / "cora", copy_function=shutil.copyfile)
    path = tmp_path / "cora" / "splits.json"
    parts = json.loads(path.read_text("utf-8"))
    parts["planetoid"]["test"][0] = parts["planetoid"]["train"][3]
    path.write_text(json.dumps(parts), "utf-8")
    with pytest.raises(
        InputError, match=r"cannot be read .*node split: '\d+' named more than once"
    ):
        read_checked("cora", tmp_path / "cora")


def test_a_damaged_or_missing_folder_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small().write(tmp_path)
    (tmp_path / "edges.npz").write_bytes(b"PK not really")
    with pytest.raises(InputError, match="cannot be read as a data set"):
        Layout.read(tmp_path)
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path))
    with pytest.raises(InputError, match="the folder that UNSEEN_DATA names"):
        folder_of("cora")
    monkeypatch.delenv("UNSEEN_DATA")
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path))
    with pytest.raises(InputError, match="not fetched yet; run `unseen datasets get cora`"):
        load("cora")


def test_a_pickle_inside_a_data_file_is_never_opened(tmp_path: Path) -> None:
    small().write(tmp_path)
    np.save(tmp_path / "labels.npy", np.array([{"an": "object"}], dtype=object))
    with pytest.raises(InputError, match="cannot be read as a data set"):
        Layout.read(tmp_path)


def test_the_class_names_are_those_of_the_sources(paper_data: Path) -> None:
    for name in CATALOGUE:
        filed = json.loads((paper_data / name / "classes.json").read_text("utf-8"))
        assert list(descriptions()[name]) == filed


@pytest.mark.parametrize("name", CATALOGUE)
def test_class_descriptions_are_of_like_length(name: str) -> None:
    words = [len(text.split()) for text in descriptions()[name].values()]
    assert max(words) < 1.3 * min(words)  # the care given to a class must not depend on the class


def test_published_class_vectors(
    paper_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert class_vectors("cora", "text").shape == (7, 128)
    lengths = {
        (name, kind): float(np.linalg.norm(class_vectors(name, kind), axis=1).mean())
        for name in ("cora", "citeseer", "c-m10m")
        for kind in ("label", "text")
    }
    # texts give shorter vectors than labels: C-M10M's files are exchanged, its kinds are not
    assert all(
        length < 10 if kind == "text" else length > 10 for (_, kind), length in lengths.items()
    )
    assert (
        class_vectors("c-m10m", "text", as_filed=True) == class_vectors("c-m10m", "label")
    ).all()
    with pytest.raises(InputError, match="pubmed: no class vectors were published"):
        class_vectors("pubmed", "text")
    shutil.copytree(paper_data / "csds", tmp_path / "csds", copy_function=shutil.copyfile)
    path = tmp_path / "csds" / "cora_text_csds.txt"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path))
    with pytest.raises(InputError, match="is not the published file"):
        class_vectors("cora", "text")
