"""Ray Data: Parquet files read by the cluster, and texts encoded by a pool of actors.

Reading goes from the workers to the driver, batch by batch, in the order of the rows. Encoding: one
encoder an actor, built when the actor starts, on a GPU of its own where there are any and the
encoder asks for one. Ray Data starts actors again that were lost, and reads no further ahead than
its store has room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.errors import InputError
from unseen.engines import sources
from unseen.engines.ray_cluster import failure, seen_by_all, translated
from unseen.io.tables import PARQUET, Table, files_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.engines.base import Function

PATH, TEXT, VECTORS = "path", "text", "vectors"  # names of columns on the way
WORTH = 10_000  # texts for which one more actor is started


def batches(ray: Any, given: Path | str) -> Iterator[Table]:
    """Yield a table in pieces, as `sources.batches` does; Parquet is read by the cluster."""
    files = files_of(given)
    if any(not file.is_file() or file.suffix.lower() != PARQUET for file in files):
        yield from sources.batches(given)
        return
    names = [str(file.resolve()) for file in files]
    shown = dict(zip(names, map(str, files), strict=True))
    for name in shown.values():  # a damaged file is named before the cluster is asked
        _check(name)
    place = "" if seen_by_all(ray, names) else "local://"  # else this machine reads
    with _in_order() as data:
        table = data.read_parquet([place + name for name in names], include_paths=True)
        done = dict.fromkeys(names, 0)
        try:
            for batch in table.iter_batches(batch_size=None, batch_format="pyarrow"):
                yield from _by_file(pl.DataFrame(pl.from_arrow(batch)), shown, done)
        except ray.exceptions.RayError as error:
            raise InputError(
                f"{given}: cannot be read by the cluster ({failure(ray, error)}); it may be cut "
                "off or damaged; save it again"
            ) from error


def _check(name: str) -> None:
    try:
        pl.read_parquet_schema(name)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{name}: cannot be read ({str(error).splitlines()[0]}); it may be cut off or "
            "damaged; save it again"
        ) from error


def _by_file(frame: pl.DataFrame, shown: dict[str, str], done: dict[str, int]) -> Iterator[Table]:
    """Yield the rows of each file in a batch, with their places in it."""
    paths = frame[PATH].cast(pl.String)
    starts = np.flatnonzero((paths != paths.shift(1)).fill_null(True).to_numpy())
    for at, end in pairwise([*starts.tolist(), frame.height]):
        name = str(Path(paths[at]).resolve())
        yield Table(shown[name], frame[at:end].drop(PATH), sources.placed(done[name]))
        done[name] += end - at


def encoded(
    ray: Any, function: Function, texts: Sequence[Any], sizes: Sequence[int], device: str
) -> Iterator[NDArray[np.float32]]:
    """Yield what the function makes of each block of texts, in their order; actors hold it.

    Args:
        function: of a list of texts; it is built once in each actor.
        texts: references to Arrow tables with a column `text`.
        sizes: how many texts each of them has.
        device: of the encoder; "cuda" and "auto" get an actor for each GPU of the cluster.
    """
    total = ray.cluster_resources()
    gpus = int(total.get("GPU", 0)) if device in ("cuda", "auto") else 0
    most = min(gpus or int(total.get("CPU", 1)), len(texts), -(-sum(sizes) // WORTH))
    need = {"num_gpus": 1} if gpus else {"num_cpus": 1}
    left = np.zeros((0, 0), np.float32)  # rows that fill no block yet
    wanted = iter(sizes)
    size = next(wanted)
    with _in_order() as data:
        table = data.from_arrow_refs(list(texts)).map_batches(
            Encoding,
            fn_constructor_args=(function,),
            batch_size=None,
            batch_format="pyarrow",
            compute=data.ActorPoolStrategy(min_size=1, max_size=max(1, most)),
            **need,
        )
        with translated(ray):
            for batch in table.iter_batches(batch_size=None, batch_format="numpy"):
                rows = np.asarray(batch[VECTORS], dtype=np.float32)
                left = np.concatenate([left, rows]) if len(left) else rows
                while size and len(left) >= size:  # Ray Data divides blocks as it likes
                    yield left[:size]
                    left, size = left[size:], next(wanted, 0)


class Encoding:
    """What an actor of the pool does."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __call__(self, batch: Any) -> dict[str, NDArray[Any]]:
        """Return the vectors of a batch, one a text."""
        return {VECTORS: np.asarray(self.function(texts_of(batch)), dtype=np.float32)}


def table_of(texts: Sequence[str]) -> Any:
    """Return texts as Ray Data takes them."""
    import pyarrow as pa

    return pa.table({TEXT: pa.array(list(texts), pa.large_string())})


def texts_of(table: Any) -> list[str]:
    """Return the texts of such a table."""
    found: list[str] = table.column(TEXT).to_pylist()
    return found


@contextmanager
def _in_order() -> Iterator[Any]:
    """Give Ray Data, for a while set to keep the order of rows and to print nothing."""
    from ray import data

    context = data.DataContext.get_current()
    options, before = context.execution_options, context.enable_progress_bars
    kept = options.preserve_order
    options.preserve_order, context.enable_progress_bars = True, False
    try:
        yield data
    finally:
        options.preserve_order, context.enable_progress_bars = kept, before
