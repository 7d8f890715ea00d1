"""Answers for all nodes of a graph on disk, written to Parquet part by part.

A folder::

    part-00000.parquet ..    id, label, confidence, runner_up: one row a node without a label
    parts.json               what was asked: changes with hops, model, classes or labels
    manifest.json            checksums, written last: with it the folder is finished

Each part stands for `PART` nodes in order and is put in place when it is complete. A run that was
killed goes on with the parts that are missing. ``polars.scan_parquet("folder/*.parquet")`` reads
all of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.core.errors import InputError
from unseen.core.task import Task
from unseen.disk.folder import check_new, check_same, fingerprint, hops_fingerprint
from unseen.io.atomic import MANIFEST, read_json, replacing, write_json, write_manifest
from unseen.propagate.npy import full_disk

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unseen.core.operator import Operator
    from unseen.encode.base import Progress
    from unseen.models.base import Model
    from unseen.propagate.disk_hops import DiskHops

FORMAT = 2
PARTS = "parts.json"
BATCH = 8192  # nodes that are read and answered for together
WORKERS = 4  # batches under way: some wait for the disk while others are multiplied
PART = 32 * BATCH  # nodes a file; a part of the format

Key = TypeVar("Key")
Done = TypeVar("Done")


def predict_from_disk(
    model: Model,
    hops: DiskHops,
    out: Path | str,
    classes: Sequence[str],
    S: NDArray[np.float32],
    allowed: NDArray[np.bool_] | None = None,
    labels: NDArray[np.integer] | None = None,
    *,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Path:
    """Write the best class of each node without a label to the folder `out`; return the folder.

    Args:
        model: fitted; one that takes hops of at most K steps from its task, and nothing else of
            the graph, as `Prototype` does.
        hops: finished, of n nodes. [K+1, n, d]
        classes: their names. C
        S: class vectors. [C, d]
        allowed: the classes that may be answered; all unless given. [C]
        labels: class position of each node; nodes at 0 or more are left out. [n]
        batch: nodes in memory at a time.
        progress: called with what is done, finished nodes and all nodes.
    """
    out, n = Path(out), hops.shape[1]
    codes = np.full(n, -1) if labels is None else np.asarray(labels)
    if len(classes) != len(S):
        raise InputError(f"classes: expected {len(S)} names (one a CSD), found {len(classes)}")
    if len(codes) != n:
        raise InputError(f"labels: expected {n:,} (one for each node), found {len(codes):,}")
    if batch < 1:
        raise InputError(f"batch: expected 1 node or more, found {batch}")
    allowed = block_task(hops.stretch(slice(0, 0)), S, allowed).allowed  # checked
    asked = {
        "format": FORMAT,
        "hops": hops_fingerprint(hops),
        "model": fingerprint([type(model).__name__, model.get_params()]),
        "classes": fingerprint([list(classes), allowed.tolist()], S),
        "labels": fingerprint("known", codes >= 0),
        "nodes": n,
        "part": PART,
    }

    def answer(rows: slice) -> pl.DataFrame:
        p = model.posterior(block_task(hops.stretch(rows), S, allowed))  # [b, C]
        return table_of(p, allowed, classes, rows.start).filter(codes[rows] < 0)

    with full_disk(out):
        if _begin(out, asked):
            _write_missing(answer, n, out, batch, progress)
            write_manifest(out)
    return out


def block_task(
    rows: NDArray[np.float32],
    S: NDArray[np.float32],
    allowed: NDArray[np.bool_] | None = None,
    labels: NDArray[np.int64] | None = None,
    operator: Operator | None = None,
) -> Task:
    """Return the task of nodes whose hops are in hand: `hops_of` finds them. [K+1, b, d]"""
    memo = {k: tuple(rows[: k + 1]) for k in range(len(rows))}
    return Task(rows[0], S, labels, operator, allowed, True, memo=memo)


def table_of(
    p: NDArray[np.float32], allowed: NDArray[np.bool_], classes: Sequence[str], first: int = 0
) -> pl.DataFrame:
    """Return id, label, confidence and runner_up from p [b, C]; ids count from `first` on."""
    import polars as pl

    p = np.where(allowed, p, np.float32(-1))
    rows, best = np.arange(len(p)), p.argmax(axis=1)
    sure = p[rows, best]
    p[rows, best] = -1
    second = np.where(p.max(axis=1) < 0, len(classes), p.argmax(axis=1))  # the last: there is none
    names = pl.Series([*classes, ""], dtype=pl.String)
    return pl.DataFrame(
        {
            "id": rows + first,
            "label": names.gather(best),
            "confidence": sure,
            "runner_up": names.gather(second),
        }
    )


def ahead(work: Callable[[Key], Done], keys: Iterable[Key], threads: int = 1) -> Iterator[Done]:
    """Yield work(key) for each key, in order; while one is in use, threads do the next ones.

    >>> list(ahead(str.upper, "abc"))
    ['A', 'B', 'C']
    """
    coming: deque[Future[Done]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for key in keys:
            coming.append(pool.submit(work, key))
            if len(coming) > threads:  # no more than that are held
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()


def _write_missing(
    answer: Callable[[slice], pl.DataFrame],
    n: int,
    out: Path,
    batch: int,
    progress: Progress | None,
) -> None:
    import polars as pl

    parts = {
        begin: out / f"part-{begin // PART:05d}.parquet" for begin in range(0, max(n, 1), PART)
    }
    missing = [begin for begin, path in parts.items() if not path.exists()]
    cuts = [  # one batch after the other, none across two parts
        slice(at, min(at + batch, begin + PART, n))
        for begin in missing
        for at in range(begin, max(min(begin + PART, n), begin + 1), batch)
    ]
    frames: list[pl.DataFrame] = []
    with threadpool_limits(1, user_api="blas"):  # the workers share the cores already
        for rows, found in zip(cuts, ahead(answer, cuts, WORKERS), strict=True):
            frames.append(found)
            if rows.stop == n or rows.stop % PART == 0:
                with replacing(parts[(max(rows.stop, 1) - 1) // PART * PART]) as new:
                    pl.concat(frames).write_parquet(new)
                frames = []
            if progress is not None:
                progress("predict", rows.stop, n)


def _begin(out: Path, asked: dict[str, object]) -> bool:
    """Note what is asked, or compare it with what was; return whether something is left to do."""
    if (out / PARTS).is_file():
        found = read_json(out / PARTS)
        check_same(out, found, asked, "predictions that were made otherwise", "predict anew")
        for left in out.glob(".part-*.part"):  # of a writer that was killed
            left.unlink()
        return not (out / MANIFEST).is_file()
    check_new(out, "predictions")
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / PARTS) as new:
        write_json(new, asked)
    return True
