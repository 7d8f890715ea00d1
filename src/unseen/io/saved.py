"""Folders that `unseen` has written, read back: only what the manifest lists is believed.

The manifest holds the sha256 of every file. What is compared with it are the bytes that are then
used, so that a folder that is replaced while it is read never gives parts of both.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from unseen.core.errors import SavedFileError, shortlist
from unseen.io.files import resolved, write_json
from unseen.io.workspace import recover

FORMAT = 6
MANIFEST = "manifest.json"
AGAIN, PAUSE = 100, 0.02  # how often a folder that is being replaced is looked at again, seconds
DIGEST = re.compile("[0-9a-f]{64}")
NOT_OURS = "is not a manifest that unseen wrote; make the folder again"
T = TypeVar("T")


class Saved:
    """The files of a folder as its manifest lists them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise SavedFileError(f"{folder}: no such folder; expected one that unseen has written")
        if not (folder / MANIFEST).is_file():
            raise SavedFileError(
                f"{folder}: has no {MANIFEST}, so it is not a finished run or model; "
                "give the folder that `unseen classify --out` or `unseen.save` wrote"
            )
        self._manifest = _read(folder / MANIFEST)
        self.digests = _digests(folder, self._manifest)

    def __contains__(self, name: object) -> bool:
        return name in self.digests

    def bytes(self, name: str) -> bytes:
        """Return what is in a file, which has to be what was written."""
        path = self.folder / name
        if name not in self.digests:
            raise SavedFileError(
                f"{self.folder / MANIFEST}: does not list {name}; expected it in a run or model; "
                "make the folder again"
            )
        if not path.is_file():
            raise SavedFileError(f"{path}: is missing; restore it or make the folder again")
        content = _read(path)
        if hashlib.sha256(content).hexdigest() != self.digests[name]:
            raise SavedFileError(changed(path))
        return content

    def json(self, name: str) -> Any:
        """Return the plain values in a file."""
        return parse_json(self.bytes(name), self.folder / name)

    def replaced(self) -> bool:
        """Tell whether another folder has come in the place of this one."""
        try:
            return _read(self.folder / MANIFEST) != self._manifest
        except SavedFileError:
            return not self.folder.is_dir()


def read_saved(folder: Path, read: Callable[[Saved], T]) -> T:
    """Return what `read` makes of a folder; one that is being replaced is read again."""
    for _ in range(AGAIN):
        saved = None
        busy = not folder.is_dir() and recover(resolved(folder))  # between two renames
        try:
            saved = Saved(folder)
            return read(saved)
        except SavedFileError:
            if not busy and (saved is None or not saved.replaced()):
                raise
        time.sleep(PAUSE)
    return read(Saved(folder))


def check_folder(folder: Path) -> None:
    """Compare every file with the manifest; raise where one is missing or was changed."""

    def every(saved: Saved) -> None:
        for name in saved.digests:
            path = folder / name
            if not path.is_file():
                raise SavedFileError(f"{path}: is missing; restore it or make the folder again")
            if sha256(path) != saved.digests[name]:
                raise SavedFileError(changed(path))

    read_saved(folder, every)


def unlisted(folder: Path) -> list[str]:
    """Return what is in a folder, or was changed in it, since its manifest was written."""
    try:
        digests = Saved(folder).digests
    except SavedFileError:
        digests = {}
    ours = {MANIFEST} if digests else set()
    kept = {parent.as_posix() for name in digests for parent in PurePosixPath(name).parents}
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() and not path.is_symlink():
            if name not in kept:
                found.append(name)
        elif name not in ours and (
            path.is_symlink()
            or not path.is_file()
            or name not in digests
            or sha256(path) != digests[name]
        ):
            found.append(name)
    return found


def is_saved(folder: Path) -> bool:
    """Tell whether a folder has a manifest that `unseen` wrote."""
    try:
        return (folder / MANIFEST).is_file() and bool(Saved(folder).digests)
    except (SavedFileError, OSError):
        return False


def changed(path: Path) -> str:
    """Return what is said of a file that is not as it was written."""
    return (
        f"{path}: was changed after it was written (its checksum differs); "
        "restore it or make the folder again"
    )


def write_manifest(folder: Path) -> None:
    """Write the checksum of every file in a folder into its manifest."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p != folder / MANIFEST)
    digests = {path.relative_to(folder).as_posix(): sha256(path) for path in files}
    write_json(folder / MANIFEST, {"format": FORMAT, "files": digests})


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_json(path: Path) -> Any:
    """Return the plain values in a file that `unseen` has written."""
    return parse_json(_read(path), path)


def parse_json(content: bytes, path: Path) -> Any:
    """Return the plain values that are written as JSON; NaN and depths without end are none."""
    try:
        return json.loads(content.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise SavedFileError(f"{path}: cannot be read ({error}); make the folder again") from error


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise SavedFileError(f"{path}: cannot be read ({reason}); make the folder again") from error


def _digests(folder: Path, manifest: bytes) -> dict[str, str]:
    """Return the checksum of each file as the manifest has it; every name lies in the folder."""
    path = folder / MANIFEST
    found = parse_json(manifest, path)
    files = found.get("files") if isinstance(found, dict) else None
    if not isinstance(files, dict) or not files or type(found.get("format")) is not int:
        raise SavedFileError(f"{path}: {NOT_OURS}")
    if found["format"] < 1:
        raise SavedFileError(f"{path}: {NOT_OURS}")
    if found["format"] > FORMAT:
        raise SavedFileError(
            f"{folder}: has format {found['format']}, but this version of unseen reads up to "
            f"{FORMAT}; update with pip install --upgrade unseen"
        )
    strange = [name for name, digest in files.items() if not _sound(name, digest)]
    if strange:
        raise SavedFileError(f"{path}: lists {shortlist(strange, 3)}, so it {NOT_OURS}")
    return files


def _sound(name: str, digest: object) -> bool:
    """Tell whether a manifest may say this: a file below its folder, and a checksum."""
    parts = name.split("/")
    inside = not {"", ".", ".."} & set(parts) and not re.search(r"[\\:\0]", name)
    return inside and isinstance(digest, str) and DIGEST.fullmatch(digest) is not None
