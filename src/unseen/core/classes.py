"""`Classes`: what a node may be."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.core.errors import InputError, quoted, shortlist
from unseen.core.html import html_table, short

NONE_OF_THESE = "none of these"  # the answer for a node that no class fits well enough
MOST_SHOWN, LONGEST_SHOWN = 5, 40  # names, and characters of each, in `repr`


def tidy(name: str) -> str:
    """Return a name with single spaces and composed accents, so that equal names are equal."""
    return unicodedata.normalize("NFC", " ".join(str(name).split()))


def whole_text(text: str, where: str) -> str:
    """Return a text that UTF-8 can hold: one with half of a surrogate pair is refused."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{where}: holds half of a surrogate pair; expected whole characters; remove it"
            ) from None
    return text


def missing(value: object) -> bool:
    """Tell whether a value stands for nothing: None, NaN, or what pandas has for them."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
    )


@dataclass(frozen=True, eq=False)
class Classes:
    """Names of the classes and, where there are any, a sentence or more about each.

    Args:
        names: in the order that answers follow; a choice needs two, added later may be one.
        descriptions: one for each name, None or "" where there is none.
        vectors: class vectors in hand, so that no encoder is needed for them. [C, d]
        unused_columns: what the table they came from held besides; no part of their value.

    >>> Classes(["cats", "dogs"], ["Purring pets.", None])
    Classes(2: cats, dogs)
    """

    names: Sequence[str]
    descriptions: Sequence[str | None] | None = None
    vectors: Any = None
    unused_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = tuple(tidy(name) for name in self.names)
        for i, name in enumerate(names):
            if not whole_text(name, f"classes: class {i + 1}"):
                raise InputError(f"classes: class {i + 1} has an empty name; name it")
            if "\0" in name:
                raise InputError(f"classes: class {i + 1} has a NUL in its name; remove it")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(f"classes: {shortlist(twice)} named more than once; merge or rename")
        folded = [name.replace("_", " ").casefold() for name in names]
        alike = [name for name, plain in zip(names, folded, strict=True) if folded.count(plain) > 1]
        if alike:
            raise InputError(
                f"classes: {shortlist(alike)} differ in capitals or underscores only; rename them"
            )
        if not names:
            raise InputError("classes: found none; name at least two")
        given = [None] * len(names) if self.descriptions is None else list(self.descriptions)
        if len(given) != len(names):
            raise InputError(f"classes: {len(names)} names but {len(given)} descriptions")
        descriptions = tuple(
            whole_text((text or "").strip(), f"classes: {quoted(name)}") or None
            for name, text in zip(names, given, strict=True)
        )
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "descriptions", descriptions)
        if self.vectors is not None:
            object.__setattr__(self, "vectors", _checked_vectors(self.vectors, names))

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Classes):
            return NotImplemented
        mine, theirs = self.vectors, other.vectors
        return (
            (self.names, self.descriptions) == (other.names, other.descriptions)
            and (mine is None) == (theirs is None)
            and (mine is None or np.array_equal(mine, theirs))
        )

    def __hash__(self) -> int:
        return hash((self.names, self.descriptions))

    def __repr__(self) -> str:
        shown = ", ".join(short(name, LONGEST_SHOWN) for name in self.names[:MOST_SHOWN])
        rest = len(self) - MOST_SHOWN
        return f"Classes({len(self)}: {shown}{f' and {rest} more' if rest > 0 else ''})"

    def _repr_html_(self) -> str:
        texts = (text or "" for text in self.descriptions or ())
        rows = zip(self.names, texts, strict=True)
        return html_table(f"{len(self)} classes", ("name", "description"), rows, len(self))

    def check_choice(self) -> None:
        """Refuse a single class: nothing would be left to choose."""
        if len(self) < 2:
            raise InputError(
                f"classes: found {len(self)}, but a choice needs at least two; "
                "add the names of the other classes"
            )

    def index(self) -> dict[str, int]:
        """Return the position of each name."""
        return {name: i for i, name in enumerate(self.names)}

    def select(self, which: Sequence[int]) -> Classes:
        """Return the classes at these positions, in this order."""
        texts = self.descriptions or ()
        return Classes(
            [self.names[i] for i in which],
            [texts[i] for i in which],
            None if self.vectors is None else self.vectors[list(which)],
        )

    def joined(self, other: Classes) -> Classes:
        """Return these classes followed by those of `other` that are not among them.

        A class that is in both has to be described alike, or not at all in `other`.
        """
        mine = dict(zip(self.names, self.descriptions or (), strict=True))
        for name, text in zip(other.names, other.descriptions or (), strict=True):
            if text and mine.get(name, text) != text:
                raise InputError(
                    f"classes: {quoted(name)} is described otherwise than when the model was "
                    "fitted, which it cannot take up; leave its description out, give the class "
                    "another name, or fit again"
                )
        new = [i for i, name in enumerate(other.names) if name not in set(self.names)]
        if not new:
            return self
        vectors, texts = None, other.descriptions or ()
        if self.vectors is not None and other.vectors is not None:
            if self.vectors.shape[1] != other.vectors.shape[1]:
                raise InputError(
                    f"classes: vectors have {self.vectors.shape[1]} dimensions, but those of the "
                    f"added classes have {other.vectors.shape[1]}; make both in the same way"
                )
            vectors = np.concatenate([self.vectors, other.vectors[new]])
        elif self.vectors is not None or other.vectors is not None:
            have, lack = ("first", "added") if other.vectors is None else ("added", "first")
            raise InputError(
                f"classes: the {have} classes come with vectors, the {lack} classes without; "
                "give vectors for both or for neither"
            )
        return Classes(
            [*self.names, *(other.names[i] for i in new)],
            [*(self.descriptions or ()), *(texts[i] for i in new)],
            vectors,
        )


def _checked_vectors(given: Any, names: tuple[str, ...]) -> Any:
    """Return one finite row a class as float32. [C, d]"""
    try:
        vectors = np.array(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"classes: vectors must be numbers, one row a class ({error})") from error
    if vectors.ndim != 2 or len(vectors) != len(names) or not vectors.shape[1]:
        raise InputError(
            f"classes: vectors have shape {vectors.shape}; expected [{len(names)}, d], one row "
            "for each class, in the order of the names"
        )
    wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(wrong):
        raise InputError(
            f"classes: the vector of {names[wrong[0]]!r} holds a value that is NaN or infinite; "
            "replace it with a number"
        )
    return vectors
