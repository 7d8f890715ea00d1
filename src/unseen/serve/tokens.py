"""Tokens: who may read and who may write, compared in constant time."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from unseen.core.errors import InputError
from unseen.io.tables import decode, read_bytes

SHORTEST = 16  # characters of a token
RIGHTS = ("read", "write")


@dataclass(frozen=True)
class Tokens:
    """What a token file holds; none at all lets everybody read and write."""

    read: tuple[bytes, ...] = ()
    write: tuple[bytes, ...] = ()

    @classmethod
    def from_file(cls, path: str | None) -> Tokens:
        """Read lines of `read TOKEN` and `write TOKEN`; blank lines and # comments are left out."""
        if path is None:
            return cls()
        found: dict[str, list[bytes]] = {right: [] for right in RIGHTS}
        lines = decode(read_bytes(path), path).splitlines()
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            right, _, token = line.strip().partition(" ")
            token = token.strip()
            if right not in RIGHTS or len(token) < SHORTEST or not token.isascii() or " " in token:
                raise InputError(
                    f"{path}: line {number}: expected `read TOKEN` or `write TOKEN` with a token "
                    f"of {SHORTEST} or more letters and digits; make one with "
                    "python -c 'import secrets; print(secrets.token_urlsafe(32))'"
                )
            found[right].append(token.encode())
        if not found["write"] and not found["read"]:
            raise InputError(f"{path}: holds no token; write a line `write TOKEN`")
        return cls(tuple(found["read"]), tuple(found["write"]))

    @property
    def needed(self) -> bool:
        """Whether a token has to be shown."""
        return bool(self.read or self.write)

    def rights(self, header: bytes | None) -> tuple[bool, bool]:
        """Return whether the bearer may read and may write; every token is compared with."""
        if not self.needed:
            return True, True
        kind, _, token = (header or b"").partition(b" ")
        given = token.strip() if kind.lower() == b"bearer" else b""
        read, write = (
            [hmac.compare_digest(given, each) for each in tokens]
            for tokens in (self.read, self.write)
        )
        return any(read) or any(write), any(write)
