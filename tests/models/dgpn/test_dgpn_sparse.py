"""Training on sparse attributes: the gradients written by hand are those of the plain route."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.dgpn import sparse as room
from unseen.models.dgpn.loops import draw
from unseen.models.dgpn.maps import NAMES
from unseen.models.dgpn.model import DGPN
from unseen.models.dgpn.sparse import Maps, Training
from unseen.propagate.hops import hops_of

NODES, WIDTH, CLASSES, SEMANTIC, LATENT, HOPS = 60, 30, 5, 7, 12, 3


def problem(directed: bool = False) -> tuple[Task, Task]:
    """Return the same task twice, X dense and sparse, with labels of three of five classes."""
    rng = np.random.default_rng(1)
    X = sp.random_array((NODES, WIDTH), density=0.2, rng=rng, dtype=np.float32)
    A = rng.random((NODES, NODES)) < 0.04
    A[:, :2] = A[:2] = False  # two isolated nodes, one of them labelled
    operator = Operator(A if directed else A | A.T)
    labels = np.where(np.arange(NODES) % 3 == 0, np.arange(NODES) // 3 % 3, -1)
    csds = rng.normal(size=(CLASSES, SEMANTIC))
    return Task(X.toarray(), csds, labels, operator), Task(X, csds, labels, operator)


def xavier(**settings: Any) -> DGPN:
    return DGPN(start="xavier", similarity="inner", **{"latent": LATENT, **settings})


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weigh", ["latent", "input"])
@pytest.mark.parametrize("negatives", ["seen", "all"])
@pytest.mark.parametrize(("local", "drop"), [("mean", True), ("sum", False)])
@pytest.mark.parametrize("dropout", [0.0, 0.5, 0.3])
def test_loss_and_gradients_are_those_of_the_plain_route(
    directed: bool, weigh: Any, negatives: Any, local: Any, drop: bool, dropout: float
) -> None:
    dense, sparse = problem(directed)
    formed, narrow = (hops_of(each, HOPS, 0.7) for each in (dense, sparse))
    model = xavier(
        weigh=weigh, negatives=negatives, local=local, drop_prediction=drop, dropout=dropout
    )
    labelled = np.flatnonzero(dense.labels >= 0)
    own = dense.labels[labelled]  # the seen classes are the first three
    rivals = dense.S[:3] if negatives == "seen" else dense.S
    training = Training(model, narrow, labelled, own, rivals)
    random = np.random.default_rng(0)
    noise = random.integers(0, 256, training.noise_shape, dtype=np.uint8)
    tensors = model._start(dense, torch.Generator().manual_seed(0))
    for name in NAMES[1::2]:
        tensors[name] += 0.1  # so that biases count
    found, gradients = training.losses(Maps(*(tensors[name].numpy() for name in NAMES)), noise)

    masks = (noise >= round(256 * dropout)) * (256 / (256 - round(256 * dropout)))
    replay = iter([masks[:-1, :, :LATENT], masks[-1, :, :SEMANTIC]])
    model._kept = lambda like, *_: torch.as_tensor(next(replay), dtype=like.dtype)  # type: ignore[method-assign]
    leaves = {name: tensors[name].clone().requires_grad_() for name in NAMES}
    before, after = model._weights(formed)
    X = np.stack([w * b[labelled] for w, b in zip(before, formed.blocks, strict=True)])
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
    dense, sparse = problem()
    plain, fast = (
        xavier(epochs=30, dropout=0.0, decay=decay).fit(task) for task in (dense, sparse)
    )
    np.testing.assert_allclose(fast.losses_, plain.losses_, rtol=1e-4)
    np.testing.assert_allclose(fast.scores(sparse), plain.scores(dense), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(fast.scores(sparse), fast.scores(dense), rtol=1e-4, atol=1e-5)


def test_dropout_leaves_out_its_share_and_depends_on_the_seed_alone() -> None:
    _, sparse = problem()
    first, again, other = (xavier(epochs=5, seed=seed).fit(sparse).losses_ for seed in (0, 0, 1))
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
    _, sparse = problem()
    alone = xavier(epochs=5, drop_prediction=True).fit(sparse)
    monkeypatch.setattr(room, "how_many", lambda work, latent: threads)
    shared = xavier(epochs=5, drop_prediction=True).fit(sparse)
    assert (alone.losses_ == shared.losses_).all()
    assert all((shared.maps_[name] == value).all() for name, value in alone.maps_.items())


@pytest.mark.parametrize("threads", [1, 2])
def test_the_loop_may_use_threads_where_fit_keeps_blas_to_one(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    _, sparse = problem()
    found: list[int] = []

    def chosen(work: int, latent: int) -> int:
        found.append(torch.get_num_threads())
        return 1

    monkeypatch.setattr(room, "how_many", chosen)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        xavier(epochs=1).fit(sparse)
    finally:
        torch.set_num_threads(before)
    assert found == [threads]


def test_latent_spaces_wider_than_a_block_learn_the_same() -> None:
    dense, sparse = problem()
    plain, fast = (xavier(latent=140, epochs=10, dropout=0.0).fit(task) for task in (dense, sparse))
    np.testing.assert_allclose(fast.losses_, plain.losses_, rtol=1e-4)


def test_what_no_labelled_node_depends_on_is_not_read() -> None:
    _, sparse = problem()
    assert sparse.operator is not None
    step = (sparse.operator.matrix != 0) + sp.eye_array(NODES)
    reach = sp.csr_array(step) @ step @ step
    unread = np.flatnonzero(reach[sparse.labels >= 0].sum(axis=0) == 0)
    assert len(unread)
    X = sparse.X.copy()
    for node in unread:
        X.data[X.indptr[node] : X.indptr[node + 1]] = np.nan
    changed = Task(X, sparse.S, sparse.labels, sparse.operator)
    plain, again = (xavier(epochs=3).fit(task).maps_ for task in (sparse, changed))
    assert all((again[name] == value).all() for name, value in plain.items())


def test_blocks_are_formed_when_asked_for() -> None:
    dense, sparse = (hops_of(each, HOPS, 0.7) for each in problem())
    assert sparse.shape == dense.shape
    assert len(sparse.blocks) == HOPS + 1
    for formed, expected in zip(sparse.blocks, dense.blocks, strict=True):
        np.testing.assert_allclose(formed, expected, atol=1e-6)
    np.testing.assert_allclose(sparse.blocks[1:3][1], dense.blocks[2], atol=1e-6)
    with pytest.raises(IndexError):
        sparse.blocks[HOPS + 1]
