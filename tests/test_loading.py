"""A saved run whose checksums are right and whose content is not: refused, never believed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import unseen
from topic_graph import Sample, sample
from unseen.core.errors import InputError, SavedFileError
from unseen.io.atomic import write_manifest

pytestmark = pytest.mark.usefixtures("quick_map")


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=6)


@pytest.fixture(scope="module")
def made(given: Sample, tmp_path_factory: pytest.TempPathFactory, quick_map: None) -> Path:
    prediction = unseen.classify(given.graph, given.classes, given.labels(0, 1))
    return prediction.save(tmp_path_factory.mktemp("made") / "run")


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "run"))


def signed(run: Path) -> Path:
    """Write the manifests anew, as somebody would who wants to be believed."""
    write_manifest(run / "model")
    write_manifest(run)
    return run


ODD: list[tuple[str, Any]] = [
    ("among", 3),
    ("among", "some"),
    ("abstain", "x"),
    ("abstain", 7),
    ("open_world", "no"),
    ("device", []),
    ("seed", "abc"),
    ("seed", -1),
    ("seed", 1.5),
    ("classes", "abc"),
    ("classes", [1, 2, 3, 4, 5]),
    ("classes", ["a", "a"]),
    ("descriptions", [1, 2, 3, 4, 5]),
    ("descriptions", ["too few"]),
    ("seen", "abc"),
    ("seen", ["nothing"]),
    ("encoder", 7),
    ("model", 7),
    ("model", "os.system"),
    ("params", []),
    ("params", {"nonsense": 1}),
    ("params", {"rounds": ["\ud800"]}),
    ("params", {"rounds": None}),
    ("params", {"seed": 0.5}),
    ("calibration", []),
    ("calibration", {"slope": "x"}),
    ("choices", 7),
    ("choices", [1]),
    ("choices", [{}]),
    ("state", []),
    ("state", {}),
    ("state", {"evil": 1}),
    ("feature_names", 7),
    ("feature_names", [1]),
]


@pytest.mark.parametrize(("name", "value"), ODD)
def test_a_setting_of_an_odd_kind_is_refused(name: str, value: Any, run: Path) -> None:
    path = run / "model" / "model.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(settings | {name: value}), encoding="utf-8")
    signed(run)
    for folder in (run, run / "model"):
        with pytest.raises((SavedFileError, InputError)):
            unseen.load(folder)


@pytest.mark.parametrize("value", [None, "1", [1], {}, {"a": 1}, {"a": None}])
def test_learned_values_of_an_odd_kind_are_refused(value: Any, run: Path) -> None:
    path = run / "model" / "model.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    learned = [name for name in settings["state"] if name.startswith("model.")]
    assert learned
    for name in learned:
        state = settings["state"] | {name: value}
        path.write_text(json.dumps(settings | {"state": state}), encoding="utf-8")
        signed(run)
        with pytest.raises(SavedFileError):
            unseen.load(run / "model")


def arrays(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def spoil(run: Path) -> None:
        path = run / "model" / "arrays.safetensors"
        found = {name: array.copy() for name, array in load_file(path).items()}
        change(found)
        save_file(found, path)

    return spoil


def posterior(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    def spoil(run: Path) -> None:
        path = run / "graph" / "posterior.npy"
        np.save(path, change(np.load(path)))

    return spoil


def written(name: str, content: bytes) -> Callable[[Path], None]:
    def spoil(run: Path) -> None:
        (run / name).write_bytes(content)

    return spoil


CENTRE = "preparer.node_centre_"
HEADER = b'{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,9]}}'
SPOILT: dict[str, Callable[[Path], None]] = {
    "no centre": arrays(lambda found: found.pop(CENTRE)),
    "a centre of NaN": arrays(lambda found: found[CENTRE].fill(np.nan)),
    "a centre of integers": arrays(lambda f: f.update({CENTRE: f[CENTRE].astype(np.int64)})),
    "a centre of two dimensions": arrays(lambda f: f.update({CENTRE: f[CENTRE][None]})),
    "an array of nobody": arrays(lambda found: found.update({"evil.x": np.zeros(3)})),
    "an array in place of a method": arrays(lambda found: found.update({"model.fit": np.ones(3)})),
    "too few rows for its classes": arrays(
        lambda f: f.update({"model.centres_": f["model.centres_"][:-1].copy()})
    ),
    "safetensors without end": written("model/arrays.safetensors", b"\xff" * 8 + b"{}"),
    "safetensors cut off": written("model/arrays.safetensors", b"abc"),
    "empty safetensors": written("model/arrays.safetensors", b""),
    "safetensors of depth": written(
        "model/arrays.safetensors", (60_000).to_bytes(8, "little") + b"[" * 60_000
    ),
    "safetensors beyond their end": written(
        "model/arrays.safetensors", len(HEADER).to_bytes(8, "little") + HEADER
    ),
    "posterior of NaN": posterior(lambda q: q * np.nan),
    "posterior below zero": posterior(lambda q: -q),
    "posterior above one": posterior(lambda q: q + 1),
    "posterior of doubles": posterior(lambda q: q.astype(np.float64)),
    "posterior of text": posterior(lambda q: q.astype("U5")),
    "posterior cut off": written("graph/posterior.npy", b"\x93NUMPY\x01\x00"),
    "record that is a list": written("record.json", b"[]"),
    "record without a graph": written("record.json", b'{"graph": []}'),
    "record that says no in words": written("record.json", b'{"graph": {"directed": "no"}}'),
    "record without end": written("record.json", b'{"a":' * 50_000),
    "record of NaN": written("record.json", b'{"graph": NaN}'),
    "record of many digits": written("record.json", b"1" * 6_000),
    "settings without end": written("model/model.json", b"[" * 100_000),
    "settings of null": written("model/model.json", b"null"),
    "nodes that are no Parquet": written("graph/nodes.parquet", b"PAR1" + b"x" * 40 + b"PAR1"),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_what_is_wrong_behind_a_right_checksum_is_refused(
    spoil: Callable[[Path], None], run: Path
) -> None:
    spoil(run)
    signed(run)
    with pytest.raises((SavedFileError, InputError)) as refused:
        unseen.load(run)
    assert len(str(refused.value)) <= 500


@pytest.mark.parametrize(
    "name",
    ["/etc/hostname", "../x", "a/../../x", "..\\x", "C:x", "", ".", "model//model.json"],
)
def test_a_manifest_lists_only_what_lies_in_its_folder(name: str, run: Path) -> None:
    path = run / "model" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["files"][name] = "0" * 64
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(SavedFileError, match="is not a manifest that unseen wrote"):
        unseen.load(run / "model")


@pytest.mark.parametrize("digest", [None, ["a"], 7, "", "x" * 64])
def test_a_manifest_lists_checksums(digest: Any, run: Path) -> None:
    path = run / "model" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["files"]["model.json"] = digest
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(SavedFileError, match="is not a manifest that unseen wrote"):
        unseen.load(run / "model")


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("model", "arrays.safetensors"),
        ("model", "model.json"),
        (".", "graph/nodes.parquet"),
        (".", "graph/edges.parquet"),
        (".", "record.json"),
        (".", "model/model.json"),
    ],
)
def test_what_a_manifest_does_not_list_is_not_read(folder: str, name: str, run: Path) -> None:
    path = run / folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest["files"][name]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    if folder == "model":
        write_manifest(run)
    with pytest.raises(SavedFileError, match="does not list"):
        unseen.load(run)


def test_a_file_beside_those_that_the_manifest_lists_is_not_read(run: Path) -> None:
    (run / "graph" / "features.npz").write_bytes(b"junk")
    assert unseen.load(run).graph_.features is None


def test_the_model_of_another_run_is_found(run: Path, given: Sample, tmp_path: Path) -> None:
    other = unseen.classify(given.graph, ["Songs", "Stars"]).save(tmp_path / "other")
    shutil.rmtree(run / "model")
    shutil.copytree(other / "model", run / "model")
    with pytest.raises(SavedFileError, match="was changed after it was written"):
        unseen.load(run)


def test_what_is_found_when_it_is_used(run: Path, given: Sample) -> None:
    loaded = unseen.load(run)
    loaded.model_.bias_ = np.full_like(loaded.model_.bias_, 3e38)
    with (
        np.errstate(all="ignore"),
        pytest.raises(SavedFileError, match="no finite probabilities: it is damaged"),
    ):
        loaded.predict_proba(given.graph)
    del loaded.model_.bias_
    with pytest.raises(SavedFileError, match="lacks `bias_`, a part of what it has learned"):
        loaded.predict_proba(given.graph)
