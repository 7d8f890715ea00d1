"""One question to an endpoint that speaks OpenAI's protocol, and nothing said about the key.

The key goes into one header, to the host that was named: redirects are not followed, plain http is
for the own machine only, and what a server says is shown without the key.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from unseen.core.errors import InputError, UnseenError
from unseen.core.hosts import loopback

KEY = "UNSEEN_API_KEY"  # the environment variable
LARGEST = 1_000_000  # bytes of an answer
LONGEST_WAIT = 120.0  # seconds between two tries
LONGEST_TIMEOUT = 3600.0  # seconds for one answer
TRIES = 5
BUSY = (408, 409, 425, 429, 500, 502, 503, 504)


class AnswerError(UnseenError):
    """One class could not be described; others may be."""


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, whom, and how patiently.

    Args:
        url: up to and with `/v1`; http or https.
        model: as the server calls it.
        key: sent as a bearer token; no part of `repr`.
        timeout: seconds for one answer.
        sleep: waits; replaced in tests.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise InputError(
                f"timeout: found {self.timeout:g}; expected up to {LONGEST_TIMEOUT:g} seconds"
            )
        if any(ord(letter) < 33 or ord(letter) > 126 for letter in self.url):
            raise InputError("endpoint: the address holds blanks or letters that none has")
        try:
            parts = urlsplit(self.url)
            host, _ = parts.hostname, parts.port
        except ValueError as error:
            raise InputError("endpoint: is no address; expected http(s)://host/v1") from error
        if parts.scheme not in ("http", "https") or not host:
            raise InputError(
                f"endpoint: expected an address such as http://127.0.0.1:11434/v1, found one with "
                f"scheme {parts.scheme!r}; only http and https are asked"
            )
        if parts.username or parts.password or parts.query:
            raise InputError(
                f"endpoint: the address holds a user name, a password or a query; leave them out "
                f"and put the key into the environment variable {KEY}"
            )
        if parts.scheme == "http" and self.key and not loopback(host):
            raise InputError(
                f"endpoint: {host} would get the key over plain http, where others can read it; "
                f"use https, or unset {KEY} if the server needs no key"
            )
        if any(ord(letter) < 33 or ord(letter) > 126 for letter in self.key):
            raise InputError(f"endpoint: {KEY} holds characters that no key has; set it again")

    @property
    def host(self) -> str:
        """The host and port, for messages."""
        return urlsplit(self.url).netloc

    def ask(self, prompt: str) -> str:
        """Return the text of the answer; wait where the server is busy or asks for it."""
        why = ""
        for attempt in range(TRIES):
            try:
                return _content(self._post(prompt))
            except urllib.error.HTTPError as error:
                with error:
                    why = f"{self.host} answered {error.code}{self._said(error)}"
                    wait = _retry_after(error.headers.get("Retry-After"), 2.0**attempt)
                if error.code not in BUSY:
                    raise self._final(error.code, why) from None
            except TimeoutError:
                why, wait = f"{self.host} gave no answer within {self.timeout:g} s", 2.0**attempt
            except urllib.error.URLError as error:
                if isinstance(error.reason, TimeoutError):
                    why = f"{self.host} gave no answer within {self.timeout:g} s"
                    wait = 2.0**attempt
                else:
                    raise InputError(
                        f"endpoint: {self.host} cannot be reached "
                        f"({self._clean(str(error.reason))}); is the server running?"
                    ) from None
            except (http.client.HTTPException, ConnectionError) as error:
                why = f"{self.host} broke off ({type(error).__name__})"
                wait = 2.0**attempt
            if attempt + 1 < TRIES:
                self.sleep(min(wait, LONGEST_WAIT))
        raise AnswerError(f"{why}, {TRIES} times")

    def _post(self, prompt: str) -> bytes:
        asked = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
        }
        headers = {"Content-Type": "application/json", "User-Agent": "unseen"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(
            self.url.rstrip("/") + "/chat/completions", json.dumps(asked).encode(), headers
        )
        ends = time.monotonic() + self.timeout  # of all of it: it may come byte by byte
        body = bytearray()
        with _OPENER.open(request, timeout=self.timeout) as answer:
            while piece := answer.read1(LARGEST):
                body += piece
                if len(body) > LARGEST:
                    raise AnswerError(f"{self.host} sent more than {LARGEST:,} bytes")
                if time.monotonic() > ends:
                    raise TimeoutError
        return bytes(body)

    def _said(self, error: urllib.error.HTTPError) -> str:
        """Return what the server says about an error; nothing where it may speak of the key."""
        if error.code in (401, 403):
            return ""
        try:
            found = json.loads(error.read(LARGEST))["error"]
            text = str(found["message"] if isinstance(found, dict) else found)
        except (
            *(OSError, ValueError, KeyError, TypeError, RecursionError),
            http.client.HTTPException,
        ):
            return ""
        return f" ({self._clean(text)})"

    def _clean(self, text: str) -> str:
        shown = " ".join(text.replace(self.key, "[key]").split() if self.key else text.split())
        return shown if len(shown) <= 200 else shown[:199] + "…"

    def _final(self, code: int, why: str) -> UnseenError:
        if code in (401, 403):
            return InputError(f"endpoint: {why}; set {KEY} to a key that it accepts")
        if code in (301, 302, 303, 307, 308):
            return InputError(f"endpoint: {why}, a redirect, which is not followed; name its goal")
        if code == 404:
            return InputError(f"endpoint: {why}; check the address (up to /v1) and --model")
        return AnswerError(why)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect could carry the key to another host."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirect)


def _retry_after(given: str | None, otherwise: float) -> float:
    """Return the seconds that a server asks to wait, from a number or a date."""
    if not given:
        return otherwise
    try:
        seconds = float(given)
        return max(0.0, seconds) if seconds == seconds else otherwise
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(given)
    except ValueError:
        return otherwise
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _content(body: bytes) -> str:
    """Return the text of the first choice; a refusal and an answer of another form are errors."""
    try:
        choice = json.loads(body)["choices"][0]
        message, ended = choice["message"], choice.get("finish_reason")
        refusal, content = message.get("refusal"), message.get("content")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise AnswerError("the answer is not one of OpenAI's protocol") from error
    if refusal or ended == "content_filter":
        raise AnswerError("the model refused to answer")
    if ended == "length":
        raise AnswerError("the answer was cut off; allow the server longer ones")
    if not isinstance(content, str) or not content.strip():
        raise AnswerError("the answer is empty")
    return content
