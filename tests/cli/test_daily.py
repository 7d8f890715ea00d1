"""Daily chores: each of these was a rough edge once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unseen
from topic_graph import Call, Sample, sample
from unseen.cli.console import Log, print_table

from .helpers import one_line, options

LONG = "Human computer interaction and the design of interfaces for everybody"


def test_pairs_and_counts_of_confusions_are_one_table_at_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    head = ("true class", "was given", "nodes")
    print_table("Most frequent confusions", head, [(LONG, LONG[::-1], 12), ("a", "b", 3)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("┏") for line in lines) == 1
    assert sum("│ 12" in line for line in lines) == 1
    words = [cell.strip() for line in lines for cell in line.split("│")[1:2]]
    assert " ".join(words[:-1]).split() == LONG.split()


def test_evaluate_tells_recall_and_precision_of_each_class(call: Call, tmp_path: Path) -> None:
    answers = "id,label\n1,a\n2,a\n3,a\n4,b\n5,none of these\n"
    (tmp_path / "p.csv").write_text(answers, encoding="utf-8")
    truth = "id,label\n1,a\n2,a\n3,b\n4,b\n5,b\n"
    (tmp_path / "t.csv").write_text(truth, encoding="utf-8")
    files = {"predictions": tmp_path / "p.csv", "truth": tmp_path / "t.csv"}
    code, told, complaint = call("evaluate", *options(files))
    assert (code, complaint) == (0, "")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in told.splitlines()]
    found = rows[rows.index(["b", "3", "1", "0.3333", "1.0000"]) :]  # one of three; lowest first
    assert found[1] == ["a", "2", "3", "1.0000", "0.6667"]
    scores = json.loads(call("evaluate", *options(files), "--json")[1])
    assert dict(zip(scores["names"], scores["support"], strict=True)) == {"a": 2, "b": 3}


def test_compare_tells_added_and_removed_nodes_and_no_raw_floats(
    call: Call, given: Sample, run: Path, tmp_path: Path
) -> None:
    keep = np.arange(2, given.graph.nodes)
    fewer = unseen.Graph(
        given.graph.adjacency[keep][:, keep],
        texts=(given.graph.texts or ())[2:],
        ids=(given.graph.ids or ())[2:],
    )
    unseen.classify(fewer, given.classes, abstain=0.1 + 0.2).save(tmp_path / "after")
    code, told, complaint = call("compare", run, tmp_path / "after")
    assert (code, complaint) == (0, "")
    asked = set(pl.read_csv(run / "predictions.csv", schema_overrides={"id": pl.String})["id"])
    gone = sorted({(given.graph.ids or ())[i] for i in (0, 1)} & asked)
    assert re.search(rf"removed nodes\s*│ {len(gone)} ", told)
    assert re.search(r"added nodes\s*│ \d+ ", told)
    assert "Removed: " in told or not gone
    assert "- -> 0.3" in told
    assert not re.search(r"\d\.\d{6,}", told)


def test_compare_takes_the_settings_of_a_model_apart(
    call: Call, run: Path, given: Sample, tmp_path: Path
) -> None:
    """Of two models the settings that differ are named, and no setting that does not."""
    labels = given.labels(0, 1)
    unseen.classify(given.graph, given.classes, labels, seed=1).save(tmp_path / "after")
    told = call("compare", run, tmp_path / "after")[1]
    assert re.search(r"model, seed +│ 0 -> 1", told)
    assert "(" not in told.partition("Settings")[2]
    assert not re.search(r"\d\.\d{6,}", told)


def test_the_time_is_that_of_the_whole_command(
    call: Call, paths: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock stands still but for the saving of the run, which takes 14 seconds of it."""
    now = [100.0]
    monkeypatch.setattr("unseen.cli.graph.clock", lambda: now[0])
    save = unseen.Prediction.save

    def slowly(self: unseen.Prediction, *args: object, **named: object) -> Path:
        now[0] += 14.0
        return save(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(unseen.Prediction, "save", slowly)
    _, told, _ = call("classify", *options(paths), "--out", tmp_path / "run")
    assert re.match(r"\d+ nodes in 14\.0 s", told)


def test_no_report_and_quiet(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("classify", *options(paths), "--out", out, "--no-report")
    code, told, complaint = call(*words)
    assert (code, complaint) == (0, "")
    assert "Report:" not in told
    assert (out / "predictions.csv").is_file()
    assert not (out / "report.html").exists()
    assert call(*words, "--quiet") == (0, "", "")
    code, told, _ = call("evaluate", "--predictions", out / "predictions.csv", "-q", "--truth", "x")
    assert (code, told) == (2, "")


def test_verbose_tells_every_step(call: Call, paths: dict[str, Path], tmp_path: Path) -> None:
    words = ("classify", *options(paths), "--out", tmp_path / "run", "--no-report", "--verbose")
    code, told, complaint = call(*words)
    assert code == 0
    assert "nodes in" in told
    lines = complaint.splitlines()
    assert all(re.match(r"unseen: \d+ s, ", line) for line in lines)
    steps = [line.partition(", ")[2].partition(",")[0] for line in lines]
    order = [steps.index(step) for step in ("encode", "fit", "infer", "explain", "write the run")]
    assert order == sorted(order)


def test_a_log_begins_after_a_while_and_does_not_repeat_itself(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    log = Log(5.0, lambda: now[0])
    for seconds, what, done in (
        *((1, "read", 0), (6, "encode\x1b[31m", 0), (7, "encode\x1b[31m", 500)),
        *((17, "encode\x1b[31m", 900), (18, "fit", 3)),
    ):
        now[0] = float(seconds)
        log(what, done, 1000)
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in told] == [
        *("unseen: 6 s", "unseen: 17 s", "unseen: 18 s")
    ]
    assert told[1].endswith(", 900 of 1,000")
    assert "\x1b" not in "".join(told)


def test_version(call: Call) -> None:
    assert call("--version") == (0, f"unseen {version('unseen')}\n", "")


def test_every_command_takes_quiet_and_verbose_and_shells_complete(call: Call) -> None:
    told = call("--help")[1]
    assert "--install-completion" in told
    assert "--show-completion" in told
    for command in ("classify", "predict", "check", "suggest", "evaluate", "compare", "describe"):
        told = call(command, "--help")[1]
        assert "--quiet" in told
        assert "--verbose" in told


def test_every_command_teaches_by_an_example(call: Call) -> None:
    """An example is a command with options that exist, and no flag looks as if it took a value."""
    for command in ("classify", "predict", "check", "suggest", "evaluate", "compare", "describe"):
        about, _, table = call(command, "--help")[1].partition("╭")
        paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n", about)]
        example = next(each for each in paragraphs if f": unseen {command} " in each)
        words = example.partition(f"unseen {command} ")[2].split()
        assert all(f"{word} " in table for word in words if word.startswith("--"))
        assert table.count("<bool>") == 1  # of --help, which is not ours


@pytest.mark.parametrize("words", [("datasets", "list"), ("datasets", "list", "--json")])
def test_nobody_who_reads_is_no_error(words: tuple[str, ...]) -> None:
    """As with `| head -1`, which goes away after a line."""
    read, write = os.pipe()
    os.close(read)
    try:
        command = [sys.executable, "-m", "unseen.cli", *words]
        ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_reproduce_without_data_says_where_to_put_it_and_writes_nothing(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path / "nowhere"))
    out = tmp_path / "paper"
    found = call("reproduce", "table3", "--quick", "--methods", "random", "--out", out)
    one_line(found, r"none of the paper's graphs lies in .*set UNSEEN_DATA to a folder")
    assert not out.exists()


@pytest.mark.parametrize(("nodes", "ends"), [("1", "1.0"), ("1.0", "1")])
def test_ids_that_differ_by_a_point_and_a_nought_get_a_hint(
    nodes: str, ends: str, call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    inputs["nodes"].write_text(f"id,text\n{nodes},a star\nb,a soup\n", encoding="utf-8")
    inputs["edges"].write_text(f"source,target\n{ends},b\n", encoding="utf-8")
    found = call("classify", *options(inputs), "--out", tmp_path / "run")
    one_line(found, rf"unknown node '{re.escape(ends)}' \(there is '{re.escape(nodes)}': ids are")


def test_another_unknown_id_gets_no_such_hint(
    call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    inputs["edges"].write_text("source,target\na,1.5\n", encoding="utf-8")
    found = call("classify", *options(inputs), "--out", tmp_path / "run")
    one_line(found, r"unknown node '1\.5' as target;")


@pytest.mark.parametrize("among", ["all", "unseen"])
def test_a_warning_where_most_answers_are_labelled_classes(among: Any) -> None:
    given = sample(per_class=8, topical=3)
    found = unseen.classify(given.graph, given.classes, given.labels(0, 1, 2, 3), among=among)
    said = [w for w in found.record["warnings"] if "--among unseen" in w]
    known = int(np.isin(found.label, (0, 1, 2, 3)).sum())
    assert (known > len(found) / 2) == (among == "all")
    assert said == (
        [
            f"{known} of {len(found)} answers are classes that have labelled nodes. If the other "
            "nodes are of unseen classes only, say so: --among unseen."
        ]
        if among == "all"
        else []
    )


def test_the_demonstration_says_why_its_rows_differ(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.demo import Row

    given = sample(per_class=4)
    made = unseen.classify(given.graph, given.classes)
    rows = [Row("text only", 40.0, 40.0), Row("text + graph (5 lazy hops)", 50.0, 50.0)]
    monkeypatch.setattr("unseen.demo.demonstrate", lambda seed, progress: (made, rows))
    told = " ".join(call("demo", "--out", tmp_path / "demo")[1].split())
    assert "tables of the documentation average three hops" in told
