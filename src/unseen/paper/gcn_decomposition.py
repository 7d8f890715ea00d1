r"""The decompositions of K graph convolutions into subparts (DGPN, KDD 2021, Sec. 5.2, Eq. 9-16).

A step is the sum of what a node keeps and what it receives from its neighbours. K steps, multiplied
out, are K+1 subparts [n, d], one for each number k of steps over edges:

=================== ===== ================================= =====================================
case                Eq.   K steps                           weight and subpart of hop k
=================== ===== ================================= =====================================
plain               10    ((I + P) / 2)^K X                 C(K,k) / 2^K, P^k X
lazy                13    (b I + (1-b) P)^K X               C(K,k) b^(K-k) (1-b)^k, P^k X
renormalised        15    (I~ + P~)^K X, as printed         C(K,k), I~^(K-k) P~^k X
renormalised-exact  15    (I~ + P~)^K X                     1, the sum of all C(K,k) words of k
                                                            factors P~ and K-k factors I~, on X
renormalised-lazy   16    (b I + (1-b) P^)^K X              C(K,k) b^(K-k) (1-b)^k, P^^k X
=================== ===== ================================= =====================================

with :math:`P = D^{-1/2} A D^{-1/2}`, :math:`\tilde A = A + I` and its degrees :math:`\tilde D`,
:math:`\tilde I = \tilde D^{-1}`, :math:`\tilde P = \tilde D^{-1/2} A \tilde D^{-1/2}` and
:math:`\hat P = \tilde I + \tilde P`. Eq. 9 is Eq. 10 times 2^K: its weights are `binomials`.

Eq. 15 as printed is not the product that it stands for. The binomial theorem needs factors that
commute, and :math:`\tilde I \tilde P - \tilde P \tilde I` has the entries
:math:`(1/\tilde d_i - 1/\tilde d_j) \tilde p_{ij}`: zero only where neighbours have equal degrees.
`printed_error` says by how much it is off. The exact subparts come from the recurrence

.. math:: E_{j,k} = \tilde I E_{j-1,k} + \tilde P E_{j-1,k-1}, \qquad E_{0,0} = X.

Paper: https://doi.org/10.1145/3447548.3467230
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh, norm

from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.propagate.hops import Hops, decompose

if TYPE_CHECKING:
    from numpy.typing import NDArray

Case = Literal["plain", "lazy", "renormalised", "renormalised-exact", "renormalised-lazy"]

SMALL = 64  # nodes: below, all eigenvalues at once are safer than an iteration for one
TWICE = 0.5  # the laziness of Eq. 10: I and P count the same


def decompose_as(
    X: Any, adjacency: Any, hops: int, case: Case = "lazy", laziness: float = 0.7
) -> Hops:
    """Return the subparts of K = `hops` steps from X [n, d] and their weights; see the table above.

    `laziness` (beta) is read in the two lazy cases only; 0.7 is what the paper fixes. Sparse X
    stays sparse except in the two forms of Eq. 15, whose subparts are formed at once.

    >>> decompose_as([[1.0], [3.0]], [[0, 1], [1, 0]], 2, "plain").composed().tolist()
    [[2.0], [2.0]]
    """
    _check(X, adjacency, hops, case, laziness)
    if case == "plain":
        return decompose(X, Operator(adjacency), hops, TWICE)
    if case == "lazy":
        return decompose(X, Operator(adjacency), hops, laziness)
    if case == "renormalised-lazy":
        return decompose(X, Operator(_with_loops(adjacency)), hops, laziness)
    dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float32)
    own, edges = (part.astype(np.float32) for part in renormalised(adjacency))
    if case == "renormalised":
        return Hops(tuple(printed_blocks(dense, own, edges, hops)), binomials(hops))
    return Hops(tuple(exact_blocks(dense, own, edges, hops)), np.ones(hops + 1, np.float32))


def binomials(hops: int) -> NDArray[np.float32]:
    """Return C(K, k) for k = 0..K: the weights of Eq. 9, and those of Eq. 15. [K+1]

    >>> binomials(3).tolist()
    [1.0, 3.0, 3.0, 1.0]
    """
    return np.array([comb(hops, k) for k in range(hops + 1)], dtype=np.float32)


def renormalised(adjacency: Any) -> tuple[Any, Any]:
    """Return I~ and P~ of Eq. 14, as sparse matrices in double precision. Twice [n, n]

    Directed edges are scaled by out-degrees on the left and in-degrees on the right, as in
    `Operator`; the ones that A~ adds to the degrees leave nothing to divide by zero.
    """
    A = sp.csr_array(adjacency, dtype=np.float64)
    left, right = ((1 + A.sum(axis=axis)) ** -0.5 for axis in (1, 0))
    edges = sp.diags_array(left) @ A @ sp.diags_array(right)
    return sp.csr_array(sp.diags_array(left * right)), sp.csr_array(edges)


def printed_blocks(X: Any, own: Any, edges: Any, hops: int) -> list[Any]:
    """Return I~^(K-k) P~^k X for k = 0..K (Eq. 15), dense or sparse as X is. K+1 times [n, d]"""
    blocks = []
    for k in range(hops + 1):
        block = X
        for _ in range(hops - k):
            block = own @ block
        blocks.append(block)
        X = edges @ X if k < hops else X
    return blocks


def exact_blocks(X: Any, own: Any, edges: Any, hops: int) -> list[Any]:
    """Return, for k = 0..K, the sum of all words with k factors P~ and K-k I~, on X.

    Dense or sparse as X is. K+1 times [n, d]
    """
    blocks = [X]  # E_{j,k}, k = 0..j
    for _ in range(hops):
        kept, moved = ([part @ block for block in blocks] for part in (own, edges))
        between = [a + b for a, b in zip(kept[1:], moved[:-1], strict=True)]
        blocks = [kept[0], *between, moved[-1]]
    return blocks


def printed_error(adjacency: Any, hops: int) -> float:
    """Return |printed - product| / |product| of Eq. 15 as a matrix [n, n], in Frobenius norms.

    On a path of three nodes, two steps: the root of 12/689.

    >>> round(printed_error([[0, 1, 0], [1, 0, 1], [0, 1, 0]], 2), 4)
    0.132
    """
    own, edges = renormalised(adjacency)
    product = start = sp.eye_array(own.shape[0], format="csr")
    for _ in range(hops):
        product = (own + edges) @ product
    printed = sum(
        comb(hops, k) * block for k, block in enumerate(printed_blocks(start, own, edges, hops))
    )
    return float(norm(printed - product) / norm(product))


def largest_eigenvalue(adjacency: Any) -> float:
    """Return lambda_max of the normalised Laplacian I - P of an undirected graph.

    It is at most 2, and 2 where a part of the graph is bipartite: a pair of nodes is enough.

    >>> largest_eigenvalue([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    1.5
    """
    A = sp.csr_array(adjacency, dtype=np.float64)
    if abs(A - A.T).max() > 0:
        raise InputError(
            "adjacency: expected edges that count both ways, found some that differ; the "
            "eigenvalues of the Laplacian are those of an undirected graph: give max(A, A.T)"
        )
    degrees = A.sum(axis=1)
    scale = sp.diags_array(np.where(degrees > 0, degrees, np.inf) ** -0.5)
    P, n = scale @ A @ scale, A.shape[0]
    if n <= SMALL:
        least = np.linalg.eigvalsh(P.toarray())[0]
    else:
        # Every bipartite part of the graph has the eigenvalue -1 of P: among that many equal ones
        # the iteration never settles to the last bit, so it may stop before.
        start = np.random.default_rng(0).normal(size=n)  # the same value on every call
        least = eigsh(P, k=1, which="SA", v0=start, tol=1e-8, return_eigenvectors=False)[0]
    return round(float(1 - least), 6)


def laziness_of(largest: float) -> float:
    """Return beta = 1 - 1/lambda_max (Eq. 12).

    Eigenvalues of a normalised Laplacian are at most 2, so the true lambda_max gives a beta of at
    most 1/2, and then a lazy step has no negative eigenvalue, the least being exactly 0. The paper
    speaks of lambda_max > 2 as another approximation of it; its beta of 0.7 stands for 3.33, which
    no graph has. Read beta above 1/2 as a choice, not as an estimate.

    >>> laziness_of(2.0)
    0.5
    """
    if not largest >= 1:
        raise InputError(
            f"largest: expected an eigenvalue lambda_max of at least 1, so that beta = "
            f"1 - 1/lambda_max is in [0, 1], found {largest}; take `largest_eigenvalue(adjacency)`"
        )
    return 1 - 1 / largest


def _with_loops(adjacency: Any) -> Any:
    """Return A~ = A + I."""
    A = sp.csr_array(adjacency, dtype=np.float32)
    return A + sp.eye_array(A.shape[0], dtype=np.float32, format="csr")


def _check(X: Any, adjacency: Any, hops: int, case: str, laziness: float) -> None:
    """Refuse what no case can do."""
    if case not in get_args(Case):
        raise InputError(f"case: expected one of {', '.join(get_args(Case))}, found {case!r}")
    if hops < 0:
        raise InputError(f"hops: expected 0 or more steps, found {hops}")
    if not 0 <= laziness <= 1:
        raise InputError(
            f"laziness: expected a share from 0 (always move) to 1 (always stay), found {laziness}"
        )
    rows, nodes = np.shape(X)[0], np.shape(adjacency)[0]
    if rows != nodes:
        raise InputError(
            f"X: expected one row for each of the {nodes:,} nodes, found {rows:,} rows"
        )
