"""BERT's forward pass in plain PyTorch, for any size, from a folder of safetensors.

    h_0     = norm(word[t] + position[i] + type[0])
    a_l     = norm(h_{l-1} + W_o softmax(Q K' / sqrt(d / heads)) V + b_o)       l = 1..L
    h_l     = norm(a_l + W_2 gelu(W_1 a_l + b_1) + b_2)
    x       = (1 / m) * sum_{i=1..m} h_l[i]         over the m real tokens, [CLS] and [SEP] included

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", https://arxiv.org/abs/1810.04805
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unseen.core.errors import SavedFileError
from unseen.encode.bert_files import BertFiles

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

    from unseen.encode.base import Progress

TOKENS_A_BATCH = 4096  # padding included


class BertEncoder:
    """Masked mean of one layer of a BERT.

    Args:
        folder: holds config.json, model.safetensors, and tokenizer.json or vocab.txt.
        name: how the user asked for it.
        device: "cpu" or "cuda".
        max_length: tokens kept of a text, [CLS] and [SEP] included.
        layer: -1 for the last layer, -2 for the one before it.
        unit: scale vectors to length 1.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        device: str = "cpu",
        max_length: int = 512,
        layer: int = -1,
        unit: bool = False,
    ) -> None:
        files = BertFiles(folder)
        config = files.config()
        self.name, self.device, self.unit = name, device, unit
        self.dimensions = config.width
        self._heads, self._eps = config.heads, config.eps
        self._layers = config.layers + 1 + layer  # how many are run
        max_length = min(max_length, config.positions)
        self._tokenizer = files.tokenizer(max_length)
        self._weights = files.weights(config, self._layers, device)
        tokens = self._tokenizer.get_vocab_size()
        rows = len(self._weights["embeddings.word_embeddings.weight"])
        if tokens > rows:
            raise SavedFileError(
                f"encoder: the tokenizer in {str(folder)!r} has {tokens:,} tokens but the weights "
                f"have vectors for {rows:,}; they do not belong together"
            )
        self.identity = f"bert mean layer {layer} length {max_length} unit {unit} {files.digest()}"

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return the pooled vector of each text, [n, d]; texts of like length run together."""
        import torch

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        tokens = [found.ids for found in self._tokenizer.encode_batch_fast(list(texts))]
        done = 0
        with torch.inference_mode():
            for rows in _batches([len(ids) for ids in tokens]):
                vectors[rows] = self._pooled([tokens[row] for row in rows]).cpu().numpy()
                done += len(rows)
                if progress is not None:
                    progress("encode texts", done, len(texts))
        return vectors

    def _pooled(self, tokens: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the masked mean of the chosen layer, [b, d]."""
        import torch

        lengths = torch.tensor([len(ids) for ids in tokens])  # [b]
        longest = int(lengths.max())
        padded = torch.zeros((len(tokens), longest), dtype=torch.long)  # [b, m]
        for row, ids in enumerate(tokens):
            padded[row, : len(ids)] = torch.tensor(ids)
        real = (torch.arange(longest) < lengths[:, None]).to(self.device)  # [b, m]
        hidden = self._hidden(padded.to(self.device), None if real.all() else real)  # [b, m, d]
        weights = real.to(hidden.dtype).unsqueeze(-1)  # [b, m, 1]
        pooled = (hidden * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1e-9)
        return torch.nn.functional.normalize(pooled, dim=1) if self.unit else pooled

    def _hidden(self, tokens: torch.Tensor, real: torch.Tensor | None) -> torch.Tensor:
        """Return the output of the last layer that is run, [b, m, d]."""
        from torch.nn import functional

        w, eps = self._weights, self._eps
        b, m = tokens.shape
        d, heads = self.dimensions, self._heads
        mask = None if real is None else real[:, None, None, :]  # [b, 1, 1, m]

        def norm(x: torch.Tensor, at: str) -> torch.Tensor:
            return functional.layer_norm(
                x, (d,), w[f"{at}.LayerNorm.weight"], w[f"{at}.LayerNorm.bias"], eps
            )

        def linear(x: torch.Tensor, at: str) -> torch.Tensor:
            return functional.linear(x, w[f"{at}.weight"], w[f"{at}.bias"])

        x = functional.embedding(tokens, w["embeddings.word_embeddings.weight"])  # [b, m, d]
        x = x + w["embeddings.position_embeddings.weight"][:m]
        x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for layer in range(self._layers):
            at = f"encoder.layer.{layer}"
            q, k, v = (
                linear(x, f"{at}.attention.self.all").view(b, m, 3, heads, d // heads).unbind(2)
            )  # each [b, m, heads, d / heads]
            mixed = functional.scaled_dot_product_attention(
                q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask
            )  # [b, heads, m, d / heads]
            mixed = mixed.transpose(1, 2).reshape(b, m, d)
            x = norm(x + linear(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output")
            wide = functional.gelu(linear(x, f"{at}.intermediate.dense"))  # [b, m, 4 d]
            x = norm(x + linear(wide, f"{at}.output.dense"), f"{at}.output")
        return x


def _batches(lengths: Sequence[int]) -> Iterator[NDArray[np.intp]]:
    """Yield rows of like length, the longest first, so that little is padding."""
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    while start < len(order):
        size = max(1, TOKENS_A_BATCH // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size
