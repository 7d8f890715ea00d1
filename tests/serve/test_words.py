"""Shares of words, centring and bias add up to the score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unseen.explain.words import WordShares, beside, word_shares
from unseen.prepare.words import bag_of_words
from unseen.serve.served import Served
from unseen.serve.versions import Versions


def shares_of(served: Served, text: str, weights: Any, bias: Any) -> WordShares | None:
    return word_shares(served.encoder, served.classifier.preparer_, text, weights, bias)


def test_shares_of_words_centring_and_bias_are_the_score(run: Path) -> None:
    versions = Versions(run)
    served = versions.load(1)
    assert served.classifier.preparer_.lsa_ is not None
    weights, bias = served.reading(0, "weights"), served.reading(0, "bias")
    for i in range(0, served.nodes, 7):
        found = shares_of(served, served.texts[i], weights, bias)
        if not served.texts[i]:
            assert found is None
            continue
        assert found is not None
        assert found.how == "exact"
        x = served.vectors[i].astype(np.float64)
        score = x @ weights.T.astype(np.float64) + bias
        np.testing.assert_allclose(found.score, score, atol=1e-4 * np.abs(weights).max())
        total = found.shares.sum(axis=0) + found.encoder + found.centring + found.bias
        np.testing.assert_allclose(total, found.score, atol=1e-6)


def test_the_score_is_that_of_the_vector_to_six_digits(run: Path) -> None:
    """Of unit weights, so that the tolerance means the same for every model."""
    served = Versions(run).load(1)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, served.vectors.shape[1]))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    bias = rng.normal(size=3)
    for i in (0, 1, 5, 40, 200):
        found = shares_of(served, served.texts[i], weights, bias)
        assert found is not None
        np.testing.assert_allclose(found.score, served.vectors[i] @ weights.T + bias, atol=1e-6)


def test_a_word_that_is_there_twice_shares_with_itself(one_run: Path) -> None:
    served = Versions(one_run).load(1)
    weights, bias = served.reading(0, "weights"), served.reading(0, "bias")
    found = shares_of(served, "garlic sauce garlic", weights, bias)
    assert found is not None
    assert found.spans.tolist() == [[0, 6], [7, 12], [13, 19]]
    np.testing.assert_allclose(found.shares[0], found.shares[2], rtol=1e-9)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_a_blank_text_has_no_words(one_run: Path, text: str) -> None:
    served = Versions(one_run).load(1)
    weights, bias = served.reading(0, "weights"), served.reading(0, "bias")
    assert shares_of(served, text, weights, bias) is None


@pytest.mark.parametrize("text", ["Ünïcode straße 北京 garlic", "a_b  c\u00a0d\ttab", "x" * 300])
def test_odd_texts_add_up_too(one_run: Path, text: str) -> None:
    from unseen.serve.answering import vectors_of

    served = Versions(one_run).load(1)
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(2, served.vectors.shape[1]))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    found = shares_of(served, text, weights, np.zeros(2))
    assert found is not None
    np.testing.assert_allclose(found.score, vectors_of(served, [text])[0] @ weights.T, atol=1e-6)


def test_a_few_texts_are_read_as_many_are(one_run: Path) -> None:
    preparer = Versions(one_run).load(1).classifier.preparer_
    assert len(preparer.word_readers) == 2
    texts = [
        "Garlic, garlic and the oven.",
        "nothing_known zzzz",
        "",
        "the JUDGE of the court 北京",
    ]
    X = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
    found = beside(preparer.word_readers, X, texts)
    np.testing.assert_allclose(found, preparer.beside_nodes(X, bag_of_words(texts)), atol=1e-6)
