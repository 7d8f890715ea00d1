"""`Classes` and `Labels`: equal names are equal, nothing is invented, errors say what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.classes import Classes, Labels, NodeSplit, tidy
from unseen.errors import InputError
from unseen.graph import Graph

PETS = Classes(["cats", "dogs", "fish"], ["They purr.", None, "  They swim. "])


@pytest.fixture
def graph() -> Graph:
    return Graph(np.eye(3, k=1), texts=["a", "b", "c"], ids=["x", "y", "z"])


@given(st.text())
def test_tidying_twice_is_tidying_once(name: str) -> None:
    assert tidy(tidy(name)) == tidy(name)


def test_spaces_and_the_spelling_of_accents_do_not_make_another_name() -> None:
    assert tidy("  cafe\u0301 \n  au lait ") == tidy("caf\u00e9 au\u00a0lait") == "café au lait"
    with pytest.raises(InputError, match="classes: 'café' named more than once; merge or rename"):
        Classes(["caf\u00e9", "cafe\u0301 "])


def test_names_that_differ_in_capitals_or_underscores_only_are_refused() -> None:
    with pytest.raises(InputError, match="'Python', 'python' differ in capitals or underscores"):
        Classes(["Python", "python", "Perl"])
    with pytest.raises(InputError, match="'Neural_Networks', 'neural networks' differ in capitals"):
        Classes(["Neural_Networks", "neural networks"])


def test_descriptions_are_stripped_and_empty_ones_are_none() -> None:
    assert PETS.descriptions == ("They purr.", None, "They swim.")
    assert Classes(["a", "b"], ["", " \n"]).descriptions == (None, None)
    assert Classes(["a", "b"]).descriptions == (None, None)


@pytest.mark.parametrize(
    ("names", "descriptions", "words"),
    [
        (["a", " ", "c"], None, "classes: class 2 has an empty name; name it"),
        (["a"], None, "classes: found 1, but a choice needs at least two; add the names"),
        ([], None, "classes: found 0, but a choice needs at least two"),
        (["a", "b", "a"], None, "classes: 'a' named more than once; merge or rename"),
        (["a", "b"], ["one"], "classes: 2 names but 1 descriptions"),
    ],
)
def test_an_error_about_classes_says_what_to_do(names: Any, descriptions: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Classes(names, descriptions)


def test_selected_classes_keep_their_descriptions_in_the_order_asked() -> None:
    assert PETS.select([2, 0]) == Classes(["fish", "cats"], ["They swim.", "They purr."])


def test_joined_classes_keep_their_places_and_their_own_descriptions() -> None:
    joined = PETS.joined(Classes(["birds", "cats", "dogs"], ["They fly.", "Other.", "They bark."]))
    assert joined.names == ("cats", "dogs", "fish", "birds")
    assert joined.descriptions == ("They purr.", None, "They swim.", "They fly.")


def test_index_and_repr_follow_the_order_of_names() -> None:
    assert PETS.index() == {"cats": 0, "dogs": 1, "fish": 2}
    assert repr(PETS) == "Classes(3: cats, dogs, fish)"


def test_empty_and_missing_names_are_no_labels() -> None:
    labels = Labels.from_names(["fish", None, "", " \t", " cats "], PETS)
    assert labels.of.tolist() == [2, -1, -1, -1, 0]
    assert labels.of.dtype == np.int64
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
    assert labels.of.tolist() == [0, -1, 1]


def test_a_labelled_id_that_is_no_node_is_refused(graph: Graph) -> None:
    with pytest.raises(InputError, match="labels: 'q', 'w' not among the nodes of the graph; ev"):
        Labels.from_mapping({"q": "cats", "x": "cats", "w": "dogs"}, graph, PETS)


def test_every_class_is_either_seen_or_unseen() -> None:
    labels = Labels(np.array([2, -1, 0, 2]))
    assert labels.seen().tolist() == [0, 2]
    assert labels.unseen(PETS).tolist() == [1]
    assert Labels.none(4).of.tolist() == [-1] * 4
    assert Labels.none(4).seen().tolist() == []
    assert Labels.none(4).unseen(PETS).tolist() == [0, 1, 2]


@given(st.lists(st.integers(-1, 4)), st.sets(st.integers(0, 4)))
def test_only_the_labels_asked_for_are_kept(given_: list[int], which: set[int]) -> None:
    labels = Labels(np.array(given_, dtype=np.int64))
    kept = labels.only(sorted(which))
    assert kept.of.tolist() == [c if c in which else -1 for c in given_]
    assert labels.of.tolist() == given_  # the original is left alone


def test_a_node_split_is_sorted_and_no_node_has_two_parts() -> None:
    split = NodeSplit(np.array([5, 0], dtype=np.int32), np.array([3]), np.array([], dtype=np.int64))
    assert split.train.tolist() == [0, 5]
    assert split.train.dtype == split.test.dtype == np.int64
    assert split.nodes.tolist() == [0, 5, 3]
    for train, test in (([1, 2], [2]), ([2, 2], [4])):
        with pytest.raises(InputError, match="node split: '2' named more than once"):
            NodeSplit(np.array(train), np.array([3]), np.array(test))
