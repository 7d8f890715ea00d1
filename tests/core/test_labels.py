"""`Labels` and `NodeSplit`: nothing is invented, errors say what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.labels import Labels, NodeSplit

PETS = Classes(["cats", "dogs", "fish"])


@pytest.fixture
def graph() -> Graph:
    return Graph(np.eye(3, k=1), texts=["a", "b", "c"], ids=["x", "y", "z"])


def test_empty_and_missing_names_are_no_labels() -> None:
    labels = Labels.from_names(["fish", None, "", " \t", " cats "], PETS)
    assert labels.codes.tolist() == [2, -1, -1, -1, 0]
    assert labels.codes.dtype == np.int64
    assert labels.known.tolist() == [True, False, False, False, True]


def test_a_label_that_is_no_class_is_named_with_its_row() -> None:
    with pytest.raises(
        InputError,
        match=r"labels: 'cows' \(first at row 3\) is not among the classes 'cats', 'dogs', 'fish'; "
        "add it to the classes or correct the label",
    ):
        Labels.from_names(["cats", None, "cows", "cows"], PETS)


def test_labels_by_id_are_placed_and_the_rest_is_unknown(graph: Graph) -> None:
    labels = Labels.from_mapping({"z": "dogs", "x": "cats"}, graph, PETS)
    assert labels.codes.tolist() == [0, -1, 1]


def test_a_labelled_id_that_is_no_node_is_refused(graph: Graph) -> None:
    with pytest.raises(InputError, match="labels: 'q', 'w' not among the nodes of the graph; ev"):
        Labels.from_mapping({"q": "cats", "x": "cats", "w": "dogs"}, graph, PETS)


def test_every_class_is_either_seen_or_unseen() -> None:
    labels = Labels(np.array([2, -1, 0, 2]))
    assert labels.seen().tolist() == [0, 2]
    assert labels.unseen(PETS).tolist() == [1]
    assert Labels.none(4).codes.tolist() == [-1] * 4
    assert Labels.none(4).seen().tolist() == []
    assert Labels.none(4).unseen(PETS).tolist() == [0, 1, 2]


@given(st.lists(st.integers(-1, 4)), st.sets(st.integers(0, 4)))
def test_only_the_labels_asked_for_are_kept(given_: list[int], which: set[int]) -> None:
    labels = Labels(np.array(given_, dtype=np.int64))
    kept = labels.only(sorted(which))
    assert kept.codes.tolist() == [c if c in which else -1 for c in given_]
    assert labels.codes.tolist() == given_  # the original is left alone


def test_a_node_split_is_sorted_and_no_node_has_two_parts() -> None:
    split = NodeSplit(np.array([5, 0], dtype=np.int32), np.array([3]), np.array([], dtype=np.int64))
    assert split.train.tolist() == [0, 5]
    assert split.train.dtype == split.test.dtype == np.int64
    assert split.nodes.tolist() == [0, 5, 3]
    for train, test in (([1, 2], [2]), ([2, 2], [4])):
        with pytest.raises(InputError, match="node split: '2' named more than once"):
            NodeSplit(np.array(train), np.array([3]), np.array(test))
    assert repr(split) == "NodeSplit(2 train, 1 validation, 0 test)"


@pytest.mark.parametrize("codes", [[0.0, 1.0], ["cats"], [[0, 1]], [True]])
def test_codes_are_whole_numbers(codes: Any) -> None:
    with pytest.raises(InputError, match=r"labels: expected one class position .* a node, found"):
        Labels(np.array(codes))


def test_labels_are_int64_and_short_to_read() -> None:
    labels = Labels(np.array([0, -1, 2, 2], dtype=np.int8))
    assert labels.codes.dtype == np.int64
    assert repr(labels) == "Labels(3 of 4 nodes, 2 classes)"
