"""`Space`: what nodes are read from, and whether classes can be compared with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from encode_helpers import CountingEncoder

from unseen.classes import Classes
from unseen.encode import space
from unseen.encode.space import embed
from unseen.encode.words import encode_words, word_weights
from unseen.errors import InputError
from unseen.graph import Graph
from unseen.vectors import unit

CLASSES = Classes(["cats", "dogs"], ["They purr.", "They bark."])
TIES = np.eye(3, k=1)
COUNTS = np.array([[2, 0], [1, 3], [0, 0]], dtype=np.float32)
TEXTS = ["a cat", "a dog", "a cat"]
CONTENT: dict[str, dict[str, Any]] = {
    "texts": {"texts": TEXTS},
    "words": {"features": COUNTS, "vocabulary": ["purr", "bark"]},
    "features": {"features": COUNTS},
    "texts and words": {"texts": TEXTS, "features": COUNTS, "vocabulary": ["purr", "bark"]},
    "texts and features": {"texts": TEXTS, "features": COUNTS},
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Put a counting encoder in the place of every other; return what was asked for."""
    calls: list[tuple[str, str]] = []

    def get_encoder(name: str, device: str) -> CountingEncoder:
        calls.append((name, device))
        return CountingEncoder(f"counting as {name}")

    monkeypatch.setattr(space, "get_encoder", get_encoder)
    return calls


def graph(content: str) -> Graph:
    return Graph(TIES, **CONTENT[content])


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("texts", "static"),
        ("texts and words", "static"),
        ("texts and features", "static"),
        ("words", "words"),
        ("features", "counts"),
    ],
)
def test_auto_reads_texts_before_words_before_features(
    asked: list[tuple[str, str]], content: str, kind: str
) -> None:
    made = embed(graph(content), CLASSES)
    assert made.encoder == kind
    assert made.shared == (kind != "counts")
    assert asked == [("static", "cpu")]
    assert made.identity == "counting as static"


@pytest.mark.usefixtures("asked")
def test_texts_become_unit_rows_and_equal_texts_equal_rows() -> None:
    made = embed(graph("texts"), CLASSES)
    expected = unit(CountingEncoder("counting as static").encode(TEXTS))
    np.testing.assert_allclose(made.nodes, expected, atol=1e-6)
    assert (made.nodes[0] == made.nodes[2]).all()
    assert made.nodes.dtype == np.float32


@pytest.mark.usefixtures("asked")
def test_classes_are_read_by_the_same_encoder() -> None:
    made = embed(graph("texts"), CLASSES)
    assert list(made.csds) == ["description", "both", "name"]
    expected = unit(CountingEncoder("counting as static").encode(["cats", "dogs"]))
    np.testing.assert_allclose(made.csds["name"], expected, atol=1e-6)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_plain_counts_are_weighed_as_words_are(form: Any) -> None:
    made = embed(Graph(TIES, features=form(COUNTS)), CLASSES)
    np.testing.assert_allclose(made.nodes, unit(word_weights(COUNTS).toarray()), atol=1e-6)
    assert not made.shared
    assert made.csds["name"].shape == (2, 3)  # of the encoder, another width


@pytest.mark.usefixtures("asked")
def test_features_that_count_nothing_are_taken_as_they_are() -> None:
    made = embed(Graph(TIES, features=np.array([[3.0, -4.0], [0.0, 2.0], [0.0, 0.0]])), CLASSES)
    expected = np.array([[0.6, -0.8], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(made.nodes, expected, atol=1e-6)


def test_classes_beside_features_are_read_twice(asked: list[tuple[str, str]]) -> None:
    made = embed(graph("features"), CLASSES, "minilm")
    assert (made.encoder, made.shared) == ("counts:minilm+static", False)
    assert asked == [("minilm+static", "cpu")]
    again = embed(graph("features"), CLASSES, made.encoder)
    np.testing.assert_array_equal(again.csds["name"], made.csds["name"])


def test_words_may_be_read_by_another_encoder(asked: list[tuple[str, str]]) -> None:
    made = embed(graph("words"), CLASSES, "minilm")
    assert (made.encoder, made.shared, made.identity) == (
        "words:minilm",
        True,
        "counting as minilm",
    )
    assert asked == [("minilm", "cpu")]


@pytest.mark.usefixtures("asked")
def test_words_land_where_their_texts_would() -> None:
    made = embed(graph("words"), CLASSES)
    reader = CountingEncoder("counting as static")
    expected = unit(encode_words(COUNTS, ["purr", "bark"], reader))
    np.testing.assert_allclose(made.nodes, expected, atol=1e-6)
    np.testing.assert_allclose(made.nodes[0], unit(reader.encode(["purr"]))[0], atol=1e-6)
    assert not made.nodes[2].any()  # a node without words


def test_what_is_asked_for_is_used(asked: list[tuple[str, str]]) -> None:
    both = graph("texts and words")
    assert embed(both, CLASSES, "words").encoder == "words"
    features = embed(both, CLASSES, "features")
    assert (features.encoder, features.shared) == ("features", False)
    minilm = embed(both, CLASSES, "minilm", device="auto")
    assert (minilm.encoder, minilm.shared) == ("minilm", True)
    assert minilm.identity == "counting as minilm"
    assert asked == [("static", "cpu"), ("static", "cpu"), ("minilm", "auto")]


@pytest.mark.parametrize(
    ("content", "encoder", "lacking"),
    [
        ("texts", "words", "words for its feature columns"),
        ("features", "words", "words for its feature columns"),
        ("texts", "features", "features"),
        ("texts", "features:minilm", "features"),
        ("features", "words:minilm", "words for its feature columns"),
    ],
)
def test_what_the_graph_does_not_have_is_refused_before_anything_is_read(
    asked: list[tuple[str, str]], content: str, encoder: str, lacking: str
) -> None:
    words = f"encoder: '{encoder}' reads what the graph does not have: {lacking}; add"
    with pytest.raises(InputError, match=words):
        embed(graph(content), CLASSES, encoder)
    assert asked == []


def test_progress_reaches_the_encoder() -> None:
    told: list[tuple[str, int, int]] = []
    texts = [f"progress of node {i}" for i in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space, "get_encoder", lambda *_: CountingEncoder("counting progress"))
        embed(Graph(TIES, texts=texts), CLASSES, progress=lambda *step: told.append(step))
    assert ("encode texts", 3, 3) in told


def test_a_kitten_is_nearer_to_cats_than_to_planets_by_the_static_encoder() -> None:
    made = embed(
        Graph(np.eye(2, k=1), texts=["the kitten drinks milk", "Jupiter and its moons in orbit"]),
        Classes(["cats", "planets"]),
    )
    assert (made.nodes @ made.csds["name"].T).argmax(axis=1).tolist() == [0, 1]


def test_words_are_counted_alike_in_texts_and_in_columns(asked: list[tuple[str, str]]) -> None:
    texts = Graph(TIES, texts=["purr purr", "purr bark bark bark", "?"])
    read = embed(texts, CLASSES, count_words=True).bags
    columns = embed(graph("words"), CLASSES, count_words=True).bags
    assert read is not None
    assert columns is not None
    for one, other in zip(read, columns, strict=True):
        assert (one != other).nnz == 0
    assert read[1].sum() == 6  # cats: they purr, dogs: they bark
    assert embed(graph("features"), CLASSES, count_words=True).bags is None
    assert embed(texts, CLASSES).bags is None
