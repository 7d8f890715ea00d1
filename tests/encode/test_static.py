"""`static` gives what wordllama itself gives, token for token, without importing it."""

from __future__ import annotations

import logging
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from unseen.core.errors import SavedFileError, UnseenError
from unseen.encode import static
from unseen.encode.base import encode, get_encoder
from unseen.encode.static import StaticEncoder

TEXTS = [
    "Graph neural networks for citation graphs.",
    "a",
    "two  spaces and   three",
    " leading and trailing ",
    "trailing two  ",
    "   ",
    "a line\nbreak\tand a tab \n here",
    "caf\u00e9 na\u00efve \u00fcber",
    "cafe\u0301 decomposed",
    "\u6f22\u5b57 and \U0001f642 emoji",
    "the mark \u2581 of a word\u2581start",
    "special <s> tokens </s> in<unk>side",
    "word " * 700,
]


@pytest.fixture(scope="module")
def encoder() -> StaticEncoder:
    return StaticEncoder()


@pytest.fixture(scope="module")
def reference() -> object:
    """Return wordllama's own model, with the root logger as it was before the import."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    from wordllama import WordLlama

    root.handlers[:] = handlers
    root.setLevel(level)
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0])
    return WordLlama.load(cache_dir=folder, disable_download=True)


def embed(reference: object, texts: list[str]) -> NDArray[np.float32]:
    return np.asarray(reference.embed(texts))  # type: ignore[attr-defined]


def test_equals_wordllama(encoder: StaticEncoder, reference: object) -> None:
    np.testing.assert_allclose(encoder.encode(TEXTS), embed(reference, TEXTS), atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(st.sampled_from("ab \u00e9\u0301\n\u2581<s>/.\u6f22"), min_size=1), min_size=1)
)
def test_pieces_of_a_text_have_the_tokens_of_the_text(texts: list[str]) -> None:
    encoder = shared()
    for text in texts:
        pieces = [token for found in encoder._tokenise(encoder.cut(text)) for token in found]
        assert pieces == encoder._tokenizer.encode(text, add_special_tokens=False).ids


def shared(kept: list[StaticEncoder] = []) -> StaticEncoder:  # noqa: B006
    if not kept:
        kept.append(StaticEncoder())
    return kept[0]


def test_a_text_without_tokens_is_zero(encoder: StaticEncoder) -> None:
    vectors = encoder.encode(["", "a"])
    assert not vectors[0].any()
    assert vectors[1].any()


def test_no_texts(encoder: StaticEncoder) -> None:
    assert encoder.encode([]).shape == (0, 256)


def test_both_spellings_of_an_accent_agree(encoder: StaticEncoder) -> None:
    one, two = encode(encoder, ["caf\u00e9 olé", "cafe\u0301 ole\u0301"])
    np.testing.assert_array_equal(one, two)


def test_blocks_and_a_full_memo_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = shared().encode(TEXTS)
    monkeypatch.setattr(static, "BLOCK", 3)
    monkeypatch.setattr(static, "MEMO", 2)
    calls: list[tuple[str, int, int]] = []
    found = StaticEncoder().encode(TEXTS, lambda *call: calls.append(call))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert [done for _, done, _ in calls] == [3, 6, 9, 12, 13]


def test_it_is_the_default_and_its_identity_is_stable(encoder: StaticEncoder) -> None:
    default = get_encoder()
    assert (default.name, default.dimensions) == ("static", 256)
    assert default.identity == encoder.identity


def test_neither_wordllama_nor_torch_is_imported_and_logging_is_left_alone() -> None:
    program = (
        "import logging, sys; from unseen.encode.base import get_encoder;"
        "get_encoder('static').encode(['a text']);"
        "assert not {'wordllama', 'torch', 'transformers', 'requests'} & set(sys.modules);"
        "assert not logging.getLogger().handlers"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_missing_files_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(static, "_package_folder", lambda: tmp_path)
    with pytest.raises(SavedFileError, match=r"l2_supercat_256\.safetensors is missing .*pip"):
        StaticEncoder()


def test_a_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "find_spec", lambda name: None)
    with pytest.raises(UnseenError, match=r"pip install wordllama==0\.4\.0\.post1"):
        StaticEncoder()
