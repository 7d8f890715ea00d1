"""A trial: what a model gets to see, and how it is measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unseen.classes import Labels
from unseen.datasets.registry import load
from unseen.evaluate.protocol import floor
from unseen.models.base import Model
from unseen.paper import trial as room
from unseen.paper.methods import METHODS, Method
from unseen.paper.trial import Trial, run

pytestmark = pytest.mark.usefixtures("paper_data")


class Spy(Model):
    """Remembers what it was shown and answers with its first class."""

    shown: dict[str, Any] = {}  # noqa: RUF012

    def fit(
        self, hops: Any, labels: Any, csds: Any, operator: Any = None, among: Any = None
    ) -> Any:
        Spy.shown = {"hops": hops, "labels": labels, "csds": csds, "operator": operator}
        Spy.shown["among"] = among
        self.classes_ = len(csds)
        return self

    def scores(self, hops: Any, csds: Any = None) -> Any:
        return np.zeros((hops.shape[0], self.classes_), np.float32)


@pytest.fixture(params=[True, False], ids=["walks", "own attributes"])
def walks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    method = Method("spy", lambda settings, seed, sizes: Spy(), walks=request.param)
    monkeypatch.setattr(room, "METHODS", {**METHODS, "spy": method})
    return bool(request.param)


@pytest.mark.parametrize("on", ["test", "validation"])
def test_labels_of_classes_that_are_not_seen_are_hidden(walks: bool, on: Any) -> None:
    data = load("cora")
    split = data.splits["II"]
    run(Trial("cora", "II", "spy", on=on))
    shown = Spy.shown
    assert set(np.unique(shown["labels"])) == {-1, *split.seen}
    wanted = split.unseen if on == "test" else split.validation
    assert set(np.flatnonzero(shown["among"])) == set(wanted)
    assert (shown["operator"] is not None) == walks
    sizes = np.bincount(data.truth.of)
    nodes = sizes.sum() if walks else sizes[[*split.seen, *wanted]].sum()
    assert shown["hops"].shape[0] == len(shown["labels"]) == nodes


def test_a_constant_answer_is_measured_and_told(walks: bool) -> None:
    data = load("cora")
    outcome = run(Trial("cora", "I", "spy"))
    of = data.truth.of[np.isin(data.truth.of, data.splits["I"].unseen)]
    assert outcome["accuracy"] == pytest.approx(100 * (of == 3).mean())  # the first unseen class
    assert outcome["macro"] == pytest.approx(25)
    assert outcome["floor"] == pytest.approx(100 * floor(data.truth.of, data.splits["I"].unseen))
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
    original = Model.predict

    def predict(self: Model, hops: Any, among: Any = None) -> Any:
        answers.append(original(self, hops, among))
        return answers[-1]

    monkeypatch.setattr(Model, "predict", predict)
    short = {} if method == "eszsl" else {"epochs": 2}
    walk = {"hops": 2} if METHODS[method].walks else {}
    trial = Trial("cora", "I", method, {**short, **walk})
    run(trial)
    data = load("cora")
    unseen = np.isin(data.truth.of, data.splits["I"].unseen)
    mixed = data.truth.of.copy()
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
