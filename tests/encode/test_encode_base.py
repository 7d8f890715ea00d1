"""`encode` asks for each distinct text once, keeps the order, and `get_encoder` knows its names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from encode_helpers import CountingEncoder
from unseen.core.errors import InputError, UnseenError
from unseen.encode import base
from unseen.encode.base import ForeignEncoder, as_encoder, encode, get_encoder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "vectors"


def test_each_distinct_text_is_encoded_once_and_rows_keep_the_order() -> None:
    encoder = CountingEncoder()
    texts = ["bb", "a", "bb", "ccc", "a", "bb"]
    vectors = encode(encoder, texts)
    assert encoder.seen == ["bb", "a", "ccc"]
    np.testing.assert_array_equal(vectors, CountingEncoder().encode(texts))


def test_a_second_run_encodes_nothing() -> None:
    texts = [f"text {i}" for i in range(5000)]
    first = encode(CountingEncoder(), texts)
    again = CountingEncoder()
    np.testing.assert_array_equal(encode(again, texts[::-1]), first[::-1])
    assert again.calls == []


def test_one_new_text_costs_one_encoding() -> None:
    encode(CountingEncoder(), ["a", "b"])
    encoder = CountingEncoder()
    encode(encoder, ["b", "new", "a"])
    assert encoder.seen == ["new"]


def test_without_the_cache_nothing_is_read_or_written(cache: Path) -> None:
    encode(CountingEncoder(), ["a"], cache=False)
    assert not cache.exists()
    encode(CountingEncoder(), ["a"])
    encoder = CountingEncoder()
    encode(encoder, ["a"], cache=False)
    assert encoder.seen == ["a"]


def test_no_texts_give_no_rows() -> None:
    encoder = CountingEncoder()
    assert encode(encoder, []).shape == (0, 3)
    assert encoder.calls == []


def test_composed_and_decomposed_accents_are_one_text() -> None:
    encoder = CountingEncoder()
    vectors = encode(encoder, ["caf\u00e9", "cafe\u0301"])
    assert encoder.seen == ["caf\u00e9"]
    np.testing.assert_array_equal(vectors[0], vectors[1])


def test_half_a_surrogate_pair_is_read_as_a_question_mark() -> None:
    encoder = CountingEncoder()
    encode(encoder, ["broken \ud83d emoji"])
    assert encoder.seen == ["broken ? emoji"]


def test_what_is_not_a_text_is_named() -> None:
    with pytest.raises(InputError, match=r"texts: expected strings, found float at position 1"):
        encode(CountingEncoder(), ["a", float("nan")])  # type: ignore[list-item]


def test_progress_counts_cached_texts_and_ends_at_the_total(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base, "BATCH", 2)
    encode(CountingEncoder(), ["a", "b"])
    calls: list[tuple[str, int, int]] = []
    encode(CountingEncoder(), list("abcdec"), lambda *call: calls.append(call))
    assert [done for _, done, _ in calls] == [2, 4, 5]
    assert {total for _, _, total in calls} == {5}


def test_an_encoder_that_breaks_the_contract_is_caught() -> None:
    encoder = CountingEncoder()
    encoder.dimensions = 4
    with pytest.raises(UnseenError, match=r"'counting': expected vectors of shape \(1, 4\), found"):
        encode(encoder, ["a"])


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(texts=st.lists(st.text(max_size=4)), known=st.lists(st.text(max_size=4)))
def test_the_cache_never_changes_a_vector(texts: Sequence[str], known: Sequence[str]) -> None:
    encode(CountingEncoder(), known)
    np.testing.assert_array_equal(
        encode(CountingEncoder(), texts), encode(CountingEncoder(), texts, cache=False)
    )


@pytest.mark.parametrize("name", ["statik", "", "no/such/folder", "./here/not", "../up", "~/no"])
def test_an_unknown_name_lists_what_is_known(name: str) -> None:
    with pytest.raises(InputError, match=r'known are "static", "minilm", "bert-tiny", .*folder'):
        get_encoder(name)


def test_devices_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="expected one of cpu, cuda, auto, found 'tpu'"):
        get_encoder("static", device="tpu")
    with pytest.raises(InputError, match='"cuda" was asked for but PyTorch finds no CUDA'):
        get_encoder("static", device="cuda")
    assert base.pick_device("auto") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert base.pick_device("auto") == base.pick_device("cuda") == "cuda"


def as_numbers(texts: list[str]) -> list[list[int]]:
    assert isinstance(texts, list)
    return [[len(text), text.count("a")] for text in texts]


class OnlyEncode:
    """An encoder of somebody else: no name, no identity, no dimensions."""

    def __init__(self, found: object = None) -> None:
        self.found = found

    def encode(self, texts: list[str], convert_to_numpy: bool = True) -> object:
        return as_numbers(texts) if self.found is None else self.found


def test_names_and_encoders_are_taken_as_they_are() -> None:
    own = CountingEncoder()
    assert as_encoder(own) is own
    assert as_encoder("static").name == "static"
    with pytest.raises(InputError, match="'tpu'"):
        as_encoder("static", device="tpu")


@pytest.mark.parametrize(
    ("given", "name"), [(OnlyEncode(), "OnlyEncode"), (as_numbers, "as_numbers")]
)
def test_an_object_or_a_function_encodes(given: object, name: str, cache: Path) -> None:
    made = as_encoder(given)
    assert isinstance(made, ForeignEncoder)
    assert (made.name, made.dimensions, made.identity) == (name, 2, "")
    vectors = encode(made, ["aa", "b", "aa"])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[2, 2], [1, 0], [2, 2]]
    assert not cache.exists()  # nothing tells when its vectors would change


@pytest.mark.parametrize(
    "found", [[1.0, 2.0], [[1.0], [2.0]], [[np.nan]], [[[1.0]]]], ids=["flat", "2", "NaN", "deep"]
)
def test_what_is_not_one_row_of_numbers_a_text_is_refused(found: object) -> None:
    wanted = r"^encoder: OnlyEncode has to return one row of finite numbers for each text; found"
    with pytest.raises(InputError, match=wanted):
        as_encoder(OnlyEncode(found))


@pytest.mark.parametrize("given", [None, 3, ["static"]])
def test_what_cannot_encode_is_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"^encoder: expected a name, an object with `encode\("):
        as_encoder(given)
