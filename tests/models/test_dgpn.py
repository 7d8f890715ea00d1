"""DGPN: its equations against plain NumPy, what may not matter, and classes nobody labelled."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from unseen.errors import InputError, SavedFileError
from unseen.models import dgpn_maps
from unseen.models.dgpn import DGPN
from unseen.models.dgpn_maps import BIAS, COMPOSED, LOCAL, PSI
from unseen.models.prototype import Prototype
from unseen.propagate.hops import Hops, decompose
from unseen.propagate.operators import Operator

NODES, WIDTH, CLASSES, SEMANTIC = 40, 6, 5, 4
XAVIER: dict[str, Any] = {"start": "xavier", "latent": 8, "epochs": 20}
IDENTITY: dict[str, Any] = {"start": "identity", "epochs": 20}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads only get into each other's way on examples of this size."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def problem(semantic: int = SEMANTIC) -> tuple[Hops, NDArray[np.int64], NDArray[np.float32]]:
    """Return hops, labels of classes 0 to 2 on half of the nodes, and CSDs of five classes."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(NODES, WIDTH)).astype(np.float32)
    ties = np.triu(rng.random((NODES, NODES)) < 0.1, 1)
    ties[:, 0] = ties[0, :] = False  # an isolated node: its hops are zero
    labels = np.where(np.arange(NODES) < NODES // 2, np.arange(NODES) % 3, -1)
    csds = rng.normal(size=(CLASSES, semantic)).astype(np.float32)
    return decompose(X, Operator(ties | ties.T), 2, 0.7), labels, csds


def permuted(hops: Hops, order: NDArray[np.int64]) -> Hops:
    return Hops(tuple(block[order] for block in hops.blocks), hops.weights)


def log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)))


def losses_by_hand(
    model: DGPN,
    maps: dict[str, NDArray[np.float64]],
    hops: Hops,
    labels: NDArray[np.int64],
    csds: NDArray[np.float32],
) -> tuple[float, float]:
    """Eq. 17 to 20 node by node and hop by hop, in double precision."""

    def sim(v: NDArray[np.float64]) -> NDArray[np.float64]:
        if model.similarity == "inner":
            return np.array([v @ s for s in S])
        cosines = [v @ s / (np.linalg.norm(v) * np.linalg.norm(s) or 1.0) for s in S]
        return np.array(cosines) / model.temperature

    def psi(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(x @ maps[PSI] + maps[PSI + BIAS], 0) if rectified else x @ maps[PSI]

    def phi(name: str, h: NDArray[np.float64]) -> NDArray[np.float64]:
        return h @ maps[name] + (maps[name + BIAS] if rectified else 0.0)

    rectified = PSI + BIAS in maps
    classes = [0, 1, 2] if model.negatives == "seen" else list(range(len(csds)))
    S = csds[classes].astype(np.float64)
    com, loc = [], []
    for i in np.flatnonzero(labels >= 0):
        own, z = classes.index(int(labels[i])), np.zeros(len(maps[LOCAL]))
        for block, weight in zip(hops.blocks, hops.weights, strict=True):
            x = block[i].astype(np.float64)
            h = psi(weight * x if model.weigh == "input" else x)
            loc.append(-log_softmax(sim(phi(LOCAL, h)))[own])
            z += h if model.weigh == "input" else weight * h
        com.append(-log_softmax(sim(phi(COMPOSED, z)))[own])
    return float(np.mean(com)), float(np.mean(loc))


@pytest.mark.parametrize("start", ["identity", "xavier"])
@pytest.mark.parametrize("negatives", ["seen", "all"])
@pytest.mark.parametrize("similarity", ["inner", "cosine"])
@pytest.mark.parametrize("weigh", ["latent", "input"])
def test_losses_are_those_of_the_equations(
    start: Any, negatives: Any, similarity: Any, weigh: Any
) -> None:
    hops, labels, csds = problem(WIDTH)
    model = DGPN(
        start,
        local_weight=0.3,
        latent=8,
        epochs=1,
        dropout=0.0,
        negatives=negatives,
        similarity=similarity,
        weigh=weigh,
    )
    model.fit(hops, labels, csds)
    maps = model._start(WIDTH, WIDTH, torch.Generator().manual_seed(0))
    com, loc = losses_by_hand(
        model, {name: value.double().numpy() for name, value in maps.items()}, hops, labels, csds
    )
    assert model.losses_[0] == pytest.approx(com + 0.3 * loc, rel=1e-5)  # Eq. 21
    model.local_weight = 0.0
    assert model.fit(hops, labels, csds).losses_[0] == pytest.approx(com, rel=1e-5)


@pytest.mark.parametrize("weigh", ["latent", "input"])
def test_untrained_identity_is_prototype(weigh: Any) -> None:
    hops, labels, csds = problem(WIDTH)
    ours = DGPN(epochs=0, weigh=weigh).fit(hops, labels, csds)
    theirs = Prototype().fit(hops, labels, csds)
    np.testing.assert_allclose(ours.scores(hops), theirs.scores(hops), atol=1e-6)
    np.testing.assert_allclose(ours.vectors(hops.own), hops.own, atol=1e-6)


def test_auto_takes_the_identity_only_at_the_same_width() -> None:
    hops, labels, csds = problem(WIDTH)
    assert PSI + BIAS not in DGPN(epochs=0).fit(hops, labels, csds).maps_
    assert PSI + BIAS in DGPN(epochs=0).fit(hops, labels, csds[:, :4]).maps_


def test_the_published_code_departs_from_the_print_in_four_settings() -> None:
    paper, official = (DGPN.variant(name).get_params() for name in ("paper", "official"))
    apart = {name for name in paper if paper[name] != official[name]}
    assert apart == {"local", "negatives", "weigh", "drop_prediction"}


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
@pytest.mark.parametrize("similarity", ["inner", "cosine"])
def test_training_moves_every_map_and_lowers_the_loss(settings: Any, similarity: Any) -> None:
    hops, labels, csds = problem(WIDTH)
    start = DGPN(**{**settings, "epochs": 0}).fit(hops, labels, csds).maps_
    model = DGPN(**settings, similarity=similarity).fit(hops, labels, csds)
    assert all(np.isfinite(value).all() for value in model.maps_.values())
    assert all((model.maps_[name] != start[name]).any() for name in start)
    assert model.losses_[-5:].mean() < model.losses_[0]


def test_decay_keeps_maps_at_their_start() -> None:
    hops, labels, csds = problem(WIDTH)
    distance = [
        np.linalg.norm(DGPN(decay=d).fit(hops, labels, csds).maps_[PSI] - np.eye(WIDTH))
        for d in (0.0, 10.0)
    ]
    assert distance[1] < 0.5 * distance[0]


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
def test_renumbering_nodes_renumbers_scores(settings: Any) -> None:
    hops, labels, csds = problem(WIDTH)
    order = np.random.default_rng(0).permutation(NODES)
    settings = {**settings, "dropout": 0.0}
    plain = DGPN(**settings).fit(hops, labels, csds).scores(hops)
    mixed = DGPN(**settings).fit(permuted(hops, order), labels[order], csds)
    np.testing.assert_allclose(mixed.scores(permuted(hops, order)), plain[order], atol=1e-4)


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
@pytest.mark.parametrize("negatives", ["seen", "all"])
def test_renumbering_classes_renumbers_columns(settings: Any, negatives: Any) -> None:
    hops, labels, csds = problem(WIDTH)
    order = np.array([3, 2, 0, 4, 1])  # new class c is old class order[c]
    renamed = np.where(labels >= 0, np.argsort(order)[labels], -1)
    plain = DGPN(**settings, negatives=negatives).fit(hops, labels, csds).scores(hops)
    mixed = DGPN(**settings, negatives=negatives).fit(hops, renamed, csds[order]).scores(hops)
    np.testing.assert_allclose(mixed, plain[:, order], atol=1e-4)


def test_nodes_without_a_label_are_not_read() -> None:
    hops, labels, csds = problem()
    model = DGPN(**XAVIER).fit(hops, labels, csds)
    for block in hops.blocks:
        block[labels < 0] = np.nan
    again = DGPN(**XAVIER).fit(hops, labels, csds)
    assert all((again.maps_[name] == value).all() for name, value in model.maps_.items())


def test_seen_negatives_do_not_read_other_csds() -> None:
    hops, labels, csds = problem()
    model = DGPN(**XAVIER, negatives="seen").fit(hops, labels, csds)
    csds[3:] = np.nan
    again = DGPN(**XAVIER, negatives="seen").fit(hops, labels, csds)
    assert all((again.maps_[name] == value).all() for name, value in model.maps_.items())


def test_same_seed_same_bits_and_the_global_generator_is_left_alone() -> None:
    hops, labels, csds = problem()
    before = torch.get_rng_state()
    first, second, other = (
        DGPN(**XAVIER, seed=seed).fit(hops, labels, csds).scores(hops) for seed in (1, 1, 2)
    )
    assert (first == second).all()
    assert (first != other).any()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
def test_restored_model_gives_the_same_bits(settings: Any) -> None:
    hops, labels, csds = problem(WIDTH)
    model = DGPN(**settings).fit(hops, labels, csds)
    state = model.state()
    assert all(name.endswith("_") and value.dtype == np.float32 for name, value in state.items())
    restored = DGPN(**settings).restore({name: value.copy() for name, value in state.items()})
    assert (restored.scores(hops) == model.scores(hops)).all()
    assert (restored.vectors(hops.own) == model.vectors(hops.own)).all()
    with pytest.raises(SavedFileError, match="csds_, to_semantic_ not found"):
        DGPN().restore({PSI: state[PSI], LOCAL: state[LOCAL]})


def test_batches_do_not_change_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    hops, labels, csds = problem()
    model = DGPN(**XAVIER).fit(hops, labels, csds)
    scores, vectors = model.scores(hops), model.vectors(hops.own)
    monkeypatch.setattr(dgpn_maps, "ROWS", 7)
    np.testing.assert_allclose(model.scores(hops), scores, atol=1e-5)
    np.testing.assert_allclose(model.vectors(hops.own), vectors, atol=1e-5)
    assert model.scores(permuted(hops, np.arange(0))).shape == (0, CLASSES)


def test_scores_are_the_similarity_of_vectors_when_there_is_one_hop() -> None:
    hops, labels, csds = problem()
    model = DGPN(**XAVIER, similarity="inner").fit(hops, labels, csds)
    alone = Hops((hops.own,), np.ones(1, np.float32))
    np.testing.assert_allclose(model.scores(alone), model.vectors(hops.own) @ csds.T, atol=1e-5)


def test_errors_say_what_to_do() -> None:
    hops, labels, csds = problem()
    with pytest.raises(InputError, match=r"found none; give labels .* Prototype or Refine"):
        DGPN().fit(hops, np.full(NODES, -1), csds)
    with pytest.raises(InputError, match="all 20 labelled nodes are of class 0; label nodes of"):
        DGPN().fit(hops, np.minimum(labels, 0), csds)
    with pytest.raises(InputError, match="4 dimensions but node vectors have 6"):
        DGPN(start="identity").fit(hops, labels, csds)
    wrong: Any = "glorot"
    with pytest.raises(InputError, match=r"start: expected one of .* found 'glorot'"):
        DGPN(start=wrong).fit(hops, labels, csds)
    model = DGPN(**XAVIER).fit(hops, labels, csds)
    with pytest.raises(InputError, match=r"csds: expected 4 dimensions .* found 3"):
        model.scores(hops, csds[:, :3])
    with pytest.raises(InputError, match=r"nodes: expected vectors of 6 dimensions .* found 5"):
        model.vectors(hops.own[:, :5])


def test_importing_the_module_does_not_import_torch() -> None:
    code = "import sys, unseen.models.dgpn; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("similarity", ["inner", "cosine"])
def test_planted_classes_nobody_labelled_are_found(similarity: Any) -> None:
    """Node vectors are CSDs through an unknown linear map of another width, with noise."""
    rng = np.random.default_rng(0)
    classes, seen, nodes = 24, 18, 1200
    csds = rng.normal(size=(classes, 8)).astype(np.float32)
    csds /= np.linalg.norm(csds, axis=1, keepdims=True)
    truth = rng.integers(classes, size=nodes)
    X = csds[truth] @ rng.normal(size=(8, 30)) + 0.5 * rng.normal(size=(nodes, 30))
    ties = (truth[:, None] == truth) & (rng.random((nodes, nodes)) < 0.03)
    hops = decompose(X.astype(np.float32), Operator(ties | ties.T), 2, 0.5)
    unseen = np.arange(classes) >= seen
    model = DGPN(latent=64, negatives="seen", similarity=similarity, epochs=100)
    model.fit(hops, np.where(unseen[truth], -1, truth), csds)
    right = (model.predict(hops, unseen) == truth)[unseen[truth]]
    assert right.mean() > 0.6  # chance is 1 in 6
