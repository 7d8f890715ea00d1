r"""DGPN trained on a walk that lies on disk: the losses of `models/dgpn.py` over small batches.

Only rows of labelled nodes are read. Each step of Adam takes `batch` of them,

.. math:: Q = Q_{com} + \alpha\, Q_{loc} \quad\text{(Eq. 21), means over the batch,}

drawn without replacement: every labelled node comes up once before any comes up again. A batch
is read in the order of the file, by a thread, while the one before is learned from. So memory holds
three batches and a few bytes for each label, however large the graph is; rows of labelled nodes
that fit into `HELD` bytes are read once and kept.

With one batch of all labelled nodes this is `DGPN.fit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.big.reading import ahead, scattered
from unseen.errors import InputError
from unseen.models.dgpn import DGPN, SMALL
from unseen.models.training import one_thread
from unseen.propagate.hops import Hops
from unseen.propagate.operators import hop_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.base import Progress
    from unseen.models.dgpn import Batch
    from unseen.propagate.disk_hops import DiskHops

LAZINESS = 0.5  # beta, as in the pipeline
BATCH = 4096  # one core learns from it while another reads the next
HELD = 1 << 28  # bytes of labelled rows that are kept rather than read again


def train_from_blocks(
    hops: DiskHops,
    labels: NDArray[Any],
    csds: NDArray[np.float32],
    model: DGPN | None = None,
    *,
    laziness: float = LAZINESS,
    batch: int = BATCH,
    held: int = HELD,
    progress: Progress | None = None,
) -> DGPN:
    """Train the maps of `model` and return it; its `epochs` count steps, each over one batch.

    Args:
        hops: a finished walk of n nodes. [K+1, n, d]
        labels: class position of each node, -1 where there is none; may be mapped from a file. [n]
        csds: one vector for each class, seen or not. [C, d_s]
        model: the settings; DGPN's own unless given.
        laziness: beta, which says how much each hop weighs (Eq. 13).
        batch: labelled nodes a step.
        held: bytes of labelled rows that may stay in memory.
    """
    import torch

    model = DGPN() if model is None else model
    if batch < 1:
        raise InputError(f"batch: expected 1 node or more, found {batch}")
    csds = np.array(csds, np.float32)
    like = like_hops(hops, laziness)
    seen = model._check(like, labels, csds)  # [C_s]
    labelled = _labelled(labels)  # [m]
    rivals = csds[seen] if model.negatives == "seen" else csds  # [C', d_s]
    rng = torch.Generator(model.device).manual_seed(model.seed)
    start = model._start(hops.width, csds.shape[1], rng)
    before, after = model._weights(like)
    read = _reader(hops, labelled, held)
    scale = np.array(before, np.float32)[:, None, None]  # [K+1, 1, 1]

    def learn_from(at: NDArray[np.int64]) -> Batch:
        rows = read(at) if model.weigh == "latent" else scale * read(at)
        own = np.asarray(labels[labelled[at]], np.int64)
        return rows, np.searchsorted(seen, own) if model.negatives == "seen" else own

    def batches() -> Iterator[Batch]:
        drawn = islice(_draw(len(labelled), batch, model.seed), model.epochs)
        for step, rows in enumerate(ahead(learn_from, drawn)):
            if progress is not None:
                progress("train", step, model.epochs)
            yield rows

    small = len(hops.files) * min(batch, len(labelled)) * hops.width < SMALL
    with one_thread(small):
        maps, history = model.descend(start, batches(), rivals, after, rng)
    if progress is not None:
        progress("train", model.epochs, model.epochs)
    model.maps_ = {name: value.detach().cpu().numpy() for name, value in maps.items()}
    model.csds_ = csds
    model.losses_ = np.array(history, np.float32)  # [epochs]
    return model


def like_hops(hops: DiskHops, laziness: float) -> Hops:
    """Return `Hops` of the right shape and weights that hold nothing."""
    count, n, d = hops.shape
    nothing = np.broadcast_to(np.float32(0), (n, d))
    return Hops((nothing,) * count, hop_weights(count - 1, laziness))


def _labelled(labels: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return the nodes with a label, ascending, in as few bytes as hold them. [m]"""
    kind = np.int32 if len(labels) < 2**31 else np.int64
    return np.flatnonzero(np.asarray(labels) >= 0).astype(kind)


def _draw(m: int, batch: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield batches for ever: positions among m labelled nodes, ascending."""
    rng = np.random.default_rng(seed)
    order = np.arange(m, dtype=np.int32 if m < 2**31 else np.int64)
    while True:
        rng.shuffle(order)
        for part in np.array_split(order, -(-m // batch)):  # of equal size, but for one node
            yield np.sort(part)


def _reader(
    hops: DiskHops, labelled: NDArray[np.integer], held: int
) -> Callable[[NDArray[np.int64]], NDArray[np.float32]]:
    """Return what gives the rows at positions among the labelled nodes. [K+1, b, d]"""
    read, (count, _, d) = scattered(hops), hops.shape
    if 4 * count * d * len(labelled) > held:
        return lambda at: read(labelled[at])
    kept = read(labelled)  # [K+1, m, d]
    return lambda at: kept if len(at) == len(labelled) else kept[:, at]
