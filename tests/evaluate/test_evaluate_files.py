"""Files of predictions against files of truth: what counts, what is missing, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unseen
from unseen.core.errors import InputError, SavedFileError
from unseen.evaluate import compare_runs, evaluate_files
from unseen.evaluate.files import read_labelled
from unseen.io.atomic import write_manifest

PREDICTIONS = """id,label,confidence,runner_up
1,cats,0.9,dogs
2,dogs,0.6,cats
3,cats,0.5,eels
extra,cats,0.1,dogs
"""
TRUTH = "id,label\n3,eels\n1,cats\n2,dogs\nlost,cats\nblank,\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "predictions.csv", PREDICTIONS), write(tmp_path / "truth.csv", TRUTH)


def test_only_ids_in_both_count(pair: tuple[Path, Path]) -> None:
    scores = evaluate_files(*pair)
    assert scores.names == ("cats", "dogs", "eels")
    assert scores.nodes == 3
    assert scores.accuracy == pytest.approx(2 / 3)
    assert scores.macro_accuracy == pytest.approx(2 / 3)
    assert scores.majority_floor == pytest.approx(1 / 3)
    assert scores.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert (scores.missing_in_truth, scores.missing_in_predictions) == (1, 1)
    assert scores.coverage is not None
    assert scores.coverage.accuracy.tolist() == pytest.approx([1, 1, 2 / 3])


def test_every_format_gives_the_same_scores(pair: tuple[Path, Path], tmp_path: Path) -> None:
    expected = evaluate_files(*pair).to_dict()
    frame = pl.read_csv(pair[0])
    frame.write_csv(tmp_path / "p.tsv", separator="\t")
    frame.write_parquet(tmp_path / "p.parquet")
    frame.write_ndjson(tmp_path / "p.jsonl")
    truth = pl.DataFrame({"label": ["eels", "cats", "dogs", "cats"], "id": ["3", "1", "2", "lost"]})
    truth.write_parquet(tmp_path / "t.parquet")
    for name in ("p.tsv", "p.parquet", "p.jsonl"):
        assert evaluate_files(tmp_path / name, tmp_path / "t.parquet").to_dict() == expected


def test_numbers_as_ids_match_across_formats(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1, 2], "label": ["a", "b"]}).write_parquet(tmp_path / "p.parquet")
    truth = write(tmp_path / "t.csv", "id,label\n2,b\n1,b\n")
    scores = evaluate_files(tmp_path / "p.parquet", truth)
    assert scores.accuracy == 0.5
    assert scores.calibration is None


def test_a_prediction_without_a_label_is_missing_not_wrong(tmp_path: Path) -> None:
    predictions = write(tmp_path / "p.csv", "id,label\n1,a\n2,\n")
    scores = evaluate_files(predictions, write(tmp_path / "t.csv", "id,label\n1,a\n2,b\n"))
    assert (scores.nodes, scores.missing_in_predictions) == (1, 1)


def test_spaces_do_not_make_a_label_wrong(tmp_path: Path) -> None:
    predictions = write(tmp_path / "p.csv", "id,label\n 1,big  cats \n2,dogs\n")
    truth = write(tmp_path / "t.csv", "id,label\n1,big cats\n2,dogs\n")
    assert evaluate_files(predictions, truth).accuracy == 1


@pytest.mark.parametrize(
    ("predictions", "truth", "message"),
    [
        ("id,label\n1,a\n", "id,label\n2,a\n", "no id is in both"),
        ("id,label\n1,a\n", "id,kind\n1,a\n", "no column `label`"),
        ("id,label\n1,a\n1,b\n", "id,label\n1,a\n", r"p.csv line 3: id '1' .* line 2"),
        ("id,label\n,a\n", "id,label\n1,a\n", "p.csv line 2: `id` is empty"),
        ("id,label,confidence\n1,a,high\n", "id,label\n1,a\n", "`confidence` is 'high'"),
        ("id,label,confidence\n1,a,0.5\n2,b,\n", "id,label\n1,a\n", "line 3: `confidence` is ''"),
        ("id,label,confidence\n1,a,1.5\n", "id,label\n1,a\n", "from 0 to 1"),
        ("id,label,confidence\n1,a,nan\n", "id,label\n1,a\n", "from 0 to 1"),
        ("id,label\n1,Cats\n2,dogs\n", "id,label\n1,cats\n", "'Cats', 'cats' differ in capitals"),
        ("id,label\n1,a\n", "id,label\n1,a\n", "the one class 'a'"),
        ("id,label\n1,a\n", "id,label\n1,\n", r"t\.csv: every `label` is empty"),
    ],
)
def test_messages(predictions: str, truth: str, message: str, tmp_path: Path) -> None:
    p, t = write(tmp_path / "p.csv", predictions), write(tmp_path / "t.csv", truth)
    with pytest.raises(InputError, match=message):
        evaluate_files(p, t)


def test_reading_keeps_the_order_of_rows(pair: tuple[Path, Path]) -> None:
    assert read_labelled(pair[0])["id"].to_list() == ["1", "2", "3", "extra"]


# "None of these", and what the record of a run tells.

ABSTAINED = PREDICTIONS.replace("3,cats,0.5,eels", "3,none of these,0.3,cats")


def test_none_of_these_is_no_class(tmp_path: Path) -> None:
    truth = write(tmp_path / "truth.csv", TRUTH)
    scores = evaluate_files(write(tmp_path / "p.csv", ABSTAINED), truth)
    assert scores.names == ("cats", "dogs", "eels")
    assert (scores.nodes, scores.abstained) == (3, 1)
    assert scores.accuracy == pytest.approx(2 / 3)
    assert scores.accuracy_answered == 1
    assert scores.missing_in_predictions == 1


def test_a_class_of_that_name_is_a_class(tmp_path: Path) -> None:
    predictions = write(tmp_path / "p.csv", "id,label\n1,none of these\n2,a\n")
    truth = write(tmp_path / "t.csv", "id,label\n1,none of these\n2,none of these\n")
    scores = evaluate_files(predictions, truth)
    assert scores.names == ("a", "none of these")
    assert (scores.accuracy, scores.abstained) == (0.5, 0)


def test_nothing_but_none_of_these(tmp_path: Path) -> None:
    predictions = write(tmp_path / "p.csv", "id,label\n1,none of these\n2,none of these\n")
    scores = evaluate_files(predictions, write(tmp_path / "t.csv", "id,label\n1,a\n2,b\n"))
    assert (scores.accuracy, scores.share_answered, scores.accuracy_answered) == (0, 0, None)


def record(*seen: str) -> str:
    names = ("cats", "dogs", "eels")
    return json.dumps({"classes": [{"name": name, "seen": name in seen} for name in names]})


def test_the_record_of_a_run_tells_which_classes_were_seen(pair: tuple[Path, Path]) -> None:
    assert evaluate_files(*pair).generalised is None
    write(pair[0].parent / "record.json", record("cats"))
    write_manifest(pair[0].parent)
    found = evaluate_files(*pair).generalised
    assert found is not None
    assert (found.seen_nodes, found.unseen_nodes) == (1, 2)
    assert (found.seen_accuracy, found.unseen_accuracy) == (1, 0.5)
    assert found.harmonic_mean == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "text", [record(), record("cats", "dogs", "eels"), "[]", "{}", '{"classes": ["cats"]}']
)
def test_no_generalised_score_without_two_kinds_of_nodes(
    text: str, pair: tuple[Path, Path]
) -> None:
    write(pair[0].parent / "record.json", text)
    write_manifest(pair[0].parent)
    assert evaluate_files(*pair).generalised is None


def test_a_damaged_record_is_named(pair: tuple[Path, Path]) -> None:
    write(pair[0].parent / "record.json", "{")
    write_manifest(pair[0].parent)
    with pytest.raises(SavedFileError, match=r"record.json: cannot be read .*; make the folder"):
        evaluate_files(*pair)


def test_changed_predictions_of_a_run_are_not_scored(pair: tuple[Path, Path]) -> None:
    write(pair[0].parent / "record.json", record("cats"))
    with pytest.raises(SavedFileError, match=r"has no manifest\.json"):
        evaluate_files(*pair)
    write_manifest(pair[0].parent)
    pair[0].write_bytes(pair[0].read_bytes() + b"\n")
    with pytest.raises(SavedFileError, match="was changed after it was written"):
        evaluate_files(*pair)


def test_apostrophes_for_spreadsheets_are_no_part_of_a_name(tmp_path: Path) -> None:
    """A run that was written with them has the scores of one that was not, and equals it."""
    graph = unseen.Graph(
        np.ones((4, 4)) - np.eye(4),
        texts=["oven", "star", "soup", "moon"],
        ids=["-1", "+b", "c", "=d"],
    )
    found = unseen.classify(graph, {"@kitchen": "oven and soup", "-sky": "star and moon"})
    for name in ("plain", "shown"):
        found.save(tmp_path / name, spreadsheet=name == "shown", report=False)
    assert "'-1," in (tmp_path / "shown" / "predictions.csv").read_text(encoding="utf-8")
    truth = write(tmp_path / "t.csv", "id,label\n-1,@kitchen\n+b,-sky\nc,@kitchen\n=d,-sky\n")
    plain, shown = (
        evaluate_files(tmp_path / name / "predictions.csv", truth).to_dict()
        for name in ("plain", "shown")
    )
    assert plain == shown
    assert (shown["nodes"], shown["names"]) == (4, ["-sky", "@kitchen"])
    compared = compare_runs(tmp_path / "plain", tmp_path / "shown")
    assert (compared.nodes, compared.changed, compared.only_after) == (4, 0, ())


def test_every_part_of_a_run_is_there_as_it_was_written(tmp_path: Path) -> None:
    run, truth = tmp_path / "run", write(tmp_path / "t.csv", TRUTH)
    (run / "predictions").mkdir(parents=True)
    frame = pl.read_csv(PREDICTIONS.encode()).cast({"id": pl.String})
    parts = [run / "predictions" / f"part-{i}.parquet" for i in range(2)]
    for i, part in enumerate(parts):
        frame[2 * i : 2 * i + 2].write_parquet(part, compression="uncompressed")
    write(run / "record.json", json.dumps({"classes": []}))
    write_manifest(run)
    asked = (run / "predictions", run / "predictions" / "*.parquet")
    for path in asked:
        assert evaluate_files(path, truth).nodes == 3
    assert evaluate_files(parts[0], truth).nodes == 2
    sound = parts[1].read_bytes()
    for damaged in (sound.replace(b"cats", b"dogs"), None):
        parts[1].unlink()
        if damaged is not None:
            parts[1].write_bytes(damaged)
        for path in asked:
            with pytest.raises(SavedFileError, match=r"part-1\.parquet: (was changed|is missing)"):
                evaluate_files(path, truth)
