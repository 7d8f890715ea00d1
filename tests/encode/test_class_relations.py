"""How class texts relate: each of the four readings word by word, and classes without texts."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from unseen.core.classes import Classes
from unseen.encode.base import Progress
from unseen.encode.class_relations import class_relations, phrases_of

NAMES = ["nets", "rules", "rewards"]
TEXTS = [
    "Layers, weights: units.",
    "Logic and clauses; nets, rules.",
    "Agents act. Policies, values",
]


class Scatter:
    """An encoder that sends every text somewhere, always to the same place."""

    name, identity, dimensions = "scatter", "scatter 1", 6

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        return np.stack(
            [np.random.default_rng(crc32(each.encode())).normal(size=6) for each in texts]
        ).astype(np.float32)


def centred(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows of unit length, centred, of unit length."""
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows - rows.mean(axis=0)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_every_reading_follows_its_formula() -> None:
    found = class_relations(Classes(NAMES, TEXTS), Scatter())
    assert found.shape == (4, 3, 3)
    read = Scatter().encode
    t, n = centred(read(TEXTS)), centred(read(NAMES))
    parts = [phrases_of(text) for text in TEXTS]
    of = np.repeat(np.arange(3), [len(each) for each in parts])
    rows = read([phrase for each in parts for phrase in each])
    p = centred(rows)
    lengths = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    means = centred(np.stack([lengths[of == c].mean(axis=0) for c in range(3)]))
    for c in range(3):
        for d in range(3):
            best = [max(a @ b for b in p[of == d]) for a in p[of == c]]
            back = [max(a @ b for a in p[of == c]) for b in p[of == d]]
            expected = (
                t[c] @ t[d],
                means[c] @ means[d],
                (np.mean(best) + np.mean(back)) / 2,
                (n[c] @ t[d] + n[d] @ t[c]) / 2,
            )
            np.testing.assert_allclose(found[:, c, d], expected, atol=1e-5)


def test_relations_go_both_ways() -> None:
    found = class_relations(Classes(NAMES, TEXTS), Scatter())
    np.testing.assert_allclose(found, found.swapaxes(1, 2), atol=1e-6)


def test_a_class_without_a_description_is_described_by_its_name() -> None:
    named = class_relations(Classes(NAMES), Scatter())
    told = class_relations(Classes(NAMES, NAMES), Scatter())
    np.testing.assert_allclose(named, told, atol=1e-6)
    some = class_relations(Classes(NAMES, [TEXTS[0], None, TEXTS[2]]), Scatter())
    same = class_relations(Classes(NAMES, [TEXTS[0], "rules", TEXTS[2]]), Scatter())
    np.testing.assert_allclose(some, same, atol=1e-6)


def test_classes_in_another_order_relate_as_before() -> None:
    order = [2, 0, 1]
    turned = Classes([NAMES[c] for c in order], [TEXTS[c] for c in order])
    expected = class_relations(Classes(NAMES, TEXTS), Scatter())[:, order][:, :, order]
    np.testing.assert_allclose(class_relations(turned, Scatter()), expected, atol=1e-5)


def test_a_text_of_marks_alone_is_one_phrase() -> None:
    assert phrases_of("...") == ["..."]
    assert phrases_of("one, two") == ["one", "two"]
