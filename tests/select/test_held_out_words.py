"""Held-out words: halves that share no word, a kappa that is 1 for equals and 0 for chance."""

from __future__ import annotations

import numpy as np
import pytest

import unseen
from topic_graph import sample
from unseen.core.arrays import weighted_kappa
from unseen.core.labels import Labels
from unseen.encode.base import encode
from unseen.models.pooled_em import PooledEM
from unseen.models.prototype import Prototype
from unseen.prepare.preparer import Preparer
from unseen.record import Steps
from unseen.select import held_out_words
from unseen.select.held_out_words import Halves, halve
from unseen.select.preparation import Prepared, prepare

MANY = sample(per_class=70, homophily=0.8)
NONE = Labels.none(MANY.graph.nodes)


def prepared(graph: unseen.Graph = MANY.graph) -> Prepared:
    allowed = np.ones(5, dtype=bool)
    return prepare(Preparer(), graph, MANY.classes, NONE, allowed, seed=0, step=Steps())


@pytest.fixture(scope="module")
def halves() -> Halves:
    found = halve(prepared(), MANY.graph, MANY.classes, NONE, seed=0)
    assert found is not None
    return found


def test_halves_hold_every_word_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[list[str]] = []
    real = encode

    def spy(reader: object, texts: list[str], **more: bool) -> object:
        read.append(texts)
        return real(reader, texts, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(held_out_words, "encode", spy)
    halve(prepared(), MANY.graph, MANY.classes, NONE, seed=0)
    one, other = read
    for text, a, b in zip(MANY.graph.texts or (), one, other, strict=True):
        assert sorted(text.split()) == sorted(a.split() + b.split())
        assert abs(len(a.split()) - len(b.split())) <= 1


def test_a_half_depends_on_its_text_alone(halves: Halves) -> None:
    order = np.random.default_rng(1).permutation(MANY.graph.nodes)
    turned = unseen.Graph(
        MANY.graph.adjacency[order][:, order],
        texts=[(MANY.graph.texts or ())[i] for i in order],
    )
    again = halve(prepared(turned), turned, MANY.classes, NONE, seed=0)
    assert again is not None
    np.testing.assert_allclose(again.one, halves.one[order], atol=1e-4)


def test_a_model_that_finds_classes_agrees_with_words_it_has_not_seen(halves: Halves) -> None:
    weigh = PooledEM().fit(halves.task)
    w = weigh.typical(halves.task)
    found = halves.kappas({"pooled": PooledEM(), "own": Prototype(0)}, w)
    assert found["pooled"] > found["own"] > 0.03
    assert halves.own() == pytest.approx(found["own"], abs=0.1)


@pytest.mark.parametrize("nodes", [40, 299])
def test_few_nodes_say_too_little(nodes: int) -> None:
    graph = unseen.Graph(
        MANY.graph.adjacency[:nodes][:, :nodes], texts=(MANY.graph.texts or ())[:nodes]
    )
    assert halve(prepared(), graph, MANY.classes, Labels.none(nodes), seed=0) is None


def test_kappa() -> None:
    a, w = np.array([0, 1, 2, 0]), np.ones(4, np.float32)
    assert weighted_kappa(a, a, w, 3) == pytest.approx(1)
    rng = np.random.default_rng(0)
    x, y = rng.integers(3, size=20_000), rng.integers(3, size=20_000)
    assert weighted_kappa(x, y, np.ones(20_000, np.float32), 3) == pytest.approx(0, abs=0.02)
    assert weighted_kappa(a, a, np.zeros(4, np.float32), 3) == 0
    only = np.array([1, 0, 0, 1], np.float32)  # nodes without weight do not count
    assert weighted_kappa(a, np.array([0, 2, 1, 0]), only, 3) == weighted_kappa(
        a[[0, 3]], np.array([0, 0]), np.ones(2, np.float32), 3
    )
