"""Eq. 9-16: each decomposition against the K-fold product that it stands for, on the data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import MissingDataError
from unseen.core.operator import Operator
from unseen.datasets.registry import load
from unseen.paper.data import TITLES, absent
from unseen.paper.gcn_decomposition import (
    Case,
    decompose_as,
    largest_eigenvalue,
    laziness_of,
    printed_error,
    renormalised,
)
from unseen.paper.sheet import Sheet

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = (2, 3)
BETA = 0.7
NAMES: dict[Case, str] = {
    "plain": "Case I, Eq. 10",
    "lazy": "Case I lazy, Eq. 13",
    "renormalised": "Case II, Eq. 15 as printed",
    "renormalised-exact": "Case II, exact",
    "renormalised-lazy": "Case II lazy, Eq. 16",
}


def sheets(*_: object) -> list[Sheet]:
    """Return the relative errors, and the laziness that the largest eigenvalue would give."""
    here = {}
    missing = []
    for name in TITLES:
        try:
            here[name] = load(name).graph.adjacency
        except MissingDataError:
            missing.append(name)
    rows = [
        (
            NAMES[case],
            *(f"{error(A, K, case):.1e}" for A in here.values() for K in STEPS),
        )
        for case in get_args(Case)
    ]
    rows.append(
        (
            "Eq. 15 as printed, as a matrix",
            *(f"{printed_error(A, K):.4f}" for A in here.values() for K in STEPS),
        )
    )
    largest = {name: largest_eigenvalue(A) for name, A in here.items()}
    return [
        Sheet(
            "Decompositions against the product of K steps: relative error",
            ("case", *(f"{TITLES[name]}, K={K}" for name in here for K in STEPS)),
            rows,
            [
                "Frobenius norm of the difference over that of the product, on 64 random columns "
                f"(seed 0, single precision; beta = {BETA}); the last row on the matrices "
                "themselves. I~ and P~ do not commute where tied nodes differ in degree, so the "
                "binomial of Eq. 15 is not the product; the exact form is.",
                *([absent(*missing)] if missing else []),
            ],
        ),
        Sheet(
            "beta = 1 - 1/lambda_max (Eq. 12)",
            ("data", "lambda_max of the normalised Laplacian", "beta"),
            [(TITLES[n], f"{top:.4f}", f"{laziness_of(top):.4f}") for n, top in largest.items()],
            [
                "lambda_max of a normalised Laplacian is at most 2, so this beta is at most 1/2. "
                "The paper's beta = 0.7 stands for lambda_max = 3.33, which no graph has: it is a "
                "free choice of laziness, not an approximation of the spectrum."
            ],
        ),
    ]


def error(adjacency: Any, hops: int, case: Case) -> float:
    """Return the relative error of a case against its product, on 64 random columns."""
    X = np.random.default_rng(0).normal(size=(adjacency.shape[0], 64)).astype(np.float32)
    product = X.astype(np.float64)
    step = _step(adjacency, case)
    for _ in range(hops):
        product = step @ product
    found: NDArray[np.float32] = decompose_as(X, adjacency, hops, case, BETA).composed()
    return float(np.linalg.norm(found - product) / np.linalg.norm(product))


def _step(adjacency: Any, case: Case) -> Any:
    """Return the matrix whose K-th power a case decomposes, in double precision. [n, n]"""
    eye = sp.eye_array(adjacency.shape[0], format="csr")
    P = sp.csr_array(Operator(adjacency).matrix, dtype=np.float64)
    if case == "plain":
        return (eye + P) / 2
    if case == "lazy":
        return BETA * eye + (1 - BETA) * P
    own, edges = renormalised(adjacency)
    if case == "renormalised-lazy":
        return BETA * eye + (1 - BETA) * (own + edges)
    return own + edges
