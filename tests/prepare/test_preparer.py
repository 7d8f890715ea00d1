"""`Preparer`: centred as the formula has it, fitted once, the same wherever it is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from topic_graph import Sample, sample
from unseen.core.arrays import unit
from unseen.core.errors import InputError, SavedFileError
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.prepare import lsa
from unseen.prepare import preparer as module
from unseen.prepare.encoded import Encoded
from unseen.prepare.preparer import FEW_NODES, Preparer
from unseen.prepare.words import column_of, words_of

RNG = np.random.default_rng(0)
X = unit(RNG.normal(size=(40, 6)).astype(np.float32))
S = unit(RNG.normal(size=(3, 6)).astype(np.float32))
PLAIN = Encoded(X, {"description": S, "name": S[::-1].copy()}, True, "static", "v1")


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=12)


@pytest.fixture
def few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few texts be enough for word statistics."""
    monkeypatch.setattr(lsa, "LEAST", 10)


def test_nodes_and_classes_are_centred_as_the_formula_has_it() -> None:
    made = Preparer().fit(PLAIN)
    mean = (X.sum(axis=0) + FEW_NODES * S.mean(axis=0)) / (40 + FEW_NODES)
    np.testing.assert_allclose(made.centred(PLAIN), unit(X - mean), atol=1e-6)
    np.testing.assert_allclose(made.class_vectors(PLAIN), unit(S - S.mean(axis=0)), atol=1e-6)
    assert made.class_text_ == "description"  # the first, until another is chosen
    made.class_text_ = "name"
    np.testing.assert_allclose(made.class_vectors(PLAIN)[::-1], unit(S - S.mean(axis=0)), atol=1e-6)


def test_two_spaces_are_centred_apart() -> None:
    wide = unit(RNG.normal(size=(3, 9)).astype(np.float32))
    apart = Encoded(X, {"name": wide}, False, "counts", "v1")
    made = Preparer().fit(apart)
    np.testing.assert_allclose(made.centred(apart), unit(X - X.mean(axis=0)), atol=1e-6)
    X_, S_ = made.transform(apart)
    assert (X_.shape, S_.shape) == ((40, 6), (3, 9))


def test_a_node_of_which_nothing_is_known_stays_at_zero_and_moves_no_centre() -> None:
    silent = replace(PLAIN, nodes=np.concatenate([X, np.zeros((5, 6), np.float32)]))
    made = Preparer().fit(silent)
    assert not made.centred(silent)[40:].any()
    np.testing.assert_allclose(made.node_centre_, Preparer().fit(PLAIN).node_centre_, atol=1e-6)


def test_what_is_fitted_once_is_used_for_other_nodes() -> None:
    made = Preparer().fit(PLAIN)
    one = replace(PLAIN, nodes=X[:1])
    np.testing.assert_array_equal(made.centred(one), made.centred(PLAIN)[:1])
    np.testing.assert_array_equal(made.transform(one)[0], made.transform(PLAIN)[0][:1])


@pytest.mark.usefixtures("few_texts")
def test_word_statistics_stand_beside_the_encoders_vectors(given: Sample) -> None:
    preparer = Preparer()
    encoded = preparer.encode(given.graph, given.classes)
    preparer.fit(encoded)
    assert preparer.lsa_ is not None
    assert preparer.match_ is not None
    nothing, everyone = Labels.none(given.graph.nodes), np.ones(5, bool)
    whole = preparer.task(encoded, given.graph, nothing, everyone)
    plain = preparer.plain_task(encoded, given.graph, nothing, everyone)
    width = preparer.lsa_.directions.shape[1] + preparer.match_.directions.shape[1]
    assert whole.X.shape[1] == plain.X.shape[1] + width
    np.testing.assert_allclose(unit(whole.X[:, :-width]), plain.X, atol=1e-5)
    assert whole.operator is plain.operator is given.graph.operator
    counted = replace(encoded, words=None)
    with pytest.raises(InputError, match=r"^nodes: have features only, .* made from words; give"):
        preparer.transform(counted)


@pytest.mark.usefixtures("few_texts")
def test_state_and_restore_give_the_same_bits(given: Sample) -> None:
    preparer = Preparer()
    encoded = preparer.encode(given.graph, given.classes)
    preparer.fit(encoded).class_text_ = "both"
    state = preparer.state()
    assert not any(value is None for value in state.values())
    back = Preparer().restore(state)
    for one, other in zip(preparer.transform(encoded), back.transform(encoded), strict=True):
        assert one.tobytes() == other.tobytes()
    again = back.encode(given.graph, given.classes)
    assert again.nodes.tobytes() == encoded.nodes.tobytes()
    with pytest.raises(SavedFileError, match="the centre of class texts 'both' is missing"):
        Preparer().restore({k: v for k, v in state.items() if k != "class_centre.both"})


def test_a_fitted_preparer_reads_as_it_did(given: Sample, tmp_path: Path) -> None:
    preparer = Preparer()  # "auto": texts here
    preparer.fit(preparer.encode(given.graph, given.classes))
    both = Graph(given.graph.adjacency, texts=given.graph.texts, features=np.ones((60, 2)))
    assert preparer.encode(both, given.classes).encoder == "static"
    with pytest.raises(InputError, match=r"256|texts"):
        preparer.encode(Graph(given.graph.adjacency, features=np.ones((60, 2))), given.classes)
    preparer.identity_ = "another"
    with pytest.raises(InputError, match=r"^encoder: 'static' is not the version that the model"):
        preparer.encode(given.graph, given.classes)


def test_classes_without_descriptions_are_read_by_name_in_a_space_of_descriptions() -> None:
    made = Preparer().fit(PLAIN)
    names = Encoded(X, {"name": S}, True, "static", "v1")
    expected = unit(S - made.class_centres_["description"])
    np.testing.assert_array_equal(made.class_vectors(names), expected)


@pytest.mark.usefixtures("few_texts")
def test_words_of_some_nodes_suffice(given: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ", 40)
    preparer = Preparer()
    encoded = preparer.encode(given.graph, given.classes)
    preparer.fit(encoded)
    assert preparer.lsa_ is not None
    assert preparer.match_ is not None
    assert given.graph.texts is not None
    assert encoded.words is not None
    texts = [given.graph.texts[i] for i in np.random.default_rng(0).permutation(60)[:40]]
    told = set(words_of([*texts, *encoded.words.class_texts]))
    assert set(preparer.match_.words.tolist()) == {column_of(word) for word in told}
    assert len(preparer.transform(encoded)[0]) == 60
