"""Arrays from files that anybody may have written: `.npy`, `.npz` and sparse matrices in `.npz`.

`scipy.sparse` believes the indices that a file gives it, and its conversions then read and write
wherever these point, outside the matrix as well. So every part is checked here before a matrix is
made of it, and nothing but NumPy looks at the file. Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError, shortlist
from unseen.core.memory import check_room

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHERE = {  # what each form of `scipy.sparse.save_npz` says about where its numbers belong
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}


def load_array(raw: bytes) -> NDArray[Any]:
    """Return the array of a `.npy` file; one of Python objects is refused."""
    stream = io.BytesIO(raw)
    if not raw.startswith(np.lib.format.MAGIC_PREFIX):
        raise InputError("is no .npy file")
    found: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    if stream.read(1):
        raise InputError("goes on after its array")
    return found


def whole_numbers(found: NDArray[Any]) -> NDArray[np.int64]:
    """Return an array of whole numbers; any other kind is refused, not rounded."""
    if found.dtype.kind not in "iu":
        raise InputError(f"holds values of type {found.dtype}; expected whole numbers")
    return found.astype(np.int64)


@contextmanager
def open_npz(raw: bytes, name: str) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Give the arrays of an `.npz` file by name, each read when it is asked for."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        check_room(sum(entry.file_size for entry in archive.infolist()), name)
    with np.load(io.BytesIO(raw), allow_pickle=False) as archive:
        yield archive


def load_matrix(raw: bytes, name: str) -> Any:
    """Return the matrix of an `.npz` file: CSR where it was saved sparse, else dense. [n, d]"""
    with open_npz(raw, name) as archive:
        if "format" in archive:
            return sparse(dict(archive))
        if len(archive) != 1:
            raise InputError(
                f"holds {len(archive)} arrays ({shortlist(archive)}); expected a "
                "single matrix, one row for each node; save that one alone"
            )
        ((key, X),) = archive.items()
    if X.ndim != 2:
        raise InputError(
            f"array {key!r} has shape {X.shape}; expected two dimensions, [n, d]; "
            "save one row for each node"
        )
    return X


def sparse(parts: Mapping[str, NDArray[Any]]) -> sp.csr_array:
    """Return the matrix that was saved as these parts; each is checked before it is believed."""
    kind = parts["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
    if kind not in WHERE:
        raise InputError(f"is a sparse matrix in the form {kind!r}; save it as CSR")
    shape = parts["shape"]
    _check(shape.shape == (2,) and shape.dtype.kind in "iu", "its shape is not that of a matrix")
    rows, columns = (int(size) for size in shape)
    _check(0 <= rows < 2**31 and 0 <= columns < 2**31, f"its shape is {rows:,} by {columns:,}")
    data = parts["data"]
    _check(data.dtype.kind in "biuf", f"its values are of type {data.dtype}, not numbers")
    if kind == "coo" and "coords" in parts:
        _check(len(parts["coords"]) == 2, "it has not two coordinates a value")
        where = list(parts["coords"])
    else:
        where = [parts[part] for part in WHERE[kind]]
    _check(all(part.dtype.kind in "iu" for part in where), "its positions are not whole numbers")
    _check(all(part.ndim == 1 for part in where), "its positions are no lists")
    if kind == "coo":
        _check(data.ndim == 1 and len(data) == len(where[0]) == len(where[1]), _LENGTHS)
        _check_positions(where[0], rows)
        _check_positions(where[1], columns)
        return sp.csr_array(sp.coo_array((data, tuple(where)), shape=(rows, columns)))
    if kind == "dia":
        _check(data.ndim == 2 and len(data) == len(where[0]), _LENGTHS)
        _check_positions(where[0] + np.int64(rows), rows + columns)
        return sp.csr_array(sp.dia_array((data, where[0]), shape=(rows, columns)))
    return _compressed(kind, data, where[0], where[1], (rows, columns))


def _compressed(
    kind: str, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]
) -> sp.csr_array:
    major, minor = shape if kind != "csc" else shape[::-1]
    if kind == "bsr":
        _check(data.ndim == 3 and min(data.shape[1:]) > 0, "its blocks have no size")
        high, wide = data.shape[1:]
        _check(major % high == 0 and minor % wide == 0, "its blocks do not fit its shape")
        major, minor = major // high, minor // wide
    else:
        _check(data.ndim == 1, "its values are no list")
    _check(len(data) == len(indices) and len(indptr) == major + 1, _LENGTHS)
    _check(int(indptr[0]) == 0 and int(indptr[-1]) == len(indices), _LENGTHS)
    _check(bool((indptr[1:] >= indptr[:-1]).all()), "its rows end before they begin")
    _check_positions(indices, minor)
    form = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}[kind]
    return sp.csr_array(form((data, indices, indptr), shape=shape))


_LENGTHS = "its parts are not of the lengths that belong together"


def _check_positions(found: NDArray[Any], end: int) -> None:
    inside = not len(found) or (found.min() >= 0 and found.max() < end)
    _check(bool(inside), f"it has values outside its {end:,} rows or columns")


def _check(sound: bool, complaint: str) -> None:
    if not sound:
        raise InputError(f"is damaged: {complaint}; save it again")
