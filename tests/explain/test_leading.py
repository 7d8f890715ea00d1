"""The words of many texts at once are those that the shares of each text alone name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from topic_graph import Sample, sample
from unseen.encode.base import get_encoder
from unseen.estimator import ZeroShotNodeClassifier
from unseen.explain.leading import LeadingWords, _chosen
from unseen.explain.strings import packed, title, unpacked
from unseen.explain.words import word_shares
from unseen.prepare.preparer import Preparer


@pytest.fixture(scope="module", params=[20, 80])
def fitted(request: pytest.FixtureRequest) -> tuple[Sample, ZeroShotNodeClassifier]:
    """A graph without word statistics, and one with."""
    given = sample(per_class=request.param)
    return given, ZeroShotNodeClassifier().fit(given.graph, given.classes)


def finder(preparer: Preparer, weights: object) -> LeadingWords:
    found = LeadingWords.of(get_encoder("static"), preparer, weights)
    assert found is not None
    return found


def test_leads_are_differences_of_exact_shares(
    fitted: tuple[Sample, ZeroShotNodeClassifier],
) -> None:
    """Up to the factor that all words of a text have in common."""
    given, classifier = fitted
    preparer, weights = classifier.preparer_, classifier.model_.own_weights()
    texts = [*list(given.graph.texts or ())[:40], "Onion, onion and ONION: a soup-bowl of butter!"]
    rng = np.random.default_rng(0)
    mine, theirs = rng.integers(0, 5, len(texts)), rng.integers(0, 5, len(texts))
    pieces, leads = finder(preparer, weights).leads(texts, mine, theirs)
    encoder, bias = get_encoder("static"), np.zeros(2)
    for i, text in enumerate(texts):
        pair = np.asarray(weights)[[mine[i], theirs[i]]]
        exact = word_shares(encoder, preparer, text, pair, bias)
        assert exact is not None
        difference = exact.shares[:, 0] - exact.shares[:, 1]
        expected: dict[str, float] = {}
        for (lo, _), lead in zip(exact.spans.tolist(), difference.tolist(), strict=True):
            start = text.rfind(" ", 0, lo) + 1
            piece = text[start:].split(" ")[0]
            expected[piece] = expected.get(piece, 0.0) + lead
        row = leads[[i]].tocoo()
        found = {pieces[p]: v for p, v in zip(row.coords[1].tolist(), row.data, strict=True)}
        assert found.keys() == expected.keys()
        a, b = (np.array([each[p] for p in expected]) for each in (found, expected))
        scale = float(a @ b) / max(float(a @ a), 1e-30) if mine[i] != theirs[i] else 1.0
        assert scale > 0
        np.testing.assert_allclose(scale * a, b, atol=1e-5 * max(np.abs(b).max(), 1e-9))


def test_the_words_are_those_of_the_topic(
    fitted: tuple[Sample, ZeroShotNodeClassifier],
) -> None:
    _, classifier = fitted
    find = finder(classifier.preparer_, classifier.model_.own_weights())
    texts = ["a report about garlic and the orchestra, garlic!", "the of and", ""]
    cooking, music = np.array([1, 1, 1]), np.array([4, 4, 4])
    assert unpacked(find(texts, cooking, music))[0].split(", ")[0] == "garlic"
    assert unpacked(find(texts, music, cooking))[0].split(", ")[0] == "orchestra"
    assert unpacked(find(texts, music, cooking))[1:] == ["", ""]
    assert unpacked(find(texts, music, music)) == ["", "", ""]


def test_portions_change_nothing(
    fitted: tuple[Sample, ZeroShotNodeClassifier], monkeypatch: pytest.MonkeyPatch
) -> None:
    given, classifier = fitted
    find = finder(classifier.preparer_, classifier.model_.own_weights())
    texts = list(given.graph.texts or ())
    mine, theirs = np.zeros(len(texts), np.int64), np.ones(len(texts), np.int64)
    whole = find(texts, mine, theirs)
    monkeypatch.setattr("unseen.explain.leading.PORTION", 7)
    np.testing.assert_array_equal(find(texts, mine, theirs), whole)


def test_without_static_and_without_statistics_there_is_nothing_to_find() -> None:
    preparer = Preparer()
    preparer.lsa_ = preparer.match_ = None
    preparer.node_centre_ = np.zeros(2, np.float32)
    static = get_encoder("static")
    assert LeadingWords.of(object(), preparer, np.eye(2)) is None
    assert LeadingWords.of(static, preparer, None) is None
    assert LeadingWords.of(static, preparer, np.eye(3)) is None  # a space of its own
    assert LeadingWords.of(static, preparer, np.eye(2)) is not None


def test_the_largest_leads_are_chosen_and_spellings_of_a_word_count_together() -> None:
    pieces = ["onion", "Onion,", "stove", "pan", "with", "17", "bowl", "f(x)"]
    leads = sp.csr_array([[0.3, 0.31, 0.5, 0.2, 0.9, 0.8, 0.01, 0.9], [0, 0, -1, 0, 0, 0, 0, 0]])
    assert _chosen(pieces, leads) == [["Onion", "stove", "pan"], []]


def test_strings_come_back_and_cut_letters_do_not() -> None:
    assert unpacked(packed(["a", "", "ü" * 60])) == ["a", "", "ü" * 48]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Enamel kettle. Boils water.", "Enamel kettle"),
        ("  one\nline  ", "one"),
        ("Version 3.12 is out", "Version 3.12 is out"),
        ("", ""),
        ("word " * 40, "word " * 10 + "word..."),
        ("x" * 90, "x" * 57 + "..."),
    ],
)
def test_a_title_is_the_first_sentence_or_its_beginning(text: str, said: str) -> None:
    assert title(text) == said
