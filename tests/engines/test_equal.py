"""The disk engine gives the answers of the memory engine: labels, probabilities, reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import unseen
from engine_helpers import assert_equal
from topic_graph import Sample, sample
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.datasets.registry import load
from unseen.engines import disk
from unseen.models.baselines.eszsl import ESZSL


def both(graph: Graph, classes: Any, labels: Any, **more: Any) -> tuple[Any, Any]:
    """Return the answers of the two engines."""
    one = unseen.classify(graph, classes, labels, engine="memory", **more)
    other = unseen.classify(graph, classes, labels, engine="disk", memory="2GB", **more)
    assert other.record["settings"]["engine"] == "disk"
    return one, other


@pytest.mark.parametrize("labelled", [False, True])
def test_on_the_demonstration(labelled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "BLOCK", 900)
    data = load("stdlib")
    labels = data.truth.only(data.splits["demo"].seen) if labelled else None
    one, other = both(data.graph, data.classes, labels)
    assert_equal(one, other)
    assert one.record["choices"][0]["chosen"] == other.record["choices"][0]["chosen"]
    assert [c["chosen"] for c in one.record["choices"]] == [
        c["chosen"] for c in other.record["choices"]
    ]


def varied(given: Sample, seed: int, directed: bool, weighted: bool, hub: bool) -> Graph:
    """Return the graph with weights, a direction, a hub, nodes on their own and one without text"""
    rng = np.random.default_rng(seed)
    ends = given.graph.adjacency.tocoo()
    apart = (ends.row > 5) & (ends.col > 5)  # the first nodes are on their own
    source, target = ends.row[apart], ends.col[apart]
    if hub:
        source = np.append(source, np.full(60, 9))
        target = np.append(target, rng.integers(6, given.graph.nodes, 60))
    weight = rng.random(len(source)).astype(np.float32) * 3 + np.float32(0.1)
    texts = ["", *(given.graph.texts or ())[1:]]
    return Graph.from_edges(
        source,
        target,
        weight if weighted else None,
        nodes=given.graph.nodes,
        directed=directed,
        texts=texts,
    )


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 20),
    directed=st.booleans(),
    weighted=st.booleans(),
    hub=st.booleans(),
    known=st.sampled_from([(), (0, 1), (0, 1, 2, 3)]),
    among=st.sampled_from(["all", "unseen"]),
    block=st.sampled_from([37, 100, 5000]),
)
def test_on_graphs_of_all_kinds(
    seed: int,
    directed: bool,
    weighted: bool,
    hub: bool,
    known: tuple[int, ...],
    among: str,
    block: int,
) -> None:
    given = sample(per_class=64, topical=2, seed=seed)
    graph = varied(given, seed, directed, weighted, hub)
    before, disk.BLOCK = disk.BLOCK, block
    try:
        assert_equal(*both(graph, given.classes, given.labels(*known), among=among))
    finally:
        disk.BLOCK = before


def test_without_edges_and_with_few_nodes() -> None:
    texts = ["a purring cat", "a kitten", "the rings of Saturn", "moons around Jupiter"]
    graph = Graph(np.zeros((4, 4)), texts=texts)
    assert_equal(*both(graph, ["pets", "planets"], None))


def test_an_open_world_and_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "BLOCK", 50)
    given = sample(per_class=60, homophily=0.8)
    listed = given.classes.select([0, 1])
    assert_equal(*both(given.graph, listed, None, open_world=True, abstain=0.6))


def test_a_model_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "BLOCK", 50)
    given = sample(per_class=30)
    assert_equal(*both(given.graph, given.classes, None, model=unseen.Prototype(2)))
    known = given.labels(0, 1)
    assert_equal(*both(given.graph, given.classes, known, model=unseen.DGPN(epochs=20)))
    with pytest.raises(unseen.InputError, match=r"ESZSL needs all nodes in memory; use engine='me"):
        unseen.classify(given.graph, given.classes, known, engine="disk", model=ESZSL())


def test_what_was_fitted_on_disk_is_a_classifier_like_any_other(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "BLOCK", 64)
    given = sample(per_class=40)
    fitted = unseen.ZeroShotNodeClassifier(engine="disk", memory="2GB")
    fitted.fit(given.graph, given.classes)
    assert len(fitted.predict()) == given.graph.nodes
    fitted.prediction_.save(tmp_path / "run")
    again = unseen.load(tmp_path / "run").explain()
    np.testing.assert_array_equal(again.label, fitted.prediction_.label)
    np.testing.assert_allclose(again.proba, fitted.prediction_.proba, atol=1e-5)
    assert len(fitted.prediction_.suggest(5)) == 5


def test_an_encoder_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Held-out words are read by another encoder: what is kept of the two is told apart."""
    monkeypatch.setattr(disk, "BLOCK", 90)

    def encode(texts: list[str]) -> Any:
        return [[text.count(letter) + 0.1 for letter in "aeioubcdfglmnprst"] for text in texts]

    given = sample(per_class=70, topical=4)
    one, other = both(given.graph, given.classes, None, encoder=encode)
    assert_equal(one, other)
    assert one.record["choices"][1]["rule"] == "held-out words, kappa"


def test_features_stay_in_memory() -> None:
    graph = Graph(np.eye(4)[::-1], features=np.eye(4))
    with pytest.raises(unseen.InputError, match="'disk' reads nodes by their texts"):
        unseen.classify(graph, ["a", "b"], Labels(np.array([0, 1, -1, -1])), engine="disk")
    with pytest.raises(unseen.InputError, match="engine: expected one of auto, memory, disk"):
        unseen.classify(graph, ["a", "b"], engine="tape")
