"""Texts into vectors: "static" on short descriptions, "minilm" against sentence-transformers.

    python benchmarks/encoding.py [--small]

Texts are words of the standard library's documentation, drawn at random with their frequencies.
sentence-transformers loads the same files as "minilm" in the same process; they take turns.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from common import alternate, cores, keep, table, versions

import unseen
from unseen.encode.base import encode, get_encoder
from unseen.encode.transformer import MINILM_LENGTH, MINILM_PACKAGE

PEER = "sentence-transformers"
STATIC_LIMIT = 8.0  # seconds for 100,000 descriptions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="few texts: only to see it run")
    parser.add_argument("--repeats", type=int, default=2)
    chosen = parser.parse_args()
    short, few = (2_000, 16) if chosen.small else (100_000, 1_024)
    texts = unseen.load_dataset("stdlib").graph.texts or ()
    words = [word for text in texts for word in text.split()]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["UNSEEN_CACHE"] = folder  # nothing is known at the start
        static = _static(drawn(words, short, 10, 15), chosen.repeats)
    sets = {
        "10 to 15 words": drawn(words, few, 10, 15),
        "3 to 120 words": drawn(words, few // 4, 3, 120),
    }
    minilm = [row for name, texts in sets.items() for row in _minilm(name, texts, chosen.repeats)]
    print(table(static))
    print()
    print(table(minilm))
    result = {
        "cores": cores(),
        "versions": versions("unseen", "torch", "tokenizers", PEER, "transformers"),
        "static": static,
        "minilm": minilm,
    }
    print(f"\nwritten to {keep('encoding', chosen.small, result)}")


def drawn(words: list[str], count: int, least: int, most: int) -> list[str]:
    """Return distinct texts of `least` to `most` words."""
    rng = np.random.default_rng(0)
    found: dict[str, None] = {}
    while len(found) < count:
        picked = rng.integers(len(words), size=rng.integers(least, most + 1))
        found[" ".join(words[i] for i in picked)] = None
    return list(found)


def _static(texts: list[str], repeats: int) -> list[dict[str, Any]]:
    """Time the encoder alone, with an empty store, with a full one, and with every text thrice."""
    works: dict[str, Callable[[], Any]] = {
        "static, as it is loaded": lambda: get_encoder("static"),
        "static, no store": lambda: encode(get_encoder("static"), texts, cache=False),
        "static, every text 3 times": lambda: encode(get_encoder("static"), texts * 3, cache=False),
        "static, empty store": lambda: _anew(texts),
        "static, full store": lambda: encode(get_encoder("static"), texts),
    }
    return [
        {"route": name, "texts": len(texts), "seconds": min(seconds), "limit": STATIC_LIMIT}
        for name, seconds in alternate(works, repeats).items()
    ]


def _anew(texts: list[str]) -> None:
    for path in Path(os.environ["UNSEEN_CACHE"]).rglob("*.sqlite"):
        path.unlink()
    encode(get_encoder("static"), texts)


def _minilm(name: str, texts: list[str], repeats: int) -> list[dict[str, Any]]:
    if find_spec(MINILM_PACKAGE) is None:
        return [_absent(name, "minilm")]
    ours = get_encoder("minilm")
    found: dict[str, Any] = {}
    works: dict[str, Callable[[], Any]] = {
        "minilm": lambda: found.update(minilm=encode(ours, texts, cache=False))
    }
    if find_spec("sentence_transformers") is not None:
        peer = _peer()
        works[PEER] = lambda: found.update({PEER: peer.encode(texts, show_progress_bar=False)})
    for work in works.values():
        work()  # warm
    seconds = {route: min(times) for route, times in alternate(works, repeats).items()}
    rows: list[dict[str, Any]] = [
        {
            "texts": name,
            "route": route,
            "a second": len(texts) / value,
            "ratio": value / seconds.get(PEER, np.nan),
            "off": float(np.abs(found[route] - found.get(PEER, np.nan)).max()),
        }
        for route, value in seconds.items()
    ]
    if PEER not in seconds:
        rows.append(_absent(name, PEER))
    return rows


def _absent(name: str, route: str) -> dict[str, Any]:
    return {"texts": name, "route": route, "a second": "not installed", "ratio": "", "off": ""}


def _peer() -> Any:
    """Return the same weights, pooling and length in sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    try:
        from sentence_transformers.sentence_transformer import modules
    except ImportError:  # before version 5
        from sentence_transformers import models as modules

    spec = find_spec(MINILM_PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations
    folder = str(Path(spec.submodule_search_locations[0]) / "model")
    words = modules.Transformer(folder, max_seq_length=MINILM_LENGTH)
    return SentenceTransformer(
        modules=[words, modules.Pooling(384, "mean"), modules.Normalize()], device="cpu"
    )


if __name__ == "__main__":
    main()
