"""`unseen walk` and `unseen classify-walk`, from files to predictions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

pytest.importorskip("numba")

from topic_graph import ABOUT, TOPICS, Sample, sample
from unseen.cli import app
from unseen.core.errors import InputError
from unseen.disk import classify
from unseen.encode.base import encode, get_encoder
from unseen.io.atomic import check_folder


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=60, topical=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, given: Sample) -> Path:
    """Edges, node vectors of `static`, classes, labels of four classes; and the hops."""
    place = tmp_path_factory.mktemp("disk")
    edges = given.graph.adjacency.tocoo()
    pl.DataFrame({"source": edges.row, "target": edges.col}).write_parquet(place / "edges.parquet")
    np.save(place / "X.npy", encode(get_encoder("static"), given.graph.texts or ()))
    names = list(TOPICS)
    pl.DataFrame({"name": names, "description": ABOUT}).write_csv(place / "classes.csv")
    known = given.labels(0, 1, 2, 3, every=3).codes
    pl.DataFrame(
        {"id": np.flatnonzero(known >= 0), "label": [names[c] for c in known[known >= 0]]}
    ).write_parquet(place / "labels.parquet")
    call(
        "walk",
        edges=place / "edges.parquet",
        features=place / "X.npy",
        classes=place / "classes.csv",
        encoder="static",
        out=place / "walk",
    )
    return place


def call(command: str, *flags: str, **options: object) -> str:
    """Run a command; raise what it raises."""
    words = [f"--{name}={value}" for name, value in options.items()]
    told = CliRunner().invoke(app, [command, *words, *flags], catch_exceptions=False)
    assert told.exit_code == 0, told.output
    return told.output


def ask(folder: Path, out: Path, *flags: str, **options: object) -> str:
    asked: dict[str, object] = {
        "walk": folder / "walk",
        "classes": folder / "classes.csv",
        "labels": folder / "labels.parquet",
        "out": out,
        "encoder": "static",
    }
    asked.update(options)
    return call("classify-walk", *flags, **asked)


def read(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "predictions" / "*.parquet")


def accuracy(out: Path, given: Sample) -> float:
    table, names = read(out), list(TOPICS)
    truth = [names[c] for c in given.truth[table["id"].to_numpy()]]
    return float((table["label"] == pl.Series(truth)).mean())  # type: ignore[arg-type]


def test_a_walk_says_what_it_did(folder: Path) -> None:
    told = call(
        "walk",
        "--json",
        edges=folder / "edges.parquet",
        features=folder / "X.npy",
        classes=folder / "classes.csv",
        encoder="static",
        out=folder / "walk",
        memory="2GB",
    )
    assert json.loads(told) == {
        "out": str(folder / "walk"),
        "nodes": 300,
        "columns": 256,
        "hops": 3,
    }


def test_classes_are_found_in_the_space_of_an_encoder(
    folder: Path, given: Sample, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    told = json.loads(ask(folder, out, "--json"))
    known = pl.read_parquet(folder / "labels.parquet")["id"]
    assert sum(row["predicted"] for row in told["classes"]) == 300 - len(known)
    assert [choice["what"] for choice in told["choices"]] == ["class texts"]
    assert told["warnings"] == []
    assert not set(read(out)["id"]) & set(known)
    assert accuracy(out, given) > 0.8
    check_folder(out / "predictions")

    changed = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    assert "Predictions:" in ask(folder, out)  # all is there already
    assert changed == {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=r"what changed since: seed\)"):
        ask(folder, out, seed=1)


def test_without_labels_an_encoder_is_enough(folder: Path, given: Sample, tmp_path: Path) -> None:
    out = tmp_path / "out"
    call(
        "classify-walk",
        walk=folder / "walk",
        classes=folder / "classes.csv",
        out=out,
        encoder="static",
    )
    assert read(out)["id"].to_list() == list(range(300))
    assert accuracy(out, given) > 0.7


def test_unseen_classes_only(folder: Path, tmp_path: Path) -> None:
    ask(folder, tmp_path / "out", among="unseen")
    assert set(read(tmp_path / "out")["label"]) == {"Music"}


def test_choices_are_not_made_again_after_a_kill(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"

    def kill(*_: object, **__: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(classify, "predict_from_disk", kill)
        with pytest.raises(RuntimeError, match="killed"):
            ask(folder, out)
    monkeypatch.setattr(classify, "_choose", kill)
    ask(folder, out)
    check_folder(out / "predictions")


def test_mistakes_are_said_before_anything_is_written(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"makes vectors of 384 dimensions, but .* have 256"):
        ask(folder, out, encoder="minilm")
    with pytest.raises(InputError, match="link features and classes with `unseen classify`"):
        ask(folder, out, encoder="features")
    with pytest.raises(InputError, match="link features and classes with `unseen classify`"):
        call("classify-walk", walk=folder / "walk", classes=folder / "classes.csv", out=out)
    with pytest.raises(InputError, match="holds no hops"):
        ask(folder, out, walk=tmp_path)
    assert not out.exists()
    with pytest.raises(InputError, match="exists and holds no predictions"):
        ask(folder, folder)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1], "label": ["Chess"]}, "label 'Chess' is not a class"),
        ({"id": [0, 300], "label": ["Music", "Music"]}, "row 2: unknown node '300'"),
        ({"id": [0, -1], "label": ["Music", "Music"]}, "row 2: unknown node '-1'"),
        ({"id": [2, 2], "label": ["Music", "Cooking"]}, "node '2' is labelled 'Cooking' but"),
        ({"id": [None, 1], "label": ["Music", "Music"]}, "`id` is empty"),
        ({"id": [1], "class": ["Music"]}, "no column `label`"),
    ],
)
def test_labels_that_cannot_be_read(
    folder: Path, tmp_path: Path, columns: dict[str, list[object]], message: str
) -> None:
    pl.DataFrame(columns).write_parquet(tmp_path / "labels.parquet")
    with pytest.raises(InputError, match=message):
        ask(folder, tmp_path / "out", labels=tmp_path / "labels.parquet")
    assert not (tmp_path / "out").exists()


def test_both_commands_are_hidden() -> None:
    told = CliRunner().invoke(app, ["--help"]).output
    assert "classify" in told
    assert "walk" not in told


@pytest.mark.parametrize("text", ["", "4 apples", "GB", "-1GB"])
def test_sizes_that_are_none(folder: Path, text: str) -> None:
    with pytest.raises(InputError, match="expected a size such as 4GB"):
        call(
            "walk",
            edges=folder / "edges.parquet",
            features=folder / "X.npy",
            out=folder / "walk",
            memory=text,
        )
