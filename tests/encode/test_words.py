"""Bags of words against the formula worked out by hand, and what may be odd about counts."""

from __future__ import annotations

from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from encode_helpers import CountingEncoder
from unseen.core.errors import InputError
from unseen.encode.base import get_encoder
from unseen.encode.words import encode_words, word_weights

WORDS = ["x", "yy", "zzz"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "vectors"


def test_two_rows_and_three_words_by_hand() -> None:
    counts = [[1, 0, 3], [0, 0, 1]]
    idf_x = 1 + log(3 / 2)  # in one of two rows; "zzz" is in both: 1 + log(3 / 3) = 1
    first = np.array([log(2) * idf_x, 0, log(4)])
    weights = np.stack([first / first.sum(), [0, 0, 1]])
    np.testing.assert_allclose(word_weights(counts).toarray(), weights, rtol=1e-6)
    expected = weights @ CountingEncoder().encode(WORDS)
    encoder = CountingEncoder()
    np.testing.assert_allclose(encode_words(counts, WORDS, encoder), expected, rtol=1e-5)
    assert encoder.seen == ["x", "zzz"]  # nobody uses "yy"


def test_dense_and_sparse_agree_and_the_input_is_left_alone() -> None:
    dense = np.array([[2.0, 0, 1], [0, 5, 0]], dtype=np.float32)
    sparse = sp.csr_array(dense)
    found = encode_words(sparse, WORDS, CountingEncoder())
    np.testing.assert_array_equal(found, encode_words(dense, WORDS, CountingEncoder()))
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert found.dtype == np.float32


def test_a_row_without_words_is_zero() -> None:
    vectors = encode_words([[0, 0, 0], [1, 0, 0]], WORDS, CountingEncoder())
    assert not vectors[0].any()
    np.testing.assert_allclose(vectors[1], CountingEncoder().encode(["x"])[0])


def test_no_words_at_all() -> None:
    assert not encode_words(np.zeros((2, 3)), WORDS, CountingEncoder()).any()


def test_one_word_lands_on_its_own_text() -> None:
    encoder = get_encoder("static")
    vectors = encode_words([[0, 7], [1, 0]], ["graph", "theory"], encoder)
    np.testing.assert_allclose(vectors, encoder.encode(["theory", "graph"]), atol=1e-6)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(arrays(np.float32, (4, 3), elements=st.floats(0, 1e6, width=32)), st.permutations(range(4)))
def test_rows_are_finite_sum_to_one_and_follow_their_nodes(
    counts: np.ndarray[Any, Any], order: list[int]
) -> None:
    totals = word_weights(counts).sum(axis=1)
    used = (np.log1p(counts) > 0).any(axis=1)
    np.testing.assert_allclose(totals, used.astype(float), rtol=1e-5)
    vectors = encode_words(counts, WORDS, CountingEncoder())
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(
        encode_words(counts[order], WORDS, CountingEncoder()), vectors[order], rtol=1e-5
    )


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_what_is_not_a_count_is_refused(bad: float) -> None:
    with pytest.raises(InputError, match="a bag of words must hold counts, zero or more"):
        encode_words([[1, bad, 0]], WORDS, CountingEncoder())


def test_one_word_for_each_column() -> None:
    with pytest.raises(InputError, match=r"expected 3 words .* found 2"):
        encode_words([[1, 2, 3]], ["x", "y"], CountingEncoder())
