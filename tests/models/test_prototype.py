"""Prototype: the cosine between composed hops and CSDs, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from unseen.errors import InputError
from unseen.models.prototype import Prototype
from unseen.propagate.hops import Hops, decompose
from unseen.propagate.operators import Operator

NODES, WIDTH, CLASSES = 20, 6, 4
NONE = np.full(NODES, -1)


@pytest.fixture
def hops() -> Hops:
    rng = np.random.default_rng(0)
    ties = np.triu(rng.random((NODES, NODES)) < 0.2, 1)
    X = rng.normal(size=(NODES, WIDTH)).astype(np.float32)
    return decompose(X, Operator(ties | ties.T), 2, 0.7)


@pytest.fixture
def csds() -> NDArray[np.float32]:
    return np.random.default_rng(1).normal(size=(CLASSES, WIDTH)).astype(np.float32)


def test_scores_are_cosines_node_by_node(hops: Hops, csds: NDArray[np.float32]) -> None:
    scores = Prototype().fit(hops, NONE, csds).scores(hops)
    for i in range(NODES):
        z = sum(w * block[i] for w, block in zip(hops.weights, hops.blocks, strict=True))
        for c, s in enumerate(csds):
            cosine = z @ s / (np.linalg.norm(z) * np.linalg.norm(s))
            assert scores[i, c] == pytest.approx(cosine, abs=1e-5)


def test_lengths_of_nodes_and_csds_do_not_matter(hops: Hops, csds: NDArray[np.float32]) -> None:
    longer = np.arange(1, CLASSES + 1, dtype=np.float32)[:, None]
    times = Hops(tuple(3 * block for block in hops.blocks), hops.weights)
    plain = Prototype().fit(hops, NONE, csds).scores(hops)
    scaled = Prototype().fit(times, NONE, longer * csds).scores(times)
    np.testing.assert_allclose(plain, scaled, atol=1e-6)


def test_labels_are_not_read(hops: Hops, csds: NDArray[np.float32]) -> None:
    plain = Prototype().fit(hops, NONE, csds).scores(hops)
    labelled = Prototype().fit(hops, np.arange(NODES) % CLASSES, csds).scores(hops)
    assert (plain == labelled).all()


def test_other_csds_take_the_place_of_the_fitted_ones(
    hops: Hops, csds: NDArray[np.float32]
) -> None:
    model = Prototype().fit(hops, NONE, csds)
    assert (model.scores(hops, csds[::-1]) == model.scores(hops)[:, ::-1]).all()
    assert model.scores(hops, csds[:1]).shape == (NODES, 1)


def test_nodes_at_their_csd_get_their_class(csds: NDArray[np.float32]) -> None:
    at = Hops((csds[[2, 0, 3]],), np.ones(1, dtype=np.float32))
    model = Prototype().fit(at, np.full(3, -1), csds)
    assert model.predict(at).tolist() == [2, 0, 3]
    among = np.array([True, True, False, True])
    assert model.predict(at, among).tolist()[1:] == [0, 3]
    assert model.predict(at, among)[0] != 2


def test_a_node_that_says_nothing_scores_zero_everywhere(csds: NDArray[np.float32]) -> None:
    silent = Hops((np.zeros((2, WIDTH), np.float32),), np.ones(1, dtype=np.float32))
    assert not Prototype().fit(silent, np.full(2, -1), csds).scores(silent).any()


def test_inputs_that_do_not_belong_together_are_refused(
    hops: Hops, csds: NDArray[np.float32]
) -> None:
    with pytest.raises(InputError, match=r"csds: have 5 dimensions but node vectors have 6; .*enc"):
        Prototype().fit(hops, NONE, csds[:, :5])
    with pytest.raises(InputError, match=r"labels: expected 20 \(one for each node\), found 3"):
        Prototype().fit(hops, NONE[:3], csds)
    with pytest.raises(InputError, match="class position 4 found, but there are only 4 CSDs"):
        Prototype().fit(hops, np.full(NODES, 4), csds)


def test_repr_is_the_call() -> None:
    assert repr(Prototype()) == "Prototype()"
