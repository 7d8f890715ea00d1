"""Pages of a list: a limit, and a cursor that says where the next page begins."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Query

from unseen.serve.errors import ApiError

Limit = Annotated[int, Query(ge=1, le=200, description="Items of a page.")]
Cursor = Annotated[str | None, Query(max_length=64, description="`next` of the page before.")]
FURTHEST = 10**12


def offset_of(cursor: str | None) -> int:
    """Return where a page begins."""
    if not cursor:
        return 0
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"==").decode("ascii")
        if raw[:1] != "o" or not raw[1:].isdecimal() or not 0 <= int(raw[1:]) < FURTHEST:
            raise ValueError(raw)
        return int(raw[1:])
    except (ValueError, UnicodeError, binascii.Error) as error:
        raise ApiError(
            422, "cursor: is none that was given here; leave it out to begin", "cursor"
        ) from error


def cursor_at(offset: int) -> str:
    """Return a cursor for a page that begins there."""
    return base64.urlsafe_b64encode(f"o{offset}".encode()).decode().rstrip("=")


def page(
    everything: Any, limit: int, cursor: str | None, show: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return a page of something that is all at hand."""
    offset = offset_of(cursor)
    items = everything[offset : offset + limit]
    return pages(show(items), offset, limit, len(everything))


def pages(items: list[Any], offset: int, limit: int, total: int | None) -> dict[str, Any]:
    """Return items as a page; more follow where it is full."""
    more = offset + len(items) < total if total is not None else len(items) == limit
    return {
        "items": items,
        "next": cursor_at(offset + len(items)) if more and items else None,
        "total": total,
    }
