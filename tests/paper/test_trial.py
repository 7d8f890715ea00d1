"""A trial: what a model gets to see, and how it is measured."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.core.labels import Labels
from unseen.core.task import Task
from unseen.datasets.registry import load
from unseen.evaluate.protocol import floor
from unseen.models.base import ScoreModel
from unseen.paper import methods
from unseen.paper import trial as room
from unseen.paper.methods import METHODS, Method
from unseen.paper.trial import Trial, run

pytestmark = pytest.mark.usefixtures("paper_data")


class Spy(ScoreModel):
    """Remembers the task that it was given and answers with its first class."""

    seen: ClassVar[list[Task]] = []

    def fit(self, task: Task) -> Spy:
        Spy.seen.append(task)
        return self

    def scores(self, task: Task) -> NDArray[np.float32]:
        return np.zeros((task.nodes, task.classes), np.float32)


@pytest.fixture(params=[True, False], ids=["propagates", "own attributes"])
def propagates(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    method = Method("spy", lambda settings, seed, sizes: Spy(), propagates=request.param)
    monkeypatch.setattr(methods, "METHODS", {**METHODS, "spy": method})
    return bool(request.param)


@pytest.mark.parametrize("on", ["test", "validation"])
def test_labels_of_classes_that_are_not_seen_are_hidden(propagates: bool, on: Any) -> None:
    data = load("cora")
    split = data.splits["II"]
    run(Trial("cora", "II", "spy", on=on))
    task = Spy.seen[-1]
    assert set(np.unique(task.labels)) == {-1, *split.seen}
    wanted = split.unseen if on == "test" else split.validation
    assert set(np.flatnonzero(task.allowed)) == set(wanted)
    assert (task.operator is not None) == propagates
    sizes = np.bincount(data.truth.codes)
    assert task.nodes == (sizes.sum() if propagates else sizes[[*split.seen, *wanted]].sum())
    assert not task.shared


def test_a_constant_answer_is_measured_and_reported(propagates: bool) -> None:
    data = load("cora")
    outcome = run(Trial("cora", "I", "spy"))
    of = data.truth.codes[np.isin(data.truth.codes, data.splits["I"].unseen)]
    assert outcome["accuracy"] == pytest.approx(100 * (of == 3).mean())  # the first unseen class
    assert outcome["macro"] == pytest.approx(25)
    assert outcome["floor"] == pytest.approx(100 * floor(data.truth.codes, data.splits["I"].unseen))
    assert outcome["classes given"] == 1


def test_the_majority_row_is_the_floor() -> None:
    for split in ("I", "II"):
        outcome = run(Trial("citeseer", split, "majority"))
        assert outcome["accuracy"] == pytest.approx(outcome["floor"])


@pytest.mark.parametrize("method", ["dgpn", "dgpn-paper", "eszsl", "dap", "zs-gcn", "wdvsc"])
def test_shuffled_labels_of_unseen_classes_change_no_prediction(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = []
    original = ScoreModel.predict

    def predict(self: ScoreModel, task: Task) -> NDArray[np.int64]:
        answers.append(original(self, task))
        return answers[-1]

    monkeypatch.setattr(ScoreModel, "predict", predict)
    short = {} if method == "eszsl" else {"epochs": 2}
    trial = Trial("cora", "I", method, {**short, **({"hops": 2} if "dgpn" in method else {})})
    run(trial)
    data = load("cora")
    unseen = np.isin(data.truth.codes, data.splits["I"].unseen)
    mixed = data.truth.codes.copy()
    mixed[unseen] = np.random.default_rng(0).permutation(mixed[unseen])
    cached = room._graph("cora", "features", "sum")
    changed = type(data)(
        data.name, cached[0].graph, data.classes, Labels(mixed), data.splits, data.notes
    )
    monkeypatch.setattr(room, "_graph", lambda *_: (changed, *cached[1:]))
    run(trial)
    assert (answers[0] == answers[1]).all()


@pytest.mark.parametrize("rows", ["unit", "centred", "raw"])
def test_class_vectors_are_prepared_as_asked(rows: str) -> None:
    S = room._csds("cora", "text", rows)
    lengths = np.linalg.norm(S, axis=1)
    if rows == "raw":
        assert lengths.min() > 8
    else:
        np.testing.assert_allclose(lengths, 1, rtol=1e-5)
    cosine = (S[0] @ S[1]) / (lengths[0] * lengths[1])
    assert (cosine < 0.5) == (rows == "centred")


def test_attributes_sum_to_one_unless_raw() -> None:
    for kind in ("features", "adjacency"):
        _, X, _ = room._graph("cora", kind, "sum")
        np.testing.assert_allclose(X.sum(axis=1), 1, rtol=1e-5)
    _, X, _ = room._graph("cora", "features", "raw")
    assert set(np.unique(X.data)) == {1.0}


def test_a_key_tells_trials_apart_and_not_the_order_of_settings() -> None:
    one = Trial("cora", "I", "dgpn", {"hops": 3, "epochs": 5})
    assert one.key() == Trial("cora", "I", "dgpn", {"epochs": 5, "hops": 3}).key()
    others = (
        Trial("cora", "I", "dgpn", {"epochs": 5, "hops": 2}),
        Trial("cora", "I", "dgpn", one.settings, seed=1),
        Trial("cora", "I", "dgpn", one.settings, csds="label"),
        Trial("cora", "I", "dgpn", one.settings, on="validation"),
        Trial("cora", "I", "dgpn", one.settings, attributes="adjacency"),
    )
    assert len({one.key(), *(each.key() for each in others)}) == 6
