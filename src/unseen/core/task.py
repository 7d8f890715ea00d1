"""`Task`: what a model is given, and all that it is given."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unseen.core.arrays import real_numbers
from unseen.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from unseen.core.operator import Operator


@dataclass(frozen=True, eq=False)
class Task:
    """Nodes and classes as vectors, the graph as an operator, and what is known.

    A model never sees ids, texts, files or edge lists.

    Args:
        X: node vectors, dense or sparse. [n, d]
        S: class vectors, the paper's class semantic descriptions (CSDs). [C, d_s]
        labels: class position of each node, -1 where there is none; none at all when left out. [n]
        operator: the graph; None where there is none, or where a model must not use it.
        allowed: the classes that an unlabelled node may belong to; all when left out. [C]
        shared: whether X and S lie in one space, so that a cosine between them means something;
            when left out, whether they have the same width.
        relations: how alike class texts are, by several readings, where X and S share no space;
            the cosines of S when left out. [R, C, C]
        fixed_nodes, fixed: nodes that were answered before, and their posteriors, which stay as
            they are. [f], [f, C]
        engine: whose rows X is, and what works on them (`engines/base.py`); None: arrays.

    >>> Task([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    Task(2 nodes, 2 classes, 0 labelled, one space)
    """

    X: Any
    S: Any
    labels: Any = None
    operator: Operator | None = None
    allowed: Any = None
    shared: bool | None = None
    relations: NDArray[np.float32] | None = None
    fixed_nodes: NDArray[np.int64] | None = None
    fixed: NDArray[np.float32] | None = None
    engine: Any = field(default=None, repr=False)
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)  # hops, formed once

    def __post_init__(self) -> None:
        X = _rows("X (node vectors)", self.X) if self.engine is None else self.X
        S = np.asarray(_rows("S (class vectors)", self.S))
        n, count = X.shape[0], len(S)
        labels = np.full(n, -1) if self.labels is None else np.asarray(self.labels)
        allowed = np.ones(count, bool) if self.allowed is None else np.asarray(self.allowed, bool)
        if labels.shape != (n,):
            raise InputError(f"labels: expected {n:,} (one for each node), found {len(labels):,}")
        if labels.max(initial=-1) >= count:
            raise InputError(
                f"labels: class position {labels.max()} found, but there are only {count} classes"
            )
        if allowed.shape != (count,) or not allowed.any():
            raise InputError(
                f"allowed: expected at least one of {count} classes to choose from, found "
                f"{int(allowed.sum())} of {len(allowed)}"
            )
        if self.operator is not None and self.operator.nodes != n:
            raise InputError(f"operator: has {self.operator.nodes:,} nodes, but X has {n:,} rows")
        shared = X.shape[1] == S.shape[1] if self.shared is None else bool(self.shared)
        if shared and X.shape[1] != S.shape[1]:
            raise InputError(
                f"S: class vectors have {S.shape[1]} dimensions but node vectors have "
                f"{X.shape[1]}; encode both with the same encoder"
            )
        for name, value in (
            ("X", X),
            ("S", S),
            ("labels", labels.astype(np.int64, copy=False)),
            ("allowed", allowed),
            ("shared", shared),
        ):
            object.__setattr__(self, name, value)

    @property
    def nodes(self) -> int:
        """Number of nodes, n."""
        return int(self.X.shape[0])

    @property
    def classes(self) -> int:
        """Number of classes, C."""
        return len(self.S)

    @property
    def seen(self) -> NDArray[np.int64]:
        """Positions of classes with a labelled node, ascending. [C_s]"""
        return np.unique(self.labels[self.labels >= 0])

    @property
    def unseen(self) -> NDArray[np.int64]:
        """Positions of allowed classes without a labelled node, ascending. [C_u]"""
        return np.setdiff1d(np.flatnonzero(self.allowed), self.seen)

    def known(self, labels: ArrayLike, allowed: ArrayLike | None = None) -> Task:
        """Return the same task with other labels and, perhaps, other allowed classes."""
        return replace(self, labels=labels, allowed=self.allowed if allowed is None else allowed)

    def __repr__(self) -> str:
        space = "one space" if self.shared else "two spaces"
        labelled = int((self.labels >= 0).sum())
        return f"Task({self.nodes:,} nodes, {self.classes} classes, {labelled:,} labelled, {space})"


def _rows(what: str, given: Any) -> Any:
    """Return vectors as float32, CSR if they are sparse."""
    if isinstance(given, sp.csr_array) and given.dtype == np.float32:
        return given  # the very same, so that hops formed of it are found again
    rows: Any = (
        sp.csr_array(given, dtype=np.float32) if sp.issparse(given) else real_numbers(given, what)
    )
    if rows.ndim != 2:
        raise InputError(f"{what}: expected one vector a row, found shape {rows.shape}")
    return rows
