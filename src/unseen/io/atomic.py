"""Files and folders that are whole or not there: whatever is killed leaves the old or the new.

A folder is built under another name beside its place, its manifest (sha256 of every file) written
last, and put in place by one rename. Reading checks every file against the manifest.
"""

from __future__ import annotations

import ctypes
import glob
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError, SavedFileError, shortlist

FORMAT = 4
MANIFEST = "manifest.json"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`, whose file takes its place once it is complete."""
    new = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield new
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def check_folder(folder: Path) -> None:
    """Compare every file with the manifest; raise where one is missing or was changed."""
    if not folder.is_dir():
        raise SavedFileError(f"{folder}: no such folder; expected one that unseen has written")
    if not (folder / MANIFEST).is_file():
        raise SavedFileError(
            f"{folder}: has no {MANIFEST}, so it is not a finished run or model; "
            "give the folder that `unseen classify --out` or `unseen.save` wrote"
        )
    for name, digest in _manifest(folder).items():
        path = folder / Path(name)
        if not path.is_file():
            raise SavedFileError(f"{path}: is missing; restore it or make the folder again")
        if _sha256(path) != digest:
            raise SavedFileError(
                f"{path}: was changed after it was written (its checksum differs); "
                "restore it or make the folder again"
            )


def check_place(folder: Path) -> None:
    """Refuse to write where something else is: only a run or an empty folder is replaced."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give the name of a folder")
    if folder.resolve() == Path.cwd():
        raise InputError(f"{folder}: is the current folder; give the name of a folder in it")
    parent = next(path for path in folder.resolve().parents if path.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{folder}: {parent} is no folder that can be written; choose another")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    try:
        ours = {Path(name).parts[0] for name in _manifest(folder)} | {MANIFEST}
    except SavedFileError:
        ours = set()
    strange = sorted(path.name for path in folder.iterdir() if path.name not in ours)
    if strange:
        raise InputError(
            f"{folder}: exists and is not a run that unseen wrote (it holds "
            f"{shortlist(strange, 3)}), so it is not replaced; choose another folder or empty it"
        )


def _manifest(folder: Path) -> dict[str, str]:
    """Return the checksum of each file as the manifest has it."""
    found = read_json(folder / MANIFEST)
    files = found.get("files") if isinstance(found, dict) else None
    if not isinstance(files, dict) or not files or not isinstance(found.get("format"), int):
        raise SavedFileError(
            f"{folder / MANIFEST}: is not a manifest that unseen wrote; make the folder again"
        )
    if found["format"] > FORMAT:
        raise SavedFileError(
            f"{folder}: has format {found['format']}, but this version of unseen reads up to "
            f"{FORMAT}; update with pip install --upgrade unseen"
        )
    return files


def in_place(folder: Path, build: Callable[[Path], None]) -> Path:
    """Build a folder beside its place and move it there in one step."""
    check_place(folder)
    place = folder.resolve()  # a link to a folder stays a link
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place)
        prefix = f".{place.name[:100]}.{os.getpid()}."
        new = Path(tempfile.mkdtemp(prefix=prefix, dir=place.parent))
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror}); choose a folder that can"
        ) from error
    try:
        new.chmod(0o755)
        build(new)
        write_manifest(new)
        if place.is_dir():
            _exchange(new, place)
        else:
            new.rename(place)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _sweep(place: Path) -> None:
    """Remove what killed writers left beside a run; those still alive are left alone."""
    for left in place.parent.glob(f".{glob.escape(place.name[:100])}.*.*"):
        pid = left.name.rsplit(".", 2)[1]
        if pid.isdecimal() and left.is_dir() and not _alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _alive(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # asking would end the process there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _exchange(new: Path, old: Path) -> None:
    """Swap two folders: in one step where the system can, else by two renames."""
    if sys.platform == "linux":
        rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
        if rename and rename(here, os.fsencode(new), here, os.fsencode(old), swap) == 0:
            return
    aside = old.with_name(f"{new.name}.old")
    old.rename(aside)
    new.rename(old)
    shutil.rmtree(aside, ignore_errors=True)


def write_manifest(folder: Path) -> None:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p != folder / MANIFEST)
    digests = {path.relative_to(folder).as_posix(): _sha256(path) for path in files}
    write_json(folder / MANIFEST, {"format": FORMAT, "files": digests})


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False, default=_plain)
    path.write_text(text + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise SavedFileError(f"{path}: cannot be read ({error}); make the folder again") from error
