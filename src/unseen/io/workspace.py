"""A folder beside the place of something that is being written, which is gone afterwards.

::

    .run.0123456789abcdef.unseen/  lock   held for as long as the writer lives
                                   new    what is being built
                                   old    what was there before, where two renames are needed

A writer that was killed leaves its workspace behind, whose lock is then free: whoever writes (or
looks for) the same place next puts back an `old` that is missing there, and removes the rest. A
process id would say nothing about a writer in another container.
"""

from __future__ import annotations

import ctypes
import glob
import os
import re
import secrets
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from unseen.io.files import sync
from unseen.io.locks import Lock

LOCK, NEW, OLD = "lock", "new", "old"
MARK = b"A workspace of unseen: what is in it can be removed once no process writes here.\n"
ENDING = re.compile(r"\.[0-9a-f]{16}\.unseen")
LONGEST_NAME = 100  # characters of a name that its workspace has in its own


def recover(place: Path) -> bool:
    """Put back what a killed writer had moved away, and remove what it left beside `place`.

    Return whether somebody is writing there at this moment.
    """
    busy = False
    for room in place.parent.glob(f"{glob.escape(_name(place))}.*.unseen"):
        ours = ENDING.fullmatch(room.name.removeprefix(_name(place)))
        if not ours or room.is_symlink() or not room.is_dir():
            continue
        with suppress(OSError):
            room.rmdir()  # killed before there was a lock
        lock = Lock.take(room / LOCK)
        if lock is None:
            busy |= room.is_dir()
            continue
        with lock:
            mark, inside = lock.read(), {path.name for path in room.iterdir()}
            if mark != MARK and not (mark == b"" and inside == {LOCK}):
                continue
            if OLD in inside and not place.exists():
                with suppress(OSError):
                    (room / OLD).rename(place)
            _empty(room)
        _remove(room)
    return busy


@contextmanager
def workspace(place: Path) -> Iterator[Path]:
    """Give a folder beside `place` that is gone afterwards; other writers leave it alone."""
    recover(place)
    room, lock = _make_room(place)
    try:
        yield room
    finally:
        with _uninterrupted():
            with lock:
                _empty(room)
            _remove(room)


def remove(folder: Path) -> None:
    """Remove a folder with what is in it; whenever this stops, it is whole or not there.

    A workspace takes it in by one rename; if this process is killed, the next writer removes that.
    """
    if folder.is_dir():
        with suppress(OSError), workspace(folder) as room:
            folder.rename(room / NEW)


def _make_room(place: Path) -> tuple[Path, Lock]:
    while True:
        room = place.with_name(f"{_name(place)}.{secrets.token_hex(8)}.unseen")
        room.mkdir()
        try:
            return room, Lock.make(room / LOCK, MARK)
        except FileNotFoundError:
            continue  # another writer took it for litter before it was locked
        except BaseException:
            shutil.rmtree(room, ignore_errors=True)
            raise


def _name(place: Path) -> str:
    return f".{place.name[:LONGEST_NAME]}"


def _empty(room: Path) -> None:
    for path in room.iterdir() if room.is_dir() else ():
        if path.name != LOCK and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
            shutil.rmtree(path, ignore_errors=True)  # what could not be opened the first time
        elif path.name != LOCK:
            path.unlink(missing_ok=True)


def _remove(room: Path) -> None:
    with suppress(OSError):
        (room / LOCK).unlink(missing_ok=True)
        room.rmdir()


def put(room: Path, place: Path) -> None:
    """Put the new folder of a workspace in place; what was there goes into the workspace."""
    new, old = room / NEW, room / OLD
    with _uninterrupted():
        if place.is_dir() and any(place.iterdir()):
            if _exchanged(new, place):
                _settle(place.parent)
                return
            place.rename(old)
        elif place.is_dir():
            place.rmdir()
        try:
            new.rename(place)
        except OSError:
            if old.is_dir():
                old.rename(place)
            raise
        _settle(place.parent)


def _settle(folder: Path) -> None:
    """Bring names to the disk; where that fails, the new is in place all the same."""
    with suppress(OSError):
        sync(folder)


def _exchanged(new: Path, old: Path) -> bool:
    """Swap two folders in one step; False where the system cannot."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    done = rename and rename(here, os.fsencode(new), here, os.fsencode(old), swap) == 0
    return bool(done)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C and the like until a step is done that has to be done as a whole."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    before: dict[int, Any] = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not None:  # else it was set outside of Python
            before[number] = signal.signal(number, note)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        for again in dict.fromkeys(came):
            signal.raise_signal(again)
