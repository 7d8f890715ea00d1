"""`static`: the mean of the vectors of a text's tokens. Offline, no network, no deep model.

    x = (1 / m) * sum_{i=1..m} E[t_i]          t_1..t_m the tokens of the text, E [32000, 256]

E and the tokenizer are files inside the `wordllama` wheel. The package itself is not imported: it
changes the logging of the whole program and looks for its tokenizer in a folder that is not there.

The tokenizer is byte-pair encoding over the whole text, but no token reaches across the start of a
word. So a text is cut at its spaces, each distinct word is tokenised once, and the sum over tokens
becomes two sparse products: words into tokens M [w, 32000], texts into words D [n, w],

    X = diag(D M 1)^-1 D (M E).
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import SavedFileError, UnseenError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.base import Progress

WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
BLOCK = 8192  # texts at a time
MEMO = 200_000  # distinct words remembered before starting afresh
WORD_MARK = "▁"  # how the tokenizer writes a space
WORD_START = re.compile(
    r"(?<=[^ ]) (?=.)", re.DOTALL
)  # of several spaces, the first one ends a word


class StaticEncoder:
    """Mean of static token vectors, 256 dimensions; a text without any token is the zero vector."""

    name = "static"

    def __init__(self) -> None:
        self._table, self._tokenizer, digest = _read(_package_folder())
        special = self._tokenizer.get_added_tokens_decoder().values()
        self._uncuttable = (WORD_MARK, *(token.content for token in special))
        self._tokens_of: dict[str, list[int]] = {}
        self.dimensions = int(self._table.shape[1])
        self.identity = f"static mean {self.dimensions} {digest}"

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return the mean token vector of each text, [n, d]."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            vectors[start : start + len(block)] = self._encode_block(block)
            if progress is not None:
                progress("encode texts", start + len(block), len(texts))
        return vectors

    def _encode_block(self, texts: Sequence[str]) -> NDArray[np.float32]:
        column: defaultdict[str, int] = defaultdict()
        column.default_factory = column.__len__  # a new word gets the next column
        words = [[column[word] for word in self.cut(text)] for text in texts]
        D = counts(words, len(column))  # [n, w]
        sums, lengths = self.word_sums(list(column))
        means: NDArray[np.float32] = (D @ sums) / np.maximum(D @ lengths, 1.0)[:, None]
        return means

    def word_sums(self, words: list[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the sum of the token vectors of each word, and how many there are. [w, d], [w]"""
        tokens = self._tokenise(words)
        M = counts(tokens, len(self._table))  # [w, tokens]
        sums: NDArray[np.float32] = M @ self._table
        return sums, np.fromiter(map(len, tokens), np.float32, len(tokens))

    def token_vectors(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return the vectors of a text's tokens, and the character that each begins at."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        starts = [lo if lo >= hi or not text[lo].isspace() else lo + 1 for lo, hi in found.offsets]
        rows: NDArray[np.float32] = self._table[np.array(found.ids, dtype=np.int64)]
        return rows, np.array(starts, dtype=np.int64)

    def cut(self, text: str) -> list[str]:
        """Return pieces of the text whose tokens, in order, are the tokens of the text."""
        if any(mark in text for mark in self._uncuttable):
            return [text]
        if "  " not in text and not text.startswith(" ") and not text.endswith(" "):
            return text.split(" ")
        return WORD_START.split(text)

    def _tokenise(self, words: list[str]) -> list[list[int]]:
        memo = self._tokens_of
        if len(memo) > MEMO:
            memo.clear()
        new = [word for word in words if word not in memo]
        found = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
        memo.update((word, tokens.ids) for word, tokens in zip(new, found, strict=True))
        return [memo[word] for word in words]


def counts(rows: list[list[int]], columns: int) -> Any:
    """Return how often each column occurs in each row, as a CSR array [len(rows), columns]."""
    ends = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    at = np.fromiter(chain.from_iterable(rows), np.int32, int(ends[-1]))
    ones = np.ones(len(at), dtype=np.float32)
    return sp.csr_array((ones, at, ends), shape=(len(rows), columns))


@lru_cache(maxsize=1)
def _read(folder: Path) -> tuple[NDArray[np.float32], Any, str]:
    """Return E [tokens, d], the tokenizer and the checksum of both; 0.1 s, so done once."""
    from safetensors.numpy import load
    from tokenizers import Tokenizer

    for path in (folder / WEIGHTS, folder / TOKENIZER):
        if not path.is_file():
            raise SavedFileError(
                f"encoder: {path.name} is missing from the wordllama package; "
                "put it back with pip install --force-reinstall wordllama==0.4.0.post1"
            )
    weights, settings = (folder / WEIGHTS).read_bytes(), (folder / TOKENIZER).read_bytes()
    table = load(weights)["embedding.weight"].astype(np.float32)
    table.setflags(write=False)  # every encoder shares it
    tokenizer = Tokenizer.from_buffer(settings)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return table, tokenizer, hashlib.sha256(weights + settings).hexdigest()


def _package_folder() -> Path:
    """Return where wordllama is installed, without importing it."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise UnseenError('encoder: "static" needs wordllama: pip install wordllama==0.4.0.post1')
    return Path(spec.submodule_search_locations[0])
