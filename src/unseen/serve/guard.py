"""What stands before every request: id, log, limits, origin, token, and headers of the answer."""

from __future__ import annotations

import re
import threading
import time
import traceback
import uuid
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unseen.core.hosts import loopback
from unseen.serve.errors import body_of
from unseen.serve.metrics import Metrics
from unseen.serve.reply import reply
from unseen.serve.settings import Settings
from unseen.serve.state import log
from unseen.serve.tokens import Tokens

API = "/api/"
FREE = ("/api/v1/health",)  # paths of the API that need no token
READING = ("/api/v1/classify", "/api/v1/classes/preview")  # that change nothing, though posted
FILES = ("/api/v1/labels/import",)  # that take whole files
METHODS = ("POST", "PUT", "PATCH", "DELETE")
SENT_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
SECURITY = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        b"connect-src 'self'; font-src 'self'; worker-src 'self' blob:; base-uri 'none'; "
        b"form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
]
FORGOTTEN = 60.0  # seconds after which an address that asks nothing is forgotten


class TooLargeError(Exception):
    """The body is longer than allowed."""


class Rate:
    """A token bucket for each address: `rate` requests a second, `rate` at once."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def allows(self, address: str) -> bool:
        """Take one request off the bucket of an address."""
        if self.rate <= 0:
            return True
        at = time.monotonic()
        with self._lock:
            left, before = self._buckets.get(address, (self.rate, at))
            left = min(self.rate, left + (at - before) * self.rate)
            self._buckets[address] = (max(left - 1, -1.0) if left >= 1 else left, at)
            if len(self._buckets) > 10_000:
                fresh = {k: v for k, v in self._buckets.items() if at - v[1] < FORGOTTEN}
                self._buckets = fresh
        return left >= 1


class Guard:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, settings: Settings, tokens: Tokens, metrics: Metrics) -> None:
        self.app, self.settings, self.tokens, self.metrics = app, settings, tokens, metrics
        self.rate = Rate(settings.rate)
        self.busy = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        sent = headers.get(b"x-request-id", b"")
        request_id = sent.decode() if SENT_ID.fullmatch(sent) else uuid.uuid4().hex
        scope["request_id"] = request_id
        began, status, begun = time.perf_counter(), 500, False
        read, over, most = 0, False, self._most(scope)

        async def from_app(message: Message) -> None:
            if not over:  # whatever it makes of half a body is not told
                await respond(message)

        async def respond(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], True
                message["headers"] = [
                    *message.get("headers", ()),
                    *SECURITY,
                    (b"x-request-id", request_id.encode()),
                    *((b"cache-control", b"no-store"),) * (not _cached(message)),
                ]
            await send(message)

        async def limited() -> Message:
            nonlocal read, over
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                over = True
                raise TooLargeError
            return message

        self.busy += 1
        try:
            refused = self._refusal(scope, headers)
            if refused is None:
                with suppress(TooLargeError):
                    await self.app(scope, limited, from_app)
                refused = _too_large(most) if over else None
            if refused is not None and not begun:
                code, number, message, where, more = refused
                answer = reply(body_of(code, message, where, request_id), number, more)
                await answer(scope, receive, respond)
        except Exception as error:
            log("error", request_id=request_id, error=repr(error), trace=traceback.format_exc())
            if not begun:
                message = "something went wrong here; the log has the request id"
                body = body_of("internal", message, None, request_id)
                await reply(body, 500)(scope, receive, respond)
        finally:
            self.busy -= 1
            seconds = time.perf_counter() - began
            self.metrics.observe(scope, status, seconds)
            log(
                "request",
                request_id=request_id,
                method=scope["method"],
                path=scope["path"],
                status=status,
                ms=round(1000 * seconds, 2),
            )

    def _own_host(self, given: bytes) -> bool:
        """Tell whether a request was sent to a name of this machine.

        A page elsewhere may let its own name lead to this machine (DNS rebinding); its requests are
        then of one origin with ours, but they carry its name.
        """
        host = given.decode("latin-1").strip().lower()
        name = (
            host[1:].partition("]")[0] if host.startswith("[") else host.rpartition(":")[0] or host
        )
        return loopback(name) or name == self.settings.host.lower()

    def _most(self, scope: Scope) -> int:
        """Return how many bytes a request may have."""
        return self.settings.file if scope["path"] in FILES else self.settings.body

    def _refusal(
        self, scope: Scope, headers: dict[bytes, bytes]
    ) -> tuple[str, int, str, str | None, dict[str, str]] | None:
        """Return why a request is refused; None where it is not."""
        client = scope.get("client")
        if self.busy > self.settings.concurrency:
            message = "too many requests are under way; try again in a second"
            return "busy", 503, message, None, {"retry-after": "1"}
        path: str = scope["path"]
        if not self.tokens.needed and not self._own_host(headers.get(b"host", b"")):
            message = "without tokens only this machine's own names are answered to"
            return "wrong_host", 403, message, "host", {}
        if path in FREE or not path.startswith(API):
            return None
        if not self.rate.allows(client[0] if client else ""):
            message = f"more than {self.settings.rate:g} requests a second; slow down"
            return "too_many_requests", 429, message, None, {"retry-after": "1"}
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._most(scope):
            return _too_large(self._most(scope))
        may_read, may_write = self.tokens.rights(headers.get(b"authorization"))
        scope["may_write"] = may_write
        if not may_read:
            message = "a token is needed: send the header Authorization: Bearer TOKEN"
            return "unauthorized", 401, message, None, {"www-authenticate": "Bearer"}
        if scope["method"] in METHODS:
            if not _same_origin(headers):
                message = "writes are taken from this page's own origin only"
                return "wrong_origin", 403, message, "origin", {}
            if not may_write and path not in READING:
                return "forbidden", 403, "this token may read only; use a write token", None, {}
        return None


def _too_large(most: int) -> tuple[str, int, str, str | None, dict[str, str]]:
    return "too_large", 413, f"the body has more than {most:,} bytes; send less", "body", {}


def _same_origin(headers: dict[bytes, bytes]) -> bool:
    """Tell whether a browser sent this from our own page; programs send no origin."""
    site = headers.get(b"sec-fetch-site")
    if site is not None and site not in (b"same-origin", b"none"):
        return False
    origin = headers.get(b"origin")
    if origin is None:
        return True
    _, _, host = origin.partition(b"://")
    return host != b"" and host.lower() == headers.get(b"host", b"").lower()


def _cached(message: Any) -> bool:
    return any(name.lower() == b"cache-control" for name, _ in message.get("headers", ()))
