"""Features that come in a file of their own: a matrix in .npz, and the words that it counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unseen.core.classes import whole_text
from unseen.core.errors import InputError
from unseen.io.arrays import load_matrix
from unseen.io.tables import decode, read_bytes


def read_features(path: Path | str, nodes: int, nodes_name: str) -> Any:
    """Return the matrix of an .npz file, dense or CSR, one row for each node. [n, d]

    Never unpickles: arrays of Python objects are refused.
    """
    name = str(path)
    if Path(path).suffix.lower() != ".npz":
        raise InputError(
            f"{name}: expected an .npz file for features; save them with "
            "`scipy.sparse.save_npz` or `numpy.savez_compressed`"
        )
    return parse_features(read_bytes(path), name, nodes, nodes_name)


def parse_features(raw: bytes, name: str, nodes: int, nodes_name: str) -> Any:
    """Return the matrix of a file that was read, as `read_features` does."""
    try:
        X = load_matrix(raw, name)
    except InputError as error:
        message = str(error)
        raise InputError(message if message.startswith(name) else f"{name}: {message}") from None
    except Exception as error:  # a damaged archive fails in many ways
        raise InputError(
            f"{name}: not a whole .npz file of numbers; it may be cut off, damaged or hold Python "
            "objects; save it again with `scipy.sparse.save_npz` or `numpy.savez_compressed`"
        ) from error
    if X.dtype.kind not in "biuf":
        raise InputError(f"{name}: holds values of type {X.dtype}; expected numbers; convert them")
    if X.shape[0] != nodes:
        raise InputError(
            f"{name}: has {X.shape[0]:,} rows but {nodes_name} has {nodes:,} nodes; "
            "expected one row for each node, in the order of the nodes; check that they belong"
        )
    if X.shape[1] == 0:
        raise InputError(f"{name}: has no columns; expected at least one number for each node")
    with np.errstate(over="ignore"):  # too large for 32 bits: infinite, which is refused below
        X = X.astype(np.float32)
    _check_finite(X, name)
    return X


def read_vocabulary(path: Path | str) -> list[str]:
    """Return the words of a .txt file, one a line, or of a .json file that holds a list."""
    name, suffix = str(path), Path(path).suffix.lower()
    if suffix not in (".txt", ".json"):
        raise InputError(
            f"{name}: expected .txt (one word a line) or .json (a list of words) for a vocabulary; "
            "save it as one of these"
        )
    return parse_vocabulary(read_bytes(path), name)


def parse_vocabulary(raw: bytes, name: str) -> list[str]:
    """Return the words of a file that was read, as `read_vocabulary` does."""
    suffix, text = Path(name).suffix.lower(), decode(raw, name)
    if suffix == ".json":
        try:
            words = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}: broken JSON ({error}); expected a list of words") from None
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InputError(f'{name}: expected a JSON list of words, such as ["a", "b"]')
        unit = "word"
    else:
        words = [line.strip() for line in text.rstrip().split("\n")]
        unit = "line"
    for number, word in enumerate(words, start=1):
        whole_text(word, f"{name} {unit} {number}")
        if not word.strip():
            raise InputError(
                f"{name} {unit} {number}: is empty; "
                "expected one word for each feature column; add the word"
            )
    return words


def _check_finite(X: Any, name: str) -> None:
    if np.isfinite(X.data if sp.issparse(X) else X).all():
        return
    entries = sp.coo_array(X)
    at = int(np.flatnonzero(~np.isfinite(entries.data))[0])
    raise InputError(
        f"{name} row {entries.row[at] + 1}, column {entries.col[at] + 1}: found "
        f"{entries.data[at]}; features must be finite numbers; replace the value"
    )
