"""LSA of a graph's own texts says which are alike, where an encoder does not know."""

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.prepare import lsa as module
from unseen.prepare.lsa import LSA
from unseen.prepare.words import bag_of_words

MINE = "shaft ore seam pit drift"
SEA = "keel mast hull sail rigging"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few texts be enough."""
    monkeypatch.setattr(module, "LEAST", 50)


def texts(count: int) -> list[str]:
    """Half of them about one thing, half about another; a text has two of its five words."""
    rng = np.random.default_rng(0)
    return [" ".join(rng.permutation((MINE, SEA)[i % 2].split())[:2]) for i in range(count)]


def alike(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.asarray(rows @ others.T)


def test_words_that_never_meet_a_class_text_still_lead_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "WIDTH", 2)
    read = texts(200)
    nodes, classes = bag_of_words(read), bag_of_words(["shaft", "keel"])
    found = LSA.fit(nodes, classes)
    assert found is not None
    X, S = found.nodes(nodes), found.classes(classes)
    without = [i for i, text in enumerate(read) if "shaft" not in text and "keel" not in text]
    assert len(without) > 50
    assert (alike(X, S).argmax(axis=1) == np.arange(200) % 2)[without].all()


def test_vectors_are_as_the_formula_has_them() -> None:
    nodes, classes = bag_of_words(texts(60)), bag_of_words(["ore pit", "sail"])
    found = LSA.fit(nodes, classes)
    assert found is not None
    counts = nodes[:, found.words].toarray()
    T = np.log1p(counts) * (1 + np.log(61 / (1 + (counts > 0).sum(axis=0))))
    T /= np.linalg.norm(T, axis=1, keepdims=True)
    _, _, right = np.linalg.svd(T)
    V = found.directions
    assert V.shape == (10, 5)  # half as many directions as words
    assert np.allclose(V.T @ V, np.eye(5), atol=1e-5)
    assert np.allclose(np.abs(right[:5] @ V), np.eye(5), atol=1e-3)
    y = T @ V - (T @ V).mean(axis=0)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    assert np.allclose(found.nodes(nodes), LSA.beside[0] * y, atol=1e-5)


def test_a_text_without_any_of_the_words_is_left_to_the_encoder() -> None:
    nodes = bag_of_words([*texts(60), "", "unheard"])
    found = LSA.fit(nodes, bag_of_words(["shaft", "never said"]))
    assert found is not None
    assert not found.nodes(nodes)[60:].any()
    assert not found.classes(bag_of_words(["shaft", "never said"]))[1].any()


@pytest.mark.parametrize("read", [[], ["a b c"], ["same words here"] * 49, [""] * 90])
def test_too_little_to_learn_from(read: list[str]) -> None:
    assert (
        LSA.fit(bag_of_words(read) if read else sp.csr_array((0, 8)), bag_of_words(["x", "y"]))
        is None
    )


def test_more_words_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 6)
    nodes, classes = bag_of_words(texts(300)), bag_of_words(["shaft", "keel"])
    found = LSA.fit(nodes, classes)
    assert found is not None
    assert len(found.words) == len(found.idf) == len(found.directions) == 6
    assert (np.diff(found.words) > 0).all()
    assert found.nodes(nodes).shape == (300, 3)
