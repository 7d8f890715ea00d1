"""Feature matrices and vocabularies in files of their own."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.io.features import read_features, read_vocabulary
from unseen.io.read import read_graph

X = np.array([[1, 0, 2], [0, 0, 3]], dtype=np.float64)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nodes.csv").write_text("id\na\nb\n")
    Path("edges.csv").write_text("source,target\na,b\n")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_features_with_a_vocabulary(form: str) -> None:
    sp.save_npz("x.npz", sp.coo_array(X).asformat(form))
    Path("words.txt").write_text("\ufeffun\r\nété\ntrois\n\n", encoding="utf-8")
    g = read_graph("nodes.csv", "edges.csv", features="x.npz", vocabulary="words.txt")
    assert sp.issparse(g.features)
    assert g.features.toarray().tolist() == X.tolist()
    assert g.vocabulary == ("un", "été", "trois")


def test_dense_features() -> None:
    np.savez("x.npz", X)
    Path("words.json").write_text('["a", "b", "c"]')
    g = read_graph(Path("nodes.csv"), "edges.csv", features="x.npz", vocabulary="words.json")
    assert g.features.tolist() == X.tolist()
    assert g.vocabulary == ("a", "b", "c")


def test_a_vocabulary_may_name_columns() -> None:
    Path("n.csv").write_text("id,x,y\na,1,2\nb,3,4\n")
    Path("words.txt").write_text("one\ntwo")
    assert read_graph("n.csv", "edges.csv", vocabulary="words.txt").vocabulary == ("one", "two")


@pytest.mark.parametrize(
    ("arrays", "parts"),
    [
        ({"a": X[:1]}, ["has 1 rows but nodes.csv has 2 nodes", "in the order of the nodes"]),
        ({"a": X, "b": X}, ["holds 2 arrays ('a', 'b'); expected a single matrix"]),
        ({"a": X[0]}, ["array 'a' has shape (3,); expected two dimensions"]),
        ({"a": X[:, :0]}, ["has no columns"]),
        ({"a": X.astype(str)}, ["holds values of type <U32; expected numbers"]),
        ({"a": X.astype(object)}, ["not a whole .npz file of numbers", "Python objects"]),
        ({"a": np.where(X == 3, np.nan, X)}, [" row 2, column 3: found nan; features must be"]),
        ({"a": X * 1e300}, [" row 1, column 1: found inf; features must be finite"]),
    ],
)
def test_dense_features_that_cannot_be_used(arrays: dict[str, object], parts: list[str]) -> None:
    np.savez("x.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^x\.npz.*" + ".*".join(map(re.escape, parts))):
        read_graph("nodes.csv", "edges.csv", features="x.npz")


def test_sparse_features_that_cannot_be_used() -> None:
    sp.save_npz("x.npz", sp.csr_array(X * np.array([1, 1, np.nan])))
    with pytest.raises(InputError, match=r"^x\.npz row 1, column 3: found nan"):
        read_features("x.npz", 2, "nodes.csv")
    outside = sp.csr_array(X)
    outside.indices[0] = 99
    sp.save_npz("x.npz", outside)
    with pytest.raises(InputError, match=r"^x\.npz: is damaged: it has values outside"):
        read_features("x.npz", 2, "nodes.csv")


def test_damaged_archives() -> None:
    np.savez("x.npz", X)
    whole = Path("x.npz").read_bytes()
    np.save("y.npy", X)
    for damaged in (whole[:-30], b"not a zip", Path("y.npy").read_bytes()):
        Path("x.npz").write_bytes(damaged)
        with pytest.raises(InputError, match=r"^x\.npz: not a whole \.npz file.*save it again"):
            read_features("x.npz", 2, "nodes.csv")
    with pytest.raises(InputError, match=r"^y\.npy: expected an \.npz file"):
        read_features("y.npy", 2, "nodes.csv")
    with pytest.raises(InputError, match=r"^z\.npz: no such file"):
        read_features("z.npz", 2, "nodes.csv")


def test_features_in_two_places() -> None:
    np.savez("x.npz", X)
    Path("n.csv").write_text("id,y\na,1\nb,2\n")
    with pytest.raises(InputError, match=r"^n\.csv: has numeric columns \('y'\) beside a feat"):
        read_graph("n.csv", "edges.csv", features="x.npz")
    Path("n.csv").write_text("id,journal\na,Nature\nb,Cell\n")
    graph = read_graph("n.csv", "edges.csv", features="x.npz")
    assert graph.features.tolist() == X.tolist()
    assert graph.repairs.unused_columns == ("journal",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("w.txt", "a\nb", r"^w\.txt: has 2 words but the nodes have 3 feature columns"),
        ("w.txt", "a\n\nb", r"^w\.txt line 2: is empty"),
        ("w.json", '["a", " "]', r"^w\.json word 2: is empty"),
        ("w.json", '["a"', r"^w\.json: broken JSON"),
        ("w.json", '{"a": 1}', r"^w\.json: expected a JSON list of words"),
        ("w.csv", "a", r"^w\.csv: expected \.txt \(one word a line\) or \.json"),
    ],
)
def test_vocabularies_that_cannot_be_used(name: str, content: str, message: str) -> None:
    np.savez("x.npz", X)
    Path(name).write_text(content)
    with pytest.raises(InputError, match=message):
        read_graph("nodes.csv", "edges.csv", features="x.npz", vocabulary=name)


def test_vocabulary_without_features() -> None:
    Path("n.csv").write_text("id,text\na,t\nb,u\n")
    Path("w.txt").write_text("a\n")
    with pytest.raises(InputError, match=r"^w\.txt: has 1 words but the nodes have 0 feature"):
        read_graph("n.csv", "edges.csv", vocabulary="w.txt")
    with pytest.raises(InputError, match=r"^none\.txt: no such file"):
        read_vocabulary("none.txt")
