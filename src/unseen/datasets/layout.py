"""The folder of a published data set: what it holds, and one checksum over all of it.

- edges.npz: `edges` [m, 2], the lines as published, and perhaps `dangling_lines`
- features.npz: scipy sparse [n, d]
- labels.npy: class id of each node [n], -1 = none
- classes.json: names of the classes, in the order of their ids
- splits.json: `zero_shot`: class ids of each split; `planetoid`: (where there is one) the standard
  split, node positions under `train`, `val` and `test`
- texts.jsonl.gz: (where there are texts) one object a node, its text under `text`
- vocab.json: (where the words are known) the word of each feature column
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.core.labels import NodeSplit, Split
from unseen.io.arrays import load_array, load_matrix, open_npz, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS = {"train_classes": "seen", "val_classes": "validation", "test_classes": "unseen"}
_NODE_PARTS = {"train": "train", "val": "validation", "test": "test"}


def _no_lines() -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Layout:
    """A data set as its source gives it: nothing symmetrised, merged or dropped."""

    edges: NDArray[np.int64]  # [m, 2]
    features: Any  # CSR, [n, d]
    labels: NDArray[np.int64]  # [n]
    classes: tuple[str, ...]
    splits: Mapping[str, Split]
    texts: tuple[str, ...] | None = None
    vocabulary: tuple[str, ...] | None = None
    dangling: NDArray[np.int64] = field(default_factory=_no_lines)  # lines that stand for no edge
    standard: NodeSplit | None = None

    def __post_init__(self) -> None:
        n, d = self.features.shape
        for what, each in (("labels", self.labels), ("texts", self.texts)):
            if each is not None and len(each) != n:
                raise InputError(f"{what}: expected {n:,} (one for each node), found {len(each):,}")
        if self.vocabulary is not None and len(self.vocabulary) != d:
            raise InputError(f"vocabulary: expected {d:,} words, found {len(self.vocabulary):,}")
        _check_range("edges", self.edges, 0, n)
        _check_range("labels", self.labels, -1, len(self.classes))
        _check_range("dangling_lines", self.dangling, 0, len(self.edges))
        if self.standard is not None:
            _check_range("standard split", self.standard.nodes, 0, n)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the folder; whatever is missing or unreadable is an error that names the folder."""
        try:
            with open_npz((folder / "edges.npz").read_bytes(), "edges.npz") as file:
                edges = whole_numbers(file["edges"]).reshape(-1, 2)
                dangling = file["dangling_lines"] if "dangling_lines" in file else _no_lines()
            features = load_matrix((folder / "features.npz").read_bytes(), "features.npz")
            splits = _read_json(folder / "splits.json")
            nodes = splits.get("planetoid")
            words = folder / "vocab.json"
            texts = folder / "texts.jsonl.gz"
            return cls(
                edges=edges,
                features=sp.csr_array(features, dtype=np.float32),
                labels=whole_numbers(load_array((folder / "labels.npy").read_bytes())),
                classes=tuple(_read_json(folder / "classes.json")),
                splits={
                    name: Split(**{ours: tuple(parts[key]) for key, ours in _PARTS.items()})
                    for name, parts in splits.get("zero_shot", {}).items()
                },
                texts=_read_texts(texts) if texts.exists() else None,
                vocabulary=tuple(_read_json(words)) if words.exists() else None,
                dangling=whole_numbers(dangling),
                standard=None if nodes is None else _node_split(nodes),
            )
        except Exception as error:  # a damaged file fails in many ways
            raise InputError(
                f"{folder}: cannot be read as a data set ({error}); if `unseen` put it there, "
                f"`unseen datasets get {folder.name}` fetches it again"
            ) from error

    def write(self, folder: Path) -> None:
        """Write the folder, which must be there and empty."""
        np.savez_compressed(folder / "edges.npz", edges=self.edges, dangling_lines=self.dangling)
        sp.save_npz(folder / "features.npz", self.features)
        np.save(folder / "labels.npy", self.labels)
        splits: dict[str, Any] = {
            "zero_shot": {
                name: {key: getattr(split, ours) for key, ours in _PARTS.items()}
                for name, split in self.splits.items()
            }
        }
        if self.standard is not None:
            splits["planetoid"] = {
                key: getattr(self.standard, ours).tolist() for key, ours in _NODE_PARTS.items()
            }
        _write_json(folder / "classes.json", self.classes)
        _write_json(folder / "splits.json", splits)
        if self.vocabulary is not None:
            _write_json(folder / "vocab.json", self.vocabulary)
        if self.texts is not None:
            rows = (json.dumps({"id": i, "text": text}) for i, text in enumerate(self.texts))
            with gzip.open(folder / "texts.jsonl.gz", "wt", encoding="utf-8") as file:
                file.writelines(row + "\n" for row in rows)

    def checksum(self) -> str:
        """Return a SHA-256 of the contents that does not depend on how the nodes are numbered.

        A node is hashed with its label, features and text; a line as the unordered pair of the
        hashes at its ends, with a mark when it dangles. Nodes and lines are then sorted by their
        hashes and hashed together. So one value vouches for a set from any source, compressed by
        any version of any library: planetoid numbers the papers of Citeseer in another order than
        LINQS and forgets who cites whom, yet holds the same graph. What goes unnoticed is no more
        than that: another numbering, a turned line, twins (nodes alike in all) that swap a edge. No
        split is part of it.
        """
        nodes = node_hashes(self.features, self.labels, self.texts)
        loose = set(self.dangling.tolist())
        lines = [
            min(nodes[a], nodes[b]) + max(nodes[a], nodes[b]) + (b"?" if i in loose else b".")
            for i, (a, b) in enumerate(self.edges.tolist())
        ]
        words = "\n".join(self.vocabulary or ())
        head = f"{self.features.shape} {len(lines)} {len(loose)} {len(words)} {words}"
        return hashlib.sha256(b"".join([head.encode(), *sorted(nodes), *sorted(lines)])).hexdigest()


def node_hashes(
    features: Any, labels: NDArray[np.int64], texts: tuple[str, ...] | None = None
) -> list[bytes]:
    """Return a hash of each node's label, features and (where there are texts) text."""
    X = sp.csr_array(features, dtype=np.float32)
    X.sort_indices()
    nodes = []
    for i, (start, end) in enumerate(zip(X.indptr[:-1], X.indptr[1:], strict=True)):
        hashed = hashlib.sha256(f"{labels[i]} {end - start} ".encode())
        hashed.update(X.indices[start:end].astype("<i4").tobytes())
        hashed.update(X.data[start:end].astype("<f4").tobytes())
        if texts is not None:
            hashed.update(texts[i].encode())
        nodes.append(hashed.digest())
    return nodes


def _node_split(parts: Mapping[str, Any]) -> NodeSplit:
    return NodeSplit(**{ours: np.array(parts[key]) for key, ours in _NODE_PARTS.items()})


def _check_range(what: str, values: NDArray[np.int64], low: int, end: int) -> None:
    if values.size and (values.min() < low or values.max() >= end):
        raise InputError(
            f"{what}: expected numbers from {low} to {end - 1:,}, "
            f"found {values.min():,} to {values.max():,}"
        )


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


def _read_texts(path: Path) -> tuple[str, ...]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return tuple(json.loads(line)["text"] for line in file)
