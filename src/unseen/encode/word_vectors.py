r"""Vectors of single words, of any words, from a small table of word pieces.

A word is cut into pieces :math:`t_1 \dots t_m` by WordPiece (Wu et al., 2016,
https://arxiv.org/abs/1609.08144), and its vector is the sum of theirs,

.. math:: e_v = \sum_{i=1}^{m} E_{t_i} \qquad E\ [30522, 128]

E was fitted once, so that these sums come close to what the sentence encoder all-MiniLM-L6-v2
makes of whole words (`results/word_vectors.py` has the equation, makes the file again, and says how
close). What that network knows about words is here without the network: in four megabytes, and in
milliseconds. A word of which no piece is known has the zero vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.errors import SavedFileError
from unseen.encode.static import counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE = Path(__file__).with_name("word_vectors.safetensors")
UNKNOWN = "[UNK]"
LONGEST = 100  # letters of a word that is cut; a longer one is unknown


class WordVectors:
    """The table: vectors of pieces, and what cuts words into them.

    Args:
        path: a safetensors file with `vectors` (int8), `scale` and `pieces`, a line each.
    """

    def __init__(self, path: Path = TABLE) -> None:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            found = load_file(path)
            pieces = bytes(found["pieces"]).decode("utf-8").split("\n")
            vectors, scale = found["vectors"], found["scale"]
        except (OSError, SafetensorError, KeyError, UnicodeDecodeError) as error:
            raise SavedFileError(
                f"encoder: {path.name}, which is part of unseen, cannot be read ({error}); "
                "install unseen again"
            ) from error
        self.dimensions = vectors.shape[1]
        self._table = vectors.astype(np.float32) * scale.astype(np.float32)[:, None]
        self._tokenizer = _tokenizer(pieces)

    def encode(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vector of each word. [w, 128]"""
        found = self._tokenizer.encode_batch_fast(list(words), add_special_tokens=False)
        M = counts([each.ids for each in found], len(self._table))  # [w, pieces]
        vectors: NDArray[np.float32] = M @ self._table
        return vectors


def word_pieces(pieces: Sequence[str], words: Sequence[str]) -> list[list[int]]:
    """Return the positions, in a list of pieces, of the pieces of each word."""
    found = _tokenizer(pieces).encode_batch_fast(list(words), add_special_tokens=False)
    return [each.ids for each in found]


@cache
def word_vectors() -> WordVectors:
    """Return the table that comes with the package, read once."""
    return WordVectors()


def _tokenizer(pieces: Sequence[str]) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    model = WordPiece(
        {piece: at for at, piece in enumerate(pieces)},
        unk_token=UNKNOWN,
        max_input_chars_per_word=LONGEST,
    )
    made = Tokenizer(model)
    made.normalizer, made.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    return made
