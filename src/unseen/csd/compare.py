"""Acquire CSDs of every kind and compare them: which classes look alike, and Eq. 1-3."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.core.arrays import unit
from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.labels import Labels
from unseen.csd.quality import class_prototypes, informative, quality
from unseen.csd.wikipedia import described
from unseen.encode.base import encode, get_encoder
from unseen.encode.class_texts import class_vectors
from unseen.io import columns
from unseen.io.atomic import check_file, replacing
from unseen.io.files import write_bytes
from unseen.io.read import label_codes
from unseen.io.tables import read_table

if TYPE_CHECKING:
    from unseen.encode.base import Progress


def compare_csds(
    classes: Classes,
    encoder: str = "static",
    device: str = "cpu",
    nodes: Path | None = None,
    out: Path | None = None,
    progress: Progress | None = None,
    texts: str | None = None,
) -> dict[str, Any]:
    """Return the nearest classes by each kind of class text and, given labelled nodes, quality.

    Args:
        classes: names and descriptions.
        encoder, device: as in `get_encoder`.
        nodes: a file of labelled nodes (id, text, label), whose class means are the yardstick.
        out: a .safetensors file to write the vectors to, one array for each kind. [C, d_s]
        progress: as in `encode`.
        texts: "wikipedia" to take missing descriptions from the articles named like the classes.
    """
    if texts not in (None, "wikipedia"):
        raise InputError(f"texts: expected wikipedia, found {texts!r}")
    classes, articles = (classes, {}) if texts is None else described(classes)
    reader = get_encoder("static" if encoder == "auto" else encoder, device)
    csds = class_vectors(classes, reader)
    found: dict[str, Any] = {
        "encoder": encoder,
        "nearest": {kind: _nearest(S, classes) for kind, S in csds.items()},
        "quality": {},
        "articles": [
            {"class": name, "title": a.title, "revision": a.revision, "url": a.url}
            for name, a in articles.items()
        ],
        "note": "Give labelled nodes (--nodes) to measure quality by Eq. 1-3.",
    }
    if out is not None:
        check_file(out, ".safetensors")
    if nodes is not None:
        table = read_table(nodes)
        table.require("id", "text", "label")
        table.require_rows("labelled node")
        columns.node_ids(table)  # each once
        codes = label_codes(table, "label", pl.Series(classes.names, dtype=pl.String))[1]
        texts_of = columns.strings(table, "text").str.strip_chars()
        labels = Labels(np.where((texts_of != "").to_numpy(), codes, -1))  # the others say nothing
        seen = labels.seen()
        if not informative(len(seen)):
            raise InputError(
                f"{nodes}: has texts with labels of {len(seen)} classes; Eq. 1-3 needs at least "
                "three, since with two it is constant"
            )
        X = unit(encode(reader, texts_of.filter(pl.Series(labels.known)).to_list(), progress))
        prototypes = class_prototypes(X - X.mean(axis=0), labels.codes[labels.known], seen)
        for kind, S in csds.items():
            found["quality"][kind] = {
                measure: float(quality(prototypes, (S - S.mean(axis=0))[seen], measure))
                for measure in ("kl", "cosine", "euclidean")
            }
        found["note"] = f"Quality on labelled nodes of {len(seen)} classes, vectors centred."
    if out is not None:
        from safetensors.numpy import save

        with replacing(out) as new:
            write_bytes(new, save({kind: np.ascontiguousarray(S) for kind, S in csds.items()}))
    return found


def _nearest(S: Any, classes: Classes) -> list[tuple[str, str, float]]:
    """Return the class most like each class, by the cosine of centred CSDs."""
    cosines = unit(S - S.mean(axis=0)) @ unit(S - S.mean(axis=0)).T
    np.fill_diagonal(cosines, -np.inf)
    best = cosines.argmax(axis=1)
    return [
        (name, classes.names[j], round(float(cosines[i, j]), 3))
        for i, (name, j) in enumerate(zip(classes.names, best, strict=True))
    ]
