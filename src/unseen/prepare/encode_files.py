"""Vectors of the texts of files of any size, written in parts: `unseen encode`.

A folder::

    part-00000.parquet ..   id, vector: as many numbers as the encoder has dimensions
    parts.json              the sha256 of each part: one that was changed since is made again
    asked.json              what was asked: another encoder or other files need another folder
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from unseen.core.errors import InputError
from unseen.encode.base import encode, get_encoder
from unseen.engines import sources
from unseen.io import columns
from unseen.io.atomic import check_place, read_json, recover, replacing, write_json
from unseen.io.digests import Digests
from unseen.io.files import write_parquet
from unseen.io.locks import Lock
from unseen.io.roles import Roles, node_columns
from unseen.io.saved import sha256
from unseen.io.tables import files_of
from unseen.propagate.npy import full_disk

if TYPE_CHECKING:
    from unseen.encode.base import Progress

ASKED = "asked.json"
PART = 50_000  # texts a file


def encode_files(
    nodes: Path | str,
    out: Path | str,
    *,
    encoder: str = "static",
    id_column: str = "id",
    text_columns: str | Sequence[str] = ("text",),
    device: str = "cpu",
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Write a vector for each text; return how many there are, and of how many dimensions."""
    out, roles, reader = Path(out), Roles(id_column, text_columns), get_encoder(encoder, device)
    files = files_of(nodes)
    asked = {
        "encoder": reader.identity,
        "files": [[str(path), sha256(path)] for path in files if path.is_file()],
        "columns": [roles.id, *roles.texts],
        "part": PART,
    }
    with full_disk(out), _begun(out, asked) as parts:
        done, part, total = 0, 0, sources.rows_of(nodes)
        for table in sources.batches(nodes):
            used = node_columns(table, roles)
            if not used.texts:
                raise InputError(
                    f"{table.name}: no column {', '.join(f'`{name}`' for name in roles.texts)} to "
                    "encode; name the text: --text-columns"
                )
            ids = columns.node_keys(table, roles.id).cast(pl.String)
            texts = columns.texts(table, used.texts)
            for at in range(0, len(texts), PART):
                path, some = out / f"part-{part:05d}.parquet", slice(at, at + PART)
                if not parts.whole(path):
                    X = encode(reader, texts[some], cache=False)
                    vectors = pl.Series("vector", X, dtype=pl.Array(pl.Float32, X.shape[1]))
                    with parts.writing(path) as new:
                        write_parquet(new, pl.DataFrame([ids[some].rename("id"), vectors]))
                part += 1
                done += len(texts[some])
                if progress is not None:
                    progress("encode texts", done, max(total, done))
        if not done:
            table.require_rows("text")
    return done, reader.dimensions


@contextmanager
def _begun(out: Path, asked: dict[str, object]) -> Iterator[Digests]:
    """Give a folder to one process; what is refused before there are any parts leaves none."""
    yours = out.is_dir()
    fresh = _begin(out, asked)
    with Lock.alone(out / ASKED, "folder"):
        parts = Digests(out)
        try:
            yield parts
        except BaseException:
            if fresh and not parts.known:
                with suppress(OSError):
                    (out / ASKED).unlink(missing_ok=True)
                    if not yours:
                        out.rmdir()
            raise


def _begin(out: Path, asked: dict[str, object]) -> bool:
    """Refuse to go on with other vectors; tell whether there were none."""
    recover(out / ASKED)
    if (out / ASKED).is_file():
        if read_json(out / ASKED) != asked:
            raise InputError(
                f"{out}: holds vectors that were made otherwise; choose another folder, or remove "
                "this one to begin anew"
            )
        return False
    check_place(out)
    if out.is_dir() and any(out.iterdir()):
        raise InputError(f"{out}: exists and holds no vectors; give the name of a new folder")
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / ASKED) as new:
        write_json(new, asked)
    return True
