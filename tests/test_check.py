"""What `check` finds before anything is fitted, and that `classify` then finds the same."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import numpy as np
import pytest

import unseen
from topic_graph import Sample, sample
from unseen.check import check, told_apart
from unseen.core.classes import Classes
from unseen.core.graph import Graph
from unseen.core.labels import Labels


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample()


def test_counts_and_balance(given: Sample) -> None:
    labels = given.labels(0, 1, 2)
    found = check(given.graph, given.classes, labels)
    assert found["graph"] == {
        "nodes": 150,
        "edges": given.graph.edges,
        "directed": False,
        "described_by": "static",
    }
    assert found["classes"] == {
        name: int((labels.codes == c).sum()) for c, name in enumerate(given.classes.names)
    }
    assert found["labelled"] == int(labels.known.sum())
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_quality_needs_three_labelled_classes(given: Sample) -> None:
    assert check(given.graph, given.classes, given.labels(0, 1))["csd_quality"] == {}
    found = check(given.graph, given.classes, given.labels(0, 1, 2))["csd_quality"]
    assert found.keys() == {"description", "both", "name"}
    assert all(row.keys() == {"kl", "cosine", "euclidean"} for row in found.values())


def test_homophily_is_estimated_or_counted(given: Sample) -> None:
    found = check(given.graph, given.classes)["homophily"]
    assert found["usable"] is True
    assert found["measured_on_labels"] is False
    assert 0.6 < found["level"] < 0.95
    labelled = check(given.graph, given.classes, given.labels(0, 1, 2))
    assert labelled["homophily"]["measured_on_labels"]
    random = sample(homophily=0.0)
    useless = check(random.graph, random.classes)
    assert useless["homophily"]["usable"] is False
    assert "Neighbours hardly agree on a class: they will have little say." in useless["problems"]


@pytest.mark.parametrize(
    "known", [(), (0, 1), (0, 1, 2, 3)], ids=["no labels", "two seen", "four seen"]
)
def test_classify_works_with_the_homophily_that_check_tells(
    known: tuple[int, ...], given: Sample
) -> None:
    labels = given.labels(*known)
    told = check(given.graph, given.classes, labels)
    record = unseen.classify(given.graph, given.classes, labels).record
    assert told["homophily"]["level"] == record["homophily"]["level"]
    assert told["homophily"]["measured_on_labels"] == record["homophily"]["measured"]
    assert told["homophily"]["usable"] == record["homophily"]["used"]
    assert told["class_texts"] == record["choices"][0]["chosen"]
    assert told["graph"]["described_by"] == record["settings"]["encoder"]


def test_the_same_homophily_on_the_graph_of_the_demonstration() -> None:
    """Large enough for word statistics, which 0.8.0 left out here and there."""
    data = unseen.load_dataset("stdlib")
    told = check(data.graph, data.classes)["homophily"]
    found = unseen.classify(data.graph, data.classes).record["homophily"]
    assert (told["level"], told["measured_on_labels"]) == (found["level"], found["measured"])


def test_repairs_are_counted(given: Sample) -> None:
    graph = Graph.from_edges(
        [0, 1, 2, 2], [1, 0, 2, 0], nodes=5, texts=list(given.graph.texts or ())[:5]
    )
    found = check(graph, given.classes, Labels.none(5))
    assert found["repaired"] == {
        "duplicate_edges": 1,
        "self_loops": 1,
        "isolated_nodes": 2,
        "nodes_without_text": 0,
        "unused_columns": [],
    }
    assert "2 of 5 nodes have no neighbour: only their texts count." in found["problems"]


@pytest.mark.parametrize(
    ("content", "names", "labels", "problem"),
    [
        ({"texts": ["a", "b", "c", "d"]}, ["Stars", "Soup"], [0, -1, -1, -1], "only 1 labelled"),
        ({"texts": ["a", "b", "c", "d"]}, ["Stars", "Soup"], [0, 0, 1, 1], "nothing is left to"),
        ({"texts": ["a", "b", "c", "d"]}, ["Stars", "Soup"], [-1] * 4, "Classes have names only"),
        ({"texts": ["a", "a", "a", "d"]}, ["Stars", "Soup"], [-1] * 4, "2 nodes share their text"),
        ({"texts": ["a", "b", "c", "d " * 600]}, ["Stars", "Soup"], [-1] * 4, "1 texts are longer"),
        (
            {"texts": ["a", "b", "c", "d"]},
            ["Stars", "The stars", "Soup", "Goal"],
            [-1] * 4,
            "'Stars' and 'The stars' read almost alike",
        ),
        ({"features": np.eye(4)}, ["Stars", "Soup"], [-1] * 4, "classify will refuse"),
        ({"features": np.eye(4)}, ["Stars", "Soup"], [0, 1, -1, -1], "by how class texts relate"),
    ],
)
def test_likely_problems(
    content: dict[str, Any], names: list[str], labels: list[int], problem: str
) -> None:
    graph = Graph(np.ones((4, 4)), **content)
    found = check(graph, Classes(names), Labels(np.array(labels)))["problems"]
    assert any(problem in line for line in found), found


@pytest.mark.parametrize(("words", "told"), [(6, True), (60, False)])
def test_short_descriptions_are_mentioned(words: int, told: bool) -> None:
    graph = Graph(np.ones((4, 4)), texts=["a", "b", "c", "d"])
    classes = Classes(["Stars", "Soup"], ["light " * words, "bowl " * words])
    found = check(graph, classes, Labels(np.full(4, -1)))["problems"]
    assert any(f"are short ({words} words)" in line for line in found) is told, found


def test_nodes_without_text_and_no_edges_are_mentioned() -> None:
    graph = Graph(np.zeros((3, 3)), texts=["a star", "", "a soup"])
    found = check(graph, ["Stars", "Soup"])["problems"]
    assert "There are no edges: texts alone answer." in found
    assert "1 nodes have no text: their neighbours answer for them." in found


def test_no_model_is_fitted_but_those_that_learn_nothing(
    given: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("something was fitted")

    for model in ("dgpn.DGPN", "belief_propagation.BeliefPropagation", "pooled_em.PooledEM"):
        monkeypatch.setattr(f"unseen.models.{model}.fit", refuse)
    check(given.graph, given.classes, given.labels(0, 1, 2, 3))
    with pytest.raises(AssertionError, match="something was fitted"):
        unseen.classify(given.graph, given.classes)


def test_class_texts_that_hardly_fit_are_told_before_anything_is_fitted() -> None:
    many, rng = sample(per_class=80), np.random.default_rng(0)
    fine = check(many.graph, many.classes)
    assert fine["fit_to_words"] > 0.2
    assert not any("hardly fit" in problem for problem in fine["problems"])
    words = ["".join(rng.choice(list("bcdfghjklm"), 7)) for _ in range(60)]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(many.graph.nodes)]
    poor = check(Graph(many.graph.adjacency, texts=texts), many.classes)
    assert poor["fit_to_words"] < 0.2
    assert any("hardly fit this graph" in problem for problem in poor["problems"])


def test_the_class_whose_text_says_nothing_is_the_one_to_improve_first() -> None:
    """Music is listed under a name and a text that could be anything."""
    given = sample(per_class=20, topical=4)
    texts = dict(zip(given.classes.names, given.classes.descriptions or (), strict=True))
    del texts["Music"]
    found = check(given.graph, texts | {"Various": "Various things."})["told_apart"]
    assert {row["class"] for row in found} == {*texts, "Various"}
    shares = [row["told_apart"] for row in found]
    assert shares == sorted(shares)
    assert all(1 / 5 <= share <= 1 for share in shares)
    assert found[0]["class"] == "Various"
    assert shares[0] < shares[1] - 0.1
    assert found[1]["confused_with"] == "Various"


def test_classes_told_apart_by_hand() -> None:
    """Two of three classes share half of the nodes evenly; the third is certain of its own."""
    p = np.array([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0]], np.float32)
    rows = told_apart(p, Classes(["a", "b", "c", "d"]), np.array([True, True, True, False]))
    assert [(row["class"], row["told_apart"], row["confused_with"]) for row in rows] == [
        ("a", 0.5, "b"),
        ("b", 0.5, "a"),
        ("c", 1.0, "a"),
    ]
