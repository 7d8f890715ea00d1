"""Read planetoid's files (`ind.<name>.*`): pickles, opened by a reader that can call nothing else.

Yang, Cohen, Salakhutdinov, "Revisiting Semi-Supervised Learning with Graph Embeddings", ICML 2016.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.core.labels import NodeSplit
from unseen.io.arrays import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

PER_CLASS, VALIDATION, TEST = 20, 500, 1_000  # nodes of its split: to train, validate, test


class _Sparse:
    """Takes the place of `csr_matrix`, whose attributes the pickle sets one by one."""

    data: Any
    indices: Any
    indptr: Any
    _shape: tuple[int, int]

    def matrix(self) -> Any:
        """Return the matrix as a CSR array, checked before it is believed."""
        parts = {"data": self.data, "indices": self.indices, "indptr": self.indptr}
        return sparse({"format": np.array("csr"), "shape": np.array(self._shape), **parts})


_ADMITTED: dict[tuple[str, str], Any] = {
    ("__builtin__", "list"): list,
    ("collections", "defaultdict"): defaultdict,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("scipy.sparse.csr", "csr_matrix"): _Sparse,
}


class _Reader(pickle.Unpickler):
    """A pickle may name any function of any module to be called; this one knows six names."""

    def find_class(self, module: str, name: str, /) -> Any:
        if (module, name) not in _ADMITTED:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which has no place there")
        return _ADMITTED[module, name]


def read_pickle(content: bytes, what: str) -> Any:
    """Return what one of planetoid's files holds; refuse a pickle that names anything foreign."""
    try:
        found = _Reader(io.BytesIO(content), encoding="latin1").load()
        return found.matrix() if isinstance(found, _Sparse) else found
    except Exception as error:  # a damaged pickle may fail in any way
        raise InputError(f"{what}: refused as a planetoid file ({error})") from error


@dataclass(frozen=True, eq=False)
class Planetoid:
    """A planetoid data set with its test rows put where they belong."""

    edges: NDArray[np.int64]  # [m, 2], each citation once, smaller end first, sorted
    features: Any  # CSR, [n, d]; an empty row where there are none
    columns: NDArray[np.int64]  # [n], planetoid's own class number, -1 = none
    split: NodeSplit


def read_planetoid(name: str, read: Callable[[str], bytes]) -> Planetoid:
    """Assemble a data set; `read` returns the content of one file, given its name.

    The split is implied: the nodes that `y` has labels of train, the next 500 validate, and those
    that `test.index` lists test.
    """

    def load(part: str) -> Any:
        return read_pickle(read(f"ind.{name}.{part}"), f"ind.{name}.{part}")

    neighbours, allx, tx, ally = (load(part) for part in ("graph", "allx", "tx", "ally"))
    n = len(neighbours)
    test = np.array(read(f"ind.{name}.test.index").split(), dtype=np.int64)
    rows = np.concatenate([np.arange(allx.shape[0]), test])  # where each stacked row belongs
    place = sp.csr_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(n, len(rows)))
    one_hot = np.zeros((n, ally.shape[1]), dtype=np.int64)
    one_hot[rows] = np.vstack([ally, load("ty")])
    columns = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)
    features = sp.csr_array(place @ sp.vstack([allx, tx]), dtype=np.float32)
    labelled, known = len(load("y")), allx.shape[0]
    validation = np.arange(labelled, min(labelled + VALIDATION, known))
    split = NodeSplit(np.arange(labelled), validation, test)
    return Planetoid(_lines(neighbours), features, columns.astype(np.int64), split)


def _lines(neighbours: dict[int, list[int]]) -> NDArray[np.int64]:
    """Every citation is listed from both of its ends: twice, also when it cites itself."""
    listed = Counter((min(a, b), max(a, b)) for a, others in neighbours.items() for b in others)
    lines = [pair for pair, times in sorted(listed.items()) for _ in range(times // 2)]
    return np.array(lines, dtype=np.int64).reshape(-1, 2)
