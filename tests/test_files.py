"""Runs on disk that are refused, made twice at once, or gone on with: nothing is mixed or lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import unseen.files
from topic_graph import sample, write_files
from unseen.core.errors import InputError
from unseen.files import ASKED, LOCK, classify_files, plan_run, work_folder
from unseen.io import workspace
from unseen.io.atomic import check_folder
from unseen.io.locks import Lock
from unseen.io.read import read_classes
from unseen.io.workspace import MARK, remove
from unseen.prediction import Prediction

pytestmark = pytest.mark.usefixtures("quick_map")


class StopError(Exception):
    """What ends a run before it is written."""


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    return write_files(tmp_path / "in", sample(per_class=6))


def classify(paths: dict[str, Path], out: Path, **settings: Any) -> Prediction:
    classes = read_classes(paths["classes"])
    plan = plan_run(paths["nodes"], paths["edges"], classes, engine="disk", memory="2GB")
    return classify_files(
        paths["nodes"], paths["edges"], classes, out, plan=plan, settings=settings
    )


def begin(paths: dict[str, Path], out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a run up to where its graph is stored."""
    with monkeypatch.context() as patch:
        patch.setattr(unseen.files, "store_graph", _stop)
        with pytest.raises(StopError):
            classify(paths, out)
    assert work_folder(out).is_dir()


def test_the_address_of_a_cluster_is_not_left_out_in_silence(
    paths: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"address: .* made by 'disk'.*give --engine ray"):
        classify(paths, tmp_path / "run", address="127.0.0.1:6379")
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_a_vocabulary_is_not_left_out_in_silence(paths: dict[str, Path], tmp_path: Path) -> None:
    given = (paths["nodes"], paths["edges"], read_classes(paths["classes"]))
    plan = plan_run(*given, engine="disk", memory="2GB")
    with pytest.raises(InputError, match=r"vocabulary: .* made by 'disk'.*nodes by their texts"):
        classify_files(*given, tmp_path / "run", plan=plan, reading={"vocabulary": "words.txt"})
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_brackets_of_a_place_are_no_pattern(paths: dict[str, Path], tmp_path: Path) -> None:
    """`run[1]` would match the folder of another run, `run1`."""
    begin(paths, tmp_path / "run1", pytest.MonkeyPatch())
    found = classify(paths, tmp_path / "run[1]")
    assert len(found) == 30
    check_folder(tmp_path / "run[1]")


def test_a_place_that_is_not_utf8(paths: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not UTF-8"):
        classify(paths, tmp_path / "a\udcffb")
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


@pytest.mark.parametrize("file", ["nodes", "edges"])
def test_what_is_refused_leaves_nothing_in_the_way(
    file: str, paths: dict[str, Path], tmp_path: Path
) -> None:
    sound = paths[file].read_text(encoding="utf-8")
    paths[file].write_text(sound + {"nodes": ",no id\n", "edges": "0,nowhere\n"}[file])
    with pytest.raises(InputError, match=r"`id` is empty|unknown node 'nowhere'"):
        classify(paths, tmp_path / "run")
    assert {path.name for path in tmp_path.iterdir()} == {"in"}
    paths[file].write_text(sound, encoding="utf-8")
    classify(paths, tmp_path / "run")
    assert {path.name for path in tmp_path.iterdir()} == {"in", "run"}


@pytest.mark.parametrize("setting", [{"encoder": "words:"}, {"abstain": float("inf")}])
def test_a_refused_setting_leaves_nothing_in_the_way(
    setting: dict[str, Any], paths: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        classify(paths, tmp_path / "run", **setting)
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_one_process_at_a_time(
    paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    begin(paths, out, monkeypatch)
    other = Lock.take(work_folder(out) / LOCK)
    assert other is not None
    with other, pytest.raises(InputError, match="another process is making this run"):
        classify(paths, out)
    classify(paths, out)  # whoever held it is gone


def test_a_changed_file_is_another_run_whatever_its_date(
    paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(paths, tmp_path / "run", monkeypatch)
    before = paths["nodes"].stat()
    text = paths["nodes"].read_text(encoding="utf-8")
    paths["nodes"].write_text(text.replace("people", "peopel"), encoding="utf-8")
    os.utime(paths["nodes"], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert paths["nodes"].stat().st_size == before.st_size
    with pytest.raises(InputError, match=r"begun otherwise \(what changed since: files\)"):
        classify(paths, tmp_path / "run")


@pytest.mark.parametrize("setting", [{"abstain": 0.5}, {"open_world": True}])
def test_other_answers_are_another_run(
    setting: dict[str, Any],
    paths: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin(paths, tmp_path / "run", monkeypatch)
    with pytest.raises(InputError, match=r"begun otherwise \(what changed since: settings\)"):
        classify(paths, tmp_path / "run", **setting)


def test_a_stop_while_a_run_is_begun_or_cleared_away(
    paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    begin(paths, out, monkeypatch)
    work = work_folder(out)
    asked = (work / ASKED).read_bytes()
    shutil.rmtree(work)
    litter = work / f".{ASKED}.0123456789abcdef.unseen"
    litter.mkdir(parents=True)
    (litter / "lock").write_bytes(MARK)
    (litter / "new").write_bytes(asked[:10])
    classify(paths, out)
    begin(paths, out, monkeypatch)
    (work / "fit").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(workspace, "_empty", _stop)
        with pytest.raises(StopError):
            remove(work)
    assert not work.exists()  # of what is half removed, nothing is taken for a run that was begun
    classify(paths, out)
    assert {path.name for path in tmp_path.iterdir()} == {"in", "run"}


def _stop(*_: Any, **__: Any) -> Any:
    raise StopError
