"""Which nodes are answered with "none of these", and that all who read answers can live with it."""

from __future__ import annotations

import json
import re
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unseen
from topic_graph import Call, Sample, sample, write_files
from unseen.abstain import OUTSIDE
from unseen.core.classes import NONE_OF_THESE, Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.evaluate import compare_runs, evaluate_files
from unseen.prediction import Prediction
from unseen.record import FEW_NODES

pytestmark = pytest.mark.usefixtures("quick_map")


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=12, homophily=0.6)


@pytest.fixture(scope="module")
def sure(given: Sample) -> Prediction:
    """Every node gets a class."""
    return unseen.classify(given.graph, given.classes, given.labels(0, 1))


@pytest.fixture(scope="module")
def half(sure: Prediction) -> float:
    """A confidence that some nodes have and others have not, as a table shows it."""
    shown = sorted(set(sure.to_polars()["confidence"]))
    return float(shown[len(shown) // 2])


@pytest.fixture(scope="module")
def shy(given: Sample, half: float) -> Prediction:
    return unseen.classify(given.graph, given.classes, given.labels(0, 1), abstain=half)


@pytest.fixture(scope="module")
def run(shy: Prediction, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shy.save(tmp_path_factory.mktemp("made") / "run")


# Which nodes.


def test_nodes_below_the_threshold_and_no_others(
    sure: Prediction, shy: Prediction, half: float
) -> None:
    below = sure.to_polars()["confidence"].to_numpy() < half  # as a reader of the table would
    assert 0 < below.sum() < len(below)
    np.testing.assert_array_equal(shy.label == -1, below)
    np.testing.assert_array_equal(shy.label[~below], sure.label[~below])
    np.testing.assert_array_equal(shy.runner_up[~below], sure.runner_up[~below])
    np.testing.assert_array_equal(shy.runner_up[below], sure.label[below])
    np.testing.assert_array_equal(shy.confidence, sure.confidence)
    for is_below, before, after in zip(below, sure.reasons, shy.reasons, strict=True):
        assert after.endswith(before)
        assert ("is below" in after) == is_below


def test_the_table_says_it(sure: Prediction, shy: Prediction, half: float) -> None:
    before, after = sure.to_polars(), shy.to_polars()
    none = after.filter(pl.col("label") == NONE_OF_THESE)
    assert len(none) == int((shy.label == -1).sum())
    row = none.row(0, named=True)
    would = before.filter(pl.col("id") == row["id"]).row(0, named=True)
    assert row["runner_up"] == would["label"]
    assert row["reason"].startswith(
        f"confidence {row['confidence']:.4g} in {would['label']!r} is below {half:g}; "
    )


def test_off_unless_asked_for(sure: Prediction) -> None:
    assert (sure.label >= 0).all()
    assert sure.record["settings"]["abstain"] is None
    assert sure.record["abstained"] == 0


@pytest.mark.parametrize(("abstain", "left"), [(0, "all"), (1, "none")])
def test_the_ends_of_the_scale(abstain: float, left: str, given: Sample, tmp_path: Path) -> None:
    made = unseen.classify(given.graph, given.classes, given.labels(0, 1), abstain=abstain)
    assert ((made.label >= 0) == (left == "all")).all()
    made.save(tmp_path / "run")  # a run in which nothing was answered is a run
    record = json.loads((tmp_path / "run" / "record.json").read_text("utf-8"))
    assert record["abstained"] == (0 if left == "all" else len(made))


@pytest.mark.parametrize("abstain", [-0.1, 1.1, float("nan"), 50, "0.5", [0.5]])
def test_what_is_no_confidence_is_refused(abstain: Any, given: Sample, sure: Prediction) -> None:
    with pytest.raises(InputError, match="abstain: expected a confidence from 0 to 1, found"):
        unseen.classify(given.graph, given.classes, abstain=abstain)
    fitted = copy(sure.classifier).set_params(abstain=abstain)
    with pytest.raises(InputError, match="abstain: expected a confidence from 0 to 1, found"):
        fitted.explain(given.graph)


def test_numbers_of_numpy_will_do(given: Sample, tmp_path: Path) -> None:
    numbers: Any = {"abstain": np.float32(0.5), "seed": np.int64(3)}
    made = unseen.classify(given.graph, given.classes, **numbers)
    assert json.dumps(made.record["settings"]["abstain"]) == "0.5"
    assert json.dumps(made.record["settings"]["seed"]) == "3"
    loaded = unseen.load(made.save(tmp_path / "run"))
    assert (loaded.abstain, loaded.seed) == (0.5, 3)


def test_a_class_of_that_name_only_without_abstaining() -> None:
    graph = Graph([[0, 1], [1, 0]], texts=["a star", "a soup"])
    classes = Classes(["Astronomy", "None of these"])
    assert (unseen.classify(graph, classes).label >= 0).all()
    with pytest.raises(InputError, match=r"classes: one is named 'none of these'.*rename"):
        unseen.classify(graph, classes, abstain=0.5)


def test_a_fitted_classifier_that_is_told_to_abstain(
    given: Sample, sure: Prediction, half: float
) -> None:
    known = given.labels(0, 1)
    whole = sure.classifier.explain(given.graph, labels=known)
    shy = copy(sure.classifier).set_params(abstain=half)
    made = shy.explain(given.graph, labels=known)
    below = whole.to_polars()["confidence"].to_numpy() < half
    np.testing.assert_array_equal(made.label, np.where(below, -1, whole.label))
    assert made.record["settings"]["abstain"] == half
    assert made.record["abstained"] == int(below.sum())


# Those who read the answers.


def test_the_record_counts(sure: Prediction, shy: Prediction, half: float) -> None:
    record = shy.record
    assert record["settings"]["abstain"] == half
    assert record["abstained"] == int((shy.label == -1).sum())
    assert sum(row["predicted"] for row in record["classes"]) == len(shy) - record["abstained"]
    assert record["hop_share"]["hops"] == sure.record["hop_share"]["hops"]
    for row, full in zip(record["classes"], sure.record["classes"], strict=True):
        assert row["predicted"] <= full["predicted"]
        assert row["confidence"] is None or row["confidence"] >= full["confidence"]
    json.dumps(record, allow_nan=False)


def test_warnings_look_at_answers_alone(given: Sample, shy: Prediction) -> None:
    answered = set(shy.to_polars()["label"])
    missing = ", ".join(repr(name) for name in given.classes.names if name not in answered)
    said = [each for each in shy.record["warnings"] if "No node was given" in each]
    assert said == [f"No node was given the class {missing}."] * bool(missing)
    none = unseen.classify(given.graph, given.classes, given.labels(0, 1), abstain=1)
    names = ", ".join(map(repr, given.classes.names))
    assert f"No node was given the class {names}." in none.record["warnings"]


def test_the_map_and_the_report(run: Path, shy: Prediction) -> None:
    none = shy.record["abstained"]
    shown = pl.read_parquet(run / "map.parquet").filter(~pl.col("known"))
    assert shown.select("id", "label").rows() == shy.to_polars().select("id", "label").rows()
    page = (run / "report.html").read_text("utf-8")
    assert f"{len(shy) - none} nodes got one of 5 classes, {none} none of these; " in page
    assert re.search(rf"<span>{NONE_OF_THESE}</span><small>{none}</small></button>", page)
    row = re.findall(r'<div class="class-row".*?</div></div>', page, re.DOTALL)[-1]
    assert f"<span>{NONE_OF_THESE}</span></h4>" in row  # no badge: neither labelled nor unseen
    assert f"<b>{none}</b> predicted" in row
    assert f"below {shy.record['settings']['abstain']:g}." in page
    found = re.search(r'<script type="application/json" id="map-data">(.*?)</script>', page)
    assert found is not None
    traces = json.loads(found[1])["data"]
    assert sum(len(trace["text"]) for trace in traces) == shy.graph.nodes
    grey = [trace for trace in traces if trace["meta"]["rank"] == len(shy.classes)]
    assert [len(trace["text"]) for trace in grey] == [none]


def test_the_row_of_no_class_is_not_folded_away(
    monkeypatch: pytest.MonkeyPatch, shy: Prediction, tmp_path: Path
) -> None:
    monkeypatch.setattr("unseen.report.results.OPEN_CLASSES", 2)
    page = (shy.save(tmp_path / "folded") / "report.html").read_text("utf-8")
    assert "<summary>3 more classes</summary>" in page
    unfolded = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert f"<span>{NONE_OF_THESE}</span></h4>" in unfolded


def test_a_report_without_abstaining_does_not_mention_it(sure: Prediction, tmp_path: Path) -> None:
    page = (sure.save(tmp_path / "run") / "report.html").read_text("utf-8")
    assert NONE_OF_THESE not in page


def test_compare(run: Path, sure: Prediction, shy: Prediction, tmp_path: Path) -> None:
    found = compare_runs(sure.save(tmp_path / "sure"), run)
    assert found.changed == shy.record["abstained"]
    assert {move.after for move in found.moves} == {NONE_OF_THESE}
    assert found.settings["abstain"] == (None, shy.record["settings"]["abstain"])


def test_a_saved_run_abstains_as_it_did_until_it_is_told_otherwise(
    run: Path, sure: Prediction, shy: Prediction
) -> None:
    loaded = unseen.load(run)
    np.testing.assert_array_equal(loaded.explain().label, shy.label)
    again = unseen.load(run).set_params(abstain=None).explain()
    np.testing.assert_array_equal(again.label, sure.label)


def write_truth(path: Path, given: Sample) -> Path:
    names = [given.classes.names[c] for c in given.truth]
    pl.DataFrame({"id": given.graph.ids, "label": names}).write_csv(path)
    return path


def test_evaluate(run: Path, given: Sample, shy: Prediction, tmp_path: Path) -> None:
    scores = evaluate_files(run / "predictions.csv", write_truth(tmp_path / "t.csv", given))
    true = given.truth[shy.nodes]
    answered = shy.label >= 0
    assert scores.abstained == int((~answered).sum())
    assert scores.share_answered == pytest.approx(answered.mean())
    assert scores.accuracy == pytest.approx((shy.label == true).mean())
    assert scores.accuracy_answered == pytest.approx((shy.label == true)[answered].mean())
    familiar = true < 2
    assert scores.generalised is not None
    assert scores.generalised.seen_nodes == int(familiar.sum())
    assert scores.generalised.seen_accuracy == pytest.approx((shy.label == true)[familiar].mean())


# The command line.


def test_the_command_line(call: Call, given: Sample, half: float, tmp_path: Path) -> None:
    paths = write_files(tmp_path / "in", given, given.labels(0, 1))
    words = [word for name, path in paths.items() for word in (f"--{name}", path)]
    out, again = tmp_path / "run", tmp_path / "again"
    code, told, _ = call("classify", *words, "--out", out, "--abstain", half)
    assert code == 0
    assert f"({NONE_OF_THESE})" in told
    code, told, _ = call(
        "predict", "--model", out, *words, "--out", again, "--abstain", half, "--json"
    )
    assert code == 0
    assert json.loads(told)["abstained"] > 0
    truth = write_truth(tmp_path / "t.csv", given)
    evaluation = ["evaluate", "--predictions", out / "predictions.csv", "--truth", truth]
    code, told, _ = call(*evaluation)
    assert code == 0
    for wanted in ("share answered", "accuracy answered", "harmonic mean", "surest", "50%"):
        assert wanted in told, wanted
    scores = json.loads(call(*evaluation, "--json")[1])
    assert scores["surest"]["share"] == [1.0, 0.9, 0.8, 0.7, 0.5]
    assert scores["surest"]["accuracy"][0] is None
    assert set(scores["generalised"]) >= {"seen_accuracy", "unseen_accuracy", "harmonic_mean"}


def test_a_wrong_threshold_is_one_line(call: Call, given: Sample, tmp_path: Path) -> None:
    paths = write_files(tmp_path / "in", given)
    words = [word for name, path in paths.items() for word in (f"--{name}", path)]
    code, told, complaint = call("classify", *words, "--out", tmp_path / "run", "--abstain", 50)
    assert (code, told) == (2, "")
    assert complaint.startswith("unseen: abstain: expected a confidence from 0 to 1, found 50")
    assert not (tmp_path / "run").exists()


def test_without_abstaining_the_scores_do_not_speak_of_it(
    call: Call, given: Sample, sure: Prediction, tmp_path: Path
) -> None:
    predictions = sure.save(tmp_path / "run") / "predictions.csv"
    truth = write_truth(tmp_path / "t.csv", given)
    told = call("evaluate", "--predictions", predictions, "--truth", truth)[1]
    assert "answered" not in told.replace("nodes are answered", "")
    assert "100%" in told


def test_an_open_world_answers_none_of_these_where_no_class_fits() -> None:
    whole = sample(per_class=60, homophily=0.8)
    listed = whole.classes.select([0, 1])
    found = unseen.classify(whole.graph, listed, open_world=True)
    assert found.background is not None
    outside = found.label < 0
    np.testing.assert_array_equal(outside, found.background >= OUTSIDE)
    truly = whole.truth[found.nodes] > 1
    assert outside[truly].mean() > outside[~truly].mean() + 0.2
    assert set(found.to_polars()["label"]) <= {*listed.names, "none of these"}
    assert all("fits no class well" in found.reasons[i] for i in np.flatnonzero(outside).tolist())
    closed = unseen.classify(whole.graph, listed)
    assert (closed.label >= 0).all()  # off by default: every node gets a class
    np.testing.assert_array_equal(closed.background, found.background)
    assert found.record["settings"]["open_world"] is True
    assert not any("--open" in each for each in found.record["warnings"])
    assert found.record["background"] == pytest.approx(float(found.background.mean()), abs=1e-4)


def test_few_nodes_in_an_open_world_are_warned_of() -> None:
    few = sample(per_class=12)
    assert few.graph.nodes < FEW_NODES
    found = unseen.classify(few.graph, few.classes, open_world=True)
    assert any("--open gives up" in each for each in found.record["warnings"])
    closed = unseen.classify(few.graph, few.classes)
    assert not any("--open" in each for each in closed.record["warnings"])


def test_an_open_world_has_a_column_of_its_own() -> None:
    whole = sample(per_class=80)
    listed = whole.classes.select([0, 1, 2])
    closed = unseen.ZeroShotNodeClassifier().fit(whole.graph, listed, {"0": listed.names[0]})
    opened = unseen.ZeroShotNodeClassifier(open_world=True)
    opened.fit(whole.graph, listed, {"0": listed.names[0]})
    p, q = closed.predict_proba(), opened.predict_proba()
    assert q.shape == (whole.graph.nodes, 4)
    np.testing.assert_allclose(q.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(q[:, :3], p * (1 - q[:, 3:]), atol=1e-6)
    np.testing.assert_array_equal(q[0], [1, 0, 0, 0])  # a label is a label
    outside = ~np.isin(whole.truth, [0, 1, 2])
    assert q[outside, 3].mean() > q[~outside, 3].mean() + 0.2


def test_an_open_world_takes_no_class_of_that_name() -> None:
    graph = sample().graph
    with pytest.raises(InputError, match=r"one is named 'none of these'.*`open_world`"):
        unseen.classify(graph, ["Music", "None of these"], open_world=True)
    assert len(unseen.classify(graph, ["Music", "None of these"])) == graph.nodes
