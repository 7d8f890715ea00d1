"""The disk engine prepares, chooses and answers as the library does in memory."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("numba")

from topic_graph import TOPICS, Sample, sample
from unseen.core.labels import Labels
from unseen.disk.classify import APART, classify_hops
from unseen.disk.folder import Propagated
from unseen.disk.propagate import propagate_files
from unseen.encode.base import encode, get_encoder
from unseen.models.prototype import Prototype
from unseen.prepare.encoded import Encoded
from unseen.prepare.preparer import Preparer
from unseen.select.preparation import prepare

ALL = np.ones(len(TOPICS), bool)


@pytest.fixture(scope="module")
def given() -> Sample:
    """300 nodes, one of which has an empty text."""
    found = sample(per_class=60, topical=3)
    texts = ["", *(found.graph.texts or ())[1:]]
    object.__setattr__(found.graph, "texts", texts)
    return found


@pytest.fixture(scope="module")
def encoded(given: Sample) -> Encoded:
    return Preparer("static").encode(given.graph, given.classes)


@pytest.fixture(scope="module")
def files(
    given: Sample, encoded: Encoded, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("inputs")
    paths = {name: folder / f"{name}.npy" for name in ("edges", "features")}
    ends = given.graph.adjacency.tocoo()
    np.save(paths["edges"], np.stack([ends.row, ends.col], axis=1))
    X = encode(get_encoder("static"), given.graph.texts or ())
    X[0] = 0  # nothing is known of it
    np.save(paths["features"], 3 * X)  # of any length
    return paths


@pytest.fixture(scope="module")
def hops(files: dict[str, Path], given: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("hops") / "hops"
    edges, features = files["edges"], files["features"]
    propagate_files(
        edges, features, folder, memory=1 << 30, classes=given.classes, encoder="static"
    )
    return folder


def in_memory(
    given: Sample, encoded: Encoded, labels: Labels, allowed: Any, kind: str | None = None
) -> Any:
    task = Preparer("static").fit(encoded).plain_task(encoded, given.graph, labels, allowed, kind)
    return Prototype(3).fit(task).posterior(task)


def test_nodes_are_centred_as_in_memory(hops: Path, encoded: Encoded) -> None:
    preparer = Preparer("static").fit(encoded)
    found = Propagated.open(hops)
    assert np.allclose(found.centre, preparer.node_centre_, atol=1e-7)
    assert np.allclose(np.load(hops / "vectors.npy"), preparer.centred(encoded), atol=1e-6)
    assert not found.hops.rows([0])[0].any()


@pytest.mark.parametrize("known", [(), (0, 1), (0, 1, 2, 3)])
@pytest.mark.parametrize("among", ["all", "unseen"])
def test_answers_are_those_in_memory(
    given: Sample, encoded: Encoded, hops: Path, tmp_path: Path, known: tuple[int, ...], among: str
) -> None:
    labels = given.labels(*known, every=3)
    record = classify_hops(
        hops, given.classes, tmp_path / "out", labels, encoder="static", among=among
    )
    assert record["warnings"] == []
    allowed = ALL.copy()
    if among == "unseen":
        allowed[list(known)] = False
    prepared = prepare(
        Preparer("static"),
        given.graph,
        given.classes,
        labels,
        allowed,
        seed=0,
        step=lambda _: nullcontext({}),
    )
    assert record["choices"][0]["chosen"] == prepared.choice.chosen
    assert record["choices"][0]["rule"] == prepared.choice.rule
    p = in_memory(given, encoded, labels, allowed, prepared.choice.chosen)
    asked = np.flatnonzero(~labels.known)
    found = pl.read_parquet(tmp_path / "out" / "predictions" / "*.parquet")
    assert found["id"].to_list() == asked.tolist()
    names = np.array(list(TOPICS))
    assert found["label"].to_list() == names[p[asked].argmax(axis=1)].tolist()
    assert np.abs(found["confidence"].to_numpy() - p[asked].max(axis=1)).max() < 1e-5


def test_hops_without_class_texts_are_used_and_that_is_said(
    given: Sample, encoded: Encoded, files: dict[str, Path], tmp_path: Path
) -> None:
    propagate_files(files["edges"], files["features"], tmp_path / "hops", memory=1 << 30)
    record = classify_hops(tmp_path / "hops", given.classes, tmp_path / "out", encoder="static")
    assert record["warnings"] == [APART]
    kind = record["choices"][0]["chosen"]
    p = in_memory(given, encoded, Labels.none(given.graph.nodes), ALL, kind)
    found = pl.read_parquet(tmp_path / "out" / "predictions" / "*.parquet")
    gap = np.abs(found["confidence"].to_numpy() - p.max(axis=1)).max()
    assert 1e-5 < gap < 0.1


def test_the_centre_needs_the_sum_alone(encoded: Encoded) -> None:
    whole, reduced = Preparer("static").fit(encoded), Preparer("static")
    parts = np.array_split(encoded.nodes, 7)
    total = np.sum([part.sum(axis=0, dtype=np.float64) for part in parts], axis=0)
    reduced.fit_centres(total, int(encoded.nodes.any(axis=1).sum()), encoded)
    assert np.allclose(reduced.node_centre_, whole.node_centre_, atol=1e-7)
    assert reduced.class_centres_.keys() == whole.class_centres_.keys()


def test_without_numba_the_door_names_the_extra_and_the_base_goes_on() -> None:
    code = """
import sys
sys.modules["numba"] = None
import unseen, unseen.cli, unseen.propagate.hops, unseen.disk.classify
from unseen.core.errors import MissingExtraError
try:
    import unseen.disk.propagate
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("propagation on disk needs an optional dependency")
    assert "unseen[fast]" in done.stdout
