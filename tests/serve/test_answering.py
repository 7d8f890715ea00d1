"""A text is answered as `add_nodes` answers it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import unseen
from unseen.serve.answering import answer_texts, vectors_of
from unseen.serve.versions import Versions

TEXTS = ["garlic in the oven", "the judge and the court", "a new comet", ""]


def test_answers_are_those_of_add_nodes(run: Path) -> None:
    served = Versions(run).load(1)
    for text in TEXTS[:3]:
        for ends in ([], [20], [3, 44, 90]):
            classifier = unseen.load(run)
            names = [served.ids[i] for i in ends]
            edges = None
            if ends:
                edges = pl.DataFrame({"source": ["new"] * len(ends), "target": names})
            said = classifier.add_nodes(pl.DataFrame({"id": ["new"], "text": [text]}), edges)
            near = [[(i, 1.0) for i in ends]]
            found = answer_texts(served, vectors_of(served, [text]), near)
            np.testing.assert_allclose(found.proba[0], said.proba[0], atol=2e-4)
            assert found.label[0] == said.label[0]


def test_texts_do_not_know_of_each_other(run: Path) -> None:
    served = Versions(run).load(1)
    near = [[(3, 1.0)], [], [(3, 1.0), (50, 2.0)], [(3, 1.0)]]
    together = answer_texts(served, vectors_of(served, TEXTS), near)
    for i, text in enumerate(TEXTS):
        alone = answer_texts(served, vectors_of(served, [text]), [near[i]])
        np.testing.assert_allclose(together.proba[i], alone.proba[0], atol=1e-6)


def test_a_text_without_words_is_answered_by_its_neighbours(run: Path) -> None:
    served = Versions(run).load(1)
    rows = served.of_class(1)[:3]
    near = [[(int(i), 1.0) for i in rows]]
    found = answer_texts(served, vectors_of(served, [""]), near)
    assert found.label[0] == 1


def test_probabilities_sum_to_one(run: Path) -> None:
    served = Versions(run).load(1)
    found = answer_texts(served, vectors_of(served, TEXTS[:3]), [[], [], []])
    assert found.proba.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)
