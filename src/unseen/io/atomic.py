"""Files and folders that are whole or not there: whatever is stopped leaves the old or the new.

What is written is built in a workspace beside its place (`workspace.py`) and put there by one
rename. Nothing is deleted or overwritten that `unseen` did not write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unseen.core.errors import InputError, shortlist
from unseen.io.files import resolved, sync, write_json, writing
from unseen.io.saved import (
    FORMAT,
    MANIFEST,
    check_folder,
    is_saved,
    read_json,
    unlisted,
    write_manifest,
)
from unseen.io.workspace import NEW, put, recover, workspace

__all__ = [
    "FORMAT",
    "MANIFEST",
    "check_file",
    "check_folder",
    "check_place",
    "in_place",
    "read_json",
    "recover",
    "replacing",
    "write_json",
    "write_manifest",
]

SERVED = "serve"  # what serving a run keeps in it: labels, versions, arrays


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name, whose file takes the place of `path` once it is complete."""
    with writing(path), workspace(path.absolute()) as room:
        new = room / NEW
        yield new
        sync(new)
        new.replace(path)


def check_file(path: Path, *endings: str) -> None:
    """Refuse to write a file over another one, into a run, or under a name of another format."""
    if path.exists() or path.is_symlink():
        raise InputError(f"{path}: exists, and is not overwritten; remove it or choose another")
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{path}: expected a name that ends in {endings[0]}; choose one")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: its folder does not exist; make it or choose another")
    _check_outside(path)


def check_place(folder: Path, *read: Path | str | None) -> None:
    """Refuse to write where something else is: only a run or an empty folder is replaced.

    It holds nothing of what is `read`, which would be gone with it.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give the name of a folder")
    place = resolved(folder)
    if place == Path.cwd() or place in Path.cwd().parents:
        raise InputError(f"{folder}: is the current folder; give the name of a folder in it")
    for each in read:
        if each is not None and resolved(each).is_relative_to(place):
            what = "is" if resolved(each) == place else f"holds {each}, which is"
            raise InputError(f"{folder}: {what} what the answers are made with; choose another")
    parent = next(path for path in place.parents if path.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{folder}: {parent} is no folder that can be written; choose another")
    _check_outside(folder)
    strange = unlisted(folder) if folder.is_dir() else []
    if strange and is_saved(folder):
        raise InputError(
            f"{folder}: holds what unseen did not write or what was changed since "
            f"({shortlist(strange, 3)}), so it is not replaced; move that away, or choose another"
        )
    if strange:
        raise InputError(
            f"{folder}: exists and is not a run that unseen wrote (it holds "
            f"{shortlist(strange, 3)}), so it is not replaced; choose another folder or empty it"
        )


def _check_outside(path: Path) -> None:
    place = resolved(path)
    inside = next((parent for parent in place.parents if is_saved(parent)), None)
    if inside is not None and place.relative_to(inside).parts[0] != SERVED:
        raise InputError(f"{path}: lies in {inside}, which unseen wrote as a whole; choose another")


def in_place(folder: Path, build: Callable[[Path], None]) -> Path:
    """Build a folder beside its place and move it there in one step."""
    place = resolved(folder)  # a link to a folder stays a link
    recover(place)
    check_place(folder)
    missing = [parent for parent in place.parents if not parent.exists()]
    try:
        with writing(folder):
            place.parent.mkdir(parents=True, exist_ok=True)
            with workspace(place) as room:
                new = room / NEW
                new.mkdir()
                build(new)
                write_manifest(new)
                for path in (*new.rglob("*"), new):
                    sync(path)
                check_place(folder)
                put(room, place)
    except BaseException:
        for parent in missing:
            with suppress(OSError):
                parent.rmdir()
        raise
    return folder
