"""What a user can get wrong, as exceptions that say where, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

MOST, HEAD = 500, 300  # characters of a message, and of its beginning where it is cut
LONGEST = 60  # characters of a name or a cell that a message quotes


class UnseenError(Exception):
    """Base of every error raised on purpose; the command line prints it as one line.

    Whatever a cell holds, a message is short: what is too long is cut in its middle, so that where
    it was found and what to do remain.
    """

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(cut(str(message), MOST, HEAD), *more)


class InputError(UnseenError, ValueError):
    """The graph, the classes or the labels cannot be used as they are."""


class MissingDataError(InputError):
    """A published data set, or a part of it, has not been fetched."""


class SavedFileError(UnseenError):
    """A saved run or model is damaged, incomplete, or of a newer format."""


class WriteError(UnseenError, OSError):
    """A file or folder could not be written: no room, no permission, no memory."""


class MissingExtraError(UnseenError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs an optional dependency: pip install "unseen[{extra}]"')
        self.what, self.extra = what, extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.extra)  # so that it can come out of another process


def require(module: str, extra: str, what: str) -> Any:
    """Import a module of an optional dependency, or say which extra `what` needs."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(what, extra) from error


def shortlist(names: Iterable[object], most: int = 5) -> str:
    """Return the first few names quoted for an error message, and how many more there are."""
    items = list(names)
    rest = len(items) - most
    if not items:
        return "nothing"
    return ", ".join(map(quoted, items[:most])) + (f" and {rest} more" if rest > 0 else "")


def quoted(value: object) -> str:
    """Return a name or a cell in quotes, cut to a length that fits a message."""
    return repr(cut(str(value), LONGEST, LONGEST - 3))


def cut(text: str, most: int, head: int) -> str:
    """Return a text of at most `most` characters: its head, "..." and as much of its end.

    >>> cut("from beginning to end", 10, 4)
    'from...end'
    """
    tail = most - head - 3
    return text if len(text) <= most else f"{text[:head]}...{text[len(text) - tail :]}"
