"""An encoder that counts what it is asked, and a small random BERT in a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unseen.encode.base import Progress

WIDTH, INNER, HEADS, LAYERS, POSITIONS = 16, 32, 4, 3, 24
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
VOCABULARY = [*WORDS, *(f"##{letter}" for letter in WORDS[5:]), "cafe", "graph", "node", "."]


class CountingEncoder:
    """Three numbers that depend on the text alone; remembers every text it was given."""

    name = "counting"
    dimensions = 3

    def __init__(self, identity: str = "counting 1", fail_after: int | None = None) -> None:
        self.identity = identity
        self.fail_after = fail_after
        self.calls: list[list[str]] = []

    @property
    def seen(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        if len(self.calls) == self.fail_after:
            raise KeyboardInterrupt
        self.calls.append(list(texts))
        rows = [[len(text), sum(map(ord, text)), len(self.identity)] for text in texts]
        return np.array(rows, dtype=np.float32)


def write_tiny_bert(folder: Path) -> Path:
    """Write a BERT with random weights, as small as can be: 3 layers, 16 wide, 4 heads."""
    from safetensors.numpy import save_file

    folder.mkdir()
    random = np.random.default_rng(0)

    def draw(*shape: int) -> NDArray[np.float32]:
        return random.normal(0, 0.5, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": draw(len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": draw(POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": draw(2, WIDTH),
        "embeddings.LayerNorm.weight": draw(WIDTH),
        "embeddings.LayerNorm.bias": draw(WIDTH),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        for part, rows, columns in (
            ("attention.self.query", WIDTH, WIDTH),
            ("attention.self.key", WIDTH, WIDTH),
            ("attention.self.value", WIDTH, WIDTH),
            ("attention.output.dense", WIDTH, WIDTH),
            ("intermediate.dense", INNER, WIDTH),
            ("output.dense", WIDTH, INNER),
        ):
            tensors[f"{at}.{part}.weight"] = draw(rows, columns)
            tensors[f"{at}.{part}.bias"] = draw(rows)
        for part in ("attention.output", "output"):
            tensors[f"{at}.{part}.LayerNorm.weight"] = draw(WIDTH)
            tensors[f"{at}.{part}.LayerNorm.bias"] = draw(WIDTH)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "max_position_embeddings": POSITIONS,
        "vocab_size": len(VOCABULARY),
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder
