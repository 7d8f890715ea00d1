"""What the steps of the disk engine share: the folder between them, class vectors, fingerprints.

A folder of `propagate_files`::

    inputs.json    what it was made from: size and date of files, class vectors
    sum.npy        sum of the node vectors, each of unit length; how many are not zero [d + 1]
    centre.npy     what was subtracted from each of them [d]
    vectors.npy    node vectors, centred as `Preparer` does [n, d]
    graph/         the edges in row order (`DiskGraph`)
    hops/          the hops of `vectors.npy` (`DiskHops`)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.errors import InputError
from unseen.encode.base import as_encoder
from unseen.encode.class_texts import class_vectors
from unseen.io.atomic import read_json
from unseen.prepare.encoded import APART, Encoded
from unseen.propagate.disk_hops import NOTES, DiskHops

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes

INPUTS, SUM, CENTRE, VECTORS = "inputs.json", "sum.npy", "centre.npy", "vectors.npy"
GRAPH, HOPS = "graph", "hops"


@dataclass(frozen=True, eq=False)
class Propagated:
    """A finished folder: the hops, and what node vectors were centred by."""

    folder: Path
    hops: DiskHops
    total: NDArray[np.float64]  # sum of the vectors before centring [d]
    count: int  # of those that are not zero
    centre: NDArray[np.float32]  # [d]

    @classmethod
    def open(cls, folder: Path | str) -> Propagated:
        """Open what `propagate_files` has finished."""
        folder = Path(folder)
        if not (folder / INPUTS).is_file() or not (folder / HOPS).is_dir():
            raise InputError(f"{folder}: holds no hops; expected a folder of `unseen walk`")
        if not (folder / SUM).is_file():
            raise InputError(
                f"{folder}: was made by a version before 0.9, which centred nodes otherwise; "
                "run `unseen walk` again, into another folder"
            )
        *total, count = np.load(folder / SUM, allow_pickle=False)
        centre = np.load(folder / CENTRE, allow_pickle=False)
        return cls(folder, DiskHops.open(folder / HOPS), np.array(total), int(count), centre)


def encode_classes(classes: Classes, encoder: Any, width: int) -> Encoded:
    """Return the class vectors of the encoder that made node vectors of `width` columns."""
    if isinstance(encoder, str) and encoder.partition(":")[0] in APART:
        raise InputError(
            f"encoder: {encoder!r} says that no encoder of texts made the node vectors; name the "
            "one that did, or link features and classes with `unseen classify`, in memory"
        )
    reader = as_encoder(encoder)
    if reader.dimensions != width:
        raise InputError(
            f"encoder: {reader.name!r} makes vectors of {reader.dimensions} dimensions, but those "
            f"of the nodes have {width}; name the encoder that made them"
        )
    csds = class_vectors(classes, reader)
    return Encoded(np.zeros((0, width), np.float32), csds, True, reader.name, reader.identity)


def hops_fingerprint(hops: DiskHops) -> str:
    """Return what changes with the graph, the node vectors or the number of hops."""
    notes = read_json(hops.folder / NOTES)
    return fingerprint({name: notes[name] for name in ("graph", "features", "hops")})


def fingerprint(settings: Any, *arrays: NDArray[Any]) -> str:
    """Return the sha256 of settings that JSON can hold and of the bytes of arrays."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def check_same(
    folder: Path, found: Mapping[str, Any], asked: Mapping[str, Any], holds: str, again: str
) -> None:
    """Refuse to go on with what was asked for otherwise, in the words of `holds` and `again`."""
    changed = [name for name, value in asked.items() if found.get(name) != value]
    if changed:
        raise InputError(
            f"{folder}: holds {holds} (what changed since: {', '.join(changed)}), which cannot be "
            f"gone on with; choose another folder, or remove this one to {again}"
        )


def check_new(folder: Path, holds: str) -> None:
    """Refuse to write into what is neither new nor an empty folder, hidden files left aside."""
    if folder.is_file() or (folder.is_dir() and any(p.name[0] != "." for p in folder.iterdir())):
        raise InputError(f"{folder}: exists and holds no {holds}; give the name of a new folder")
