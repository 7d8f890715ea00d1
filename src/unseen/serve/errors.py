"""Errors of the API: one shape, a code for machines and a sentence for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteException

from unseen.core.errors import HEAD, MOST, UnseenError, cut
from unseen.serve.reply import reply

if TYPE_CHECKING:
    from starlette.responses import Response

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    413: "too_large",
    415: "unsupported",
    422: "invalid",
    429: "too_many_requests",
    500: "internal",
    503: "busy",
}


class ApiError(HTTPException):
    """A refusal: status, sentence, and where in the request the reason lies."""

    def __init__(
        self,
        status: int,
        message: str,
        where: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(status, cut(message, MOST, HEAD), headers)
        self.where, self.code = where, code or CODES.get(status, "error")


def body_of(code: str, message: str, where: str | None, request_id: str | None) -> dict[str, Any]:
    """Return the body of every error."""
    return {"error": {"code": code, "message": message, "where": where, "request_id": request_id}}


def install(app: FastAPI) -> None:
    """Give every error its shape."""

    def say(
        request: Request,
        status: int,
        message: str,
        where: str | None = None,
        code: str | None = None,
        headers: Any = None,
    ) -> Response:
        found = body_of(
            code or CODES.get(status, "error"), message, where, request.scope.get("request_id")
        )
        return reply(found, status, headers)

    @app.exception_handler(ApiError)
    async def refused(request: Request, error: ApiError) -> Response:
        return say(request, error.status_code, error.detail, error.where, error.code, error.headers)

    @app.exception_handler(StarletteException)
    async def unfound(request: Request, error: StarletteException) -> Response:
        message = {
            404: "there is nothing at this address; the paths are in /api/v1/openapi.json",
            405: "this address takes other methods; they are in /api/v1/openapi.json",
        }.get(error.status_code, str(error.detail))
        return say(request, error.status_code, message, headers=error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
        if first["type"] == "json_invalid":
            return say(request, 400, "the body is not JSON; send an object", where)
        return say(request, 422, f"{where}: {first['msg']}", where)

    @app.exception_handler(UnseenError)
    async def unusable(request: Request, error: UnseenError) -> Response:
        where, _, _ = str(error).partition(":")
        return say(request, 422, " ".join(str(error).split()), where)

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        return say(request, 500, "something went wrong here; the log has the request id")
