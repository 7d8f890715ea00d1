"""Steps on rows: unit length, softmax."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from unseen.core.arrays import softmax, unit

rows = arrays(np.float32, (4, 3), elements=st.floats(-8, 8, width=32))


@given(rows)
def test_rows_get_length_one_and_keep_their_direction(X: NDArray[np.float32]) -> None:
    X[np.abs(X) < 1e-3] = 0.0
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    U = unit(X)
    np.testing.assert_allclose(np.linalg.norm(U, axis=1), (lengths > 0).ravel(), atol=1e-6)
    np.testing.assert_allclose(U * lengths, X, atol=1e-5)
    assert U.dtype == np.float32


def test_a_row_of_zeros_stays_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert unit(np.array([[0, 0], [3, 4]], np.float32)).tolist() == [
            [0, 0],
            pytest.approx([0.6, 0.8]),
        ]


def test_unit_leaves_its_input_alone() -> None:
    X = np.array([[3.0, 4.0]], dtype=np.float32)
    unit(X)
    assert X.tolist() == [[3, 4]]


@given(rows, st.floats(-50, 50))
def test_softmax_is_the_formula_and_ignores_a_shift(X: NDArray[np.float32], shift: float) -> None:
    e = np.exp(X.astype(np.float64))
    expected = e / e.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(softmax(X), expected, atol=1e-5)
    np.testing.assert_allclose(softmax(X + np.float32(shift)), expected, atol=1e-4)


def test_softmax_of_large_and_of_infinite_logits() -> None:
    p = softmax(np.array([[1000, 999, -np.inf], [-1000, -np.inf, -np.inf]], np.float32))
    assert p[0].tolist() == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1)), 0])
    assert p[1].tolist() == [1, 0, 0]
    assert p.dtype == np.float32
