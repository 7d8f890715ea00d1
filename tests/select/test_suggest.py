"""Which nodes to label next: spread out, the doubtful first, and better than at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unseen
from topic_graph import Call, Sample, sample
from unseen.core.errors import InputError
from unseen.select.suggest import likely_errors, suggest


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=40, homophily=0.7)


@pytest.fixture(scope="module")
def prediction(given: Sample) -> unseen.Prediction:
    return unseen.classify(given.graph, list(given.classes.names))


def test_as_many_as_asked_for_each_once(prediction: unseen.Prediction) -> None:
    found = prediction.suggest(12)
    assert found.columns == ["id", "label", "confidence", "text"]
    assert len(found) == len(set(found["id"])) == 12
    assert prediction.suggest(12).equals(found)
    assert len(prediction.suggest(10_000)) == len(prediction)


def test_suggestions_cover_all_classes(given: Sample, prediction: unseen.Prediction) -> None:
    rows = [int(i) for i in prediction.suggest(15)["id"]]
    assert len(set(given.truth[rows].tolist())) == 5


def test_no_doubt_is_asked_about_last() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(4, dtype=np.float32), 25, axis=0) + 0.01 * rng.random((100, 4))
    proba = np.full((100, 2), 0.5, np.float32)
    proba[:50] = (1.0, 0.0)
    operator = unseen.Graph(np.zeros((100, 100)), features=X).operator
    found = suggest(X.astype(np.float32), operator, proba, np.arange(100), 4)
    doubtful = found >= 50
    assert doubtful[: doubtful.sum()].all()
    assert doubtful.sum() >= 2


def test_errors_are_the_least_certain(prediction: unseen.Prediction) -> None:
    found = prediction.suggest(5, errors=True)["confidence"].to_list()
    assert found == sorted(prediction.to_polars()["confidence"].to_list())[:5]
    assert likely_errors(prediction.proba, 3).shape == (3,)


def test_nothing_asked_for_is_refused(prediction: unseen.Prediction) -> None:
    with pytest.raises(InputError, match="count: expected 1 node or more, found 0"):
        prediction.suggest(0)


@pytest.mark.usefixtures("quick_map")
def test_the_command(call: Call, prediction: unseen.Prediction, tmp_path: Path) -> None:
    run = prediction.save(tmp_path / "run")
    out = tmp_path / "label.csv"
    code, said, complaint = call("suggest", "--run", run, "--count", 7, "--out", out)
    assert (code, complaint) == (0, "")
    assert "7 nodes to label" in said
    assert len(out.read_text("utf-8").splitlines()) == 8


def test_nodes_that_were_added_are_suggested_too(given: Sample) -> None:
    fitted = unseen.ZeroShotNodeClassifier().fit(given.graph, list(given.classes.names))
    new = fitted.add_nodes(
        pl.DataFrame({"id": ["new", "newer"], "text": ["a star", "a soup"]}),
        pl.DataFrame({"source": ["new"], "target": ["0"]}),
    )
    assert set(new.suggest(1)["id"]) <= {"new", "newer"}
    assert len(fitted.explain().suggest(5)) == 5
