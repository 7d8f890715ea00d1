"""`Encoded`: what nodes are read from, and whether classes can be compared with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from encode_helpers import CountingEncoder
from unseen.core.arrays import unit
from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.encode import base
from unseen.encode.words import encode_words, word_weights
from unseen.prepare.encoded import Encoded, encode_inputs

CLASSES = Classes(["cats", "dogs"], ["They purr.", "They bark."])
EDGES = np.eye(3, k=1)
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
        made = CountingEncoder(f"counting as {name}")
        made.name = name
        return made

    monkeypatch.setattr(base, "get_encoder", get_encoder)
    return calls


def graph(content: str) -> Graph:
    return Graph(EDGES, **CONTENT[content])


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
    made = encode_inputs(graph(content), CLASSES)
    assert made.encoder == kind
    assert made.shared == (kind != "counts")
    assert asked == [("static", "cpu")]
    assert made.identity == "counting as static"


@pytest.mark.usefixtures("asked")
def test_texts_become_unit_rows_and_equal_texts_equal_rows() -> None:
    made = encode_inputs(graph("texts"), CLASSES)
    expected = unit(CountingEncoder("counting as static").encode(TEXTS))
    np.testing.assert_allclose(made.nodes, expected, atol=1e-6)
    assert (made.nodes[0] == made.nodes[2]).all()
    assert made.nodes.dtype == np.float32


@pytest.mark.usefixtures("asked")
def test_classes_are_read_by_the_same_encoder() -> None:
    made = encode_inputs(graph("texts"), CLASSES)
    assert list(made.csds) == ["description", "both", "name"]
    expected = unit(CountingEncoder("counting as static").encode(["cats", "dogs"]))
    np.testing.assert_allclose(made.csds["name"], expected, atol=1e-6)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_plain_counts_are_weighed_as_words_are(form: Any) -> None:
    made = encode_inputs(Graph(EDGES, features=form(COUNTS)), CLASSES)
    np.testing.assert_allclose(made.nodes, unit(word_weights(COUNTS).toarray()), atol=1e-6)
    assert not made.shared
    assert made.csds["name"].shape == (2, 3)  # of the encoder, another width


@pytest.mark.usefixtures("asked")
def test_features_that_count_nothing_are_taken_as_they_are() -> None:
    made = encode_inputs(
        Graph(EDGES, features=np.array([[3.0, -4.0], [0.0, 2.0], [0.0, 0.0]])), CLASSES
    )
    expected = np.array([[0.6, -0.8], [0.0, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(made.nodes, expected, atol=1e-6)


def test_classes_beside_features_come_with_their_relations(asked: list[tuple[str, str]]) -> None:
    made = encode_inputs(graph("features"), CLASSES, "minilm")
    assert (made.encoder, made.shared) == ("counts:minilm", False)
    assert asked == [("minilm", "cpu")]
    assert made.relations is not None
    assert made.relations.shape == (4, 2, 2)
    assert encode_inputs(graph("words"), CLASSES).relations is None
    again = encode_inputs(graph("features"), CLASSES, made.encoder)
    np.testing.assert_array_equal(again.csds["name"], made.csds["name"])


def test_words_may_be_read_by_another_encoder(asked: list[tuple[str, str]]) -> None:
    made = encode_inputs(graph("words"), CLASSES, "minilm")
    assert (made.encoder, made.shared, made.identity) == (
        "words:minilm",
        True,
        "counting as minilm",
    )
    assert asked == [("minilm", "cpu")]


@pytest.mark.usefixtures("asked")
def test_words_land_where_their_texts_would() -> None:
    made = encode_inputs(graph("words"), CLASSES)
    reader = CountingEncoder("counting as static")
    expected = unit(encode_words(COUNTS, ["purr", "bark"], reader))
    np.testing.assert_allclose(made.nodes, expected, atol=1e-6)
    np.testing.assert_allclose(made.nodes[0], unit(reader.encode(["purr"]))[0], atol=1e-6)
    assert not made.nodes[2].any()  # a node without words


def test_what_is_asked_for_is_used(asked: list[tuple[str, str]]) -> None:
    both = graph("texts and words")
    assert encode_inputs(both, CLASSES, "words").encoder == "words"
    features = encode_inputs(both, CLASSES, "features")
    assert (features.encoder, features.shared) == ("features", False)
    minilm = encode_inputs(both, CLASSES, "minilm", device="auto")
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
        encode_inputs(graph(content), CLASSES, encoder)
    assert asked == []


def test_progress_reaches_the_encoder() -> None:
    told: list[tuple[str, int, int]] = []
    texts = [f"progress of node {i}" for i in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "get_encoder", lambda *_: CountingEncoder("counting progress"))
        encode_inputs(Graph(EDGES, texts=texts), CLASSES, progress=lambda *step: told.append(step))
    assert ("encode texts", 3, 3) in told


def test_a_kitten_is_nearer_to_cats_than_to_planets_by_the_static_encoder() -> None:
    made = encode_inputs(
        Graph(np.eye(2, k=1), texts=["the kitten drinks milk", "Jupiter and its moons in orbit"]),
        Classes(["cats", "planets"]),
    )
    assert (made.nodes @ made.csds["name"].T).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.usefixtures("asked")
def test_words_are_counted_alike_in_texts_and_in_columns() -> None:
    texts = Graph(EDGES, texts=["purr purr", "purr bark bark bark", "?"])
    read = encode_inputs(texts, CLASSES).words
    columns = encode_inputs(graph("words"), CLASSES).words
    assert read is not None
    assert columns is not None
    assert (read.nodes != columns.nodes).nnz == (read.classes != columns.classes).nnz == 0
    assert read.classes.sum() == 6  # cats: they purr, dogs: they bark
    assert read.class_texts == columns.class_texts
    assert (read.texts, read.columns) == (texts.texts, ())
    assert columns.texts is None
    assert set(columns.columns) >= {"purr", "bark"}
    assert encode_inputs(graph("features"), CLASSES).words is None


@pytest.mark.usefixtures("asked")
def test_a_node_without_a_text_lies_nowhere() -> None:
    made = encode_inputs(Graph(EDGES, texts=["a cat", "", "a dog"]), CLASSES)
    assert made.nodes.any(axis=1).tolist() == [True, False, True]


def test_an_object_reads_whatever_there_is() -> None:
    reader = CountingEncoder("counting objects")
    assert encode_inputs(graph("texts"), CLASSES, reader).encoder == "counting"
    words = encode_inputs(graph("words"), CLASSES, reader)
    assert (words.encoder, words.shared) == ("words:counting", True)
    assert words.identity == "counting objects"
    counts = encode_inputs(graph("features"), CLASSES, reader)
    assert (counts.encoder, counts.shared) == ("counts:counting", False)


@pytest.mark.parametrize(
    ("encoder", "own"),
    [
        ("static", "text"),
        ("minilm+static", "text"),
        ("words", "words"),
        ("words:minilm", "words"),
        ("counts:minilm", "features"),
        ("features", "features"),
        ("vectors", "features"),
    ],
)
def test_what_a_nodes_own_evidence_is_called(encoder: str, own: str) -> None:
    nothing = np.zeros((0, 2), np.float32)
    assert Encoded(nothing, {}, True, encoder, "").own == own
