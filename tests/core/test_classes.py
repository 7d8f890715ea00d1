"""`Classes`: equal names are equal, vectors follow their classes, errors say what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.core.classes import Classes, tidy
from unseen.core.errors import InputError

PETS = Classes(["cats", "dogs", "fish"], ["They purr.", None, "  They swim. "])


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
        ([], None, "classes: found none; name at least two"),
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
    joined = PETS.joined(Classes(["birds", "cats", "dogs"], ["They fly.", None, None]))
    assert joined.names == ("cats", "dogs", "fish", "birds")
    assert joined.descriptions == ("They purr.", None, "They swim.", "They fly.")


@pytest.mark.parametrize(("name", "text"), [("cats", "Other."), ("dogs", "They bark.")])
def test_a_class_that_is_described_otherwise_is_not_joined_in_silence(name: str, text: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is described otherwise than when the model"):
        PETS.joined(Classes(["birds", name], ["They fly.", text]))


def test_index_and_repr_follow_the_order_of_names() -> None:
    assert PETS.index() == {"cats": 0, "dogs": 1, "fish": 2}
    assert repr(PETS) == "Classes(3: cats, dogs, fish)"


def test_repr_of_many_classes_fits_a_line() -> None:
    many = Classes([f"class {i} {'x' * 100}" for i in range(195)])
    assert repr(many).startswith("Classes(195: class 0 xxx")
    assert repr(many).endswith(" and 190 more)")
    assert len(repr(many)) < 300
    shown = Classes(["<i>", "b"], ["a & b", None])._repr_html_()
    assert "&lt;i&gt;" in shown
    assert "a &amp; b" in shown
    assert "<i>" not in shown


VECTORS = np.arange(6, dtype=np.float64).reshape(3, 2)


def test_vectors_follow_their_classes() -> None:
    pets = Classes(PETS.names, PETS.descriptions, VECTORS)
    assert pets.vectors.dtype == np.float32
    assert pets.select([2, 0]).vectors.tolist() == [[4, 5], [0, 1]]
    joined = pets.joined(Classes(["cats", "birds"], vectors=[[9, 9], [7, 8]]))
    assert joined.vectors.tolist() == [[0, 1], [2, 3], [4, 5], [7, 8]]
    assert pets.joined(Classes(["dogs", "cats"])) is pets, "nothing to add, nothing to refuse"


def test_classes_are_equal_by_value_vectors_included() -> None:
    pets = Classes(PETS.names, PETS.descriptions, VECTORS)
    assert pets == Classes(PETS.names, PETS.descriptions, VECTORS.tolist())
    assert hash(pets) == hash(Classes(PETS.names, PETS.descriptions, VECTORS))
    assert pets != Classes(PETS.names, PETS.descriptions, VECTORS + 1)
    assert pets != Classes(PETS.names, PETS.descriptions, VECTORS[:, :1])
    assert pets != PETS
    assert PETS != "cats"


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([[1.0], [2.0]], r"vectors have shape \(2, 1\); expected \[3, d\], one row for each class"),
        ([1.0, 2.0, 3.0], r"vectors have shape \(3,\)"),
        (np.ones((3, 0)), r"vectors have shape \(3, 0\)"),
        ([["a"], ["b"], ["c"]], "vectors must be numbers, one row a class"),
        ([[1.0], [np.nan], [2.0]], "the vector of 'dogs' holds a value that is NaN or infinite"),
    ],
)
def test_vectors_that_cannot_be_used(vectors: Any, words: str) -> None:
    with pytest.raises(InputError, match=f"^classes: {words}"):
        Classes(PETS.names, vectors=vectors)


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        ([[1], [2]], None, "the first classes come with vectors, the added classes without"),
        (None, [[1], [2]], "the added classes come with vectors, the first classes without"),
        ([[1], [2]], [[1, 2], [3, 4]], "vectors have 1 dimensions, but those of the added .* 2;"),
    ],
)
def test_vectors_that_cannot_be_joined(mine: Any, theirs: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Classes(["a", "b"], vectors=mine).joined(Classes(["c", "d"], vectors=theirs))


def test_one_class_can_be_added_but_is_no_choice() -> None:
    one = Classes(["a"])
    assert len(Classes(["b", "c"]).joined(one)) == 3
    with pytest.raises(InputError, match="classes: found 1, but a choice needs at least two"):
        one.check_choice()
