"""The class vectors (CSDs) that the paper's authors published: Bert-Tiny, 128 numbers a class."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

import numpy as np

from unseen.core.errors import InputError, MissingDataError
from unseen.datasets.citation import folder_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER = "csds"
SHA256 = {
    "cora_label_csds.txt": "a3baff8f926603b79c8d2f701c35b8ab86659963113c3123ceff56b00e6130d7",
    "cora_text_csds.txt": "fe8963ca576d88ccc0a5830eb3fe354af9ea68b43e650be185ed8eca7699b111",
    "citeseer_label_csds.txt": "ea5430e798f6b504dd78faee724ab790a0e106deac22959cac2f910e3730c2b7",
    "citeseer_text_csds.txt": "20b6be1fadd690726598c5718f99e2dd8793f4d3f50ac847759efdd2fb522d6b",
    "C-M10-M_label_csds.txt": "d4389330de509cbef5fc3edccb7deb8f2689e3858996d0dee757c8a6d53a4e0f",
    "C-M10-M_text_csds.txt": "33efa5a8701c7e8c5ac9100e720dc542929a51a2fe2e174f3532657d7857156a",
}
_PREFIX = {"cora": "cora", "citeseer": "citeseer", "c-m10m": "C-M10-M"}


def class_vectors(
    name: str, kind: Literal["label", "text"], *, as_filed: bool = False
) -> NDArray[np.float32]:
    """Return the published vectors of a set's classes, row i for class id i. [C, 128]

    The two files of C-M10M look exchanged: by length and cosines its "label" file holds vectors of
    texts, and the other way round. Here `kind` is what the vectors are; with `as_filed`, it is what
    the file is called, which is what the authors' code goes by.
    """
    if name not in _PREFIX:
        raise InputError(
            f"{name}: no class vectors were published for it, only for {', '.join(_PREFIX)}"
        )
    if kind not in ("label", "text"):
        raise InputError(f"class vectors are of kind 'label' or 'text', not {kind!r}")
    exchanged = name == "c-m10m" and not as_filed
    filed = ("text" if kind == "label" else "label") if exchanged else kind
    path = folder_of(FOLDER) / f"{_PREFIX[name]}_{filed}_csds.txt"
    if not path.is_file():
        raise MissingDataError(f"{path}: missing; run `unseen datasets get {FOLDER}`")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256[path.name]:
        raise InputError(
            f"{path}: is not the published file (its SHA-256 differs); "
            f"remove it and run `unseen datasets get {FOLDER}`"
        )
    return np.array([line.split() for line in content.decode().splitlines()], dtype=np.float32)
