"""Several encoders as one: the cosine of joined vectors is the mean of the cosines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.core.arrays import unit
from unseen.core.errors import InputError
from unseen.encode.base import Progress, encode, get_encoder
from unseen.encode.joined import JoinedEncoder

TEXTS = ["a cat purrs", "a dog barks", "a bird sings at dawn", ""]


class Letters:
    """Counts some letters, and how often it is asked."""

    def __init__(self, letters: str) -> None:
        self.name = self.identity = f"letters {letters}"
        self.letters, self.dimensions, self.asked = letters, len(letters), 0

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        self.asked += 1
        return np.array([[t.count(x) for x in self.letters] for t in texts], dtype=np.float32)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path))


def test_the_cosine_is_the_mean_of_the_cosines() -> None:
    parts = [Letters("abcd"), Letters("nrsgi")]
    joined = JoinedEncoder(parts)
    X = encode(joined, TEXTS[:3])
    assert X.shape == (3, joined.dimensions)
    cosines = [unit(part.encode(TEXTS[:3])) for part in parts]
    np.testing.assert_allclose(X @ X.T, np.mean([E @ E.T for E in cosines], axis=0), atol=1e-6)
    np.testing.assert_allclose(joined.encode(TEXTS[:3]), X, atol=1e-6)


def test_each_part_keeps_its_own_cache() -> None:
    parts = [Letters("abcd"), Letters("nrsgi")]
    encode(parts[0], TEXTS)
    encode(JoinedEncoder(parts), TEXTS)
    encode(JoinedEncoder(parts[::-1]), TEXTS)
    assert [part.asked for part in parts] == [1, 1]


def test_a_plus_joins() -> None:
    joined = get_encoder("static+static")
    assert isinstance(joined, JoinedEncoder)
    assert joined.name == "static+static"
    assert joined.dimensions == 512
    static = unit(encode(get_encoder("static"), TEXTS[:3]))
    X = encode(joined, TEXTS[:3])
    np.testing.assert_allclose(X @ X.T, static @ static.T, atol=1e-5)


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(InputError, match="'nothing' is unknown"):
        get_encoder("static+nothing")
