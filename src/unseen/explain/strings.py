"""Short strings as rows of bytes, which every engine can map and keep; titles of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 96  # bytes of a row
LONGEST = 60  # characters of a title
SENTENCE = re.compile(r"[.!?。！？](?=\s|$)|[\r\n]")


def packed(strings: Iterable[str]) -> NDArray[np.uint8]:
    """Return strings as UTF-8, cut or filled up with zeros. [b, WIDTH]"""
    rows = np.array([text.encode("utf-8", "replace")[:WIDTH] for text in strings], f"S{WIDTH}")
    return rows.view(np.uint8).reshape(-1, WIDTH)


def unpacked(rows: NDArray[np.uint8]) -> list[str]:
    """Return what was packed; of a letter that was cut in two nothing is left.

    >>> unpacked(packed(["kettle", "", "naïve"]))
    ['kettle', '', 'naïve']
    """
    whole = np.ascontiguousarray(rows).view(f"S{WIDTH}")[:, 0]
    return [each.decode("utf-8", "ignore") for each in whole.tolist()]


def title(text: str) -> str:
    """Return what a text would be called: its first sentence, or the beginning of it.

    >>> title("Enamel kettle. Boils water on any hob.")
    'Enamel kettle'
    """
    start = text.lstrip()[: 4 * LONGEST]
    end = SENTENCE.search(start)
    words = " ".join((start if end is None or end.start() < 2 else start[: end.start()]).split())
    if len(words) <= LONGEST:
        return words
    cut = words[: LONGEST - 3]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[LONGEST // 2 :] else cut}..."


class Titles:
    """Titles of nodes by position.

    Args:
        texts: of all nodes.
        engine: where its rows outlive memory, titles are read from texts once, in their order:
            neighbours lie anywhere.
    """

    def __init__(self, texts: Sequence[str] | Any, engine: Any) -> None:
        self._texts, self._rows = texts, None
        if engine.keeps:
            self._rows = engine.array(engine.map(_packed_titles, texts))

    def of(self, nodes: NDArray[np.int64]) -> list[str]:
        """Return the titles of some nodes; "" where there is no text."""
        if self._rows is None:
            return unpacked(_packed_titles([self._texts[i] for i in nodes.tolist()]))
        return unpacked(np.asarray(self._rows[nodes]))


def _packed_titles(texts: Sequence[str]) -> NDArray[np.uint8]:
    return packed(map(title, texts))
