"""Vectors of the texts of files of any size, written in parts: `unseen encode`.

A folder::

    part-00000.parquet ..   id, vector: as many numbers as the encoder has dimensions
    asked.json              what was asked: another encoder or other files need another folder
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from unseen.core.errors import InputError
from unseen.encode.base import encode, get_encoder
from unseen.engines import sources
from unseen.io import columns
from unseen.io.atomic import read_json, replacing, write_json
from unseen.io.roles import Roles, node_columns
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
        "files": [[str(path), path.stat().st_size] for path in files if path.is_file()],
        "columns": [roles.id, *roles.texts],
        "part": PART,
    }
    with full_disk(out):
        _begin(out, asked)
        done, part, total = 0, 0, sources.rows_of(nodes)
        for table in sources.batches(nodes):
            used = node_columns(table, roles)
            if not used.texts:
                raise InputError(
                    f"{table.name}: no column {', '.join(f'`{name}`' for name in roles.texts)} to "
                    "encode; name the text: --text-columns"
                )
            ids, texts = columns.names(table, roles.id), columns.texts(table, used.texts)
            for at in range(0, len(texts), PART):
                path, some = out / f"part-{part:05d}.parquet", slice(at, at + PART)
                if not path.exists():
                    X = encode(reader, texts[some], cache=False)
                    vectors = pl.Series("vector", X, dtype=pl.Array(pl.Float32, X.shape[1]))
                    with replacing(path) as new:
                        pl.DataFrame([ids[some].rename("id"), vectors]).write_parquet(new)
                part += 1
                done += len(texts[some])
                if progress is not None:
                    progress("encode texts", done, max(total, done))
    return done, reader.dimensions


def _begin(out: Path, asked: dict[str, object]) -> None:
    if (out / ASKED).is_file():
        if read_json(out / ASKED) != asked:
            raise InputError(
                f"{out}: holds vectors that were made otherwise; choose another folder, or remove "
                "this one to begin anew"
            )
        return
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise InputError(f"{out}: exists and holds no vectors; give the name of a new folder")
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / ASKED) as new:
        write_json(new, asked)
