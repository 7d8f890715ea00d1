"""Probabilities that keep the order of a posterior, and the tables that show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.prediction import Prediction, probabilities

PROBA = np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3], [0.25, 0.25, 0.5]], np.float32)


def made(proba: NDArray[np.float32] = PROBA, names: Sequence[str] = ("a", "b", "c")) -> Prediction:
    """Return the answers about the last nodes of a graph whose first node has a label."""
    m = len(proba)
    order = np.argsort(-proba, axis=1, kind="stable")
    return Prediction(
        graph=Graph(np.zeros((m + 1, m + 1)), features=np.eye(m + 1), ids=list("vwxyz")[: m + 1]),
        classes=Classes(names),
        labels=Labels(np.array([0, *[-1] * m])),
        classifier=None,
        nodes=np.arange(1, m + 1),
        label=order[:, 0],
        runner_up=order[:, 1],
        confidence=proba.max(axis=1),
        proba=proba,
        hop_shares=np.ones((m, 1), np.float32),
        reasons=[f"reason {i}" for i in range(m)],
        placed=np.arange(m + 1),
        vectors=np.eye(m + 1, dtype=np.float32),
        record={},
    )


# From a posterior and a confidence to probabilities.


def one(posterior: list[float], confidence: float, allowed: list[bool] | None = None) -> Any:
    q = np.array([posterior], np.float32)
    which = np.array(allowed or [True] * len(posterior))
    return probabilities(q, q.argmax(axis=1), np.array([confidence], np.float32), which)[0]


def test_mixed_with_equal_chances_as_the_formula_has_it() -> None:
    """q_a = 0.8 and c = 0.6 of three classes: w = 0.2 / (0.8 - 1/3) = 3/7."""
    assert one([0.8, 0.15, 0.05], 0.6) == pytest.approx(
        [0.6, 4 / 7 * 0.15 + 1 / 7, 4 / 7 * 0.05 + 1 / 7], abs=1e-6
    )


def test_a_posterior_that_is_not_sure_enough_gives_way() -> None:
    assert one([0.5, 0.3, 0.2], 0.9) == pytest.approx([0.9, 0.06, 0.04], abs=1e-6)


def test_a_confidence_of_the_posterior_itself_changes_nothing() -> None:
    assert one([0.5, 0.3, 0.2], 0.5) == pytest.approx([0.5, 0.3, 0.2], abs=1e-6)


def test_a_confidence_is_never_below_an_even_chance() -> None:
    found = one([0.2, 0.7, 0.1], 0.01)
    assert found == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert found.argmax() == 1  # and the class that was given still comes first


def test_a_class_that_is_not_allowed_gets_nothing() -> None:
    assert one([0.0, 0.9, 0.1], 0.6, [False, True, True]) == pytest.approx([0, 0.6, 0.4], abs=1e-6)
    assert one([0.0, 1.0, 0.0], 0.3, [False, True, False]).tolist() == [0, 1, 0]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(0, 99),
    st.sampled_from([0.0, 1e-3, 0.3, 0.999, 1.0]),
    st.floats(0.02, 2.0),
)
def test_probabilities_keep_the_order_and_sum_to_one(
    count: int, seed: int, confidence: float, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.full(count, spread), size=50).astype(np.float32)
    q[0] = 1 / count  # nothing is known
    q /= q.sum(axis=1, keepdims=True)
    winner = q.argmax(axis=1)
    c = np.full(50, confidence, np.float32)
    p = probabilities(q, winner, c, np.ones(count, bool))
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    assert (p >= 0).all()
    np.testing.assert_array_equal(p.argmax(axis=1), winner)
    best = p[np.arange(50), winner]
    np.testing.assert_array_equal(best, np.maximum(c, np.float32(1 / count)))
    falling = np.take_along_axis(p, np.argsort(-q, axis=1, kind="stable"), axis=1)
    assert (np.diff(falling, axis=1) <= 0).all()


# Tables.


def test_the_table_has_a_row_for_each_node_asked_about() -> None:
    table = made().to_polars()
    assert table.columns == ["id", "label", "confidence", "runner_up", "reason", "flags"]
    assert table.rows()[0] == ("w", "b", 0.6, "c", "reason 0", "")
    assert made().to_polars(slice(1, 2))["id"].to_list() == ["x"]


def test_top_columns_come_on_request() -> None:
    table = made().to_polars(top=2)
    assert table.columns[6:] == ["label_1", "probability_1", "label_2", "probability_2"]
    assert table.select(table.columns[6:]).rows() == [
        ("b", 0.6, "c", 0.3),
        ("a", 0.5, "c", 0.3),
        ("c", 0.5, "a", 0.25),  # of equals the first
    ]
    assert table["label_1"].to_list() == table["label"].to_list()
    assert made().to_polars(slice(1, 2), top=9)["label_3"].to_list() == ["b"]


def test_top_is_long_and_ranked() -> None:
    found = made().top(2)
    assert found.columns == ["id", "rank", "label", "probability"]
    assert found.rows()[:4] == [
        ("w", 1, "b", 0.6),
        ("w", 2, "c", 0.3),
        ("x", 1, "a", 0.5),
        ("x", 2, "c", 0.3),
    ]
    assert len(made().top(99)) == 9
    with pytest.raises(InputError, match=r"^top: expected 1 class or more, found 0"):
        made().top(0)


def test_probabilities_have_one_float_column_a_class() -> None:
    table = made().probabilities()
    assert table.schema == {"id": pl.String, "a": pl.Float32, "b": pl.Float32, "c": pl.Float32}
    np.testing.assert_array_equal(table.drop("id").to_numpy(), PROBA)
    assert table["id"].to_list() == ["w", "x", "y"]


def test_a_class_called_id_does_not_replace_the_ids() -> None:
    table = made(names=("id", "b", "c")).probabilities()
    assert table.columns == ["id", "id (class)", "b", "c"]
    assert table["id"].to_list() == ["w", "x", "y"]


def some(whole: Prediction, rows: slice, placed: slice) -> Prediction:
    """Return a part of the answers."""
    arrays = ("nodes", "label", "runner_up", "confidence", "proba", "hop_shares", "reasons")
    part: dict[str, Any] = {name: getattr(whole, name)[rows] for name in arrays}
    part |= {name: getattr(whole, name)[placed] for name in ("placed", "vectors")}
    return replace(whole, **part)


def test_no_rows_are_a_table_too() -> None:
    none = some(made(), slice(0, 0), slice(0, 0))
    assert len(none) == 0
    assert none.to_polars().schema["id"] == pl.String
    assert none.probabilities().columns == ["id", "a", "b", "c"]
    assert none.top(1).height == 0


def test_answers_followed_by_others() -> None:
    whole = made()
    first, last = some(whole, slice(0, 2), slice(0, 3)), some(whole, slice(2, 3), slice(3, 4))
    both = first.followed_by(replace(last, record={"of": "the last"}))
    assert both.to_polars().equals(whole.to_polars())
    np.testing.assert_array_equal(both.vectors, whole.vectors)
    np.testing.assert_array_equal(both.placed, whole.placed)
    assert both.record == {"of": "the last"}


def test_repr_fits_a_line_and_html_is_escaped() -> None:
    prediction = made(names=("<script>", "b", "c"))
    assert repr(prediction) == "Prediction(3 nodes, 3 classes)"
    page = prediction._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert page.count("<tr>") == 4
    many = np.tile(PROBA, (20, 1))
    long = replace(made(), nodes=np.tile([1, 2, 3], 20), label=np.zeros(60, np.int64))
    long = replace(long, runner_up=long.label, confidence=many[:, 0], proba=many)
    shown = replace(long, reasons=["why"] * 60)._repr_html_()
    assert shown.count("<tr>") == 11
    assert "Prediction(60 nodes, 3 classes); the first 10 are shown." in shown


def test_pandas_gets_the_same_table() -> None:
    pytest.importorskip("pandas")
    assert list(made().to_pandas().itertuples(index=False, name=None)) == made().to_polars().rows()
