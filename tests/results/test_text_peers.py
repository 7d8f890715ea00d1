"""Peers read design graphs only, and get the class texts that the defaults get."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from unseen.core.classes import Classes

ROOT = Path(__file__).parents[2]


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "results")
    return import_module("text_peers")


def test_no_graph_of_the_fresh_set_is_read(peers: Any) -> None:
    fresh = set(peers.catalogue.names("fresh"))
    assert not fresh & {trial.graph for trial in peers.asked()}


def test_examples_are_the_template_and_the_sentences_of_a_paragraph(peers: Any) -> None:
    classes = Classes(["stars", "bread"], ["Suns. Far away.", "Flour and water."])
    said, of = peers.examples(classes, "paragraph")
    assert said[peers.EXAMPLES : peers.EXAMPLES + 2] == ["Suns.", "Far away."]
    assert of == [0] * (peers.EXAMPLES + 2) + [1] * (peers.EXAMPLES + 1)
    assert peers.examples(classes, "name")[0][0] == "This sentence is stars"
    assert peers.class_texts(classes, "paragraph")[1] == "bread: Flour and water."
