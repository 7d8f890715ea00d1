"""`StoredGraph`: a graph whose nodes and edges lie on disk, read from files of any size.

A folder with stages that are whole or not there::

    nodes/   00000.arrow ..  text of each node, block by block;  ids.arrow;  labels.npy;  facts.json
    ends/    source.npy, target.npy, weight.npy: edges as rows of nodes, in the order of the file
    graph/   the edges in row order (`disk_graph.py`)

It has the attributes of `Graph` that a run looks at; texts come block by block.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.errors import InputError, shortlist
from unseen.core.graph import Repairs
from unseen.core.labels import Labels
from unseen.engines import sources
from unseen.engines.disk import BLOCK, Disk
from unseen.engines.disk_graph import DiskGraph
from unseen.engines.disk_operator import DiskOperator
from unseen.engines.ids import Ids
from unseen.engines.make import make_engine
from unseen.engines.texts import Texts
from unseen.io import columns
from unseen.io.atomic import check_folder, in_place, read_json, replacing, write_json
from unseen.io.files import scan_arrow
from unseen.io.lookup import whole_numbers
from unseen.io.read import label_codes
from unseen.io.roles import Roles, edge_columns, node_columns
from unseen.propagate.npy import NpyFile, full_disk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.encode.base import Progress
    from unseen.io.tables import Table

Reader = Callable[[Any], "Iterator[Table]"]  # of a file, a folder or a pattern


@dataclass(frozen=True, eq=False)
class StoredGraph:
    """What a run needs of a graph on disk."""

    engine: Disk
    folder: Path
    directed: bool
    ids: Any  # names of the nodes: a sequence
    texts: Any  # rows of this engine, or a sequence
    repairs: Repairs
    features = vocabulary = feature_names = None  # texts only

    @property
    def nodes(self) -> int:
        """Number of nodes, n."""
        return self.engine.nodes

    @property
    def edges(self) -> int:
        """Number of distinct edges, self-loops left out."""
        return self.operator.entries if self.directed else self.operator.entries // 2

    @cached_property
    def operator(self) -> DiskOperator:
        """The graph as linear maps."""
        found: DiskOperator = self.engine.operator(DiskGraph.open(self.folder / "graph"))
        return found

    def __repr__(self) -> str:
        return f"StoredGraph({self.nodes:,} nodes, {self.edges:,} edges, texts)"


def store_graph(
    folder: Path,
    nodes: Path | str,
    edges: Path | str | None,
    classes: Classes,
    *,
    memory: int,
    directed: bool = False,
    roles: Roles | None = None,
    block: int | None = None,
    progress: Progress | None = None,
    engine: str = "disk",
    address: str | None = None,
) -> tuple[StoredGraph, Labels]:
    """Read nodes and edges into a folder, stage by stage; finished stages are not read again."""
    roles, step, read = roles or Roles(), block or BLOCK, _reader(engine, address)

    def say(what: str, done: int) -> None:
        if progress is not None:
            progress(what, done, max(done, 1))

    with full_disk(folder):
        _stage(
            folder / "nodes", lambda new: _read_nodes(new, read, nodes, classes, roles, step, say)
        )
        facts = read_json(folder / "nodes" / "facts.json")
        ids = Ids(folder / "nodes" / "ids.arrow", nodes)
        ids.check_unique()
        n = len(ids)
        if not (folder / "graph").is_dir():
            _stage(
                folder / "ends", lambda new: _read_edges(new, read, edges, ids, roles, nodes, say)
            )
            ends = {p.stem: np.load(p, mmap_mode="r") for p in (folder / "ends").glob("*.npy")}
            say("sort edges", 0)
            DiskGraph.from_edges(
                folder / "graph",
                ends["source"],
                ends["target"],
                ends.get("weight"),
                nodes=n,
                memory=memory,
                directed=directed,
            )
        unused = facts["unused"]
        if not (folder / "edges.json").is_file():
            with replacing(folder / "edges.json") as new:
                write_json(new, read_json(folder / "ends" / "facts.json"))
        shutil.rmtree(folder / "ends", ignore_errors=True)
        unused += read_json(folder / "edges.json")["unused"]
    made = make_engine(engine, folder, n, memory, step, progress, address)
    texts = Texts(folder / "nodes", made.spans, step)
    graph = StoredGraph(made, folder, directed, ids, texts, Repairs())
    degrees = graph.operator.graph.degrees
    repairs = Repairs(
        graph.operator.graph.repeats,
        graph.operator.graph.loops,
        int((degrees.sum(axis=0) == 0).sum()),
        facts["blank"],
        tuple(unused),
    )
    object.__setattr__(graph, "repairs", repairs)
    return graph, Labels(np.load(folder / "nodes" / "labels.npy", allow_pickle=False))


def _stage(folder: Path, build: Callable[[Path], None]) -> None:
    """Make a stage that is not there; one that changed since it was made is refused."""
    if folder.is_dir():
        check_folder(folder)
    else:
        in_place(folder, build)


def _reader(engine: str, address: str | None) -> Reader:
    """Return what reads tables in batches: this process, or the cluster."""
    if engine != "ray":
        return sources.batches
    from unseen.engines import ray_data
    from unseen.engines.ray_cluster import connect

    return partial(ray_data.batches, connect(address))


def _read_nodes(
    folder: Path,
    read: Reader,
    given: Path | str,
    classes: Classes,
    roles: Roles,
    step: int,
    say: Callable[[str, int], None],
) -> None:
    names = pl.Series(classes.names, dtype=pl.String)
    parts: list[Path] = []
    codes: list[NDArray[np.int64]] = []
    unused: list[str] = []
    rest: list[str] = []  # texts that fill no block yet
    blank = done = count = 0
    for table in read(given):
        used = node_columns(table, roles)
        if used.features or not used.texts:
            raise InputError(
                f"{table.name}: the disk engine reads nodes by their texts, found "
                f"{'numeric columns ' + shortlist(used.features) if used.features else 'no text'}; "
                "remove these columns or name the text (--text-columns), or use --engine memory"
            )
        unused = used.unused
        keys = table.frame[roles.id]
        keys = keys if whole_numbers(keys) else columns.names(table, roles.id)
        if keys.dtype == pl.String and (keys == "").any():
            row = int((keys == "").arg_true()[0])
            raise InputError(
                f"{table.where(row)}: `{roles.id}` is empty; every node needs an id; add it or "
                "drop the row"
            )
        parts.append(folder / f"ids-{len(parts):05d}.arrow")
        if keys.dtype != pl.String:
            fits = keys.dtype != pl.UInt64 or bool((keys < 2**63).all())
            keys = keys.cast(pl.Int64 if fits else pl.String)
        keys.rename("id").to_frame().write_ipc(parts[-1], compression="uncompressed")
        codes.append(_codes(table, roles, names))
        texts = columns.texts(table, used.texts)
        rest += [text if text.strip() else "" for text in texts]
        done += len(texts)
        while len(rest) >= step:
            blank += _write_texts(folder, count, rest[:step])
            del rest[:step]
            count += 1
        say("read nodes", done)
    if rest:
        blank += _write_texts(folder, count, rest)
    if not done or blank == done:
        raise InputError(
            f"{given}: {'no rows' if not done else 'every text is empty'}; expected one node a "
            "row, with an id and a text"
        )
    np.save(folder / "labels.npy", np.concatenate(codes))
    _join_ids(folder, parts)
    write_json(folder / "facts.json", {"nodes": done, "blank": blank, "unused": unused})


def _write_texts(folder: Path, i: int, texts: list[str]) -> int:
    """Write a block; return how many of its texts are empty."""
    frame = pl.DataFrame({"text": pl.Series(texts, dtype=pl.String)})
    frame.write_ipc(folder / f"{i:05d}.arrow", compression="zstd")
    return texts.count("")


def _join_ids(folder: Path, parts: list[Path]) -> None:
    """Make one file of the ids of all batches, whole numbers only if all of them are."""
    frames = [scan_arrow(part) for part in parts]
    if len({frame.collect_schema()["id"] for frame in frames}) > 1:
        frames = [frame.select(pl.col("id").cast(pl.String)) for frame in frames]
    pl.concat(frames).sink_ipc(folder / "ids.arrow", compression="uncompressed")
    for part in parts:
        part.unlink()


def _codes(table: Table, roles: Roles, names: pl.Series) -> NDArray[np.int64]:
    """Return the class of each node of a batch, -1 where it has none."""
    if roles.label not in table.frame.columns:
        return np.full(table.frame.height, -1, dtype=np.int64)
    return label_codes(table, roles.label, names)[1]


def _read_edges(
    folder: Path,
    read: Reader,
    given: Path | str | None,
    ids: Ids,
    roles: Roles,
    nodes: Path | str,
    say: Callable[[str, int], None],
) -> None:
    unused: list[str] = []
    done = 0
    with ExitStack() as files:

        def grow(name: str, dtype: Any) -> Any:
            return files.enter_context(NpyFile.growing(folder / f"{name}.npy", np.dtype(dtype)))

        ends = {name: grow(name, np.int32) for name in ("source", "target")}
        weight: Any = None
        for table in () if given is None else read(given):
            weighted, unused = edge_columns(table, roles)
            for name, column in (("source", roles.source), ("target", roles.target)):
                keys = table.frame[column]
                keys = keys if whole_numbers(keys) else columns.names(table, column)
                rows = ids.rows(keys)
                if (rows < 0).any():
                    row = int(np.flatnonzero(rows < 0)[0])
                    found = f"unknown node {str(keys[row])!r} as {column}"
                    found = found if str(keys[row]) else f"`{column}` is empty"
                    raise InputError(
                        f"{table.where(row)}: {found}; both ends must be ids of {nodes}; add the "
                        "node or drop the edge"
                    )
                ends[name](rows)
            if weighted:
                weight = weight or grow("weight", np.float32)
                weight(columns.weights(table))
            done += table.frame.height
            say("read edges", done)
    write_json(folder / "facts.json", {"unused": unused})
