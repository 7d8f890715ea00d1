"""CSDs of every kind from what was written about the classes, and how they compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.csd import compare
from unseen.csd.compare import compare_csds
from unseen.encode.base import Progress
from unseen.encode.class_texts import KINDS, class_texts, class_vectors

PETS = Classes(["cats", "dogs", "fish"], ["They purr.", None, "They swim."])
BARE = Classes(["cats", "dogs", "fish"])


class Letters:
    """Counts the letters of a text."""

    name = "letters"
    identity = "letters of test_class_texts"
    dimensions = 26

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return np.array([[text.lower().count(x) for x in letters] for text in texts], np.float32)


@pytest.mark.parametrize(
    ("names", "read"),
    [
        (["Neural_Networks", "Case_Based", "AI"], ["Neural Networks", "Case Based", "AI"]),
        (["NEURAL_NETWORKS", "MUSIC", "AI"], ["neural networks", "music", "AI"]),
        (["MUSIC", "Law"], ["MUSIC", "Law"]),  # not a list in capitals: it may be an acronym
        (["COVID-19", "ÉCOLE"], ["covid-19", "école"]),
        (["__", "A_B"], ["__", "A B"]),
    ],
)
def test_names_are_read_as_they_are_spoken(names: list[str], read: list[str]) -> None:
    assert class_texts(Classes(names), "name") == read
    told = class_texts(Classes(names, ["One.", *[None] * (len(names) - 1)]), "description")
    assert told == [f"{read[0]}: One.", *read[1:]]


def direction(text: str) -> NDArray[np.float32]:
    row = Letters().encode([text])[0]
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


def test_a_class_is_read_by_name_or_by_name_and_description() -> None:
    assert class_texts(PETS, "name") == ["cats", "dogs", "fish"]
    expected = ["cats: They purr.", "dogs", "fish: They swim."]
    assert class_texts(PETS, "description") == expected
    assert class_texts(BARE, "description") == ["cats", "dogs", "fish"]


def test_all_kinds_are_there_best_liked_first() -> None:
    csds = class_vectors(PETS, Letters())
    assert tuple(csds) == KINDS == ("description", "both", "name")
    for S in csds.values():
        assert S.shape == (3, 26)
        assert S.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(S, axis=1), 1, rtol=1e-6)


def test_each_kind_is_the_direction_of_its_text() -> None:
    csds = class_vectors(PETS, Letters())
    np.testing.assert_allclose(csds["name"][2], direction("fish"), atol=1e-6)
    np.testing.assert_allclose(csds["description"][2], direction("fish: They swim."), atol=1e-6)


def test_both_lies_halfway_between_name_and_description_whatever_their_lengths() -> None:
    csds = class_vectors(PETS, Letters())
    half = csds["name"] + csds["description"]
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    np.testing.assert_allclose(csds["both"], half, atol=1e-6)


def test_a_class_without_a_description_is_its_name_in_every_kind() -> None:
    csds = class_vectors(PETS, Letters())
    for kind in KINDS:
        np.testing.assert_allclose(csds[kind][1], direction("dogs"), atol=1e-6)


def test_names_alone_leave_no_choice() -> None:
    assert list(class_vectors(BARE, Letters())) == ["name"]


def test_renumbering_classes_renumbers_rows() -> None:
    plain, turned = class_vectors(PETS, Letters()), class_vectors(PETS.select([2, 0, 1]), Letters())
    for kind in KINDS:
        np.testing.assert_allclose(turned[kind], plain[kind][[2, 0, 1]], atol=1e-6)


@pytest.fixture
def _letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "get_encoder", lambda name, device: Letters())


@pytest.mark.usefixtures("_letters")
def test_the_nearest_class_is_the_one_that_is_spelled_alike() -> None:
    found = compare_csds(Classes(["abcd", "abcde", "xyz", "wxyz"]))
    nearest = {name: other for name, other, _ in found["nearest"]["name"]}
    assert nearest == {"abcd": "abcde", "abcde": "abcd", "xyz": "wxyz", "wxyz": "xyz"}
    assert all(0.5 < cosine <= 1 for _, _, cosine in found["nearest"]["name"])
    assert found["quality"] == {}
    assert "--nodes" in found["note"]


@pytest.mark.usefixtures("_letters")
def test_vectors_are_written_by_kind(tmp_path: Path) -> None:
    compare_csds(PETS, out=tmp_path / "csds.safetensors")
    written = load_file(tmp_path / "csds.safetensors")
    csds = class_vectors(PETS, Letters())
    assert written.keys() == csds.keys()
    assert all((written[kind] == csds[kind]).all() for kind in KINDS)
    with pytest.raises(InputError, match=r"csds\.npy: expected a name that ends in \.safetensors"):
        compare_csds(PETS, out=tmp_path / "csds.npy")


@pytest.mark.usefixtures("_letters")
def test_quality_is_measured_on_labelled_nodes_of_three_classes_or_more(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    rows = ["id,text,label", "1,cat purr,cats", "2,dog dog,dogs", "3,fish swims,fish", "4,oddity,"]
    nodes.write_text("\n".join(rows))
    found = compare_csds(PETS, nodes=nodes)
    assert found["quality"].keys() == set(KINDS)
    for measures in found["quality"].values():
        assert measures.keys() == {"kl", "cosine", "euclidean"}
        assert all(np.isfinite(value) for value in measures.values())
    assert "3 classes" in found["note"]
    nodes.write_text("\n".join(rows[:3]))
    with pytest.raises(InputError, match=r"with labels of 2 classes; Eq\. 1-3 needs"):
        compare_csds(PETS, nodes=nodes)
