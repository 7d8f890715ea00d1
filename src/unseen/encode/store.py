"""Vectors on disk, found again by their text: one SQLite file for each encoder identity.

A row of the file is a block of texts that were encoded together: their keys (16 bytes of BLAKE2b of
each text, end to end) and their vectors ([m, d] float32, row by row). To look texts up, the keys of
all blocks are read and matched in memory, then only the blocks that hold something wanted. That is
several times faster than a database row for each text, for reading and for writing, so that it pays
even for the static encoder. A block is one transaction: a killed run keeps the blocks it finished,
and two processes may use one file at a time.

Nothing here is fatal. A damaged file is replaced, a folder that cannot be written is done without.
"""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import zlib
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from unseen.io.cache import cache_folder

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

log = logging.getLogger(__name__)

LAYOUT = "blocks-1"  # another layout is another file
KEY_BYTES = 16
PATIENCE = 30.0  # seconds to wait while another process writes
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
TABLE = """
CREATE TABLE IF NOT EXISTS blocks (id INTEGER PRIMARY KEY, keys BLOB, checksum INT, vectors BLOB)
"""


class VectorStore:
    """The vectors that one encoder has made so far.

    Args:
        identity: of the encoder; the file is named after its digest.
        dimensions: length d of a vector.
        enabled: False gives a store that knows nothing and keeps nothing.
    """

    def __init__(self, identity: str, dimensions: int, enabled: bool = True) -> None:
        name = hashlib.sha256(f"{LAYOUT}\n{dimensions}\n{identity}".encode()).hexdigest()[:32]
        self.path: Path = cache_folder("vectors") / f"{name}.sqlite"
        self.dimensions = dimensions
        self._connection: sqlite3.Connection | None = None
        if enabled:
            self._open()

    def look_up(self, texts: Sequence[str], out: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Write the vectors of known texts into their rows of `out` [n, d]; return which are known.

        The texts must be distinct.
        """
        known = np.zeros(len(texts), dtype=np.bool_)
        if self._connection is None:
            return known
        try:
            self._match(self._connection, np.array(_keys(texts), dtype=f"S{KEY_BYTES}"), out, known)
        except sqlite3.Error as error:
            known[:] = False
            self._recover(error)
        return known

    def add(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Keep one block of vectors, [len(texts), d]."""
        if self._connection is None:
            return
        keys = b"".join(_keys(texts))
        blob = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
        try:
            with self._connection:
                self._connection.execute(
                    "INSERT INTO blocks (keys, checksum, vectors) VALUES (?, ?, ?)",
                    (keys, zlib.crc32(blob, zlib.crc32(keys)), blob),
                )
        except sqlite3.Error as error:
            self._give_up(error)

    def _match(
        self,
        connection: sqlite3.Connection,
        wanted: NDArray[np.bytes_],
        out: NDArray[np.float32],
        known: NDArray[np.bool_],
    ) -> None:
        order = np.argsort(wanted)
        wanted = wanted[order]
        for block, keys in connection.execute("SELECT id, keys FROM blocks").fetchall():
            if not isinstance(keys, bytes) or not keys or len(keys) % KEY_BYTES:
                continue
            held = np.frombuffer(keys, dtype=f"S{KEY_BYTES}")  # [m]
            at = np.minimum(np.searchsorted(wanted, held), len(wanted) - 1)
            rows = np.flatnonzero(wanted[at] == held)
            if not len(rows):
                continue
            checksum, blob = connection.execute(
                "SELECT checksum, vectors FROM blocks WHERE id = ?", (block,)
            ).fetchone()
            if not isinstance(blob, bytes) or len(blob) != 4 * self.dimensions * len(held):
                continue  # not of the length it should be: as if it were not there
            if checksum != zlib.crc32(blob, zlib.crc32(keys)):
                continue  # nor with other bytes than were written
            vectors = np.frombuffer(blob, dtype="<f4").reshape(len(held), self.dimensions)
            rows = rows[np.isfinite(vectors[rows]).all(axis=1)]  # no encoder writes anything else
            out[order[at[rows]]] = vectors[rows]
            known[order[at[rows]]] = True

    def _open(self) -> None:
        try:
            self._connection = self._connect()
        except (sqlite3.Error, OSError) as error:
            self._recover(error)

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=PATIENCE)
        try:
            connection.execute("PRAGMA page_size = 32768")  # counts for a new file only
            connection.execute("PRAGMA synchronous = OFF")  # checksums find what a power cut breaks
            connection.execute(TABLE)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _recover(self, error: Exception) -> None:
        """Start a new file in place of a damaged one; after any other error, do without."""
        self.close()
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in DAMAGED:
            self._give_up(error)
            return
        log.warning("vector cache: %s is damaged (%s); starting a new one", self.path, error)
        try:
            self.path.unlink(missing_ok=True)
            self._connection = self._connect()
        except (sqlite3.Error, OSError) as again:
            self._give_up(again)

    def _give_up(self, error: Exception) -> None:
        log.warning("vector cache: %s cannot be used (%s); going on without", self.path, error)
        self.close()

    def close(self) -> None:
        """Let go of the file; further calls find nothing and keep nothing."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _keys(texts: Sequence[str]) -> list[bytes]:
    return [hashlib.blake2b(text.encode("utf-8"), digest_size=KEY_BYTES).digest() for text in texts]
