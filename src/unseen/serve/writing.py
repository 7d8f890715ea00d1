"""Writes: who asks, under which idempotency key, and the answer that a repeat gets again."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Header, Request
from starlette.responses import Response

from unseen.serve.errors import ApiError
from unseen.serve.reply import reply
from unseen.serve.store import KeyReusedError, Store

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=128,
        description="A repeat with the same key and body gives the first answer again.",
    ),
]
VISIBLE = re.compile(r"[\x21-\x7e]{1,128}")


def written(
    store: Store,
    request: Request,
    key: str | None,
    body: Any,
    work: Callable[[sqlite3.Connection], tuple[int, dict[str, Any]]],
    after: Callable[[dict[str, Any]], None] | None = None,
) -> Response:
    """Do a write once, answer, and then do what has to wait for the commit."""
    if key is not None and not VISIBLE.fullmatch(key):
        raise ApiError(
            422, "Idempotency-Key: expected 1 to 128 visible characters", "Idempotency-Key"
        )
    try:
        status, found, repeat = store.once(key, [request.url.path, body], work)
    except KeyReusedError as error:
        raise ApiError(
            409,
            "Idempotency-Key: was used for another request; take a new one",
            "Idempotency-Key",
            "idempotency_key_reused",
        ) from error
    except sqlite3.OperationalError as error:
        raise ApiError(
            503,
            f"the store cannot be written now ({error}); try again",
            headers={"Retry-After": "1"},
        ) from error
    if after is not None and not repeat:
        after(found)
    return reply(found, status, {"Idempotent-Replay": "true"} if repeat else None)
