"""How `sparse.py` shares an epoch out to threads: how many pay, what each takes, who waits.

Threads never add up the same number together, and rows are cut only where BLAS begins anew. So the
bits do not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

SMALL = 20_000_000  # multiplications in an epoch, below which threads wait more than they work
NARROW = 32  # columns; a thread that has fewer mostly reads indices
TWELVE = 12  # columns that OpenBLAS takes at a time where it has AVX2

Every = Callable[[Sequence[Callable[[], Any]]], list[Any]]


def how_many(multiplications: int, latent: int) -> int:
    """Return how many threads pay, of those that PyTorch may use."""
    import torch

    most = max(1, latent // NARROW)
    return min(most, torch.get_num_threads()) if multiplications > SMALL else 1


def stretches(length: int, parts: int) -> list[slice]:
    """Cut rows where BLAS begins anew, so that their products are the same bits as uncut.

    >>> stretches(128, 2)
    [slice(0, 60, None), slice(60, 128, None)]
    """
    ends = [length * i // parts // TWELVE * TWELVE for i in range(parts)]
    return [slice(*pair) for pair in pairwise([*ends, length])]


@contextmanager
def pool(threads: int) -> Iterator[Every]:
    """Give what does all works, the first of them in this thread."""
    with ThreadPoolExecutor(max(1, threads - 1)) as others:

        def every(works: Sequence[Callable[[], Any]]) -> list[Any]:
            if threads == 1:
                return [work() for work in works]
            begun = [others.submit(work) for work in works[1:]]
            return [works[0](), *(work.result() for work in begun)]

        yield every
