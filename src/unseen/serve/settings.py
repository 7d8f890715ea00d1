"""`Settings`: what `unseen serve` was asked for, and how it reaches the workers."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from unseen.core.errors import InputError
from unseen.core.hosts import loopback

VARIABLE = "UNSEEN_SERVE"  # environment of the workers


@dataclass(frozen=True)
class Settings:
    """Where to listen, what to serve, and how much of it at a time.

    Attributes:
        run: folder of the run, or a link to one; where it leads may change.
        token_file: lines of `read TOKEN` and `write TOKEN`; None on loopback only.
        workers: processes that answer.
        body: bytes of a request, at most; file: of a file of labels.
        text: characters of a text; texts: of one request.
        rate: requests a second of one address, in the long run, for each worker; 0: any number.
        concurrency: requests that a worker has in hand at once, at most.
    """

    run: str
    host: str = "127.0.0.1"
    port: int = 8000
    token_file: str | None = None
    workers: int = 1
    body: int = 2_000_000
    file: int = 50_000_000
    text: int = 20_000
    texts: int = 100
    rate: float = 1000.0
    concurrency: int = 256

    def check(self) -> None:
        """Refuse to be reached from elsewhere without a token."""
        if not loopback(self.host) and self.token_file is None:
            raise InputError(
                f"host: {self.host!r} can be reached from other machines, which needs tokens; give "
                "--token-file FILE with lines `read TOKEN` and `write TOKEN`, or leave --host out"
            )
        if not math.isfinite(self.rate):
            raise InputError(f"rate: found {self.rate}; expected requests a second, 0 for any")
        if not Path(self.run).is_dir():
            raise InputError(
                f"{self.run}: no such folder; give one that `unseen classify --out` wrote"
            )

    def to_environment(self) -> None:
        """Leave the settings where workers find them."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> Settings:
        """Return the settings that the first process left."""
        return cls(**json.loads(os.environ[VARIABLE]))
