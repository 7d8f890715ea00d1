"""The index of all nodes in the page, and the accuracy where the truth is known."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from topic_graph import sample
from unseen.cli.evaluate import evaluate
from unseen.core.errors import SavedFileError
from unseen.estimator import classify
from unseen.evaluate.files import evaluate_files
from unseen.report import bundle, search
from unseen.report.again import render_run
from unseen.report.palette import Look

LOOKS = [Look("cats", 0, "#111111", "circle"), Look("dogs", 1, "#222222", "square")]


def _unpacked(index: str) -> dict[str, Any]:
    found = json.loads(gzip.decompress(base64.b64decode(json.loads(index))))
    assert isinstance(found, dict)
    return found


def _nodes(rows: int, text: str = "a text") -> pl.DataFrame:
    given = pl.DataFrame(
        {
            "id": [f"n{i}" for i in range(rows)],
            "text": [f"{text} {i}" for i in range(rows)],
            "label": ["dogs" if i == 0 else "" for i in range(rows)],
        }
    )
    answers = pl.DataFrame(
        {
            "id": [f"n{i}" for i in range(1, rows)],
            "label": ["cats"] * (rows - 1),
            "confidence": [0.25] * (rows - 1),
        }
    )
    return search.all_nodes(given, answers)


def test_every_node_is_in_the_index_with_its_class_and_text() -> None:
    found = _unpacked(search.index(_nodes(5), LOOKS))
    assert found["id"] == ["n0", "n1", "n2", "n3", "n4"]
    assert found["label"] == [1, 0, 0, 0, 0]
    assert found["confidence"] == [None, 0.25, 0.25, 0.25, 0.25]
    assert found["text"][3] == "a text 3"
    assert found["classes"] == [["cats", "#111111", "circle"], ["dogs", "#222222", "square"]]


def test_texts_share_the_room_and_none_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "word " * 100
    few = _unpacked(search.index(_nodes(3, long), LOOKS))
    assert max(map(len, few["text"])) <= search.LONGEST
    monkeypatch.setattr(search, "ROOM", 1_000)
    many = _unpacked(search.index(_nodes(20, long), LOOKS))
    assert max(map(len, many["text"])) <= 30
    monkeypatch.setattr(search, "MOST_NODES", 10)
    assert search.index(_nodes(20), LOOKS) == ""


def test_nothing_of_a_text_can_end_the_script() -> None:
    index = search.index(_nodes(3, "</script><script>alert(1)"), LOOKS)
    assert not set("<>&") & set(index)
    assert _unpacked(index)["text"][1].startswith("</script>")


def test_nodes_without_texts_are_found_by_id() -> None:
    bare = pl.DataFrame({"id": ["a", "b"], "label": ["", "dogs"]})
    answers = pl.DataFrame({"id": ["a"], "label": ["cats"], "confidence": [0.5]})
    found = _unpacked(search.index(search.all_nodes(bare, answers), LOOKS))
    assert found["text"] == ["", ""]
    assert found["label"] == [0, 1]


def test_the_built_bundle_is_used_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle, "files", lambda _: tmp_path)
    assert "plotly.js v" in bundle.plotly_code()[:60]
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "plotly.min.js").write_text("partial", "utf-8")
    assert bundle.plotly_code() == "partial"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a small graph, and beside it the truth."""
    given = sample()
    folder = tmp_path_factory.mktemp("searched")
    prediction = classify(given.graph, given.classes, given.labels(0))
    prediction.save(folder / "run")
    names = [given.classes.names[c] for c in given.truth]
    truth = pl.DataFrame({"id": list(given.graph.ids or ()), "label": names})
    truth.write_csv(folder / "truth.csv")
    return folder


def test_a_run_can_be_searched_and_its_classes_listed(run: Path) -> None:
    page = (run / "run" / "report.html").read_text("utf-8")
    packed = re.search(r'id="nodes-data">(.*?)</script>', page)
    assert packed is not None
    nodes = pl.read_parquet(run / "run" / "graph" / "nodes.parquet")
    assert _unpacked(packed[1])["id"] == nodes["id"].to_list()
    assert page.count('class="to-list"') == 5
    assert 'id="accuracy"' not in page


def test_evaluate_writes_the_report_with_its_accuracy(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predictions, truth = run / "run" / "predictions.csv", run / "truth.csv"
    evaluate(predictions, truth, tmp_path / "r.html")
    assert "r.html" in capsys.readouterr().out
    page = (tmp_path / "r.html").read_text("utf-8")
    scores = evaluate_files(predictions, truth)
    assert f"<b>{100 * scores.accuracy:.0f}%</b><span>accuracy</span>" in page
    assert f"<b>{100 * scores.majority_floor:.0f}%</b><span>floor</span>" in page


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SavedFileError, match=r"has no manifest.json, so it is not a finished run"):
        render_run(tmp_path)
