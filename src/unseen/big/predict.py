"""Answers for all nodes of a walk on disk, written to Parquet part by part.

A folder::

    part-00000.parquet ..    id, label, confidence, runner_up: one row a node without a label
    parts.json               what was asked: changes with the walk, the model, classes or labels
    manifest.json            checksums, written last: with it the folder is finished

Each part stands for `PART` nodes in order and is put in place when it is complete. A run that was
killed goes on with the parts that are missing. ``polars.scan_parquet("folder/*.parquet")`` reads
all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from unseen.big.reading import ahead, check_same, fingerprint, stretch, walk_fingerprint
from unseen.big.train import LAZINESS, like_hops
from unseen.errors import InputError
from unseen.files import MANIFEST, read_json, replacing, write_json, write_manifest
from unseen.models.base import check_widths
from unseen.models.dgpn_maps import PSI
from unseen.propagate.hops import Hops
from unseen.propagate.npy import full_disk
from unseen.vectors import masked, softmax

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from unseen.encode.base import Progress
    from unseen.models.dgpn import DGPN
    from unseen.propagate.disk_hops import DiskHops

FORMAT = 1
PARTS = "parts.json"
BATCH = 8192  # nodes that are read and answered for together
WORKERS = 4  # batches under way: some wait for the disk while others are multiplied
PART = 32 * BATCH  # nodes a file; a part of the format


def predict_from_blocks(
    model: DGPN,
    hops: DiskHops,
    out: Path | str,
    classes: Sequence[str],
    *,
    csds: NDArray[np.float32] | None = None,
    among: NDArray[np.bool_] | None = None,
    labels: NDArray[np.integer] | None = None,
    laziness: float = LAZINESS,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Path:
    """Write the best class of each node without a label to the folder `out`; return the folder.

    Args:
        model: trained, by `train_from_blocks` or in memory.
        hops: a finished walk of n nodes. [K+1, n, d]
        classes: their names. C
        csds: of these classes, where they are not those of the training. [C, d_s]
        among: the classes that may be answered; all unless given. [C]
        labels: class position of each node; nodes at 0 or more are left out. [n]
        laziness: beta, as in training.
        batch: nodes in memory at a time.
        progress: called with what is done, finished nodes and all nodes.
    """
    out = Path(out)
    S = model.csds_ if csds is None else np.asarray(csds, np.float32)
    _check(model, hops, S, classes, among, labels, batch)
    asked = {
        "format": FORMAT,
        "walk": walk_fingerprint(hops),
        "model": fingerprint([model.get_params(), laziness, sorted(model.maps_)], *_maps(model)),
        "classes": fingerprint([list(classes), None if among is None else among.tolist()], S),
        "labels": "none" if labels is None else fingerprint("known", np.asarray(labels) >= 0),
        "nodes": hops.shape[1],
        "part": PART,
    }
    with full_disk(out):
        if _begin(out, asked):
            _write_missing(model, hops, out, classes, S, among, labels, laziness, batch, progress)
            write_manifest(out)
    return out


def _write_missing(
    model: DGPN,
    hops: DiskHops,
    out: Path,
    classes: Sequence[str],
    S: NDArray[np.float32],
    among: NDArray[np.bool_] | None,
    labels: NDArray[np.integer] | None,
    laziness: float,
    batch: int,
    progress: Progress | None,
) -> None:
    import polars as pl

    n, weights = hops.shape[1], like_hops(hops, laziness).weights
    parts = {
        begin: out / f"part-{begin // PART:05d}.parquet" for begin in range(0, max(n, 1), PART)
    }
    missing = [begin for begin, path in parts.items() if not path.exists()]
    cuts = [  # one batch after the other, none across two parts
        slice(at, min(at + batch, begin + PART, n))
        for begin in missing
        for at in range(begin, max(min(begin + PART, n), begin + 1), batch)
    ]

    def answer(rows: slice) -> pl.DataFrame:
        near = Hops(tuple(stretch(hops, rows)), weights)
        told = answers(model, near, S, among, classes, rows.start)
        return told if labels is None else told.filter(np.asarray(labels[rows]) < 0)

    frames: list[pl.DataFrame] = []
    with threadpool_limits(1, user_api="blas"):  # the workers share the cores already
        for rows, told in zip(cuts, ahead(answer, cuts, WORKERS), strict=True):
            frames.append(told)
            if rows.stop == n or rows.stop % PART == 0:
                with replacing(parts[(max(rows.stop, 1) - 1) // PART * PART]) as new:
                    pl.concat(frames).write_parquet(new)
                frames = []
            if progress is not None:
                progress("predict", rows.stop, n)


def answers(
    model: DGPN,
    hops: Hops,
    S: NDArray[np.float32],
    among: NDArray[np.bool_] | None,
    classes: Sequence[str],
    first: int = 0,
) -> pl.DataFrame:
    """Return id, label, confidence and runner_up of nodes that are numbered from `first` on."""
    import polars as pl

    scores = masked(model.scores(hops, S), among)  # [b, C]
    best = scores.argmax(axis=1)
    rows = np.arange(len(best))
    inner = model.similarity == "inner"  # the softmax is that of training
    sure = softmax(scores if inner else scores / np.float32(model.temperature))[rows, best]
    scores[rows, best] = -np.inf
    second = np.where(scores.max(axis=1, initial=-np.inf) > -np.inf, scores.argmax(axis=1), -1)
    names = pl.Series([*classes, ""], dtype=pl.String)
    return pl.DataFrame(
        {
            "id": rows + first,
            "label": names.gather(best),
            "confidence": sure,
            "runner_up": names.gather(np.where(second < 0, len(classes), second)),
        }
    )


def _begin(out: Path, asked: dict[str, object]) -> bool:
    """Note what is asked, or compare it with what was; return whether something is left to do."""
    if (out / PARTS).is_file():
        found = read_json(out / PARTS)
        check_same(out, found, asked, "predictions that were made otherwise", "predict anew")
        for left in out.glob(".part-*.part"):  # of a writer that was killed
            left.unlink()
        return not (out / MANIFEST).is_file()
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise InputError(
            f"{out}: exists and holds no predictions of a walk; give the name of a new folder"
        )
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / PARTS) as new:
        write_json(new, asked)
    return True


def _check(
    model: DGPN,
    hops: DiskHops,
    S: NDArray[np.float32],
    classes: Sequence[str],
    among: NDArray[np.bool_] | None,
    labels: NDArray[np.integer] | None,
    batch: int,
) -> None:
    check_widths(like_hops(hops, LAZINESS), S, len(model.maps_[PSI]), model.csds_.shape[1])
    if len(classes) != len(S):
        raise InputError(f"classes: expected {len(S)} names (one a CSD), found {len(classes)}")
    if among is not None and (len(among) != len(S) or not among.any()):
        raise InputError(
            f"among: expected one of {len(S)} classes or more to choose from, found "
            f"{int(among.sum())} of {len(among)}"
        )
    n = hops.shape[1]
    if labels is not None and len(labels) != n:
        raise InputError(f"labels: expected {n:,} (one for each node), found {len(labels):,}")
    if batch < 1:
        raise InputError(f"batch: expected 1 node or more, found {batch}")


def _maps(model: DGPN) -> list[NDArray[np.float32]]:
    return [model.maps_[name] for name in sorted(model.maps_)]
