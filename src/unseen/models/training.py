"""What models that are trained step by step share: one thread, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

ENOUGH = 0.001  # share by which the loss must fall within `patience` epochs


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Keep PyTorch to one thread for a while, if wanted."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1 if wanted else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stalled(losses: Sequence[float], patience: int | None) -> bool:
    """Whether the last `patience` epochs failed to lower the loss by a thousandth.

    >>> stalled([4, 2, 2, 1.999], 2), stalled([4, 2, 2, 1.9], 2), stalled([4, 4], 2)
    (True, False, False)
    """
    if patience is None or len(losses) <= patience:
        return False
    before, after = losses[:-patience], losses[-patience:]
    return min(after) > (1 - ENOUGH) * min(before)
