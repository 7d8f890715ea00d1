"""Word matching against the formula, and what it is for: one telling word among many."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.core.arrays import unit
from unseen.encode.word_vectors import word_vectors
from unseen.prepare import word_match as module
from unseen.prepare.word_match import LEAN, WordMatch
from unseen.prepare.words import bag_of_words, column_of

TEXTS = ["a violin and a cello", "the goalkeeper ran", "a cello concert", "", "one of many"]
CLASS_TEXTS = ["music: violin, orchestra", "football: goalkeeper, penalty"]


def fitted(texts: list[str] = TEXTS, classes: list[str] = CLASS_TEXTS) -> WordMatch:
    found = WordMatch.fit(bag_of_words(texts), bag_of_words(classes), texts, classes)
    assert found is not None
    return found


def test_it_is_as_the_formula_has_it() -> None:
    made = fitted()
    told = [["music", "violin", "orchestra"], ["football", "goalkeeper", "penalty"]]
    words = sorted(
        {"and", "cello", "concert", "many", "of", "one", "ran", "the", "violin"}
        | {word for text in told for word in text}
    )
    assert set(made.words.tolist()) == {column_of(word) for word in words}
    having = {w: sum(w in text.split() for text in TEXTS) for w in words}
    idf = {w: 1 + np.log(6 / (1 + having[w])) for w in words}
    vectors = dict(zip(words, unit(word_vectors().encode(words)), strict=True))
    count = np.array([having[w] + 1e-6 for w in words])
    mean = (count[:, None] * np.stack([vectors[w] for w in words])).sum(axis=0) / count.sum()
    e = {w: unit((vectors[w] - mean)[None])[0] for w in words}
    icf = np.log(3 / 2) + 0.1  # no word is in both class texts
    p = {}
    for v in words:
        near = []
        for text in told:
            weight = np.array([idf[u] * icf for u in text])
            k = np.array([np.exp(8 * (e[v] @ e[u] - 1)) for u in text])
            near.append((weight / weight.sum()) @ k)
        p[v] = np.array(near) / sum(near)
    T = np.array([[np.log1p(text.split().count(w)) * idf[w] for w in words] for text in TEXTS])
    T /= np.maximum(np.linalg.norm(T, axis=1, keepdims=True), 1e-9)
    P = np.stack([p[w] for w in words])
    P -= (T.sum(axis=0) + 1e-6) @ P / (T.sum(axis=0) + 1e-6).sum()
    rows = np.delete(T @ P, 3, axis=0)
    C = np.array([[np.log1p(text.count(w)) * idf[w] for w in words] for text in told])
    of_class = (C / np.linalg.norm(C, axis=1, keepdims=True) @ P).mean(axis=0)
    centre = (rows.sum(axis=0) + LEAN * of_class) / (4 + LEAN)
    expected = WordMatch.beside[0] * (T @ P - centre) / (0.35 * (1 + 50 / 5))
    expected[3] = 0  # no word
    np.testing.assert_allclose(made.nodes(bag_of_words(TEXTS)), expected, atol=1e-4)
    lengths = np.linalg.norm(made.classes(bag_of_words(CLASS_TEXTS)), axis=1)
    np.testing.assert_allclose(lengths, WordMatch.beside[1], rtol=1e-5)


def test_one_word_that_tells_is_not_drowned_by_many() -> None:
    filler = "it was in the year when all of them had come to see what there was to be seen"
    texts = [f"{filler} {word}" for word in ("cello", "goalkeeper", "violins", "penalties")]
    made = fitted(texts)
    scores = made.nodes(bag_of_words(texts)) @ made.classes(bag_of_words(CLASS_TEXTS)).T
    assert scores.argmax(axis=1).tolist() == [0, 1, 0, 1]


def test_a_word_near_to_no_class_says_little() -> None:
    texts = ["violin", "goalkeeper", "zzyzx"] * 10
    rows = np.linalg.norm(fitted(texts).nodes(bag_of_words(texts[:3])), axis=1)
    assert rows[2] < 0.6 * rows[:2].min()


def test_a_new_class_is_read_as_a_text_of_the_same_words() -> None:
    made = fitted()
    new = made.classes(bag_of_words(["concerts: cello, violin", "zzyzx"]))
    assert new.shape == (2, 2)
    old = made.classes(bag_of_words(CLASS_TEXTS))
    assert (new[0] @ old.T).argmax() == 0
    assert not new[1].any()  # none of its words was there: nothing is known


def test_words_are_limited_and_class_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    kept = set(fitted(["cello cello concert", "ran cello", "concert"]).words.tolist())
    told = {"music", "violin", "orchestra", "football", "goalkeeper", "penalty"}
    assert kept == {column_of(word) for word in (*told, "cello", "concert")}


@pytest.mark.parametrize("classes", [["?", "!"], ["only one"]])
def test_nothing_to_compare_with(classes: list[str]) -> None:
    assert WordMatch.fit(bag_of_words(TEXTS), bag_of_words(classes), TEXTS, classes) is None


def test_words_that_the_table_does_not_know_are_compared_by_the_encoder() -> None:
    texts = ["\u97f3\u4e50", "\u8db3\u7403", "violin", "goalkeeper"] * 5
    classes = ["music: \u97f3\u4e50", "football: \u8db3\u7403"]
    made = fitted(texts, classes)
    scores = made.nodes(bag_of_words(texts[:4])) @ made.classes(bag_of_words(classes)).T
    assert scores.argmax(axis=1).tolist() == [0, 1, 0, 1]
