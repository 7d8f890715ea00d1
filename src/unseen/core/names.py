"""Names that were given: ids of nodes, words and names of feature columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any
from unicodedata import normalize

import numpy as np

from unseen.core.classes import missing, whole_text
from unseen.core.errors import InputError, quoted, shortlist

MAX_NAMED = 3  # offenders named in one message


def check_ordered(what: str, given: Any) -> None:
    """Refuse what does not say which is whose: a string, a set, a dictionary."""
    if isinstance(given, str | Set | Mapping):
        raise InputError(f"{what}: found one {type(given).__name__}; expected a list in order")


def checked_ids(given: Sequence[Any]) -> tuple[str, ...]:
    """Return ids as text; whole numbers are ids too, but no fraction and no gap is one."""
    check_ordered("ids", given)
    found = []
    for i, name in enumerate(given):
        if isinstance(name, float | np.floating) and float(name).is_integer():
            name = int(name)
        elif missing(name) or isinstance(name, float | np.floating | bytes | list | dict | Set):
            raise InputError(
                f"ids: row {i + 1} has {quoted(name)}; expected text or a whole number; convert it"
            )
        found.append(whole_text(str(name), f"ids: row {i + 1}"))
        if not found[-1].strip() or "\0" in found[-1]:
            raise InputError(f"ids: row {i + 1} has {quoted(name)}; every node needs an id")
    return tuple(found)


def check_unique_ids(ids: tuple[str, ...]) -> None:
    """Refuse ids that are the same in a file: accents composed, without spaces around."""
    plain = [i.strip() if i.isascii() else normalize("NFC", i.strip()) for i in ids]
    if len(set(plain)) < len(ids):
        twice = [name for name, count in Counter(plain).items() if count > 1]
        raise InputError(
            f"ids: {len(twice):,} occur more than once ({shortlist(twice, MAX_NAMED)}); "
            "every node needs an id of its own"
        )


def checked_words(what: str, given: Sequence[Any]) -> tuple[str, ...]:
    """Return what the feature columns count, or are called."""
    check_ordered(what, given)
    words = tuple(given)
    gap = next((at for at, word in enumerate(words) if missing(word)), None)
    if gap is not None:
        raise InputError(f"{what}: column {gap + 1} has none; expected one for each; name it")
    return tuple(whole_text(str(word), f"{what}: {quoted(word)}") for word in words)
