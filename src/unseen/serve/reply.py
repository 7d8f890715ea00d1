"""Answers as JSON: written once, by a compiled encoder, without a second look at their shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    return value.item()


def reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a value as a JSON response; NaN becomes null."""
    return Response(
        to_json(value, inf_nan_mode="null", fallback=_plain),
        status,
        dict(headers) if headers else None,
        "application/json",
    )
