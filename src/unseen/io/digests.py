"""Parts of something that is made bit by bit, each believed only as it was written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from unseen.core.errors import InputError
from unseen.io.atomic import read_json, replacing, write_json
from unseen.io.saved import sha256

DIGESTS = "parts.json"


class Digests:
    """The sha256 of the parts in a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / DIGESTS
        known = read_json(self.path) if self.path.is_file() else {}
        self.known: dict[str, str] = known if isinstance(known, dict) else {}

    def whole(self, path: Path) -> bool:
        """Tell whether a part is there as it was written; one of somebody else is refused."""
        if not path.exists():
            return False
        if path.name not in self.known:
            raise InputError(
                f"{path}: exists and unseen did not write it; move it away or choose another folder"
            )
        return sha256(path) == self.known[path.name]

    @contextmanager
    def writing(self, path: Path) -> Iterator[Path]:
        """Give a temporary name, as `replacing` does, and remember what was written there."""
        with replacing(path) as new:
            yield new
            self.known[path.name] = sha256(new)
            with replacing(self.path) as listed:  # first: what is in place is always listed
                write_json(listed, self.known)
