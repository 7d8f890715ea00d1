"""Learning equals a fit with the same labels; outsiders take no part in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from serve.conftest import Connect, copied, topic_run
from unseen.core.graph import Graph
from unseen.serve.editing import edit_classes
from unseen.serve.labels import compared, give, wilson
from unseen.serve.learning import LEAST, Said, learn
from unseen.serve.preview import preview
from unseen.serve.store import Store
from unseen.serve.versions import Versions
from unseen.serve.work import Job, work

NONE = np.zeros(0, dtype=np.int64)


def said_of(classifier: Any, truth: Any, given: list[int], outside: list[int]) -> Said:
    """Return what people say who know the truth."""
    codes = classifier.labels_.codes.copy()
    codes[given] = truth[given]
    return Said(codes, np.array(sorted(given), dtype=np.int64), np.array(outside, dtype=np.int64))


def test_learning_is_a_fit_with_the_same_labels(run: Path) -> None:
    versions, parent = Versions(run), unseen.load(run)
    truth = topic_run()[2]
    said = said_of(parent, truth, list(range(20, 60)), [])
    _, found, held_out = learn(parent, parent.graph_, said, versions.load(1), "all")
    again = unseen.ZeroShotNodeClassifier().fit(
        parent.graph_, parent.class_texts_, unseen.Labels(said.codes)
    )
    assert type(found.classifier.model_) is type(again.model_)
    np.testing.assert_allclose(found.proba, again.prediction_.proba, atol=2e-5)
    assert found.record["csd_quality"] == pytest.approx(again.prediction_.record["csd_quality"])
    assert held_out is not None
    assert held_out.shape == (40,)
    assert np.mean(held_out == truth[20:60]) > 0.6


@pytest.mark.parametrize("model", ["pooled", "belief"])
def test_no_class_learns_from_an_outsider(runs: Path, tmp_path: Path, model: str) -> None:
    run = copied(runs / model, tmp_path)
    served, parent = Versions(run).load(1), unseen.load(run)
    outside = np.array([20, 33, 150], dtype=np.int64)
    truth = topic_run()[2]
    said = said_of(parent, truth, [40, 41], outside.tolist())
    graph: Graph = parent.graph_
    _, found, _ = learn(parent, graph, said, served, "all")
    rows = np.isin(found.nodes, outside)
    assert (found.label[rows] == -1).all()
    assert found.background is not None
    assert (found.background[rows] == 1).all()
    assert (found.background[~rows] < 1).all()
    assert len(set(found.classifier.posterior_[20])) == 1  # tells neighbours nothing

    # what is said about them, and by them, reaches nobody: any text and any edges, the same answers
    X = np.array(served.vectors)
    X[outside] = X[outside[::-1]][:, ::-1]
    served.__dict__["vectors"] = X
    A = graph.adjacency.tolil()
    A[20, 200] = A[200, 20] = 9.0
    other = Graph(A.tocsr(), texts=graph.texts, ids=graph.ids, directed=graph.directed)
    served.meta["outsiders"] = [20]  # so that no hops of the old edges are taken
    served.__dict__.pop("outside", None)
    _, changed, _ = learn(parent, other, said, served, "all")
    for name, value in found.classifier.model_.state().items():
        now = changed.classifier.model_.state()[name]
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, now, err_msg=name)
    keep = ~np.isin(found.nodes, outside)
    np.testing.assert_array_equal(found.proba[keep], changed.proba[keep])


def job(versions: Versions, kind: str, request: dict[str, Any]) -> dict[str, Any]:
    """Do a job here and now; return what came out."""
    with versions.store.write() as db:
        number = db.execute(
            "INSERT INTO jobs (kind, state, person, started, request) "
            "VALUES (?, 'running', 'Ada', '', '{}')",
            (kind,),
        ).lastrowid
    assert number is not None
    work(Job(versions, number), kind, "Ada", request)
    row = versions.store.one("SELECT * FROM jobs WHERE id = ?", number)
    assert row is not None
    assert row["state"] == "done", row["error"]
    return dict(row)


def say(store: Store, answers: list[dict[str, Any]]) -> None:
    """Put answers down in the name of one person."""
    whole = [{"kind": "class" if a.get("class") else "none", "class": None} | a for a in answers]
    with store.write() as db:
        give(db, "Ada", whole, [("law", 0.5)] * len(whole), 1)


def test_outsiders_stay_so_until_a_class_that_is_new_takes_them(one_run: Path) -> None:
    versions, truth = Versions(one_run), topic_run()[2]
    ids = unseen.load(one_run).graph_.ids
    cooks = [i for i in np.flatnonzero(truth == 1).tolist() if i > 20 and i != 11][:3]
    say(versions.store, [{"id": ids[i]} for i in cooks])
    job(versions, "learn", {"version": 1})
    second = versions.load(2)
    assert second.outside.tolist() == sorted(cooks)
    assert (second.label[cooks] == -1).all()
    first, again = (versions.arrays(n) / "X.npy" for n in (1, 2))
    assert first.stat().st_ino == again.stat().st_ino  # nothing is written twice

    elsewhere = [{"name": "rowing", "description": "Boats and oars.", "replaces": None}]
    found = preview(second, elsewhere, [])
    assert found["classes"][1]["before"] - found["classes"][1]["after"] >= 0
    garlic = [{"name": "garlic", "description": "Recipe, oven, garlic, dough.", "replaces": None}]
    job(versions, "classes", {"version": 2, "changes": garlic, "remove": []})
    third = versions.load(3)
    new = edit_classes(second.classes, garlic, [], second.codes).fresh[0]
    assert set(third.label[cooks].tolist()) <= {-1, int(new)}
    assert third.outside.tolist() == sorted(i for i in cooks if third.label[i] == -1)
    taken = preview(second, garlic, [])["taken"][0]["nodes"]
    assert abs(taken - len(third.of_class(int(new)))) <= 1


def test_a_run_that_answers_among_unseen_classes_can_learn(tmp_path: Path) -> None:
    graph, classes, truth = topic_run()
    labels = np.full(graph.nodes, -1)
    labels[:40] = np.where(truth[:40] < 2, truth[:40], -1)
    unseen.classify(graph, classes, labels, among="unseen").save(tmp_path / "run")
    versions = Versions(tmp_path / "run")
    versions.ensure(1)
    ids = graph.ids or ()
    say(versions.store, [{"id": ids[i], "class": classes.names[truth[i]]} for i in range(50, 70)])
    done = job(versions, "learn", {"version": 1})
    assert done["version"] == 2
    again = unseen.load(versions.folder(2))
    assert again.among == list(classes.names[2:])


def test_before_and_after_are_of_the_same_nodes(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    say(store, [{"id": f"n{i}", "class": "law" if i < 4 else "sports"} for i in range(LEAST)])
    say(store, [{"id": "n99"}])  # none of these: no class to be right about
    found = compared(store, {f"n{i}": "law" if i < 3 else "sports" for i in range(LEAST)})
    assert found["before"] == wilson(4, 10)
    assert found["after"] == wilson(9, 10)
    few = compared(store, None)
    assert few["after"] is None
    assert few["before"]["of"] == 11
    assert "ten or more" in few["note"]


def test_none_of_these_alone_can_be_learned_from(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        assert client.post("/learn", json={"person": "Ada"}).status_code == 409
        answers = [{"id": "n8", "kind": "none"}]
        client.post("/labels", json={"person": "Ada", "answers": answers})
    assert Versions(one_run).store.number("SELECT count(*) FROM answers") == 1
