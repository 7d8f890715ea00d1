"""From files of edges and node vectors to hops on disk, inside a chosen amount of memory.

`folder.py` says what the folder holds. Every step is kept once it is complete, so that a run that
was killed goes on where it was.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.arrays import unit
from unseen.core.errors import InputError, shortlist
from unseen.disk.folder import (
    CENTRE,
    GRAPH,
    HOPS,
    INPUTS,
    SUM,
    VECTORS,
    check_new,
    check_same,
    encode_classes,
    fingerprint,
)
from unseen.io.atomic import MANIFEST, read_json, replacing, write_json
from unseen.prepare.encoded import VECTORS as IN_HAND
from unseen.prepare.encoded import Encoded
from unseen.prepare.preparer import Preparer
from unseen.propagate.disk import propagate_on_disk
from unseen.propagate.disk_graph import DiskGraph
from unseen.propagate.npy import NpyFile, full_disk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.encode.base import Progress
    from unseen.propagate.disk_hops import DiskHops

FORMAT = 2
PORTION = 1 << 23  # bytes of features that are looked at together
CHUNK = 1 << 20  # edges that are read together


def propagate_files(
    edges: Path | str,
    features: Path | str,
    folder: Path | str,
    hops: int = 3,
    *,
    memory: int,
    directed: bool = False,
    classes: Classes | None = None,
    encoder: Any = None,
    progress: Progress | None = None,
) -> DiskHops:
    """Centre node vectors, order the edges, propagate; go on where an earlier call was ended.

    Args:
        edges: node positions from 0 to n - 1: a .parquet file with the columns source, target and
            perhaps weight, or a .npy file. [m, 2]
        features: a .npy file, one row a node. [n, d]
        folder: where everything goes; the hops take 4 n d (K+1) bytes.
        memory: bytes that the process may take.
        directed: whether an edge counts from source to target only.
        classes, encoder: the classes to be answered, and what made the node vectors: the centre of
            a few nodes leans on class texts (`Preparer`). Without them it is the plain mean.
        progress: called with what is being done, how much is done, and of how much.
    """
    edges, features, folder = Path(edges), Path(features), Path(folder)
    X = NpyFile.open(features)
    if len(X.shape) != 2 or X.dtype.kind != "f":
        raise InputError(
            f"{features}: expected one row of floating-point numbers for each node, found shape "
            f"{X.shape} of {X.dtype}"
        )
    if not edges.is_file():
        raise InputError(f"{edges}: no such file; expected edges as .parquet or .npy")
    if (classes is None) != (encoder is None):
        raise InputError("classes, encoder: expected both or neither, found one; give the other")
    encoded = Encoded(np.zeros((0, X.shape[1]), np.float32), {}, False, IN_HAND, "")
    if classes is not None:
        encoded = encode_classes(classes, encoder, X.shape[1])
    _note(
        folder,
        {
            "format": FORMAT,
            "edges": _stamp(edges),
            "features": _stamp(features),
            "directed": directed,
            "classes": fingerprint([*encoded.csds], *encoded.csds.values()),
        },
    )
    with full_disk(folder):
        if not (folder / VECTORS).is_file():
            _centre(X, encoded, folder, progress)
        if progress is not None:
            progress("order edges", 0, 1)
        graph = (
            DiskGraph.open(folder / GRAPH)
            if (folder / GRAPH / MANIFEST).is_file()
            else _order(edges, folder, X.shape[0], memory // 2, directed)
        )

        def note(done: int, total: int) -> None:
            if progress is not None:
                progress("propagate", done, total)

        vectors, place = folder / VECTORS, folder / HOPS
        return propagate_on_disk(graph, vectors, place, hops, memory=memory, progress=note)


def _note(folder: Path, inputs: dict[str, Any]) -> None:
    """Note what hops are made from; refuse to go on with those of other inputs."""
    if (folder / INPUTS).is_file():
        found = read_json(folder / INPUTS)
        check_same(folder, found, inputs, "hops of other inputs", "propagate anew")
        return
    check_new(folder, "hops")
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / INPUTS) as new:
        write_json(new, inputs)


def _stamp(path: Path) -> dict[str, int]:
    status = path.stat()
    return {"bytes": status.st_size, "changed": status.st_mtime_ns}


def _centre(X: NpyFile, encoded: Encoded, folder: Path, progress: Progress | None) -> None:
    """Reduce the rows to their sum, centre them by it, and write both."""
    (n, d), total = X.shape, np.zeros(X.shape[1] + 1, dtype=np.float64)  # the last: how many
    for begin, rows in _portions(X, "find the centre", progress):
        bad = ~np.isfinite(rows).all(axis=1)
        if bad.any():
            raise InputError(
                f"{X.path}: row {begin + int(np.flatnonzero(bad)[0]):,} holds NaN or infinity; "
                "expected numbers"
            )
        total[:d] += unit(rows).sum(axis=0, dtype=np.float64)
        total[d] += rows.any(axis=1).sum()
    preparer = Preparer().fit_centres(total[:d], int(total[d]), encoded)
    np.save(folder / SUM, total)
    np.save(folder / CENTRE, preparer.node_centre_)
    with replacing(folder / VECTORS) as new:
        file = NpyFile.create(new, (n, d), np.float32)
        for begin, rows in _portions(X, "centre the features", progress):
            file.write(begin * d, preparer.centred(replace(encoded, nodes=unit(rows))))
        file.sync()


def _portions(
    X: NpyFile, what: str, progress: Progress | None
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield rows in order, with the position of the first of them."""
    n, d = X.shape
    step = max(1, PORTION // max(1, d * X.dtype.itemsize))
    for begin in range(0, n, step):
        rows = np.empty((min(step, n - begin), d), dtype=X.dtype)
        X.read(begin * d, rows)
        yield begin, np.asarray(rows, dtype=np.float32)
        if progress is not None:
            progress(what, begin + len(rows), n)


def _order(edges: Path, folder: Path, nodes: int, memory: int, directed: bool) -> DiskGraph:
    """Build the graph from a file of edges."""
    place = folder / GRAPH
    if edges.suffix == ".npy":
        NpyFile.open(edges)  # says what is wrong with it
        ends = np.load(edges, mmap_mode="r", allow_pickle=False)
        if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":
            raise InputError(
                f"{edges}: expected node positions in two columns, [m, 2], found shape "
                f"{ends.shape} of {ends.dtype}; a [2, m] array is saved by np.save(path, ends.T)"
            )
        return DiskGraph.from_edges(
            place, ends[:, 0], ends[:, 1], nodes=nodes, memory=memory, directed=directed
        )
    if edges.suffix != ".parquet":
        raise InputError(f"{edges}: expected edges as .parquet or .npy, found {edges.suffix!r}")
    aside = folder / "edges"
    shutil.rmtree(aside, ignore_errors=True)  # of a run that was killed
    aside.mkdir()
    try:
        columns = _plain_columns(edges, aside)
        return DiskGraph.from_edges(place, *columns, nodes=nodes, memory=memory, directed=directed)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _plain_columns(edges: Path, aside: Path) -> list[NDArray[Any]]:
    """Copy the columns of a Parquet file to mapped arrays: source, target and perhaps weight."""
    import polars as pl

    try:
        table = pl.scan_parquet(edges, glob=False)  # brackets in a name are no pattern
        schema = table.collect_schema()
        rows = int(table.select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{edges}: cannot be read as Parquet ({error})") from error
    kinds: dict[str, Any] = {"source": np.int64, "target": np.int64}
    for name in kinds:
        if name not in schema:
            raise InputError(
                f"{edges}: no column `{name}`; found {shortlist(schema.names(), 10)}; rename or "
                f"add a column `{name}`"
            )
        if not schema[name].is_integer():
            raise InputError(
                f"{edges}: column `{name}` holds {schema[name]}; expected node positions from 0 on"
            )
    if "weight" in schema:
        kinds["weight"] = np.float32
    with ExitStack() as files:
        write = {
            name: files.enter_context(NpyFile.growing(aside / f"{name}.npy", np.dtype(kind)))
            for name, kind in kinds.items()
        }
        for begin in range(0, rows, CHUNK):
            part = table.select(*kinds).slice(begin, CHUNK).collect()
            for name, kind in kinds.items():
                if part[name].null_count():
                    raise InputError(
                        f"{edges}: column `{name}` has empty cells among rows {begin + 1:,} to "
                        f"{begin + len(part):,}; fill them or drop these rows"
                    )
                write[name](part[name].to_numpy().astype(kind))
    return [np.load(aside / f"{name}.npy", mmap_mode="r") for name in kinds]
