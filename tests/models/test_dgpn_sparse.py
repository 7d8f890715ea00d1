"""Training on sparse attributes: the gradients written by hand are those of the plain route."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from unseen.models import dgpn_sparse
from unseen.models.dgpn import DGPN
from unseen.models.dgpn_loops import draw
from unseen.models.dgpn_maps import NAMES
from unseen.models.dgpn_sparse import Maps, Training
from unseen.propagate.hops import Hops, decompose
from unseen.propagate.operators import Operator
from unseen.propagate.sparse import SparseBlocks

NODES, WIDTH, CLASSES, SEMANTIC, LATENT, HOPS = 60, 30, 5, 7, 12, 3

Problem = tuple[Hops, Hops, NDArray[np.int64], NDArray[np.float32]]


def problem(directed: bool = False) -> Problem:
    """Return the same hops twice, formed and not, labels of three of five classes, and CSDs."""
    rng = np.random.default_rng(1)
    X = sp.random_array((NODES, WIDTH), density=0.2, rng=rng, dtype=np.float32)
    ties = rng.random((NODES, NODES)) < 0.04
    ties[:, :2] = ties[:2] = False  # two isolated nodes, one of them labelled
    operator = Operator(ties if directed else ties | ties.T)
    labels = np.where(np.arange(NODES) % 3 == 0, np.arange(NODES) // 3 % 3, -1)
    csds = rng.normal(size=(CLASSES, SEMANTIC)).astype(np.float32)
    sparse = decompose(sp.csr_array(X), operator, HOPS, 0.7)
    return decompose(X.toarray(), operator, HOPS, 0.7), sparse, labels, csds


def xavier(**settings: Any) -> DGPN:
    return DGPN(start="xavier", latent=LATENT, similarity="inner", **settings)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weigh", ["latent", "input"])
@pytest.mark.parametrize("negatives", ["seen", "all"])
@pytest.mark.parametrize(("local", "drop"), [("mean", True), ("sum", False)])
@pytest.mark.parametrize("dropout", [0.0, 0.5, 0.3])
def test_loss_and_gradients_are_those_of_the_plain_route(
    directed: bool, weigh: Any, negatives: Any, local: Any, drop: bool, dropout: float
) -> None:
    dense, sparse, labels, csds = problem(directed)
    model = xavier(
        weigh=weigh, negatives=negatives, local=local, drop_prediction=drop, dropout=dropout
    )
    labelled = np.flatnonzero(labels >= 0)
    own = labels[labelled]  # the seen classes are the first three
    rivals = csds[:3] if negatives == "seen" else csds
    training = Training(model, sparse, labelled, own, rivals)
    random = np.random.default_rng(0)
    noise = random.integers(0, 256, training.noise_shape, dtype=np.uint8)
    tensors = model._start(WIDTH, SEMANTIC, torch.Generator().manual_seed(0))
    for name in NAMES[1::2]:
        tensors[name] += 0.1  # so that biases count
    found, gradients = training.losses(Maps(*(tensors[name].numpy() for name in NAMES)), noise)

    masks = (noise >= round(256 * dropout)) * (256 / (256 - round(256 * dropout)))
    replay = iter([masks[:-1, :, :LATENT], masks[-1, :, :SEMANTIC]])
    model._kept = lambda like, rng: torch.as_tensor(next(replay), dtype=like.dtype)  # type: ignore[method-assign]
    leaves = {name: tensors[name].clone().requires_grad_() for name in NAMES}
    before, after = model._weights(dense)
    X = np.stack([w * b[labelled] for w, b in zip(before, dense.blocks, strict=True)])
    q_com, q_loc = model._losses(
        leaves,
        torch.as_tensor(X),
        torch.as_tensor(own),
        torch.as_tensor(rivals),
        after,
        torch.Generator(),
    )
    loss = q_com + (HOPS + 1 if local == "sum" else 1) * q_loc
    loss.backward()  # type: ignore[no-untyped-call]
    assert found == pytest.approx(loss.item(), rel=1e-5)
    for name, gradient in zip(NAMES, gradients, strict=True):
        expected = leaves[name].grad
        assert expected is not None
        apart = np.abs(gradient - expected.numpy()).max() / expected.abs().max()
        assert apart < 1e-5, name


@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_both_routes_learn_the_same(decay: float) -> None:
    dense, sparse, labels, csds = problem()
    plain, fast = (
        xavier(epochs=30, dropout=0.0, decay=decay).fit(hops, labels, csds)
        for hops in (dense, sparse)
    )
    np.testing.assert_allclose(fast.losses_, plain.losses_, rtol=1e-4)
    np.testing.assert_allclose(fast.scores(sparse), plain.scores(dense), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(fast.scores(sparse), fast.scores(dense), rtol=1e-4, atol=1e-5)


def test_dropout_leaves_out_its_share_and_depends_on_the_seed_alone() -> None:
    _, sparse, labels, csds = problem()
    first, again, other = (
        xavier(epochs=5, seed=seed).fit(sparse, labels, csds).losses_ for seed in (0, 0, 1)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_the_bits_of_dropout_are_those_of_numpy() -> None:
    state, words = np.random.SFC64(5).state["state"]["state"], np.empty(7, np.uint64)
    drawn = []
    for _ in range(3):  # a draw goes on where the last one ended
        draw(state, words)
        drawn.append(words.copy())
    assert (np.concatenate(drawn) == np.random.SFC64(5).random_raw(21)).all()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    _, sparse, labels, csds = problem()
    alone = xavier(epochs=5, drop_prediction=True).fit(sparse, labels, csds)
    monkeypatch.setattr(dgpn_sparse, "how_many", lambda work, latent: threads)
    shared = xavier(epochs=5, drop_prediction=True).fit(sparse, labels, csds)
    assert (alone.losses_ == shared.losses_).all()
    assert all((shared.maps_[name] == value).all() for name, value in alone.maps_.items())


@pytest.mark.parametrize("threads", [1, 2])
def test_the_loop_may_use_threads_where_fit_keeps_blas_to_one(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    _, sparse, labels, csds = problem()
    found: list[int] = []

    def chosen(work: int, latent: int) -> int:
        found.append(torch.get_num_threads())
        return 1

    monkeypatch.setattr(dgpn_sparse, "how_many", chosen)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        xavier(epochs=1).fit(sparse, labels, csds)
    finally:
        torch.set_num_threads(before)
    assert found == [threads]


def test_latent_spaces_wider_than_a_block_learn_the_same() -> None:
    dense, sparse, labels, csds = problem()
    plain, fast = (
        DGPN("xavier", latent=140, similarity="inner", epochs=10, dropout=0.0).fit(
            hops, labels, csds
        )
        for hops in (dense, sparse)
    )
    np.testing.assert_allclose(fast.losses_, plain.losses_, rtol=1e-4)


def test_what_labelled_nodes_cannot_hear_is_not_read() -> None:
    _, sparse, labels, csds = problem()
    assert isinstance(sparse.blocks, SparseBlocks)
    walk = (sparse.blocks.operator.matrix != 0) + sp.eye_array(NODES)
    reach = sp.csr_array(walk) @ walk @ walk
    silent = np.flatnonzero(reach[labels >= 0].sum(axis=0) == 0)
    assert len(silent)
    X = sparse.blocks.X.copy()
    for node in silent:
        X.data[X.indptr[node] : X.indptr[node + 1]] = np.nan
    changed = decompose(X, sparse.blocks.operator, HOPS, 0.7)
    plain, again = (xavier(epochs=3).fit(hops, labels, csds).maps_ for hops in (sparse, changed))
    assert all((again[name] == value).all() for name, value in plain.items())


def test_blocks_are_formed_when_asked_for() -> None:
    dense, sparse, _, _ = problem()
    assert sparse.shape == dense.shape
    assert len(sparse.blocks) == HOPS + 1
    np.testing.assert_allclose(sparse.own, dense.own)
    for formed, expected in zip(sparse.blocks, dense.blocks, strict=True):
        np.testing.assert_allclose(formed, expected, atol=1e-6)
    np.testing.assert_allclose(sparse.blocks[1:3][1], dense.blocks[2], atol=1e-6)
    with pytest.raises(IndexError):
        sparse.blocks[HOPS + 1]
