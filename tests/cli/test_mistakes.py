"""One line for each mistake of a user, and nothing written."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from topic_graph import Call
from unseen.io.atomic import FORMAT, write_manifest

from .helpers import CLASSES, EDGES, NODES, contents, one_line, options

MISTAKES: dict[str, tuple[dict[str, str | bytes], str]] = {
    "unknown node": ({"e.csv": EDGES + "a,z,1\n"}, r"e\.csv line 4: unknown node 'z' as target"),
    "duplicate ids": (
        {"n.csv": NODES + "a,again,\n"},
        r"n\.csv line 6: id 'a' is already on line 2",
    ),
    "duplicate classes": (
        {"c.csv": CLASSES + "Music,More songs.\n"},
        r"c\.csv line 5: class 'Music' is already on line 4",
    ),
    "unknown label": (
        {"n.csv": NODES.replace("Cooking", "Coking")},
        r"n\.csv line 4: label 'Coking' is not a class; .*did you mean 'Cooking'",
    ),
    "empty texts": (
        {"n.csv": "id,text\na,\nb, \nc,\nd,\n"},
        r"n\.csv: nodes have neither any text nor features",
    ),
    "NaN": (
        {"n.csv": "id,x,label\na,1,Cooking\nb,nan,\nc,2,Music\n"},
        r"n\.csv line 3: column `x` holds 'nan'; features must be finite",
    ),
    "infinite": ({"n.csv": "id,x\na,1\nb,inf\nc,2\nd,1\n"}, r"n\.csv line 3: column `x` holds"),
    "negative weight": ({"e.csv": EDGES.replace(",2", ",-2")}, r"e\.csv line 3: weight '-2'; a"),
    "no weight": ({"e.csv": EDGES.replace(",2", ",two")}, r"e\.csv line 3: weight 'two'; a wei"),
    "not UTF-8": (
        {"n.csv": NODES.replace("a soup", "crème").encode("latin1")},
        r"n\.csv line 4: found byte 0xe8, which is not UTF-8",
    ),
    "ragged row": (
        {"n.csv": NODES + "e,a,song,Music\n"},
        r"n\.csv line 6: found 4 fields; expected 3",
    ),
    "short row": ({"e.csv": EDGES + "a\n"}, r"e\.csv line 4: found 1 fields; expected 3"),
    "empty file": ({"n.csv": ""}, r"n\.csv: is empty"),
    "no rows": ({"n.csv": "id,text\n"}, r"n\.csv: .* but no rows"),
    "missing column": (
        {"e.csv": "from,to\na,b\n"},
        r"e\.csv: no column `source`; found 'from', 'to'; rename or add",
    ),
    "missing name": ({"c.csv": "class\nMusic\n"}, r"c\.csv: no column `name`; found 'class'"),
    "one class": ({"c.csv": "name\nMusic\n"}, r"c\.csv: found one class only \('Music'\)"),
    "no texts and no labels": (
        {"n.csv": "id,x\na,1\nb,2\nc,3\nd,4\n"},
        r"features have no names and there are too few labels .*give texts, a vocabulary",
    ),
    "nothing but ids": ({"n.csv": "id\na\nb\nc\nd\n"}, r"n\.csv: nodes have neither a text nor"),
    "nothing left": (
        {"n.csv": NODES.replace(",\n", ",Music\n")},
        r"all 4 nodes have one, so nothing is left to label",
    ),
}


def test_the_files_of_the_mistakes_are_sound_before(
    call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    assert call("classify", *options(inputs), "--out", tmp_path / "run")[0] == 0


@pytest.mark.parametrize(("files", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_and_writes_nothing(
    files: dict[str, str | bytes],
    message: str,
    call: Call,
    inputs: dict[str, Path],
    tmp_path: Path,
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    before = contents(tmp_path)
    one_line(call("classify", *options(inputs), "--out", tmp_path / "deep" / "run"), message)
    assert contents(tmp_path) == before
    assert not (tmp_path / "deep").exists()


def test_a_missing_file(call: Call, inputs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "n.csv").unlink()
    one_line(call("classify", *options(inputs), "--out", tmp_path / "r"), r"n\.csv: no such file")


def test_an_unknown_extension(call: Call, inputs: dict[str, Path], tmp_path: Path) -> None:
    inputs["nodes"] = inputs["nodes"].rename(tmp_path / "n.xlsx")
    found = call("classify", *options(inputs), "--out", tmp_path / "r")
    one_line(found, r"n\.xlsx: found extension '\.xlsx'; expected one of \.csv, \.tsv, \.parquet")


def test_every_class_is_seen(call: Call, inputs: dict[str, Path], tmp_path: Path) -> None:
    inputs["classes"].write_text(CLASSES.replace("Music,Songs.\n", ""), encoding="utf-8")
    words = ["classify", *options(inputs), "--out", tmp_path / "r", "--among", "unseen"]
    one_line(call(*words), "every class has a labelled node")


def test_an_out_folder_that_is_not_a_run(
    call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine", encoding="utf-8")
    before = contents(tmp_path)
    found = call("classify", *options(inputs), "--out", other)
    one_line(found, "exists and is not a run that unseen wrote .*so it is not replaced")
    assert contents(tmp_path) == before
    one_line(call("classify", *options(inputs), "--out", tmp_path), "holds .*n.csv, which is what")


def test_an_out_folder_is_refused_before_the_work(
    call: Call, inputs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody should wait a minute for a refusal that was certain from the start."""
    worked: list[object] = []

    def classify(*given: object, **_: object) -> None:
        worked.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr("unseen.estimator.classify", classify)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine", encoding="utf-8")
    one_line(call("classify", *options(inputs), "--out", tmp_path / "other"), "is not a run")
    assert not worked


def test_an_encoder_and_a_device_that_are_not_there(
    call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    words = ["classify", *options(inputs), "--out", tmp_path / "r"]
    one_line(call(*words, "--encoder", "nonsense"), "encoder: 'nonsense' is unknown")
    one_line(call("csd", "--classes", inputs["classes"], "--encoder", "x"), "encoder: 'x' is unkn")


@pytest.fixture
def model(run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run / "model", tmp_path / "model"))


def test_a_model_of_a_newer_format(
    call: Call, inputs: dict[str, Path], model: Path, tmp_path: Path
) -> None:
    settings = json.loads((model / "model.json").read_text("utf-8"))
    (model / "model.json").write_text(json.dumps({**settings, "format": FORMAT + 1}), "utf-8")
    write_manifest(model)
    words = ["predict", "--model", model, *options(inputs), "--out", tmp_path / "r"]
    one_line(call(*words), rf"has format {FORMAT + 1}, but this version")
    assert not (tmp_path / "r").exists()


def test_a_damaged_model(call: Call, inputs: dict[str, Path], model: Path, tmp_path: Path) -> None:
    content = bytearray((model / "arrays.safetensors").read_bytes())
    content[-5] ^= 4
    (model / "arrays.safetensors").write_bytes(content)
    words = ["predict", "--model", model, *options(inputs), "--out", tmp_path / "r"]
    one_line(call(*words), r"arrays\.safetensors: was changed after it was written")
    (tmp_path / "empty").mkdir()
    one_line(call(*words[:2], tmp_path / "empty", *words[3:]), r"has no manifest\.json")
    one_line(call(*words[:2], tmp_path / "x", *words[3:]), "no such folder")
    assert not (tmp_path / "r").exists()


def test_features_of_another_width(call: Call, inputs: dict[str, Path], tmp_path: Path) -> None:
    rows = "id,x,y,label\na,1,2,Astronomy\nb,2,2,\nc,3,1,Cooking\nd,3,2,\n"
    inputs["nodes"].write_text(rows, encoding="utf-8")
    assert call("classify", *options(inputs), "--out", tmp_path / "run")[0] == 0
    inputs["nodes"].write_text("id,x\na,1\nb,2\nc,3\nd,4\n", encoding="utf-8")
    words = ["predict", "--model", tmp_path / "run", *options(inputs), "--out", tmp_path / "r"]
    one_line(call(*words), "lacks 'y', among its feature columns, but the model was made with")


def test_a_folder_that_cannot_be_written(call: Call, inputs: dict[str, Path]) -> None:
    out = Path("/proc/unseen/run") if sys.platform == "linux" else Path("/dev/null/run")
    one_line(call("classify", *options(inputs), "--out", out), "unseen")
