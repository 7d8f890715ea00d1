"""The files of a BERT: configuration, tokenizer and safetensors, each checked as it is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.core.errors import InputError, SavedFileError

if TYPE_CHECKING:
    import torch

EXPECTED = "config.json, model.safetensors, and tokenizer.json or vocab.txt"
PLAIN = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}


@dataclass(frozen=True)
class BertConfig:
    """The sizes of a BERT, and the small number in its layer norms."""

    width: int  # d
    inner: int  # width of the feed-forward part
    heads: int
    layers: int
    positions: int
    eps: float


class BertFiles:
    """The three files of a folder that are read; nothing in them is ever run as code."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"encoder: there is no folder {str(folder)!r}")
        self.folder = folder
        self._config = folder / "config.json"
        self._weights = folder / "model.safetensors"
        fast = folder / "tokenizer.json"
        self._tokenizer = fast if fast.is_file() else folder / "vocab.txt"
        if not self._weights.is_file() and (folder / "pytorch_model.bin").is_file():
            raise InputError(
                f"encoder: {str(folder)!r} has only pytorch_model.bin, a pickle, which may run "
                "code when it is opened and is never read here; get the model as "
                "model.safetensors, or load it with transformers and call save_pretrained()"
            )
        for path in (self._config, self._weights, self._tokenizer):
            if not path.is_file():
                raise InputError(
                    f"encoder: {path.name} is missing from {str(folder)!r}; expected {EXPECTED}"
                )

    def digest(self) -> str:
        """Return a digest of all that decides the vectors."""
        settings = self.folder / "tokenizer_config.json"
        paths = [self._config, self._weights, self._tokenizer]
        if self._tokenizer.suffix == ".txt" and settings.is_file():
            paths.append(settings)
        return hashlib.sha256("".join(map(file_digest, paths)).encode()).hexdigest()

    def config(self) -> BertConfig:
        """Read the sizes; refuse what the forward pass would get wrong."""
        try:
            found = json.loads(self._config.read_text(encoding="utf-8"))
            config = BertConfig(
                width=int(found["hidden_size"]),
                inner=int(found["intermediate_size"]),
                heads=int(found["num_attention_heads"]),
                layers=int(found["num_hidden_layers"]),
                positions=int(found["max_position_embeddings"]),
                eps=float(found.get("layer_norm_eps", 1e-12)),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SavedFileError(
                f"encoder: {str(self._config)!r} is not the configuration of a BERT ({error!r})"
            ) from error
        for key, expected in PLAIN.items():
            if found.get(key, expected) != expected:
                raise InputError(
                    f"encoder: {str(self._config)!r} has {key} {found[key]!r}; "
                    f"expected {expected!r}, as in a plain BERT"
                )
        return config

    def tokenizer(self, max_length: int) -> Any:
        """Read the tokenizer, without padding, cut at `max_length` tokens."""
        from tokenizers import Tokenizer

        try:
            if self._tokenizer.suffix == ".json":
                tokenizer = Tokenizer.from_file(str(self._tokenizer))
            else:
                settings = self.folder / "tokenizer_config.json"
                known = json.loads(settings.read_text("utf-8")) if settings.is_file() else {}
                tokenizer = _word_pieces(self._tokenizer, bool(known.get("do_lower_case", True)))
        except Exception as error:  # the tokenizers library raises nothing more specific
            raise SavedFileError(
                f"encoder: {str(self._tokenizer)!r} cannot be read ({error})"
            ) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_length)
        return tokenizer

    def weights(self, config: BertConfig, layers: int, device: str) -> dict[str, torch.Tensor]:
        """Read what the first `layers` layers need; Q, K and V of a layer become one matrix."""
        import torch
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            raw = load_file(self._weights, device="cpu")
        except (SafetensorError, OSError) as error:
            raise SavedFileError(
                f"encoder: {str(self._weights)!r} cannot be read ({error})"
            ) from error
        found = {_modern(name): tensor for name, tensor in raw.items()}
        kept: dict[str, torch.Tensor] = {}
        for name, shape in _tensors(config, layers):
            tensor = found.get(name)
            if tensor is None or tuple(tensor.shape)[-len(shape) :] != shape:
                state = "missing" if tensor is None else f"of shape {list(tensor.shape)}"
                raise SavedFileError(
                    f"encoder: {str(self._weights)!r} is not the BERT that config.json describes: "
                    f"{name} is {state}, expected [.., {', '.join(map(str, shape))}]"
                )
            kept[name] = tensor.to(device=device, dtype=torch.float32)
        for layer in range(layers):
            at = f"encoder.layer.{layer}.attention.self"
            for kind in ("weight", "bias"):
                parts = [kept.pop(f"{at}.{part}.{kind}") for part in ("query", "key", "value")]
                kept[f"{at}.all.{kind}"] = torch.cat(parts)  # [3 d, d] or [3 d]
        return kept


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _word_pieces(path: Path, lowercase: bool) -> Any:
    """Return BERT's tokenizer for a list of word pieces, one a line."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordPiece.from_file(str(path), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)  # with accents stripped
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    if first is None or last is None:
        raise ValueError("expected [CLS] and [SEP] among its lines")
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", last), ("[CLS]", first))
    return tokenizer


def _modern(name: str) -> str:
    """Return the name of a tensor as newer checkpoints spell it."""
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace(
        "LayerNorm.beta", "LayerNorm.bias"
    )


def _tensors(config: BertConfig, layers: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the name and the last sizes of each tensor."""
    d = config.width
    yield "embeddings.word_embeddings.weight", (d,)
    yield "embeddings.position_embeddings.weight", (config.positions, d)
    yield "embeddings.token_type_embeddings.weight", (d,)
    yield "embeddings.LayerNorm.weight", (d,)
    yield "embeddings.LayerNorm.bias", (d,)
    for layer in range(layers):
        at = f"encoder.layer.{layer}"
        for part, rows, columns in (
            ("attention.self.query", d, d),
            ("attention.self.key", d, d),
            ("attention.self.value", d, d),
            ("attention.output.dense", d, d),
            ("intermediate.dense", config.inner, d),
            ("output.dense", d, config.inner),
        ):
            yield f"{at}.{part}.weight", (rows, columns)
            yield f"{at}.{part}.bias", (rows,)
        for part in ("attention.output", "output"):
            yield f"{at}.{part}.LayerNorm.weight", (d,)
            yield f"{at}.{part}.LayerNorm.bias", (d,)
