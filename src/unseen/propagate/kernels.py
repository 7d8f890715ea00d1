r"""The loop under both routes of propagation: sums of rows of Z, as many as a node has edges.

.. math:: \mathrm{out}_r = l_r \sum_{e \in r} w_e Z_{j(e)}, \qquad Z\ [n, c],\ c = 8, 16, .., 128

Rows of Z lie anywhere in memory, so the time goes into waiting for them. Three things help: a row
is asked for several edges before it is added, its sum stays in registers until the last edge, and
where all weights are equal none is read. LLVM does neither of the first two by itself,
so `_sum_of_rows` says them in its own words. Each row is summed by one thread in the order of its
edges: the same bits with any number of threads, in memory and on disk. Where `out` is in float64,
so are the sums: rounded once, they are those of any other order of additions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.core.errors import MissingExtraError

try:
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba import njit, types
    from numba.extending import intrinsic
except ImportError as error:  # the door of all that is compiled or lies on disk
    raise MissingExtraError("propagation on disk", "fast") from error

LANES = 8  # columns of one vector; a row of Z is a whole number of them
LINE = 16  # columns of one cache line
AHEAD = 1024  # columns between the row that is added and the one that is asked for

compiled = njit(cache=True, nogil=True, error_model="numpy")


@intrinsic  # type: ignore[untyped-decorator]
def _sum_of_rows(
    context: Any, Z: Any, indices: Any, weights: Any, vectors: Any, span: Any, left: Any, out: Any
) -> Any:
    """Write left * sum of w_e Z[indices[e]] over first <= e < end to out[at : at + c].

    `span` is (first, end, last, at): e runs up to `end`, and no index after `last` is looked at.
    """
    width = LANES * len(vectors)
    signature = types.void(Z, indices, weights, vectors, span, left, out)

    def build(target: Any, b: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.FloatType(), LANES)
        wide = signature.args[6].dtype == types.float64
        sum_type = ir.VectorType(ir.DoubleType(), LANES) if wide else vector
        long, short, byte = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()

        def data(i: int) -> Any:
            return target.make_array(signature.args[i])(target, b, args[i]).data

        def spread(x: Any) -> Any:  # one number on all lanes
            nothing = ir.Constant(ir.VectorType(x.type, LANES), ir.Undefined)
            lanes = ir.Constant(ir.VectorType(short, LANES), [0] * LANES)
            return b.shuffle_vector(b.insert_element(nothing, x, short(0)), nothing, lanes)

        def row(e: Any) -> Any:
            j = b.load(b.gep(index, [e]))
            j = b.sext(j, long) if j.type.width < long.width else j
            return b.gep(rows, [b.mul(j, long(width))])

        def part(place: Any, column: int, kind: Any = vector) -> Any:
            return b.bitcast(b.gep(place, [long(column)]), kind.as_pointer())

        ask = b.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, short, short, short])
        )
        rows, index = data(0), data(1)
        weight = None if isinstance(weights, types.NoneType) else data(2)
        first, end, last, at = (b.extract_value(args[4], i) for i in range(4))
        zero = ir.Constant(sum_type, [0.0] * LANES)
        start, loop, done = b.block, b.append_basic_block(), b.append_basic_block()
        b.cbranch(b.icmp_signed("<", first, end), loop, done)

        b.position_at_end(loop)
        e = b.phi(long)
        totals = [b.phi(sum_type) for _ in range(0, width, LANES)]
        later = b.add(e, long(max(4, AHEAD // width)))
        later = row(b.select(b.icmp_signed("<", later, last), later, last))
        for column in range(0, width, LINE):
            line = b.bitcast(b.gep(later, [long(column)]), byte)
            b.call(ask, [line, short(0), short(2), short(1)])  # to read, into L2, data
        source = row(e)
        factor = None if weight is None else spread(b.load(b.gep(weight, [e])))
        factor = b.fpext(factor, sum_type) if wide and factor is not None else factor
        sums = []
        for i, total in enumerate(totals):
            x = b.load(part(source, i * LANES), align=4)
            x = b.fpext(x, sum_type) if wide else x
            x = x if factor is None else b.fmul(x, factor, flags=("contract",))
            sums.append(b.fadd(total, x, flags=("contract",)))
        following = b.add(e, long(1))
        e.add_incoming(first, start)
        e.add_incoming(following, loop)
        for total, more in zip(totals, sums, strict=True):
            total.add_incoming(zero, start)
            total.add_incoming(more, loop)
        b.cbranch(b.icmp_signed("<", following, end), loop, done)

        b.position_at_end(done)
        results = [b.phi(sum_type) for _ in totals]
        for result, more in zip(results, sums, strict=True):
            result.add_incoming(zero, start)
            result.add_incoming(more, loop)
        place, factor = b.gep(data(6), [at]), spread(args[5])
        for i, result in enumerate(results):
            b.store(b.fmul(result, factor), part(place, i * LANES, sum_type), align=4)
        return target.get_dummy_value()

    return signature, build


@compiled  # type: ignore[untyped-decorator]
def gather(
    indptr: Any, indices: Any, weights: Any, Z: Any, vectors: Any, left: Any, out: Any
) -> None:
    """Write the sums of a stretch of m rows to `out`, flat [m * c].

    Args:
        indptr: where the edges of each row begin and end. [m + 1]
        indices, weights: the edges of these rows only; weights may be None. Twice [e]
        Z: what is summed, flat. [n * c]
        vectors: a tuple of c / 8 numbers of any value: numba compiles by type, and the length of
            a tuple is one.
        left: factor of each row, in the precision of `out`. [m]
    """
    begin, width = np.int64(indptr[0]), np.int64(LANES * len(vectors))
    last = np.int64(indptr[-1]) - begin - 1
    for r in range(len(left)):
        first, end = np.int64(indptr[r]) - begin, np.int64(indptr[r + 1]) - begin
        span = (first, end, last, np.int64(r) * width)
        _sum_of_rows(Z, indices, weights, vectors, span, left[r], out)


@compiled  # type: ignore[untyped-decorator]
def add_rows(indptr: Any, values: Any, sums: Any) -> None:
    """Add the values of each row r to sums[r], in the order of `add_at`."""
    for r in range(len(sums)):
        for e in range(indptr[r], indptr[r + 1]):
            sums[r] += values[e]


@compiled  # type: ignore[untyped-decorator]
def count(positions: Any, counts: Any) -> None:
    """Add one to counts[i] for each i of `positions`."""
    for i in positions:
        counts[i] += 1


@compiled  # type: ignore[untyped-decorator]
def add_at(positions: Any, values: Any, sums: Any) -> None:
    """Add values[e] to sums[positions[e]]."""
    for e in range(len(positions)):
        sums[positions[e]] += values[e]
