"""Pictures hold the nodes, the counts and nothing that a browser would run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from test_prediction import made
from unseen.core.errors import InputError
from unseen.plots import confusion


def test_the_map_shows_every_node_once() -> None:
    figure = made().plot_map()
    ids = sorted(
        text.split("</b>")[0].removeprefix("<b>") for trace in figure.data for text in trace.text
    )
    assert ids == ["v", "w", "x", "y"]
    assert {trace.name for trace in figure.data} == {"a", "b", "c", "a (label)"}
    assert all("open" in t.marker.symbol for t in figure.data if t.name == "a (label)")


def test_confidences_are_counted_class_by_class() -> None:
    figure = made().plot_confidence()
    assert {trace.name: int(np.sum(trace.y)) for trace in figure.data} == {"a": 1, "b": 1, "c": 1}
    assert figure.layout.title.text == "3 answers, mean confidence 0.53"
    (b,) = (trace for trace in figure.data if trace.name == "b")
    assert b.x[int(np.argmax(b.y))] == pytest.approx(0.625)  # 0.6 lies in the bin from 0.6 to 0.65


def test_confusions_by_hand() -> None:
    truth = {"w": "b", "x": "c", "y": "c"}  # answers are b, a, c
    np.testing.assert_array_equal(
        confusion(made(), truth), [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0]]
    )
    figure = made().plot_confusion(truth)
    assert figure.layout.title.text == "2 of 3 right (67%)"
    assert list(figure.data[0].x) == ["a", "b", "c"]
    np.testing.assert_allclose(figure.data[0].z[2], [0.5, 0, 0.5])


def test_none_of_these_is_a_column_and_a_colour_where_it_was_an_answer() -> None:
    outside = replace(made(), label=np.array([1, -1, 2]))
    figure = outside.plot_confusion({"w": "b", "x": "a"})
    assert list(figure.data[0].x) == ["a", "b", "c", "none of these"]
    assert "none of these" in {trace.name for trace in outside.plot_map().data}
    assert "none of these" in {trace.name for trace in outside.plot_confidence().data}


def test_a_truth_about_other_nodes_is_refused() -> None:
    with pytest.raises(InputError, match=r"^truth: has a class for none of the nodes"):
        made().plot_confusion({"v": "a"})  # has a label, was not answered


def test_names_are_text_and_no_html() -> None:
    evil = made(names=("<img src=x onerror=alert(1)>", "b", "c"))
    for figure in (
        evil.plot_map(),
        evil.plot_confidence(),
        evil.plot_confusion({"w": "b"}),
    ):
        assert "<img" not in figure.to_json()


def test_the_same_seed_gives_the_same_map() -> None:
    first, second = made().plot_map(3), made().plot_map(3)
    assert first.to_json() == second.to_json()
