"""The map: every group is there, the picture repeats itself, and no input makes it fall apart."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.core.operator import Operator
from unseen.report.layout import choose, lay_out, surroundings


def _groups(sizes: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)


def test_small_groups_keep_all_their_nodes() -> None:
    groups = _groups([9000, 900, 90, 9, 1])
    chosen = choose(groups, 500, np.random.default_rng(0))
    kept = np.bincount(groups[chosen], minlength=5)
    assert len(chosen) == 500
    assert kept[3:].tolist() == [9, 1]
    assert kept[2] >= 50
    assert kept[0] > kept[1] > kept[2]


def test_more_groups_than_places_still_fits() -> None:
    chosen = choose(np.arange(50, dtype=np.int64), 20, np.random.default_rng(0))
    assert len(np.unique(chosen)) == 20


def test_everything_is_kept_when_there_is_room() -> None:
    assert choose(_groups([3, 2]), 5, np.random.default_rng(0)).tolist() == [0, 1, 2, 3, 4]


def test_the_same_seed_gives_the_same_picture() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(400, 20)).astype(np.float32)
    groups = rng.integers(0, 4, 400)
    chosen, places = lay_out(vectors, 150, 7, groups)
    again, same = lay_out(vectors, 150, 7, groups)
    other, _ = lay_out(vectors, 150, 8, groups)
    assert np.array_equal(chosen, again)
    assert np.array_equal(places, same)
    assert not np.array_equal(chosen, other)
    assert places.dtype == np.float32
    assert np.abs(places).max() == pytest.approx(1.0)


def test_nodes_of_one_kind_lie_together() -> None:
    rng = np.random.default_rng(2)
    groups = _groups([60, 60, 60])
    centres = 4 * rng.normal(size=(3, 16))
    vectors = (centres[groups] + rng.normal(size=(180, 16))).astype(np.float32)
    _, places = lay_out(vectors, 180, 0, groups)
    means = np.stack([places[groups == g].mean(axis=0) for g in range(3)])
    nearest = np.linalg.norm(places[:, None] - means[None], axis=2).argmin(axis=1)
    assert (nearest == groups).mean() > 0.95


def test_a_map_is_made_of_nodes_and_their_neighbours() -> None:
    A = sp.csr_array(np.array([[0, 1, 3, 0], [1, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0.0]]))
    vectors = np.array([[2, 0], [0, 5], [1, 0], [0, 1]], dtype=np.float32)
    found = surroundings(vectors, Operator(A))[np.array([0, 3])]
    assert np.allclose(found, np.array([[1.75, 0.25], [0, 1]]))  # the last has no neighbours
    assert surroundings(vectors[:3], Operator(A))[np.array([1])].tolist() == [[0, 5]]  # a part


def test_lengths_of_vectors_do_not_count() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(6, 5)).astype(np.float32)
    groups = np.zeros(6, dtype=np.int64)
    _, places = lay_out(vectors, 6, 0, groups)
    _, longer = lay_out(vectors * np.arange(1, 7, dtype=np.float32)[:, None], 6, 0, groups)
    np.testing.assert_allclose(places, longer, atol=1e-5)


@pytest.mark.parametrize("nodes", [0, 1, 2, 3, 9, 10, 11, 40])
@pytest.mark.parametrize("kind", ["random", "identical", "zero", "one column", "two spots"])
def test_places_are_finite_whatever_the_vectors(nodes: int, kind: str) -> None:
    rng = np.random.default_rng(4)
    vectors = {
        "random": rng.normal(size=(nodes, 8)),
        "identical": np.ones((nodes, 8)),
        "zero": np.zeros((nodes, 8)),
        "one column": rng.normal(size=(nodes, 1)),
        "two spots": np.eye(2)[np.arange(nodes) % 2],
    }[kind].astype(np.float32)
    chosen, places = lay_out(vectors, 100, 0, np.zeros(nodes, dtype=np.int64))
    assert places.shape == (nodes, 2)
    assert len(chosen) == nodes
    assert np.isfinite(places).all()


def test_groups_must_match_vectors() -> None:
    with pytest.raises(InputError, match="3 vectors but 2 groups"):
        lay_out(np.ones((3, 2), dtype=np.float32), 3, 0, np.zeros(2, dtype=np.int64))
