"""A lock that the system lets go when its process ends, however it ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

from unseen.core.errors import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

MOST = 1 << 10  # bytes that are read of a file of a lock


class Lock:
    """A file that one process holds at a time."""

    def __init__(self, file: int) -> None:
        self._file = file

    @classmethod
    def make(cls, path: Path, mark: bytes) -> Self:
        """Make the file and hold it; `mark` is written into it.

        `FileNotFoundError` where somebody has removed it before it was held.
        """
        lock = cls(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            lock._hold(wait=True)
            here, there = os.fstat(lock._file), path.stat()
            if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
                raise FileNotFoundError(path)
            os.write(lock._file, mark)
        except BaseException:
            lock.release()
            raise
        return lock

    @classmethod
    def take(cls, path: Path) -> Self | None:
        """Hold the file if its owner is gone; None where it is held, or where nobody can tell."""
        try:
            lock = cls(os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)))
        except OSError:
            return None
        if lock._hold(wait=False):
            return lock
        lock.release()
        return None

    @classmethod
    def alone(cls, path: Path, what: str) -> Self:
        """Hold a file in a folder for as long as this process works there, or refuse to."""
        try:
            lock = cls.make(path, b"") if not path.exists() else cls.take(path)
        except FileExistsError:
            lock = None
        if lock is None:
            raise InputError(
                f"{path.parent}: another process is making this {what}; wait for it, or choose "
                f"another --out (if there is none, remove {path})"
            )
        return lock

    def read(self) -> bytes:
        """Return what is in the file."""
        os.lseek(self._file, 0, os.SEEK_SET)
        return os.read(self._file, MOST)

    def release(self) -> None:
        """Let go."""
        file, self._file = self._file, -1
        if file >= 0:
            with suppress(OSError):
                os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _hold(self, wait: bool) -> bool:
        try:
            if sys.platform == "win32":
                os.lseek(self._file, MOST, os.SEEK_SET)  # behind the mark, which stays readable
                msvcrt.locking(self._file, msvcrt.LK_NBLCK, 1)
                os.lseek(self._file, 0, os.SEEK_SET)
            else:
                fcntl.flock(self._file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:  # held by another, or a file system without locks
            return False
        return True
