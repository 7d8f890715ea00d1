"""Arrays and matrices that anybody may pass in: numbers that fit, or an error in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import unseen
from unseen.core.errors import InputError

TEXTS = ["a star", "a soup", "a song"]
A = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]], dtype=np.float32)


def edges(source: Any, target: Any, weight: Any = None, nodes: Any = 3) -> unseen.Graph:
    return unseen.Graph.from_edges(source, target, weight, nodes=nodes, texts=TEXTS)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([0.5], "type float64; expected positions"),
        ([float("nan")], "type float64"),
        (["a"], "for ids use `from_frames`"),
        ([True], "type bool"),
        (np.array([None], object), "type object"),
        ([2**70], "type object"),
        (np.array([2**63], np.uint64), "position 9223372036854775808"),
        ([1e300], "type float64"),
        (np.zeros((1, 1), int), "expected a list, one for each edge"),
        ([[0], [1, 2]], "expected an array of numbers"),
        ([-1], "positions count from 0"),
        ([3], "there are 3 nodes"),
    ],
)
def test_ends_are_positions(source: Any, said: str) -> None:
    target = [1] * np.shape(source)[0] if said.startswith("pos") else [1]
    with pytest.raises(InputError, match=said):
        edges(source, target)


def test_whole_floats_are_positions() -> None:
    assert edges([0.0], [1.0]).edges == 1


@pytest.mark.parametrize("nodes", [-1, 2.5, "3", None, 2**40])
def test_the_number_of_nodes_is_one(nodes: Any) -> None:
    with pytest.raises(InputError, match="nodes: found"):
        edges([], [], nodes=nodes)


@pytest.mark.parametrize("weight", [[1j], ["x"], [[1.0]], [None], [1e-300], [1e39], [-1.0]])
def test_weights_are_numbers_that_32_bits_hold(weight: Any) -> None:
    with pytest.raises(InputError, match=r"weights?: |weight (inf|-1)"):
        edges([0], [1], weight)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.bsr_array, sp.csr_matrix])
@pytest.mark.parametrize("index", [99, 10**6, -7])
@pytest.mark.parametrize(
    "take",
    [
        lambda M: unseen.Graph(M, texts=TEXTS),
        lambda M: unseen.Graph(sp.csr_array(A), features=M),
    ],
)
def test_indices_outside_of_a_matrix(
    form: Any, index: int, take: Callable[[Any], unseen.Graph]
) -> None:
    """Converting such a matrix would end the process."""
    M = form(A)
    M.indices[:] = index
    with pytest.raises(InputError, match="its indices point outside of its shape"):
        take(M)


def test_rows_that_end_before_they_begin() -> None:
    M = sp.csr_array(A)
    M.indptr[1] = 10**7
    with pytest.raises(InputError, match="its indices point outside"):
        unseen.Graph(M, texts=TEXTS)


def test_coordinates_outside_of_a_matrix() -> None:
    M = sp.coo_array(A)
    M.coords[0][:] = 10**6
    with pytest.raises(InputError, match="its indices point outside"):
        unseen.Graph(M, texts=TEXTS)


@pytest.mark.parametrize("kind", ["M8[s]", "c16", "O", "U1", [("a", "f4")]])
def test_values_are_real_numbers(kind: Any) -> None:
    with pytest.raises(InputError, match=r"features: found .* expected real numbers"):
        unseen.Graph(A, features=np.zeros((3, 2), kind))
    with pytest.raises(InputError, match=r"adjacency: found .* expected real numbers"):
        unseen.Graph(np.zeros((3, 3), kind), texts=TEXTS)


@pytest.mark.parametrize("name", [None, float("nan"), 0.5, "", " ", b"a", "a\0", "a\ud800"])
def test_ids_are_names(name: Any) -> None:
    with pytest.raises(InputError, match="ids: row 2"):
        unseen.Graph(A, texts=TEXTS, ids=["a", name, "c"])


def test_whole_numbers_are_ids_however_they_are_stored() -> None:
    ids: Any = [1.0, np.int64(2), 3]
    assert unseen.Graph(A, texts=TEXTS, ids=ids).ids == ("1", "2", "3")


@pytest.mark.parametrize("name", ["a\ud800", "a\0"])
def test_names_of_classes_can_be_written(name: str) -> None:
    with pytest.raises(InputError, match="classes: class 2"):
        unseen.Classes(["b", name])


def test_texts_can_be_written() -> None:
    with pytest.raises(InputError, match="half of a surrogate pair"):
        unseen.Graph(A, texts=["a", "b\ud800", "c"])
    with pytest.raises(InputError, match="half of a surrogate pair"):
        unseen.Classes(["a", "b"], ["x", "\ud800"])


@pytest.mark.parametrize("what", ["ids", "texts", "vocabulary"])
@pytest.mark.parametrize("kind", [set, dict.fromkeys, "".join])
def test_what_has_no_order_is_refused(what: str, kind: Callable[[list[str]], Any]) -> None:
    given = {"texts": TEXTS, "features": np.eye(3), what: kind(["a", "b", "c"])}
    with pytest.raises(InputError, match=f"{what}: found one "):
        unseen.Graph(A, **given)


@pytest.mark.parametrize("ids", [["a", "a ", "b"], ["caf\u00e9", "cafe\u0301", "b"]])
def test_ids_that_a_file_would_make_one_are_refused(ids: list[str]) -> None:
    with pytest.raises(InputError, match="ids: 1 occur more than once"):
        unseen.Graph(A, texts=TEXTS, ids=ids)


def test_a_column_without_a_word_is_refused() -> None:
    with pytest.raises(InputError, match="vocabulary: column 2 has none"):
        unseen.Graph(A, features=np.eye(3), vocabulary=["a", None, "c"])  # type: ignore[list-item]


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(InputError, match="adjacency: is a masked array"):
        unseen.Graph(np.ma.masked_array(A, mask=A > 1), texts=TEXTS)


def test_a_word_with_half_a_letter_is_refused() -> None:
    with pytest.raises(InputError, match=r"vocabulary: .*half of a surrogate pair"):
        unseen.Graph(A, features=np.eye(3), vocabulary=["a", "b", "\ud800"])


def test_vectors_of_a_task_are_numbers() -> None:
    wrong: tuple[Any, ...] = ([["a"]], [[1j]], [[{}]])
    for given in wrong:
        with pytest.raises(InputError, match="is no array of real numbers"):
            unseen.Task(given, [[1.0]])
