"""The forward pass against transformers on a random BERT; folders that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from encode_helpers import write_tiny_bert

pytest.importorskip("torch", reason="BERT's forward pass is in PyTorch")

from unseen.core.errors import InputError, SavedFileError, UnseenError
from unseen.encode import bert, bert_tiny, hub
from unseen.encode.base import encode, get_encoder
from unseen.encode.bert import BertEncoder

TEXTS = [
    "a graph node .",
    "b",
    "",
    "cafe",
    "Caf\u00e9",
    "cafe\u0301",
    "zzz unknown \u6f22",
    "ab " * 40,
]


@pytest.fixture
def tiny_bert(tmp_path: Path) -> Path:
    return write_tiny_bert(tmp_path / "tiny")


def hidden_means(folder: Path, texts: list[str], layer: int) -> NDArray[np.float32]:
    """Return the masked mean of one of transformers' hidden states, one text at a time."""
    pytest.importorskip("transformers", reason="the reference is the transformers library")
    import torch
    from transformers import BertModel, BertTokenizerFast

    model = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    tokenizer = BertTokenizerFast.from_pretrained(folder)
    rows = []
    for text in texts:
        given = tokenizer(text, truncation=True, max_length=24, return_tensors="pt")
        with torch.inference_mode():
            states = model(**given, output_hidden_states=True).hidden_states
        rows.append(states[layer][0].mean(dim=0).numpy())
    return np.stack(rows)


def test_bert_tiny_is_the_mean_of_the_layer_before_the_last(tiny_bert: Path) -> None:
    encoder = get_encoder(f"bert-tiny:{tiny_bert}")
    assert (encoder.name, encoder.dimensions) == (f"bert-tiny:{tiny_bert}", 16)
    np.testing.assert_allclose(encoder.encode(TEXTS), hidden_means(tiny_bert, TEXTS, -2), atol=1e-5)


def test_the_last_layer_too(tiny_bert: Path) -> None:
    vectors = BertEncoder(tiny_bert, "x", layer=-1).encode(TEXTS)
    np.testing.assert_allclose(vectors, hidden_means(tiny_bert, TEXTS, -1), atol=1e-5)


def test_padding_and_batches_change_nothing(
    tiny_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = BertEncoder(tiny_bert, "x", layer=-2)
    together = encoder.encode(TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    monkeypatch.setattr(bert, "TOKENS_A_BATCH", 1)
    calls: list[tuple[str, int, int]] = []
    np.testing.assert_allclose(
        encoder.encode(TEXTS, lambda *call: calls.append(call)), together, atol=1e-5
    )
    assert calls[-1][1:] == (len(TEXTS), len(TEXTS))


def test_batches_go_from_long_to_short_and_hold_every_row_once() -> None:
    lengths = [3, 9, 1, 9, 4096, 5000, 1, 2048, 2048, 2047]
    batches = [rows.tolist() for rows in bert._batches(lengths)]
    rows = [row for batch in batches for row in batch]
    assert sorted(rows) == list(range(len(lengths)))
    assert [lengths[row] for row in rows] == sorted(lengths, reverse=True)
    assert batches[:3] == [[5], [4], [7, 8]]  # padded to the longest, 4096 tokens at most


def test_accents_are_stripped_either_way(tiny_bert: Path) -> None:
    vectors = BertEncoder(tiny_bert, "x").encode(["cafe", "caf\u00e9", "cafe\u0301"])
    np.testing.assert_allclose(vectors[1:], vectors[[0, 0]], atol=1e-6)


def test_unit_length_and_no_texts(tiny_bert: Path) -> None:
    encoder = BertEncoder(tiny_bert, "x", unit=True)
    np.testing.assert_allclose(np.linalg.norm(encoder.encode(TEXTS), axis=1), 1, atol=1e-5)
    assert encoder.encode([]).shape == (0, 16)
    assert encode(encoder, []).shape == (0, 16)


def test_older_names_of_tensors_are_understood(tiny_bert: Path) -> None:
    from safetensors.numpy import load_file, save_file

    expected = BertEncoder(tiny_bert, "x").encode(TEXTS)
    path = tiny_bert / "model.safetensors"
    old = {
        "bert." + name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): value
        for name, value in load_file(path).items()
    }
    save_file(old, path)
    np.testing.assert_array_equal(BertEncoder(tiny_bert, "x").encode(TEXTS), expected)


def test_identity_follows_weights_vocabulary_and_settings(tiny_bert: Path) -> None:
    from safetensors.numpy import load_file, save_file

    first = BertEncoder(tiny_bert, "x").identity
    assert BertEncoder(tiny_bert, "another name").identity == first
    others = [
        BertEncoder(tiny_bert, "x", layer=-2).identity,
        BertEncoder(tiny_bert, "x", unit=True).identity,
        BertEncoder(tiny_bert, "x", max_length=8).identity,
    ]
    (tiny_bert / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    others.append(BertEncoder(tiny_bert, "x").identity)
    weights = load_file(tiny_bert / "model.safetensors")
    weights["embeddings.LayerNorm.bias"][0] += 1
    save_file(weights, tiny_bert / "model.safetensors")
    others.append(BertEncoder(tiny_bert, "x").identity)
    assert len({first, *others}) == 6


def only_a_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def another_model(folder: Path) -> None:
    change_config(folder, model_type="roberta")


def fewer_layers_than_promised(folder: Path) -> None:
    change_config(folder, num_hidden_layers=9)


def another_width(folder: Path) -> None:
    change_config(folder, hidden_size=8)


def no_sizes(folder: Path) -> None:
    (folder / "config.json").write_text("{}")


def cut_short(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])


def no_words(folder: Path) -> None:
    (folder / "vocab.txt").unlink()


def no_separator(folder: Path) -> None:
    path = folder / "vocab.txt"
    path.write_text(path.read_text().replace("[SEP]", "[DOT]"))


def more_words_than_vectors(folder: Path) -> None:
    path = folder / "vocab.txt"
    path.write_text(path.read_text() + "extra\n")


def change_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (only_a_pickle, InputError, r"only pytorch_model\.bin, a pickle.*save_pretrained"),
        (another_model, InputError, r"has model_type 'roberta'; expected 'bert'"),
        (fewer_layers_than_promised, SavedFileError, r"encoder\.layer\.3.* is missing"),
        (another_width, SavedFileError, r"word_embeddings\.weight is of shape \[\d+, 16\]"),
        (no_sizes, SavedFileError, r"not the configuration of a BERT"),
        (cut_short, SavedFileError, r"model\.safetensors' cannot be read"),
        (
            no_separator,
            SavedFileError,
            r"vocab\.txt' cannot be read \(expected \[CLS\] and \[SEP\]",
        ),
        (more_words_than_vectors, SavedFileError, r"62 tokens .* vectors for 61"),
        (no_words, InputError, r"vocab\.txt is missing from .*expected config\.json"),
    ],
)
def test_folders_that_cannot_be_used(
    tiny_bert: Path, damage: Callable[[Path], None], error: type[UnseenError], message: str
) -> None:
    damage(tiny_bert)
    with pytest.raises(error, match=message):
        get_encoder(f"bert-tiny:{tiny_bert}")


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        get_encoder(f"bert-tiny:{tmp_path / 'nowhere'}")


def test_without_the_hub_the_message_says_what_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import huggingface_hub

    def nothing_local(*_args: object, local_files_only: bool, **_options: object) -> str:
        assert local_files_only, "the hub must not be asked when it does not answer"
        raise FileNotFoundError

    def no_network(*_args: object, **_options: object) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", nothing_local)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "urlopen", no_network)
    with pytest.raises(InputError, match=r'cannot be reached.*"bert-tiny:FOLDER"; "static" always'):
        get_encoder("bert-tiny")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="HF_HUB_OFFLINE forbids it"):
        get_encoder("bert-tiny")


def test_the_hub_is_asked_for_one_pinned_revision(
    monkeypatch: pytest.MonkeyPatch, tiny_bert: Path
) -> None:
    import huggingface_hub

    asked: list[tuple[str, str, str]] = []

    def fetch(repo: str, file: str, *, revision: str, local_files_only: bool) -> str:
        asked.append((repo, file, revision))
        return str(tiny_bert / file)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fetch)
    assert get_encoder("bert-tiny").dimensions == 16
    assert asked == [(bert_tiny.HUB_ID, file, bert_tiny.REVISION) for file in bert_tiny.FILES]
