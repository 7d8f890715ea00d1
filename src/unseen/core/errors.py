"""What a user can get wrong, as exceptions that say where, what was expected and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any


class UnseenError(Exception):
    """Base of every error raised on purpose; the command line prints it as one line."""


class InputError(UnseenError, ValueError):
    """The graph, the classes or the labels cannot be used as they are."""


class MissingDataError(InputError):
    """A published data set, or a part of it, has not been fetched."""


class SavedFileError(UnseenError):
    """A saved run or model is damaged, incomplete, or of a newer format."""


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
    items = [repr(str(name)) for name in names]
    rest = len(items) - most
    return ", ".join(items[:most]) + (f" and {rest} more" if rest > 0 else "")
